//! How events make state. Infallible, and idempotent: an event that a part of the state holds already is passed over.

use crate::assumption::{AssumptionStatus, Reviewed};
use crate::delivery;
use crate::event::{Event, ExpiryEffect, QuestionFollowedUp, Record, SessionParked};
use crate::item::{Item, OpenQuestion, Stage};
use crate::moment::Moment;
use crate::news::Board;
use crate::parked::{Claim, Parked};
use crate::question::{Entry, EntryKind, Question, Status};
use crate::session::Session;
use crate::settled::{Settled, Settlements};
use crate::state::State;
use crate::stream::Stream;
use crate::team::{self, Team};
use crate::{AgentName, Answer, AssumptionId, Fingerprint, Party, Provenance, SessionId, Via};

/// Takes one record into the state. The item and each question fold on their own, so they may lag each other.
pub fn evolve(state: &mut State, record: &Record) {
    match &record.stream {
        Stream::Item(_) => evolve_item(&mut state.item, record),
        Stream::Shared(shared) => return state.evolve_shared(*shared, record),
    }
    let Some(id) = record.event.question() else { return };
    match state.questions.get_mut(id) {
        Some(question) => change_question(question, record),
        None => state.questions.extend(asked(record).map(|question| (id.clone(), question))),
    }
}

/// Takes one record into the item alone. A record of another stream is none of its business.
pub fn evolve_item(item: &mut Option<Item>, record: &Record) {
    match item {
        Some(item) => change_item(item, record),
        None => *item = opened(record),
    }
}

/// The item that a record opens, if it does.
fn opened(record: &Record) -> Option<Item> {
    let (Event::ItemOpened(opened), Some(id)) = (&record.event, record.stream.item()) else { return None };
    Some(Item {
        id: id.clone(),
        title: opened.title.clone(),
        workflow: opened.workflow.clone(),
        stage: opened.stage.clone(),
        resume_stage: None,
        awaiting_since: None,
        status_reason: None,
        needs_rework: false,
        blocked_by: None,
        opened_at: record.at,
        updated_at: record.at,
        sessions: std::collections::BTreeMap::new(),
        asked: 0,
        open: std::collections::BTreeMap::new(),
        answered: std::collections::BTreeSet::new(),
        autonomy: opened.autonomy,
        assumptions: std::collections::BTreeMap::new(),
        settled: Settlements::default(),
        parked: std::collections::BTreeMap::new(),
        board: Board::default(),
        team: Team::default(),
        version: record.version,
    })
}

/// Takes one record into an item that is there, in place: it may be large.
pub fn change_item(item: &mut Item, record: &Record) {
    let is_opening = matches!(record.event, Event::ItemOpened(_));
    if is_opening || record.stream != item.id || item.version >= record.version {
        return;
    }
    item.version = record.version;
    item.updated_at = record.at;
    item.board.evolve(record);
    item.team.evolve(record);
    match record.event.question().map(|id| id.number) {
        Some(number) => item_learns_of_question(item, number, record),
        None => item_changes(item, record),
    }
}

fn item_changes(item: &mut Item, record: &Record) {
    match &record.event {
        Event::ItemMoved(moved) => {
            item.stage = moved.to.clone();
            item.status_reason.clone_from(&moved.reason);
            item.blocked_by.clone_from(&moved.question);
            item.resume_stage.clone_from(&moved.resume_stage);
            item.awaiting_since = None;
        }
        Event::ItemPaused(paused) => {
            item.stage = Stage::AwaitingInput;
            item.resume_stage = Some(paused.resume_stage.clone());
            item.awaiting_since = Some(record.at);
            item.status_reason = None;
            item.blocked_by = None;
        }
        Event::ItemResumed(resumed) => {
            item.stage = resumed.to.clone();
            item.status_reason = Some(resumed.reason.clone());
            item.resume_stage = None;
            item.awaiting_since = None;
            item.blocked_by = None;
        }
        Event::ItemEnded(ended) => {
            item.stage = ended.outcome.into();
            item.status_reason.clone_from(&ended.reason);
            item.resume_stage = None;
            item.awaiting_since = None;
            item.blocked_by = None;
            item.sessions.values_mut().for_each(leave);
        }
        Event::SessionStarted(it) => {
            let session = hear_of(item, record, &it.session, &it.agent);
            session.finished = false;
            session.lost = false;
            session.busy_since = Some(record.at);
            session.process.clone_from(&it.process);
        }
        Event::SessionFinished(it) => leave(hear_of(item, record, &it.session, &it.agent)),
        Event::SessionLost(it) => {
            if let Some(session) = item.sessions.get_mut(&it.session) {
                leave(session);
                session.lost = true;
            }
            if let Some(heir) = &it.moved_to {
                let session = hear_of(item, record, heir, &it.agent);
                session.finished = false;
                session.busy_since = Some(record.at);
            }
        }
        Event::AssumptionRecorded(it) => {
            item.assumptions.insert(it.assumption.id.number, (*it.assumption).clone());
        }
        Event::AssumptionConfirmed(it) => {
            judge(item, record, &it.assumption, AssumptionStatus::Confirmed, it.note.as_deref());
        }
        Event::AssumptionOverturned(it) => {
            judge(item, record, &it.assumption, AssumptionStatus::Overturned, it.note.as_deref());
            item.needs_rework = true;
        }
        _ => session_waits(item, record),
    }
}

