//! An agent is invoked by one at a time, and what it did is recorded once.

use serde_json::json;

use super::{Now, alert, bounds, emit};
use crate::alert::Alarm;
use crate::event::{
    Event, ItemMoved, QuestionResolved, SessionFinished, SessionStarted, Tokens, TurnBegun, TurnEnded, TurnNoted,
    TurnOutcome, TurnSaid,
};
use crate::id::{AgentName, EventName, SessionId};
use crate::item::Stage;
use crate::moment::Span;
use crate::monitor::{FindingKind, Severity};
use crate::parked::Claim;
use crate::party::Via;
use crate::refusal::{Code, Refusal};
use crate::session::Process;
use crate::team::{FAILURES, Purpose, REJECTIONS, TurnDeed, Turns, Work, work};

/// The longest text of a turn's end that is kept, in characters.
const LONGEST_SAID: usize = 4_000;

pub(super) fn decide(now: &Now<'_>, session: &SessionId, deed: &TurnDeed) -> Result<Vec<Event>, Refusal> {
    match deed {
        TurnDeed::Begin { purpose, process, over } => begin(now, session, purpose, process.as_ref(), over.as_ref()),
        TurnDeed::Note { claim, program, handle } => {
            let turns = driven(now, session, claim)?;
            let (number, session) = (turns.number, session.clone());
            Ok(vec![TurnNoted { session, number, program: program.clone(), handle: handle.clone() }.into()])
        }
        TurnDeed::Say { claim, kind, text } => {
            let number = driven(now, session, claim)?.number;
            let text = bounds::cut(text, LONGEST_SAID);
            Ok(vec![TurnSaid { session: session.clone(), number, kind: *kind, text }.into()])
        }
        TurnDeed::End { claim, outcome, said, artifacts, worked, tokens } => {
            let turns = driven(now, session, claim)?;
            let said = said.as_deref().map(|said| bounds::cut(said, LONGEST_SAID));
            let end = End { session, turns, said, artifacts, worked: *worked, tokens: *tokens };
            end.decide(now, *outcome)
        }
    }
}

fn begin(
    now: &Now<'_>,
    session: &SessionId,
    purpose: &Purpose,
    process: Option<&Process>,
    over: Option<&Claim>,
) -> Result<Vec<Event>, Refusal> {
    let facts = json!({ "item": now.item.id, "session": session });
    if let Some((_, _, claim)) = now.item.team.driven().filter(|(_, _, claim)| over != Some(claim)) {
        let message = format!("an agent is at work on item `{}` since {}", now.item.id, claim.at);
        return Err(Refusal::new(Code::Conflict, message, "leave it to those who invoked it").with(facts));
    }
    let mut free = now.item.clone();
    free.team.turns.values_mut().for_each(|it| it.claim = None);
    let Work::Turn { agent, .. } = (match work(&free, now.rules) {
        Work::Turn { session: due, purpose: what, agent } if due == *session && what == *purpose => {
            Work::Turn { session: due, purpose: what, agent }
        }
        _ => Work::Over,
    }) else {
        let message = format!("`{session}` has nothing to do on item `{}` (any more)", now.item.id);
        return Err(Refusal::new(Code::InvalidTransition, message, "look again: querent ready").with(facts));
    };
    let known = now.item.team.turns.get(session);
    let (number, attempt) = match known {
        Some(it) if it.claim.is_some() && it.purpose == *purpose => (it.number, it.attempt + 1),
        known => (known.map_or(0, |it| it.number) + 1, 1),
    };
    let is_at_work = now.item.sessions.get(session).is_some_and(|it| !it.finished && !it.lost);
    let process = process.cloned();
    let started = SessionStarted { session: session.clone(), agent: agent.clone(), process: process.clone() };
    let begun = TurnBegun { session: session.clone(), agent, purpose: purpose.clone(), number, attempt, process };
    let started = (!is_at_work).then(|| started.into());
    Ok(started.into_iter().chain([begun.into()]).collect())
}

/// The turn that is driven under this claim.
fn driven<'a>(now: &Now<'a>, session: &SessionId, claim: &Claim) -> Result<&'a Turns, Refusal> {
    let turns = now.item.team.turns.get(session).filter(|it| it.claim.as_ref() == Some(claim));
    turns.ok_or_else(|| {
        let message = format!("no turn of `{session}` is driven under this claim (any more)");
        Refusal::new(Code::Conflict, message, "leave it to those who drive it").with(json!({ "session": session }))
    })
}

/// A turn at its end.
struct End<'a> {
    session: &'a SessionId,
    turns: &'a Turns,
    said: Option<String>,
    artifacts: &'a [String],
    worked: Span,
    tokens: Option<Tokens>,
}

