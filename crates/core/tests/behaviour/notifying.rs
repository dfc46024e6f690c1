//! People are notified of what waits for them: once through each channel, whatever crashes.

use querent_core::event::EffectOutcome;
use querent_core::{
    Action, AlertId, ChannelName, Code, Command, DeliveryStatus, EffectClaim, EffectKind, Errand, Kind, Occasion,
    Outcome, Party, Process, SharedAction, SharedCommand, Via, apply_shared, outstanding,
};
use serde_json::{Value, json};

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, Who, architect, engineer, human, querent};

fn given_channels(channels: &Value) -> Scenario {
    let channels = channels.clone();
    given_implementing().rules(|rules| {
        let mut config = json!({ "project": { "name": "shop" }, "notify": channels });
        rules.config.notify = serde_json::from_value::<querent_core::Config>(config.take()).unwrap().notify;
    })
}

/// A webhook, and a question to a human.
fn given_asked() -> Scenario {
    given_channels(&json!([{ "channel": "webhook", "retries": 1 }])).and(engineer().asks("human", "Which bank?"))
}

fn name(channel: &str) -> ChannelName {
    channel.parse().unwrap()
}

fn process(pid: u32) -> Process {
    Process { pid, start: "1".into(), host: "here".into() }
}

fn errand(who: Who, errand: Errand) -> Command {
    who.does(Action::Errand { question: Q1.parse().unwrap(), errand })
}

fn claims(pid: u32, over: Option<EffectClaim>) -> Command {
    claims_as(Occasion::Asked, pid, over)
}

fn claims_as(state: Occasion, pid: u32, over: Option<EffectClaim>) -> Command {
    let errand_ = Errand::Claim { channel: name("webhook"), state, process: Some(process(pid)), over, error: None };
    errand(querent(), errand_)
}

fn claim(scenario: &Scenario) -> EffectClaim {
    scenario.question(Q1).deliveries.last().unwrap().claim.clone().unwrap()
}

fn ends(scenario: &Scenario, outcome: EffectOutcome) -> Command {
    let state = scenario.question(Q1).deliveries.last().unwrap().state;
    let error = (outcome == EffectOutcome::Failed).then(|| "status 500".to_owned());
    let (channel, claim) = (name("webhook"), claim(scenario));
    errand(querent(), Errand::End { channel, state, claim, outcome, error, receipt: None })
}

fn delivered(scenario: Scenario) -> Scenario {
    let scenario = scenario.and(claims(7, None));
    let end = ends(&scenario, EffectOutcome::Delivered);
    scenario.and(end)
}

/// What is owed, by id.
fn owed(scenario: &Scenario) -> Vec<String> {
    outstanding(&scenario.state, &scenario.rules).into_iter().map(|effect| effect.id).collect()
}

fn status(scenario: &Scenario) -> DeliveryStatus {
    scenario.question(Q1).deliveries.last().unwrap().status
}

#[test]
fn a_question_to_a_human_is_owed_to_every_channel_that_carries_its_kind() {
    let channels = json!([
        { "channel": "ntfy" }, { "channel": "slack", "kinds": ["preference"] }, { "channel": "ntfy", "kinds": ["blocking"] },
    ]);
    let scenario = given_channels(&channels).and(engineer().asks("human", "Which bank?"));

    assert_eq!(owed(&scenario), ["notify:CLR-42-001:1:asked:ntfy", "notify:CLR-42-001:1:asked:ntfy-2"]);
}

#[test]
fn a_question_to_an_agent_is_nobodys_business_until_it_is_escalated() {
    let scenario =
        given_channels(&json!([{ "channel": "webhook" }])).and(engineer().asks("architect", "Which cipher?"));
    assert_eq!(owed(&scenario), ["call:CLR-42-001:1:1"]);

    let scenario = scenario.and(engineer().escalates(Q1));

    assert_eq!(owed(&scenario), ["notify:CLR-42-001:1:escalated:webhook"]);
}

#[test]
fn a_notification_that_was_delivered_is_owed_no_more() {
    let scenario = delivered(given_asked());

    assert_eq!(owed(&scenario), [""; 0]);
    assert_eq!(status(&scenario), DeliveryStatus::Delivered);
    scenario.when(claims(8, None)).then_refused(Code::InvalidTransition);
}

#[test]
fn a_notification_is_sent_by_one_at_a_time() {
    given_asked().and(claims(7, None)).when(claims(8, None)).then_refused(Code::Conflict);
}

