//! What the arbiter does: a session gives files up, is put to a human, or is given up.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Now, alert};
use crate::alert::Alarm;
use crate::answer::{Answer, Expected};
use crate::event::{Event, ItemMoved, LockReleased, QuestionAsked, QuestionWithdrawn, SessionLost};
use crate::id::{QuestionId, SessionId};
use crate::item::Stage;
use crate::moment::Moment;
use crate::monitor::{FindingKind, Severity};
use crate::party::{Party, Via};
use crate::path::ProjectPath;
use crate::question::{Asker, Blocker, Category, Choice, Kind, Question, Status};
use crate::refusal::{Code, Refusal};
use crate::resources::Release;
use crate::session::Session;

/// Takes files from a session, so that a circle of those who wait for files is broken.
pub(super) fn preempt(
    now: &Now<'_>,
    session: &SessionId,
    wanted: &BTreeSet<ProjectPath>,
    cycle: &str,
) -> Result<Vec<Event>, Refusal> {
    let held = now.state.resources.locks.iter().filter(|(_, lock)| lock.session == *session);
    let in_the_way = held.filter(|(held, _)| wanted.iter().any(|path| path.overlaps(held)));
    let still: BTreeSet<ProjectPath> = in_the_way.map(|(path, _)| path.clone()).collect();
    if still.is_empty() {
        return Err(moot(session));
    }
    let files = still.iter().map(ProjectPath::as_str).collect::<Vec<_>>().join(", ");
    let alarm = Alarm {
        kind: FindingKind::Deadlock,
        severity: Severity::Critical,
        source: session.to_string(),
        message: format!("{cycle}: {session} gave up {files}"),
        context: json!({ "session": session, "item": now.item.id, "paths": still, "cycle": cycle }),
    };
    let reason = Release::Preempted;
    let released = LockReleased { paths: still, session: session.clone(), reason, cycle: Some(cycle.to_owned()) };
    Ok(alert::raise(now.state, alarm, now.at).into_iter().chain([released.into()]).collect())
}

/// A session is given up. What it held is free; another session goes on with its work, if there is one.
pub(super) fn lose(
    now: &Now<'_>,
    session: &SessionId,
    since: Moment,
    reason: &str,
    heir: Option<&SessionId>,
) -> Result<Vec<Event>, Refusal> {
    let known = stuck(now, session, since)?;
    let next = heir.map_or_else(|| "nobody goes on with it yet".to_owned(), |heir| format!("{heir} goes on with it"));
    let alarm = Alarm {
        kind: FindingKind::ComponentDown,
        severity: Severity::Error,
        source: session.to_string(),
        message: format!("{session} on item `{}` was given up: {reason}; {next}", now.item.id),
        context: json!({ "session": session, "item": now.item.id, "agent": known.agent, "moved_to": heir }),
    };
    let (agent, moved_to, reason) = (known.agent.clone(), heir.cloned(), reason.to_owned());
    let lost = SessionLost { session: session.clone(), agent, reason, moved_to };
    Ok(alert::raise(now.state, alarm, now.at).into_iter().chain([lost.into()]).collect())
}

/// A human decides what becomes of a session. Asked once, and it holds nobody up.
pub(super) fn ask_about(now: &Now<'_>, session: &SessionId, since: Moment) -> Result<Vec<Event>, Refusal> {
    let known = stuck(now, session, since)?;
    if questions_about(now, session).next().is_some() {
        return Err(moot(session));
    }
    let busy = now.at.since(since).rough();
    let (agent, item) = (&known.agent, &now.item.id);
    let step = now.item.step().unwrap_or("its step");
    let message = format!("{session} has not got on with {step} of item `{item}` for {busy}");
    let question = Question {
        id: now.item.question_id(now.item.asked.saturating_add(1)),
        item: item.clone(),
        from: Asker { agent: agent.clone(), session: session.clone() },
        asked: Party::HUMAN,
        to: Party::HUMAN,
        kind: Kind::Clarifying,
        category: Category::Clarification,
        blocker: Blocker::None,
        topic: format!("{agent} does not get on with item {item}"),
        prompt: format!("{message}. Wait, skip the step, or start it again?"),
        context: Some(format!("Without an answer it is given up after {}.", now.rules.config.monitor.interrupt)),
        details: Some(Map::from_iter([("session".to_owned(), json!(session)), ("since".to_owned(), json!(since))])),
        options: vec![
            choice("wait", "Wait", "It goes on as it is; the clock starts anew"),
            choice("skip", "Skip", "It is given up, and the item goes to its next step"),
            choice("retry", "Retry", "It is given up, and the step is ready to be started again"),
        ],
        expected: Expected::SingleChoice,
        allow_free_text: false,
        blocking: false,
        fallback: None,
        evidence: None,
        tags: vec!["stuck_task".to_owned()],
        round: 1,
        max_rounds: 1,
        status: Status::Open,
        created_at: now.at,
        stale_at: None,
        remind_at: None,
        expires_at: None,
        resume_stage: None,
        answer: None,
        cause: None,
        deliveries: Vec::new(),
        call: None,
        thread: Vec::new(),
        version: 0,
    };
    let asked = QuestionAsked {
        question: Box::new(question),
        pattern: None,
        strict: false,
        about_session: true,
        via: Via::Querent,
    };
    Ok(vec![asked.into()])
}