/// What becomes of sessions that Querent invokes, and of those that wait outside of any process.
fn session_waits(item: &mut Item, record: &Record) {
    match &record.event {
        Event::TurnBegun(it) => {
            let session = hear_of(item, record, &it.session, &it.agent);
            session.busy_since = Some(record.at);
            session.process.clone_from(&it.process);
        }
        Event::TurnNoted(it) => gets_on(item, record, &it.session),
        Event::TurnSaid(it) => gets_on(item, record, &it.session),
        // Between turns nobody is at work: a session that waits to go on is not one that does not get on.
        Event::TurnEnded(it) => {
            let session = hear_of(item, record, &it.session, &it.agent);
            (session.busy_since, session.process) = (None, None);
        }
        Event::SessionParked(it) => {
            let session = hear_of(item, record, &it.session, &it.agent);
            stir(session, record.at);
            item.parked.insert(it.question.number, parked(it, record.at));
        }
        Event::SessionWoken(it) => match item.parked.get_mut(&it.question.number).filter(|_| it.kept) {
            Some(parked) => parked.call = None,
            None => drop(item.parked.remove(&it.question.number)),
        },
        Event::SessionClaimed(it) => {
            if let Some(parked) = item.parked.get_mut(&it.question.number) {
                parked.claim = Some(Claim { process: it.process.clone(), at: record.at });
            }
        }
        Event::SessionResumed(it) => match item.parked.get_mut(&it.question.number).filter(|_| it.parked) {
            Some(parked) => parked.claim = None,
            None => drop(item.parked.remove(&it.question.number)),
        },
        _ => {}
    }
}

fn parked(it: &SessionParked, at: Moment) -> Parked {
    Parked {
        session: it.session.clone(),
        agent: it.agent.clone(),
        program: it.program,
        handle: it.handle.clone(),
        directory: it.directory.clone(),
        call: it.call.clone(),
        since: at,
        claim: None,
    }
}

/// The session, which is heard of now. One that starts again is the same one.
fn hear_of<'a>(item: &'a mut Item, record: &Record, id: &SessionId, agent: &AgentName) -> &'a mut Session {
    let fresh = || Session {
        agent: agent.clone(),
        finished: false,
        last_activity: record.at,
        busy_since: None,
        lost: false,
        process: None,
        strict: None,
    };
    let session = item.sessions.entry(id.clone()).or_insert_with(fresh);
    session.agent.clone_from(agent);
    session.last_activity = record.at;
    session
}

fn leave(session: &mut Session) {
    session.finished = true;
    session.busy_since = None;
}

fn gets_on(item: &mut Item, record: &Record, id: &SessionId) {
    if let Some(session) = item.sessions.get_mut(id) {
        session.last_activity = record.at;
        stir(session, record.at);
    }
}

/// The session gets on: whoever watches it begins to count anew.
fn stir(session: &mut Session, at: Moment) {
    session.busy_since = session.busy_since.map(|_| at);
}

fn judge(item: &mut Item, record: &Record, id: &AssumptionId, status: AssumptionStatus, note: Option<&str>) {
    if let Some(assumption) = item.assumptions.get_mut(&id.number) {
        assumption.status = status;
        assumption.reviewed = Some(Reviewed { by: record.by.clone(), at: record.at, note: note.map(str::to_owned) });
    }
}

