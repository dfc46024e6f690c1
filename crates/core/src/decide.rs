//! What becomes of a command: the events that it makes, or the refusal that says why it makes none.
//!
//! One file a command. This one only finds it.

mod access;
mod advance;
mod alert;
mod answer;
mod answer_round;
mod arbitrate;
mod ask;
mod assume;
mod autonomy;
mod bounds;
mod call;
mod claim;
mod claim_effect;
mod deadlines;
mod emit;
mod end_effect;
mod end_item;
mod escalate;
mod expire;
mod finish_session;
mod follow_up;
mod gate;
mod known;
mod lock;
mod open_item;
mod own;
mod park;
mod remind;
mod requeue;
mod resolve;
mod resume;
mod retry;
mod review;
mod revoke;
mod rights;
mod see;
mod send;
mod start_session;
mod strict;
mod tell;
mod turn;
mod unlock;
mod withdraw;

use crate::command::{Action, Command, SharedAction, SharedCommand};
use crate::delivery::Errand;
use crate::event::{Event, QuotaFreed};
use crate::item::Item;
use crate::moment::Moment;
use crate::party::Party;
use crate::policy::{Autonomy, Rules};
use crate::question::Question;
use crate::quota;
use crate::refusal::{Code, Refusal};
use crate::state::State;

pub(crate) use known::candidates;

/// Judges a command. `rules` are the project's files as they are now: facts, like the time.
///
/// Costs what the command touches; it does not grow with the item's history.
pub fn decide(state: &State, command: &Command, rules: &Rules, at: Moment) -> Result<Vec<Event>, Refusal> {
    rights::known(command, rules)?;
    if command.action.is_querents_alone() && command.by != Party::Querent {
        let hint = "run the monitor (querent monitor) or the server (querent serve)";
        return Err(Refusal::invalid("by", "only Querent itself arbitrates, invokes and notifies", hint));
    }
    if let Action::OpenItem { title, workflow, autonomy } = &command.action {
        return open_item::decide(state, command, title, workflow.as_deref(), *autonomy, rules);
    }
    let now = Now { item: state.item(&command.item)?, state, command, rules, at };
    let mut events = act(&now)?;
    let moot = arbitrate::moot_questions(&now, &events);
    events.extend(moot);
    let given_back = unlock::with_end(&now, &events);
    events.extend(given_back);
    let freed: Vec<Event> =
        quota::settled(now.item, &events).map(|id| QuotaFreed { question: id.clone() }.into()).collect();
    events.extend(freed);
    // What all items share comes first, so that a batch ends with the item's own story.
    events.sort_by_key(|event| event.shared().is_none());
    Ok(events)
}

fn act(now: &Now<'_>) -> Result<Vec<Event>, Refusal> {
    let state = now.state;
    match &now.command.action {
        Action::OpenItem { .. } => Ok(Vec::new()),
        Action::StartSession { session, process } => start_session::decide(now, session.as_ref(), process.as_ref()),
        Action::FinishSession { session, keep } => finish_session::decide(now, session.as_ref(), *keep),
        Action::Advance { to } => advance::decide(now, to),
        Action::EndItem { outcome } => end_item::decide(now, *outcome),
        Action::Ask(ask) => ask::decide(now, ask),
        Action::FollowUp { question, prompt } => follow_up::decide(now, state.question(question)?, prompt),
        Action::Answer { question, answer, note } => {
            answer::decide(now, state.question(question)?, answer, note.as_deref())
        }
        Action::Resolve { question, note } => resolve::decide(now, state.question(question)?, note.as_deref()),
        Action::Escalate { question, summary, cause } => {
            escalate::decide(now, state.question(question)?, summary.as_deref(), *cause)
        }
        Action::Withdraw { question, reason } => withdraw::decide(now, state.question(question)?, reason.as_deref()),
        Action::Assume(assume) => assume::decide(now, assume),
        Action::Review { assumption, verdict, note } => review::decide(now, assumption, *verdict, note.as_deref()),
        Action::Retry { question } => retry::decide(now, state.question(question)?),
        Action::Remind { question } => remind::decide(now, state.question(question)?),
        Action::Expire { question } => expire::decide(now, state.question(question)?),
        Action::Lock { session, paths, ttl, wait } => lock::decide(now, session, paths, *ttl, *wait),
        Action::Unlock { session, paths } => unlock::decide(now, session, paths),
        Action::EndWait { session } => unlock::end_wait(now, session),
        Action::Preempt { session, wanted, cycle } => arbitrate::preempt(now, session, wanted, cycle),
        Action::AskAbout { session, since } => arbitrate::ask_about(now, session, *since),
        Action::LoseSession { session, since, reason, to } => {
            arbitrate::lose(now, session, *since, reason, to.as_ref())
        }
        Action::Park { question, park } => park::decide(now, state.question(question)?, park),
        Action::Wake { question, resumed } => park::wake(now, state.question(question)?, *resumed),
        Action::Claim { question, process, over } => {
            claim::decide(now, state.question(question)?, process.as_ref(), over.as_ref())
        }
        Action::EndResume { question, process, exit_code } => {
            claim::end(now, state.question(question)?, process.as_ref(), *exit_code)
        }
        Action::Tell { handle, upto, question } => tell::decide(now, handle, *upto, question.as_ref()),
        Action::AnswerRound { question, round, answer } => {
            answer_round::decide(now, state.question(question)?, *round, answer)
        }
        Action::Turn { session, deed } => turn::decide(now, session, deed),
        Action::Call { question, deed } => call::decide(now, state.question(question)?, deed),
        Action::Reply { question, round, reply } => call::reply(now, state.question(question)?, *round, reply),
        Action::Send { text, to } => send::decide(now, text, to.as_ref()),
        Action::Emit { event, data } => emit::decide(now, event, data),
        Action::Errand { question, errand } => run(now, state.question(question)?, errand),
    }
}