#[test]
fn a_claim_whose_process_is_gone_is_taken_over_by_one() {
    let scenario = given_asked().and(claims(7, None));
    let void = claim(&scenario);
    let by_the_dead = ends(&scenario, EffectOutcome::Delivered);

    scenario
        .and(claims(8, Some(void.clone())))
        .then(|it| assert_eq!(it.question(Q1).deliveries.len(), 1, "it is the same notification"))
        .when(claims(9, Some(void)))
        .then_refused(Code::Conflict)
        .when(by_the_dead)
        .then_refused(Code::Conflict);
}

#[test]
fn a_notification_of_a_settled_question_is_not_sent() {
    given_asked()
        .and(human().answers(Q1, "any"))
        .then(|it| assert_eq!(owed(it), [""; 0]))
        .when(claims(7, None))
        .then_refused(Code::InvalidTransition);
}

#[test]
fn what_was_sent_while_its_question_was_settled_is_recorded_as_it_is() {
    let scenario = given_asked().and(claims(7, None)).and(human().answers(Q1, "any"));
    let end = ends(&scenario, EffectOutcome::Delivered);

    scenario.when(end).then_events(["effect_done"]).then(|it| assert_eq!(status(it), DeliveryStatus::Delivered));
}

#[test]
fn the_pause_before_the_next_attempt_is_part_of_the_claim() {
    let scenario = given_asked().and(claims(7, None));
    let first = claim(&scenario);
    assert_eq!(first.until, scenario.at("1s"));

    let scenario = scenario.later("1s").and(claims(7, Some(first)));

    assert_eq!(claim(&scenario).until, scenario.at("3s"));
    assert_eq!(scenario.question(Q1).deliveries[0].attempts, 2);
}

#[test]
fn what_failed_at_every_attempt_is_a_dead_letter_and_an_alert() {
    let scenario = given_asked().and(claims(7, None));
    let first = claim(&scenario);
    let scenario = scenario.and(claims(7, Some(first)));
    let second = claim(&scenario);
    let end = ends(&scenario, EffectOutcome::Failed);

    scenario
        .when(claims(7, Some(second)))
        .then_refused(Code::InvalidTransition)
        .then_message("had its 2 attempts")
        .when(end)
        .then_events(["effect_done"])
        .then_shared_events(["alert_raised"])
        .then(|it| {
            assert_eq!(status(it), DeliveryStatus::Failed);
            assert_eq!(it.question(Q1).deliveries[0].error.as_deref(), Some("status 500"));
            assert_eq!(owed(it), [""; 0]);
        });
}

fn dead_letter() -> Scenario {
    let scenario = given_asked().and(claims(7, None));
    let end = ends(&scenario, EffectOutcome::Failed);
    scenario.and(end)
}

#[test]
fn a_dead_letter_is_sent_again_when_a_person_wants_it() {
    let requeue = || Errand::Requeue { channel: None };
    dead_letter()
        .when(errand(engineer(), requeue()))
        .then_refused(Code::HumanOnly)
        .when(errand(human(), requeue()))
        .then_events(["effect_requeued"])
        .then(|it| assert_eq!(owed(it), ["notify:CLR-42-001:1:asked:webhook"]))
        .when(errand(human(), requeue()))
        .then_refused(Code::InvalidTransition)
        .when(claims(7, None))
        .then_events(["effect_claimed"])
        .then(|it| assert_eq!(it.question(Q1).deliveries[0].attempts, 1));
}

#[test]
fn a_dead_letter_of_a_settled_question_stays_one() {
    let requeue = Errand::Requeue { channel: Some(name("webhook")) };
    dead_letter()
        .and(human().answers(Q1, "any"))
        .when(errand(human(), requeue))
        .then_refused(Code::InvalidTransition)
        .when(errand(human(), Errand::Requeue { channel: Some(name("pigeon")) }))
        .then_refused(Code::InvalidInput);
}

#[test]
fn a_reminder_follows_the_first_word_once() {
    let scenario = delivered(given_asked()).later("8m").when_looked_at().then_events(["question_reminded"]);
    assert_eq!(owed(&scenario), ["notify:CLR-42-001:1:reminded-1:webhook"]);

    let scenario = scenario.and(claims_as(Occasion::Reminded(1), 7, None));
    let end = ends(&scenario, EffectOutcome::Delivered);
    let scenario = scenario.and(end);

    assert_eq!(owed(&scenario), [""; 0]);
    assert_eq!(scenario.question(Q1).deliveries.len(), 2);
}

#[test]
fn whoever_is_told_late_is_not_reminded_of_the_time_before() {
    let scenario = given_asked().later("8m").when_looked_at();
    assert_eq!(owed(&scenario), ["notify:CLR-42-001:1:asked:webhook"], "first things first");

    let scenario = delivered(scenario.later("1s"));

    assert_eq!(owed(&scenario), [""; 0]);
}