fn item_learns_of_question(item: &mut Item, number: u32, record: &Record) {
    let asker = item.open.get(&number).map(|open| open.session.clone());
    match &record.event {
        Event::QuestionAsked(it) => {
            let question = &it.question;
            item.asked = item.asked.max(number);
            let (pattern, strict, about_session) = (it.pattern, it.strict, it.about_session);
            item.open.insert(number, OpenQuestion { pattern, strict, about_session, ..OpenQuestion::of(question) });
            if about_session {
                return;
            }
            let session = hear_of(item, record, &question.from.session, &question.from.agent);
            session.finished = false;
            session.lost = false;
            stir(session, record.at);
            session.strict = session.strict.or(strict.then_some(number));
            return;
        }
        Event::QuestionFollowedUp(it) => waits(item, number, &it.waits),
        Event::QuestionEscalated(it) => waits(item, number, &it.waits),
        Event::QuestionAnswered(it) => {
            let pattern = item.open.remove(&number).and_then(|open| open.pattern);
            remember(item, number, pattern, &it.answer);
            if it.status == Status::Answered {
                item.answered.insert(number);
            }
        }
        Event::QuestionStale(it) => {
            if let Some(open) = item.open.get_mut(&number) {
                open.status = Status::Stale;
                open.due = Some(it.stale_at).into_iter().chain(open.expires_at).min();
            }
        }
        Event::QuestionReminded(it) => waits(item, number, &it.waits),
        Event::QuestionResolved(it) => {
            let pattern = item.open.remove(&number).and_then(|open| open.pattern);
            item.answered.remove(&number);
            if let Some(answer) = &it.answer {
                remember(item, number, pattern, answer);
            }
        }
        Event::QuestionExpired(_) | Event::QuestionWithdrawn(_) => {
            item.open.remove(&number);
            item.answered.remove(&number);
        }
        Event::LateAnswerRecorded(it) => {
            item.needs_rework |= it.differs;
            remember(item, number, it.pattern, &it.answer);
        }
        _ => {}
    }
    if let Some(session) = record.by.agent().and_then(|agent| item.sessions.values_mut().find(|it| it.agent == *agent))
    {
        session.last_activity = record.at;
        stir(session, record.at);
    }
    if let Some(session) = asker.filter(|_| !item.open.contains_key(&number)).and_then(|id| item.sessions.get_mut(&id))
    {
        stir(session, record.at);
    }
}

fn waits(item: &mut Item, number: u32, waits: &OpenQuestion) {
    item.answered.remove(&number);
    let settled = item.settled.remove(number).map(|it| it.pattern);
    let open = item.open.remove(&number);
    let (strict, about_session) = open.as_ref().map_or((false, false), |open| (open.strict, open.about_session));
    let pattern = open.map_or(settled, |open| open.pattern);
    item.open.insert(number, OpenQuestion { pattern, strict, about_session, ..waits.clone() });
}

/// What somebody answered is remembered. What nobody said (a fallback, a learned answer) is not.
fn remember(item: &mut Item, number: u32, pattern: Option<Fingerprint>, answer: &Answer) {
    if let (Some(pattern), Provenance::Human | Provenance::Agent) = (pattern, answer.provenance) {
        let human = answer.provenance == Provenance::Human;
        item.settled.insert(number, Settled { pattern, at: answer.at, human });
    }
}

/// Takes one record into the question that it is about, alone.
pub fn evolve_question(question: &mut Option<Question>, record: &Record) {
    match question {
        Some(question) => change_question(question, record),
        None => *question = asked(record),
    }
}

/// The question that a record opens, if it does.
fn asked(record: &Record) -> Option<Question> {
    let Event::QuestionAsked(asked) = &record.event else { return None };
    let mut fresh = (*asked.question).clone();
    fresh.version = record.version;
    let body = fresh.prompt.clone();
    say(&mut fresh, record, EntryKind::Question, body, asked.via);
    Some(fresh)
}

/// Takes one record into a question that is there, in place.
pub fn change_question(question: &mut Question, record: &Record) {
    if matches!(record.event, Event::QuestionAsked(_)) || question.version >= record.version {
        return;
    }
    question.version = record.version;
    question_changes(question, record);
    team::evolve_call(question, record);
}

