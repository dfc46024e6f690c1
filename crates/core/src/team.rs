//! A team that Querent runs: the turns of its agents, what they are told, and the events that they listen to.

mod deed;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{Event, Record, TurnOutcome};
use crate::id::{AgentName, EventName, ProgramHandle, QuestionId, SessionId};
use crate::item::{Item, Stage};
use crate::moment::{Moment, Span};
use crate::parked::Claim;
use crate::party::Party;
use crate::policy::Rules;
use crate::question::Question;
use crate::session::{Process, Session};

pub use deed::{CallDeed, TurnDeed};

/// How many messages an item keeps for those who have not heard them.
const MOST_MESSAGES: usize = 32;
/// How often a turn may fail in a row before the item is blocked.
pub(crate) const FAILURES: u32 = 2;
/// How often work may be rejected by a gate in a row before the item is blocked.
pub(crate) const REJECTIONS: u32 = 3;
/// How many events may follow from each other before somebody must look.
pub(crate) const MOST_HOPS: u32 = 8;

/// What an item knows of the team that works on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Team {
    /// The turns of each session that Querent invokes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub turns: BTreeMap<SessionId, Turns>,
    /// The last messages, each by the version of the item that brought it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub messages: BTreeMap<u64, Message>,
    /// How many were sent.
    pub sent: u32,
    /// The events that somebody has yet to hear of, by number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub happenings: BTreeMap<u32, Happening>,
    /// How many there were.
    pub emitted: u32,
    /// All that ever happened, by name: what steps wait for.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub happened: BTreeSet<EventName>,
}

/// The turns of one session: the one under way, or the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    /// What it is for.
    pub purpose: Purpose,
    /// Its number; 1 for the first.
    pub number: u32,
    /// How often it was begun.
    pub attempt: u32,
    /// Who drives it; none when it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// The process that the agent itself runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Process>,
    /// What the program itself calls its session, by which it is resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<ProgramHandle>,
    /// How often in a row it came to nothing.
    #[serde(default)]
    pub failures: u32,
    /// How often in a row what it made did not pass a gate.
    #[serde(default)]
    pub rejections: u32,
    /// How the last one ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<TurnOutcome>,
    /// What was said at the last end, or why it came to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// How long all turns of the session worked.
    pub worked: Span,
    /// The version of the item when the turn began.
    pub begun: u64,
    /// The version up to which the agent knows what happened: when the last turn began that was not in vain.
    pub told: u64,
}

/// What a turn is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A step of the workflow.
    Step(String),
    /// An event of the item, by its number.
    Happening(u32),
}

/// Something that a person, or another agent, told the agents of an item. It answers no question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// What was said.
    pub text: String,
    /// By whom.
    pub by: Party,
    /// When.
    pub at: Moment,
    /// Whom it is for; whoever works next, if nobody is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<AgentName>,
}

/// Something that happened, and who has yet to hear of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Happening {
    /// What.
    pub event: EventName,
    /// In detail.
    #[serde(default, skip_serializing_if = "Value::is_null", serialize_with = "crate::canonical::value")]
    pub data: Value,
    /// Who said so.
    pub by: Party,
    /// When.
    pub at: Moment,
    /// How many events led to it.
    pub hops: u32,
    /// The agents that have yet to hear of it.
    pub pending: BTreeSet<AgentName>,
    /// How often in a row the turn of an agent came to nothing that was to hear of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<AgentName, u32>,
}

impl Happening {
    /// Whether an agent is not invoked for it any more, because that came to nothing again and again.
    fn is_given_up(&self, agent: &AgentName) -> bool {
        self.failures.get(agent).is_some_and(|failures| *failures >= FAILURES)
    }
}

/// The agent that was asked, and how often it was invoked in this round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The round.
    pub round: u32,
    /// How often it was invoked in it.
    pub attempt: u32,
    /// Who does so now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// How often in a row it came to nothing.
    pub failures: u32,
    /// Why, the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What is to be done on an item now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// An agent is to be invoked.
    Turn {
        /// The agent.
        agent: AgentName,
        /// Its session.
        session: SessionId,
        /// What for.
        purpose: Purpose,
    },
    /// An agent is invoked already, unless whoever does so is gone.
    Driven {
        /// The agent.
        agent: AgentName,
        /// Its session.
        session: SessionId,
        /// What for.
        purpose: Purpose,
        /// Who does.
        claim: Claim,
        /// The process that the agent itself runs in.
        program: Option<Process>,
    },
    /// It waits for an answer.
    Waits(QuestionId),
    /// It waits for something to happen.
    WaitsFor(EventName),
    /// Its agent is not invoked by Querent: it comes by itself.
    Outside(AgentName),
    /// There is nothing left for agents to do.
    Over,
}