#[test]
fn a_channel_without_reminders_has_none() {
    let scenario = given_channels(&json!([{ "channel": "webhook", "reminders": false }]))
        .and(engineer().asks("human", "Which bank?"));

    let scenario = delivered(scenario).later("8m").when_looked_at().then_events(["question_reminded"]);

    assert_eq!(owed(&scenario), [""; 0]);
}

#[test]
fn a_person_who_opens_the_link_has_seen_it() {
    let see = || Errand::See { channel: name("webhook"), round: 1 };
    delivered(given_asked())
        .when(errand(engineer(), see()))
        .then_refused(Code::HumanOnly)
        .when(errand(human(), see()))
        .then_events(["delivery_seen"])
        .then(|it| assert_eq!(status(it), DeliveryStatus::Seen))
        .when(errand(human(), see()))
        .then_refused(Code::InvalidTransition);
}

fn answers_round(round: u32, via: Via) -> Command {
    let action = Action::AnswerRound { question: Q1.parse().unwrap(), round, answer: json!("any") };
    Command { via, ..human().does(action) }
}

#[test]
fn an_answer_that_comes_back_through_a_channel_says_so() {
    delivered(given_asked())
        .when(answers_round(1, Via::Webhook))
        .then_events(["question_answered", "item_resumed"])
        .then_reply(&json!({ "status": "resolved", "resumed": true, "answer": { "via": "webhook", "by": "human" } }))
        .then(|it| assert_eq!(status(it), DeliveryStatus::Answered));
}

#[test]
fn an_answer_from_elsewhere_leaves_a_notification_delivered() {
    delivered(given_asked())
        .and(human().answers(Q1, "any"))
        .then(|it| assert_eq!(status(it), DeliveryStatus::Delivered))
        .when(answers_round(1, Via::Webhook))
        .then_refused(Code::QuestionAlreadyAnswered);
}

#[test]
fn an_answer_to_an_earlier_round_is_refused() {
    given_implementing()
        .and(engineer().asks("architect", "Which cipher?"))
        .and(architect().answers(Q1, "aes"))
        .and(engineer().follows_up(Q1, "Which mode?"))
        .when(answers_round(1, Via::Slack))
        .then_refused(Code::Conflict)
        .then_message("round 1")
        .when(answers_round(2, Via::Slack))
        .then_accepted();
}

#[test]
fn nobody_but_querent_sends_notifications() {
    let claim =
        Errand::Claim { channel: name("webhook"), state: Occasion::Asked, process: None, over: None, error: None };
    for by in [human(), engineer()] {
        given_asked().when(errand(by, claim.clone())).then_refused(Code::InvalidInput);
    }
}

#[test]
fn people_are_told_of_an_alert_once_through_the_channels_that_carry_its_severity() {
    let tell = |scenario: &mut Scenario, channel: &str| {
        let action = SharedAction::Tell { alert: AlertId(1), channel: name(channel) };
        let command = SharedCommand { by: Party::Querent, via: Via::Querent, action };
        let told = apply_shared(&mut scenario.state, &command, None, &scenario.rules, scenario.now);
        told.batches.len()
    };
    let channels = json!([{ "channel": "webhook", "retries": 0, "severities": ["error"] }, { "channel": "desktop" }]);
    let scenario = given_channels(&channels).and(engineer().asks("human", "Which bank?")).and(claims(7, None));
    let end = ends(&scenario, EffectOutcome::Failed);
    let mut scenario = scenario.and(end);

    assert_eq!([tell(&mut scenario, "webhook"), tell(&mut scenario, "webhook")], [1, 0]);
    assert_eq!(tell(&mut scenario, "desktop"), 0, "it carries no alerts");
    assert_eq!(scenario.state.alerts.recent[&1].told, [name("webhook")]);
}

#[test]
fn an_item_that_ends_owes_nothing() {
    let scenario = given_asked().and(human().ends_as(Outcome::Failed));

    assert_eq!(owed(&scenario), [""; 0]);
}

#[test]
fn an_effect_says_since_when_it_is_owed() {
    let scenario = given_channels(&json!([{ "channel": "webhook", "kinds": ["clarifying"] }])).later("5m");
    let asked = engineer().asks("human", "Which bank?").kind(Kind::Clarifying).without_blocking();

    let scenario = scenario.and(asked);

    let EffectKind::Notify { since, .. } = &outstanding(&scenario.state, &scenario.rules)[0].kind else { panic!() };
    assert_eq!(*since, scenario.at("5m"));
    assert_eq!(scenario.question(Q1).to, Party::HUMAN);
}