fn question_changes(question: &mut Question, record: &Record) {
    match &record.event {
        Event::QuestionFollowedUp(it) => followed_up(question, record, it),
        Event::QuestionAnswered(it) => {
            question.status = it.status;
            answered(question, record, EntryKind::Answer, &it.answer);
        }
        Event::QuestionResolved(it) => {
            question.status = Status::Resolved;
            if let Some(answer) = &it.answer {
                question.answer = Some(answer.clone());
            }
            say(question, record, EntryKind::Resolution, it.note.clone().unwrap_or_default(), it.via);
        }
        Event::QuestionStale(it) => {
            question.status = Status::Stale;
            question.stale_at = Some(it.stale_at);
        }
        Event::QuestionRetried(it) => {
            say(
                question,
                record,
                EntryKind::Retry,
                format!("no answer in time; {} is called again", it.to),
                Via::Querent,
            );
        }
        Event::QuestionEscalated(it) => {
            question.status = Status::Escalated;
            question.cause = Some(it.cause);
            question.to = Party::HUMAN;
            question.answer = None;
            question.stale_at = None;
            question.remind_at = it.remind_at;
            question.expires_at = it.expires_at;
            question.resume_stage.clone_from(&it.resume_stage);
            say(question, record, EntryKind::Escalation, it.summary.clone(), it.via);
        }
        Event::QuestionReminded(it) => {
            question.remind_at = it.remind_at;
            question.expires_at = it.expires_at;
            let waited = record.at.since(question.created_at).rough();
            let whom = question.to.agent().map_or("a human", AgentName::as_str);
            let body = format!("no answer from {whom} for {waited}");
            say(question, record, EntryKind::Reminder, body, Via::Querent);
        }
        Event::QuestionExpired(it) => {
            question.status = Status::Expired;
            question.answer.clone_from(&it.answer);
            say(question, record, EntryKind::Expiry, expiry(it.effect, question), Via::Querent);
            if let (Some(answer), Some(entry)) = (&it.answer, question.thread.last_mut()) {
                entry.value = Some(answer.value.clone());
            }
        }
        Event::QuestionWithdrawn(it) => {
            question.status = Status::Withdrawn;
            say(question, record, EntryKind::Withdrawal, it.reason.clone().unwrap_or_default(), it.via);
        }
        Event::LateAnswerRecorded(it) => answered(question, record, EntryKind::LateAnswer, &it.answer),
        _ => delivery::evolve(question, record),
    }
}

fn followed_up(question: &mut Question, record: &Record, it: &QuestionFollowedUp) {
    question.round = it.round;
    question.status = Status::Open;
    question.answer = None;
    question.stale_at = it.stale_at;
    question.expires_at = it.waits.expires_at;
    say(question, record, EntryKind::Question, it.prompt.clone(), it.via);
    if let (Some(from), Some(entry)) = (&it.from, question.thread.last_mut()) {
        entry.from.clone_from(from);
    }
}

fn answered(question: &mut Question, record: &Record, kind: EntryKind, answer: &crate::Answer) {
    question.answer = Some(answer.clone());
    delivery::answered(question, answer.via, record.at);
    let body = match (&answer.learned, &answer.note) {
        (Some(from), _) => format!("{} ({}, learned from {})", answer.text, from.id, from.question_id),
        (None, Some(note)) => format!("{}\n\n{note}", answer.text),
        (None, None) => answer.text.clone(),
    };
    say(question, record, kind, body, answer.via);
    if let Some(entry) = question.thread.last_mut() {
        entry.from = answer.by.clone();
        entry.value = Some(answer.value.clone());
    }
}

fn expiry(effect: ExpiryEffect, question: &Question) -> String {
    match (effect, &question.fallback, &question.answer) {
        (ExpiryEffect::Fallback, Some(fallback), Some(answer)) => {
            format!("nobody answered; taking {} because {}", answer.text, fallback.reason)
        }
        (ExpiryEffect::Block, _, _) => "nobody answered; the item is blocked".to_owned(),
        (ExpiryEffect::Fail, _, _) => "nobody answered; the item has failed".to_owned(),
        _ => "nobody answered".to_owned(),
    }
}

fn say(question: &mut Question, record: &Record, kind: EntryKind, body: String, via: Via) {
    question.thread.push(Entry {
        seq: u32::try_from(question.thread.len()).unwrap_or(u32::MAX).saturating_add(1),
        round: question.round,
        from: record.by.clone(),
        kind,
        body,
        value: None,
        via,
        at: record.at,
    });
}

/// The state of one item, and of what all items share, folded from their records.
pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>) -> State {
    let mut state = State::default();
    for record in records {
        evolve(&mut state, record);
    }
    state
}