fn run(now: &Now<'_>, question: &Question, errand: &Errand) -> Result<Vec<Event>, Refusal> {
    match errand {
        Errand::Claim { channel, state, process, over, error } => {
            let (process, over) = (process.as_ref(), over.as_ref());
            claim_effect::decide(now, question, (channel, *state), process, over, error.as_deref())
        }
        Errand::End { channel, state, claim, outcome, error, receipt } => {
            let said = (error.as_deref(), receipt.as_deref());
            end_effect::decide(now, question, (channel, *state), claim, *outcome, said)
        }
        Errand::See { channel, round } => see::decide(now, question, channel, *round),
        Errand::Requeue { channel } => requeue::decide(now, question, channel.as_ref()),
    }
}

/// Judges a command that is about what all items share.
pub(crate) fn decide_shared(
    state: &State,
    command: &SharedCommand,
    rules: &Rules,
    at: Moment,
) -> Result<Vec<Event>, Refusal> {
    if let Party::Agent(agent) = &command.by {
        rules.agent(agent)?;
    }
    let (by, via) = (&command.by, command.via);
    Ok(match &command.action {
        SharedAction::Revoke { learned, note } => vec![revoke::decide(state, *learned, note.as_deref(), by, via)?],
        SharedAction::Own { path, agent } => own::decide(path, agent.as_ref(), by, rules)?,
        SharedAction::Raise(alarm) => alert::raise(state, (**alarm).clone(), at).into_iter().collect(),
        SharedAction::Tell { alert, channel } => vec![alert::tell(state, *alert, channel, by, rules)?],
        SharedAction::Acknowledge { alert } => vec![alert::acknowledge(state, *alert, by, via)?],
        SharedAction::CreateToken { name, role, hash, expires_in } => {
            let wanted = access::Wanted { name: name.as_deref(), role, hash, expires_in: *expires_in };
            vec![access::create(state, &wanted, by, rules, at)?]
        }
        SharedAction::RevokeToken { token } => vec![access::revoke(state, *token, by)?],
        SharedAction::OfferLogin { token, hash } => vec![access::offer_login(state, *token, hash, by, at)?],
        SharedAction::UseLogin { hash } => vec![access::use_login(state, hash, at)?],
    })
}

/// All that a decision about an existing item looks at.
struct Now<'a> {
    item: &'a Item,
    state: &'a State,
    command: &'a Command,
    rules: &'a Rules,
    at: Moment,
}

impl Now<'_> {
    /// How readily agents ask on the item.
    fn autonomy(&self) -> Autonomy {
        self.item.autonomy.unwrap_or(self.rules.config.project.autonomy)
    }
}

/// An item whose stage does not allow what was wanted, with the question that it waits for.
fn not_runnable(item: &Item, wanted: &str) -> Refusal {
    let open = item.blocking_human().next().map(|(id, _)| id);
    let waits_for = open.or_else(|| item.blocked_by.clone());
    let id = &item.id;
    let hint = match &waits_for {
        Some(question) => format!("answer it first: querent answer {question} --answer …"),
        None if item.has_ended() => "an ended item stays as it is; open a new one".to_owned(),
        None => format!("move it on: querent item move {id} --to <step>"),
    };
    Refusal::new(Code::ItemNotRunnable, format!("item `{id}` is {}; {wanted}", item.stage), hint)
        .with(serde_json::json!({ "item": id, "item_stage": item.stage, "question_id": waits_for }))
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
