//! The pure half of the apply path: what is due comes first, then the command, then its reply.

use std::collections::BTreeSet;

use crate::assumption::Source;
use crate::command::{Action, Cause, Command, SharedCommand};
use crate::decide::{candidates, decide, decide_shared};
use crate::delivery::Errand;
use crate::due::due;
use crate::event::{Event, Record};
use crate::evolve::evolve;
use crate::id::{Fingerprint, OperationId, QuestionId};
use crate::item::Item;
use crate::moment::Moment;
use crate::party::Party;
use crate::policy::Rules;
use crate::refusal::{Code, Refusal};
use crate::reply::{Envelope, reply, shared_reply};
use crate::state::State;
use crate::stream::{Shared, Stream};
use crate::team::TurnDeed;

/// Events that are recorded together or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The events in order. Their `seq` is 0 until a journal gives them their place.
    pub records: Vec<Record>,
    /// The operation that they carry out; none for a deadline.
    pub operation: Option<Operation>,
}

impl Batch {
    /// What carries out the operation of this ticket.
    fn of(records: Vec<Record>, ticket: &Ticket, reply: &Envelope) -> Self {
        let operation = Operation { id: ticket.id.clone(), fingerprint: ticket.fingerprint, reply: reply.clone() };
        Self { records, operation: Some(operation) }
    }
}

/// What a command is known by, however often it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Its operation id.
    pub id: OperationId,
    /// Its content, in short ([`Command::fingerprint`]).
    pub fingerprint: Fingerprint,
    /// Whether the id was made at random for this one, so that nobody can have used it before.
    pub is_fresh: bool,
}

impl Ticket {
    /// That of a command which is sent under this id.
    pub fn new(id: OperationId, command: &Command) -> Self {
        Self { id, fingerprint: command.fingerprint(), is_fresh: false }
    }

    /// That of a command about what all items share, which is sent under this id.
    pub fn shared(id: OperationId, command: &SharedCommand) -> Self {
        Self { id, fingerprint: command.fingerprint(), is_fresh: false }
    }

    /// That of a command whose id was made at random for it.
    pub fn fresh(id: OperationId, command: &Command) -> Self {
        Self { is_fresh: true, ..Self::new(id, command) }
    }
}

/// What is remembered of an accepted command, so that sending it again does nothing and says the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its id.
    pub id: OperationId,
    /// Its content, in short ([`Command::fingerprint`]).
    pub fingerprint: Fingerprint,
    /// What was replied.
    pub reply: Envelope,
}

impl Operation {
    /// The reply to the same operation sent again: the first reply, or a refusal if the content differs.
    pub fn replay(&self, fingerprint: &Fingerprint) -> Result<Envelope, Refusal> {
        if self.fingerprint == *fingerprint {
            return Ok(self.reply.clone());
        }
        let message = format!("operation id `{}` was used for another command", self.id);
        Err(Refusal::new(Code::OperationConflict, message, "use a fresh operation id for every new command")
            .with(serde_json::json!({ "operation_id": self.id })))
    }
}

/// What a command did to an item, and what the caller is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// What is to be recorded; deadlines first. Empty if the command was refused and nothing was due.
    pub batches: Vec<Batch>,
    /// The reply.
    pub reply: Envelope,
}

/// Runs what is due and then the command, and takes both into the state.
pub fn apply(state: &mut State, command: &Command, ticket: &Ticket, rules: &Rules, at: Moment) -> Applied {
    let mut batches = tick(state, rules, at);
    let events = match decide(state, command, rules, at) {
        Ok(events) => events,
        Err(refusal) => return Applied { batches, reply: Envelope::refused(&refusal) },
    };
    let records = take(state, &command.item.clone().into(), &command.by, Some(&ticket.id), events, at);
    let reply = reply(state, command, &records);
    batches.push(Batch::of(records, ticket, &reply));
    Applied { batches, reply }
}

/// Runs what is due on the questions at hand and takes it into the state.
pub fn tick(state: &mut State, rules: &Rules, at: Moment) -> Vec<Batch> {
    let mut batches = Vec::new();
    // A deadline moves its question on, so this ends; the bound is for a rule that would forget to.
    for _ in 0..=4 * state.questions.len() {
        let decided = due(state, at).into_iter().find_map(|command| {
            let events = decide(state, &command, rules, at).ok()?;
            (!events.is_empty()).then_some((command, events))
        });
        let Some((command, events)) = decided else { break };
        let records = take(state, &command.item.clone().into(), &command.by, None, events, at);
        batches.push(Batch { records, operation: None });
    }
    batches
}

/// What a decision looks at beside the item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Its questions.
    pub questions: Vec<QuestionId>,
    /// What all items share.
    pub shared: BTreeSet<Shared>,
}

/// What [`tick`] cannot do without: all that is open, if any of it is due.
pub fn needs_of_tick(item: &Item, at: Moment) -> Needs {
    let due = item.open.values().any(|it| it.due.is_some_and(|due| due <= at));
    let questions = item.open.keys().filter(|_| due).map(|number| item.question_id(*number)).collect();
    // Whatever settles a strict question frees the quota, and an item that fails gives back its files.
    let strict = item.open.values().any(|it| it.strict).then_some(Shared::Quota);
    Needs { questions, shared: strict.into_iter().chain(due.then_some(Shared::Resources)).collect() }
}