impl End<'_> {
    fn decide(self, now: &Now<'_>, outcome: TurnOutcome) -> Result<Vec<Event>, Refusal> {
        let known = now.item.sessions.get(self.session).map(|it| it.agent.clone());
        let agent =
            known.ok_or_else(|| Refusal::invalid("session", "there is no such session", "look: querent state"))?;
        // A question and a result in one turn: the question wins.
        let waits = now.item.stage == Stage::AwaitingInput || now.item.team_question(self.session).is_some();
        let outcome = if outcome == TurnOutcome::Done && waits { TurnOutcome::Asked } else { outcome };
        let mut events = vec![self.ended(&agent, outcome)];
        match outcome {
            TurnOutcome::Done => events.extend(self.done(now, &agent)),
            _ if self.is_over(now, &agent, outcome) => events.extend(self.given_up(now, &agent, outcome)),
            _ => events.extend(self.out_of_budget(now, &agent)),
        }
        Ok(events)
    }

    /// Whether it came to nothing once too often.
    fn is_over(&self, now: &Now<'_>, agent: &AgentName, outcome: TurnOutcome) -> bool {
        match (&self.turns.purpose, outcome) {
            (Purpose::Step(_), TurnOutcome::Failed) => self.turns.failures + 1 >= FAILURES,
            (Purpose::Step(_), TurnOutcome::Rejected) => self.turns.rejections + 1 >= REJECTIONS,
            (Purpose::Happening(number), TurnOutcome::Failed | TurnOutcome::Rejected) => {
                let failures = now.item.team.happenings.get(number).and_then(|it| it.failures.get(agent));
                failures.copied().unwrap_or_default() + 1 >= FAILURES
            }
            _ => false,
        }
    }

    fn ended(&self, agent: &AgentName, outcome: TurnOutcome) -> Event {
        TurnEnded {
            session: self.session.clone(),
            agent: agent.clone(),
            number: self.turns.number,
            outcome,
            said: self.said.clone(),
            artifacts: self.artifacts.to_vec(),
            worked: self.worked,
            tokens: self.tokens,
        }
        .into()
    }

    /// What it asked and went on from is settled; its step is over.
    fn done(&self, now: &Now<'_>, agent: &AgentName) -> Vec<Event> {
        let answered =
            now.item.answered.iter().filter_map(|number| now.state.questions.get(&now.item.question_id(*number)));
        let own = answered.filter(|question| question.from.session == *self.session);
        let mut events: Vec<Event> = own
            .map(|question| {
                let note = Some(format!("{agent} went on with it"));
                QuestionResolved { question: question.id.clone(), note, answer: None, via: Via::Team }.into()
            })
            .collect();
        events.push(self.finished(agent));
        let (Purpose::Step(step), Stage::Step(stands)) = (&self.turns.purpose, &now.item.stage) else { return events };
        let Ok(workflow) = now.rules.workflow(&now.item.workflow) else { return events };
        if step == stands && !now.item.has_open_blocking() {
            let (from, to) = (now.item.stage.clone(), workflow.after(step));
            events.push(ItemMoved { from, to, reason: None, question: None, resume_stage: None }.into());
            events.extend(self.completed(now, step));
        }
        events
    }

    /// The end of a step is an event like any other.
    fn completed(&self, now: &Now<'_>, step: &str) -> Option<Event> {
        let event: EventName = format!("{step}.completed").to_lowercase().parse().ok()?;
        emit::heard(now, event, json!({ "step": step, "summary": self.said, "artifacts": self.artifacts }))
    }

    /// The item is blocked. Where it stands in no step, or in another by now, it stays there, and people are told of an
    /// event that nobody takes up.
    fn given_up(&self, now: &Now<'_>, agent: &AgentName, outcome: TurnOutcome) -> Vec<Event> {
        let what = if outcome == TurnOutcome::Rejected { "did not pass its gates" } else { "failed" };
        let why = self.said.as_deref().unwrap_or("it did not say why");
        let first = why.lines().find(|line| !line.trim().is_empty()).unwrap_or(why);
        let reason = format!("{agent} {what}: {first}");
        match &self.turns.purpose {
            _ if self.is_here(now) => self.stop(now, agent, reason),
            Purpose::Happening(_) if !now.item.has_ended() => {
                let message = format!("item {}: {reason}", now.item.id);
                [self.finished(agent)].into_iter().chain(self.alert(now, agent, message)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn out_of_budget(&self, now: &Now<'_>, agent: &AgentName) -> Vec<Event> {
        let worked = self.turns.worked.as_millis().saturating_add(self.worked.as_millis());
        let budget = now.rules.agent(agent).ok().and_then(|it| it.budget);
        match budget.filter(|budget| worked > budget.as_millis() && self.is_here(now)) {
            Some(budget) => self.stop(now, agent, format!("{agent} used up its {budget} on this item")),
            None => Vec::new(),
        }
    }

    /// Whether the item stands in the step that it is for; in any, if it is for an event.
    fn is_here(&self, now: &Now<'_>) -> bool {
        match (&self.turns.purpose, &now.item.stage) {
            (Purpose::Step(step), Stage::Step(stands)) => step == stands,
            (Purpose::Happening(_), Stage::Step(_)) => true,
            _ => false,
        }
    }

    /// The item is blocked, and people are told.
    fn stop(&self, now: &Now<'_>, agent: &AgentName, reason: String) -> Vec<Event> {
        let alert = self.alert(now, agent, format!("item {} is blocked: {reason}", now.item.id));
        let from = now.item.stage.clone();
        let moved = ItemMoved { from, to: Stage::Blocked, reason: Some(reason), question: None, resume_stage: None };
        [self.finished(agent), moved.into()].into_iter().chain(alert).collect()
    }

    fn finished(&self, agent: &AgentName) -> Event {
        SessionFinished { session: self.session.clone(), agent: agent.clone() }.into()
    }

    fn alert(&self, now: &Now<'_>, agent: &AgentName, message: String) -> Option<Event> {
        let id = &now.item.id;
        let alarm = Alarm {
            kind: FindingKind::AgentError,
            severity: Severity::Error,
            source: self.session.to_string(),
            message,
            context: json!({ "item": id, "session": self.session, "agent": agent, "turn": self.turns.number }),
        };
        alert::raise(now.state, alarm, now.at)
    }
}
