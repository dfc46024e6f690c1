//! Couriers of a life: notifications that are owed are claimed, and something becomes of them.

use querent_core::event::EffectOutcome;
use querent_core::{
    Action, AlertId, Channel, Command, Config, Delivery, EffectClaim, EffectKind, Errand, Party, Question, QuestionId,
    Via, outstanding,
};
use serde_json::json;

use crate::deeds::{Courier, process};
use crate::world::World;

/// Two channels: one carries everything, the other what blocks.
pub(crate) fn channels() -> Vec<Channel> {
    let notify = json!([{ "channel": "webhook", "retries": 1, "severities": ["error"] }, { "channel": "telegram", "kinds": ["blocking"], "retries": 0 }]);
    let config = json!({ "project": { "name": "shop" }, "notify": notify });
    serde_json::from_value::<Config>(config).unwrap().notify
}

/// One step, for all that it applies to.
pub(crate) fn take(world: &mut World, step: Courier) {
    let wishes: Vec<(QuestionId, Party, Via, Errand)> = match step {
        Courier::Claims { pid, takes_over } => claims(world, pid, takes_over),
        Courier::Sends => ends(world, EffectOutcome::Delivered),
        Courier::GivesUp => ends(world, EffectOutcome::Failed),
        Courier::Sees => each(world, |_, it| Some(Errand::See { channel: it.channel.clone(), round: it.round })),
        Courier::TriesAgain => each(world, |_, _| Some(Errand::Requeue { channel: None })),
        Courier::Tells(number) => return world.tell(AlertId(number), channels()[0].name()),
        Courier::Answers => return answer(world),
    };
    for (question, by, via, errand) in wishes {
        let action = Action::Errand { question, errand };
        world.run(&Command { item: world.item.clone(), by, via, action });
    }
}

fn claims(world: &World, pid: u32, takes_over: bool) -> Vec<(QuestionId, Party, Via, Errand)> {
    let effects = outstanding(&world.state, &world.rules).into_iter();
    let claim = effects.filter_map(|effect| {
        let EffectKind::Notify { channel, state, .. } = effect.kind else { return None };
        let known = world.state.questions[&effect.question].delivery(&channel, state);
        let over: Option<EffectClaim> = known.and_then(|it| it.claim.clone()).filter(|_| takes_over);
        let errand = Errand::Claim { channel, state, process: Some(process(pid)), over, error: None };
        Some((effect.question, Party::Querent, Via::Querent, errand))
    });
    claim.collect()
}

fn ends(world: &World, outcome: EffectOutcome) -> Vec<(QuestionId, Party, Via, Errand)> {
    let end = |_: &Question, it: &Delivery| {
        let (channel, state) = (it.channel.clone(), it.state);
        let claim = it.claim.clone()?;
        Some(Errand::End { channel, state, claim, outcome, error: None, receipt: None })
    };
    each(world, end)
        .into_iter()
        .map(|(question, _, _, errand)| (question, Party::Querent, Via::Querent, errand))
        .collect()
}

fn each(world: &World, make: impl Fn(&Question, &Delivery) -> Option<Errand>) -> Vec<(QuestionId, Party, Via, Errand)> {
    let questions = world.state.questions.values();
    let all = questions.flat_map(|question| question.deliveries.iter().map(move |it| (question, it)));
    all.filter_map(|(question, it)| Some((question.id.clone(), Party::HUMAN, Via::Webhook, make(question, it)?)))
        .collect()
}

/// Somebody presses the first button that they were sent.
fn answer(world: &mut World) {
    let questions = world.state.questions.values();
    let reached = questions.filter(|it| it.status.is_open() && it.deliveries.iter().any(Delivery::is_over));
    let Some((question, round)) = reached.map(|it| (it.id.clone(), it.round)).next() else { return };
    let action = Action::AnswerRound { question, round, answer: json!("jwt") };
    world.run(&Command { item: world.item.clone(), by: Party::HUMAN, via: Via::Telegram, action });
}