/// What [`apply`] cannot do without.
pub fn needs(command: &Command, item: &Item, at: Moment) -> Needs {
    let mut needs = needs_of_tick(item, at);
    let (questions, shared) = (&mut needs.questions, &mut needs.shared);
    questions.extend(command.action.question().filter(|id| id.item == item.id).cloned());
    match &command.action {
        // An item that ends withdraws all that is open.
        Action::EndItem { .. } => {
            questions.extend(item.open.keys().map(|number| item.question_id(*number)));
            shared.insert(Shared::Resources);
        }
        Action::Ask(ask) => {
            questions.extend(candidates(item, ask));
            shared.extend([Shared::Quota, Shared::Knowledge]);
        }
        Action::Answer { question, .. } | Action::AnswerRound { question, .. }
            if item.open.get(&question.number).is_some_and(|it| it.about_session) =>
        {
            shared.extend([Shared::Knowledge, Shared::Resources]);
            questions.extend(about_sessions(item));
        }
        Action::Answer { .. } | Action::AnswerRound { .. } | Action::Resolve { .. } if command.by.is_human() => {
            shared.insert(Shared::Knowledge);
        }
        Action::Turn { deed, .. } => {
            if matches!(**deed, TurnDeed::End { .. }) {
                questions.extend(item.answered.iter().map(|number| item.question_id(*number)));
                questions.extend(about_sessions(item));
                shared.extend([Shared::Resources, Shared::Alerts]);
            }
        }
        Action::FinishSession { .. } | Action::LoseSession { .. } | Action::AskAbout { .. } => {
            shared.extend([Shared::Resources, Shared::Alerts]);
            questions.extend(about_sessions(item));
        }
        Action::Lock { .. } | Action::Unlock { .. } | Action::EndWait { .. } | Action::Preempt { .. } => {
            shared.extend([Shared::Resources, Shared::Alerts]);
        }
        Action::Escalate { cause: Cause::Deadlock, .. } | Action::Errand { errand: Errand::End { .. }, .. } => {
            shared.insert(Shared::Alerts);
        }
        Action::Review { assumption, .. } => {
            let judged = item.assumptions.get(&assumption.number).filter(|it| it.source == Source::Learned);
            questions.extend(judged.and_then(|it| it.question_id.clone()));
            shared.insert(Shared::Knowledge);
        }
        _ => {}
    }
    needs
}

/// The questions that Querent itself asks about sessions.
fn about_sessions(item: &Item) -> impl Iterator<Item = QuestionId> {
    item.open.iter().filter(|(_, it)| it.about_session).map(|(number, _)| item.question_id(*number))
}

/// Runs what is due and then what the monitor found to be necessary, and takes both into the state. What is not so any more
/// is passed over.
pub fn act(state: &mut State, command: &Command, rules: &Rules, at: Moment) -> Vec<Batch> {
    try_act(state, command, rules, at).batches
}

/// The same, and says why if it was passed over. Nothing is remembered of it: it is Querent's own, and comes once.
pub fn try_act(state: &mut State, command: &Command, rules: &Rules, at: Moment) -> Applied {
    let mut batches = tick(state, rules, at);
    let events = match decide(state, command, rules, at) {
        Ok(events) => events,
        Err(refusal) => return Applied { batches, reply: Envelope::refused(&refusal) },
    };
    if !events.is_empty() {
        let records = take(state, &command.item.clone().into(), &command.by, None, events, at);
        batches.push(Batch { records, operation: None });
    }
    Applied { batches, reply: Envelope::ok(&()) }
}

/// Carries out a command that is about what all items share, and takes it into the state, of which only that must be at hand.
/// Without a ticket it is Querent's own, and nothing is remembered of it.
pub fn apply_shared(
    state: &mut State,
    command: &SharedCommand,
    ticket: Option<&Ticket>,
    rules: &Rules,
    at: Moment,
) -> Applied {
    let events = match decide_shared(state, command, rules, at) {
        Ok(events) => events,
        Err(refusal) => return Applied { batches: Vec::new(), reply: Envelope::refused(&refusal) },
    };
    let home = command.stream().into();
    let records = take(state, &home, &command.by, ticket.map(|ticket| &ticket.id), events, at);
    let reply = shared_reply(state, command);
    let batch = match ticket {
        Some(ticket) => Batch::of(records, ticket, &reply),
        None => Batch { records, operation: None },
    };
    Applied { batches: Some(batch).filter(|batch| !batch.records.is_empty()).into_iter().collect(), reply }
}

fn take(
    state: &mut State,
    home: &Stream,
    by: &Party,
    operation: Option<&OperationId>,
    events: Vec<Event>,
    at: Moment,
) -> Vec<Record> {
    let mut records = Vec::with_capacity(events.len());
    for event in events {
        let stream = event.shared().map_or_else(|| home.clone(), Stream::from);
        let version = state.version(&stream) + 1;
        let record = Record { seq: 0, stream, version, at, by: by.clone(), operation_id: operation.cloned(), event };
        evolve(state, &record);
        records.push(record);
    }
    records
}