/// What is to be done on an item now. Costs what is open on it.
pub fn work(item: &Item, rules: &Rules) -> Work {
    if let Some((session, turns, claim)) = item.team.driven() {
        let agent = item.sessions.get(session).map(|it| it.agent.clone());
        if let Some(agent) = agent {
            let (session, purpose) = (session.clone(), turns.purpose.clone());
            return Work::Driven { agent, session, purpose, claim: claim.clone(), program: turns.program.clone() };
        }
    }
    if item.stage == Stage::AwaitingInput {
        return item.blocking_human().next().map_or(Work::Over, |(id, _)| Work::Waits(id));
    }
    if let Some(work) = happening(item, rules) {
        return work;
    }
    let Stage::Step(name) = &item.stage else { return Work::Over };
    let Some(step) = rules.workflow(&item.workflow).ok().and_then(|it| it.step(name)) else { return Work::Over };
    let (agent, session) = (step.agent.clone(), SessionId::of(&step.agent, &item.id));
    let purpose = Purpose::Step(name.clone());
    if let Some(id) = item.team_question(&session).or_else(|| held(item, &session, &purpose)) {
        return Work::Waits(id);
    }
    if let Some(event) = step.waits_for.iter().find(|event| !item.team.happened.contains(*event)) {
        return Work::WaitsFor(event.clone());
    }
    match rules.agent(&agent) {
        Ok(it) if it.provider.is_some() => Work::Turn { agent, session, purpose },
        _ => Work::Outside(agent),
    }
}

/// The question of somebody else that keeps an item in a step whose agent has done its work.
fn held(item: &Item, session: &SessionId, purpose: &Purpose) -> Option<QuestionId> {
    let last = item.team.turns.get(session)?;
    if last.purpose != *purpose || last.outcome != Some(TurnOutcome::Done) {
        return None;
    }
    item.open.iter().find(|(_, it)| it.blocking).map(|(number, _)| item.question_id(*number))
}

/// The first event that an agent has yet to hear of. An item that has ended has none any more. Whoever is in the midst of
/// the step hears of it after that: other work would begin a fresh session of its program.
fn happening(item: &Item, rules: &Rules) -> Option<Work> {
    if item.has_ended() {
        return None;
    }
    let invoked = |agent: &AgentName| rules.agent(agent).is_ok_and(|it| it.provider.is_some());
    let free = |agent: &AgentName| !item.team.is_amid(&SessionId::of(agent, &item.id), &item.stage);
    item.team.happenings.iter().find_map(|(number, it)| {
        let agent = it.pending.iter().find(|agent| invoked(agent) && free(agent) && !it.is_given_up(agent))?.clone();
        let session = SessionId::of(&agent, &item.id);
        Some(match item.team_question(&session) {
            Some(id) => Work::Waits(id),
            None => Work::Turn { agent, session, purpose: Purpose::Happening(*number) },
        })
    })
}

impl Item {
    /// The first blocking question that a session waits for.
    pub fn team_question(&self, session: &SessionId) -> Option<QuestionId> {
        let own = self.open.iter().find(|(_, it)| it.blocking && it.session == *session);
        own.map(|(number, _)| self.question_id(*number))
    }
}

impl Team {
    /// Whether nothing is known of it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The turn under way; an item has one at a time.
    pub fn driven(&self) -> Option<(&SessionId, &Turns, &Claim)> {
        self.turns.iter().find_map(|(session, it)| Some((session, it, it.claim.as_ref()?)))
    }

    /// Whether a session has begun the step in which the item stands, and has not done it.
    fn is_amid(&self, session: &SessionId, stage: &Stage) -> bool {
        let in_step = |it: &&Turns| matches!((&it.purpose, stage), (Purpose::Step(a), Stage::Step(b)) if a == b);
        self.turns.get(session).filter(in_step).is_some_and(|it| it.outcome != Some(TurnOutcome::Done))
    }

    /// The messages that a session of this agent has not heard, oldest first.
    pub fn unheard<'a>(&'a self, agent: &'a AgentName, session: &SessionId) -> impl Iterator<Item = &'a Message> {
        let told = self.turns.get(session).map_or(0, |it| it.told);
        let after = self.messages.range(told.saturating_add(1)..).map(|(_, it)| it);
        after.filter(move |it| it.to.as_ref().is_none_or(|to| to == agent))
    }

    /// How many events led to what an agent does now.
    pub(crate) fn hops(&self, by: &Party, sessions: &BTreeMap<SessionId, Session>) -> u32 {
        let Some((session, turns, _)) = self.driven() else { return 0 };
        let own = sessions.get(session).is_some_and(|it| by.agent() == Some(&it.agent));
        match turns.purpose {
            Purpose::Happening(number) if own => self.happenings.get(&number).map_or(0, |it| it.hops + 1),
            _ => 0,
        }
    }