fn choice(id: &str, label: &str, implications: &str) -> Choice {
    let (id, label) = (id.to_owned(), label.to_owned());
    Choice { id, label, description: None, recommended: false, implications: Some(implications.to_owned()) }
}

/// What follows from a human's answer about a session. To wait needs no event: the session's clock starts with the answer.
pub(super) fn answered(now: &Now<'_>, question: &Question, answer: &Answer) -> Vec<Event> {
    let about = now.item.open.get(&question.id.number).filter(|open| open.about_session);
    let session = &question.from.session;
    let Some(known) = about.and_then(|_| now.item.sessions.get(session)).filter(|it| it.busy_since.is_some()) else {
        return Vec::new();
    };
    let reason = match &answer.value {
        Value::String(choice) if choice == "skip" => "a human chose to skip its step",
        Value::String(choice) if choice == "retry" => "a human chose to start its step again",
        _ => return Vec::new(),
    };
    let moved_to = None;
    let lost =
        SessionLost { session: session.clone(), agent: known.agent.clone(), reason: reason.to_owned(), moved_to };
    let skip = answer.value == json!("skip");
    let step = match &now.item.stage {
        Stage::Step(step) if skip => Some(step),
        _ => None,
    };
    let next = step.and_then(|step| {
        let workflow = now.rules.workflow(&now.item.workflow).ok()?;
        workflow.step(step).filter(|step| step.agent == known.agent)?;
        let (from, to) = (now.item.stage.clone(), workflow.after(step));
        Some(ItemMoved { from, to, reason: Some(reason.to_owned()), question: None, resume_stage: None }.into())
    });
    [lost.into()].into_iter().chain(next).collect()
}

/// The questions about a session that is over, or has come to the end of its turn, are over too, but for those that are settled with it.
pub(super) fn moot_questions(now: &Now<'_>, events: &[Event]) -> Vec<Event> {
    let over: BTreeSet<&SessionId> = events
        .iter()
        .filter_map(|event| match event {
            Event::SessionFinished(it) => Some(&it.session),
            Event::SessionLost(it) => Some(&it.session),
            Event::TurnEnded(it) => Some(&it.session),
            _ => None,
        })
        .collect();
    let settled: Vec<&QuestionId> = events.iter().filter_map(Event::question).collect();
    let moot = over.into_iter().flat_map(|session| questions_about(now, session)).filter(|id| !settled.contains(&id));
    moot.map(|question| {
        let reason = Some("its session is over".to_owned());
        QuestionWithdrawn { question, reason, via: Via::Querent }.into()
    })
    .collect()
}

fn questions_about<'a>(now: &'a Now<'_>, session: &'a SessionId) -> impl Iterator<Item = QuestionId> {
    let about = now.item.open.iter().filter(move |(_, open)| open.about_session && open.session == *session);
    about.map(|(number, _)| now.item.question_id(*number))
}

/// The session, if it still does not get on since then.
fn stuck<'a>(now: &Now<'a>, session: &SessionId, since: Moment) -> Result<&'a Session, Refusal> {
    let known = now.item.sessions.get(session).filter(|it| it.busy_since == Some(since));
    known.ok_or_else(|| moot(session))
}

/// What was found is not so any more.
fn moot(session: &SessionId) -> Refusal {
    let message = format!("{session} is not as it was found to be");
    Refusal::new(Code::InvalidTransition, message, "look again: querent monitor")
}