    /// Takes a record of the item in.
    pub(crate) fn evolve(&mut self, record: &Record) {
        match &record.event {
            Event::TurnBegun(it) => {
                let known = self.turns.remove(&it.session);
                // An item has one turn at a time: whoever drove another is gone.
                self.turns.values_mut().for_each(|it| it.claim = None);
                let claim = Some(Claim { process: it.process.clone(), at: record.at });
                self.turns.insert(
                    it.session.clone(),
                    begun(known, &it.purpose, it.number, it.attempt, claim, record.version),
                );
            }
            Event::TurnNoted(it) => {
                if let Some(turns) = self.turns.get_mut(&it.session) {
                    turns.program = it.program.clone().or_else(|| turns.program.take());
                    turns.handle = it.handle.clone().or_else(|| turns.handle.take());
                }
            }
            Event::TurnEnded(it) => {
                if let Some(turns) = self.turns.get_mut(&it.session) {
                    ended(turns, it.outcome, it.said.clone(), it.worked);
                    if let Purpose::Happening(number) = turns.purpose {
                        heard(&mut self.happenings, number, &it.agent, it.outcome);
                    }
                }
            }
            // Somebody saw to it: what failed before may be tried again.
            Event::ItemMoved(it) if it.to != Stage::Blocked => {
                self.turns.values_mut().for_each(|it| (it.failures, it.rejections) = (0, 0));
                self.happenings.values_mut().for_each(|it| it.failures.clear());
            }
            Event::MessageSent(it) => {
                self.sent = self.sent.max(it.number);
                let message =
                    Message { text: it.text.clone(), by: record.by.clone(), at: record.at, to: it.to.clone() };
                self.messages.insert(record.version, message);
                if self.messages.len() > MOST_MESSAGES {
                    self.messages.pop_first();
                }
            }
            Event::EventEmitted(it) => {
                self.emitted = self.emitted.max(it.number);
                self.happened.insert(it.event.clone());
                let happening = Happening {
                    event: it.event.clone(),
                    data: it.data.clone(),
                    by: record.by.clone(),
                    at: record.at,
                    hops: it.hops,
                    pending: it.to.iter().cloned().collect(),
                    failures: BTreeMap::new(),
                };
                if !happening.pending.is_empty() {
                    self.happenings.insert(it.number, happening);
                }
            }
            _ => {}
        }
    }
}

fn begun(
    known: Option<Turns>,
    purpose: &Purpose,
    number: u32,
    attempt: u32,
    claim: Option<Claim>,
    version: u64,
) -> Turns {
    let known = known.unwrap_or_else(|| Turns {
        purpose: purpose.clone(),
        number,
        attempt,
        claim: None,
        program: None,
        handle: None,
        failures: 0,
        rejections: 0,
        outcome: None,
        said: None,
        worked: Span::millis(0),
        begun: 0,
        told: 0,
    });
    let turns = Turns { number, attempt, claim, program: None, begun: version, ..known };
    if turns.purpose == *purpose {
        return turns;
    }
    // Other work is begun in a fresh session of the program.
    Turns { purpose: purpose.clone(), handle: None, failures: 0, rejections: 0, outcome: None, said: None, ..turns }
}

fn ended(turns: &mut Turns, outcome: TurnOutcome, said: Option<String>, worked: Span) {
    (turns.claim, turns.program, turns.outcome) = (None, None, Some(outcome));
    turns.worked = Span::millis(turns.worked.as_millis().saturating_add(worked.as_millis()));
    match outcome {
        TurnOutcome::Failed => turns.failures += 1,
        TurnOutcome::Rejected => (turns.rejections, turns.failures) = (turns.rejections + 1, 0),
        TurnOutcome::Done => (turns.rejections, turns.failures) = (0, 0),
        TurnOutcome::Asked => turns.failures = 0,
        TurnOutcome::Stopped => {}
    }
    if outcome != TurnOutcome::Stopped {
        turns.said = said;
    }
    if !matches!(outcome, TurnOutcome::Stopped | TurnOutcome::Failed) {
        turns.told = turns.begun;
    }
}

/// What a turn made of an event that its agent was to hear of.
fn heard(happenings: &mut BTreeMap<u32, Happening>, number: u32, agent: &AgentName, outcome: TurnOutcome) {
    let Some(it) = happenings.get_mut(&number) else { return };
    match outcome {
        TurnOutcome::Failed | TurnOutcome::Rejected => *it.failures.entry(agent.clone()).or_default() += 1,
        TurnOutcome::Asked => drop(it.failures.remove(agent)),
        TurnOutcome::Done => drop(it.pending.remove(agent)),
        TurnOutcome::Stopped => {}
    }
    if it.pending.is_empty() {
        happenings.remove(&number);
    }
}

/// Takes a record into what is known of the agent that was asked.
pub(crate) fn evolve_call(question: &mut Question, record: &Record) {
    match &record.event {
        Event::AgentCalled(it) => {
            let failures = question.call.take().filter(|known| known.round == it.round).map_or(0, |it| it.failures);
            let claim = Some(Claim { process: it.process.clone(), at: record.at });
            question.call = Some(Call { round: it.round, attempt: it.attempt, claim, failures, error: None });
        }
        Event::AgentCallFailed(it) => {
            if let Some(call) = question.call.as_mut().filter(|call| call.round == it.round) {
                (call.claim, call.failures) = (None, call.failures + 1);
                call.error = Some(it.error.clone());
            }
        }
        // Nobody is called for what is settled, is a human's to decide, or is asked anew.
        _ => {
            let is_asked = question.status.is_open() && question.to.agent().is_some();
            question.call = question.call.take().filter(|call| is_asked && call.round == question.round);
        }
    }
}
