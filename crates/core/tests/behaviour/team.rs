//! The words that a team is told with: Querent invokes agents, and something comes of it.

use querent_core::event::TurnOutcome;
use querent_core::{
    Action, AgentReply, CallDeed, Claim, Command, Happening, Process, Purpose, Span, TurnDeed, Turns, Work, work,
};
use serde_json::{Value, json};

use crate::project;
use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Who, name, querent};

/// Item `42` in the engineer's step; Querent invokes all agents.
pub(crate) fn given_team() -> Scenario {
    given_implementing().rules(|rules| *rules = project::team())
}

/// The same, and the bystander listens.
pub(crate) fn given_listener(events: &[&str]) -> Scenario {
    given_team().listens("bystander", events)
}

pub(crate) fn process(pid: u32) -> Process {
    Process { pid, start: "1".into(), host: "here".into() }
}

pub(crate) fn step(step: &str) -> Purpose {
    Purpose::Step(step.to_owned())
}

/// Somebody is about to invoke an agent.
pub(crate) fn begins(agent: &str, purpose: Purpose, pid: u32, over: Option<Claim>) -> Command {
    turns(agent, TurnDeed::Begin { purpose, process: Some(process(pid)), over })
}

/// Its turn is over.
pub(crate) fn ends(agent: &str, claim: Claim, outcome: TurnOutcome) -> Command {
    ends_saying(agent, claim, outcome, "all well", Span::minutes(1))
}

pub(crate) fn ends_saying(agent: &str, claim: Claim, outcome: TurnOutcome, said: &str, worked: Span) -> Command {
    let said = Some(said.to_owned());
    turns(
        agent,
        TurnDeed::End { claim, outcome, said, artifacts: vec!["docs/adr.md".to_owned()], worked, tokens: None },
    )
}

pub(crate) fn turns(agent: &str, deed: TurnDeed) -> Command {
    querent().does(Action::Turn { session: format!("{agent}@42").parse().unwrap(), deed: Box::new(deed) })
}

/// Somebody is about to invoke the agent that was asked.
pub(crate) fn calls(id: &str, pid: u32, over: Option<Claim>) -> Command {
    querent().does(Action::Call {
        question: id.parse().unwrap(),
        deed: CallDeed::Begin { process: Some(process(pid)), over },
    })
}

/// That came to nothing.
pub(crate) fn fails(id: &str, claim: Claim, error: &str) -> Command {
    let deed = CallDeed::Fail { claim, error: error.to_owned() };
    querent().does(Action::Call { question: id.parse().unwrap(), deed })
}

/// An answer that stands on something.
pub(crate) fn reply(answer: impl Into<Value>) -> AgentReply {
    AgentReply { answer: answer.into(), evidence: Some("ADR-7".to_owned()), uncertainty: None, plain: false }
}

impl Who {
    pub(crate) fn replies(self, id: &str, round: u32, reply: AgentReply) -> Command {
        self.does(Action::Reply { question: id.parse().unwrap(), round, reply: Box::new(reply) })
    }

    /// Tells the agents something.
    pub(crate) fn sends(self, text: &str) -> Command {
        self.does(Action::Send { text: text.to_owned(), to: None })
    }

    pub(crate) fn sends_to(self, agent: &str, text: &str) -> Command {
        self.does(Action::Send { text: text.to_owned(), to: Some(name(agent)) })
    }

    pub(crate) fn emits(self, event: &str) -> Command {
        self.emits_with(event, json!({ "spec": "docs/spec.md" }))
    }

    pub(crate) fn emits_with(self, event: &str, data: Value) -> Command {
        self.does(Action::Emit { event: event.parse().unwrap(), data })
    }
}

/// Given, and when.
impl Scenario {
    pub(crate) fn listens(self, agent: &str, events: &[&str]) -> Self {
        let events = events.iter().map(|event| (*event).to_owned()).collect();
        self.rules(|rules| rules.config.agents.get_mut(&name(agent)).unwrap().on = events)
    }

    /// A step waits for events.
    pub(crate) fn waits_for(self, step: usize, event: &str) -> Self {
        self.workflow(|workflow| workflow.steps[step].waits_for = vec![event.parse().unwrap()])
    }

    /// Whoever is next is invoked.
    pub(crate) fn and_turn(self) -> Self {
        let Work::Turn { agent, purpose, .. } = self.work() else { panic!("no turn is due: {:?}", self.work()) };
        self.and(begins(agent.as_str(), purpose, 1, None))
    }

    /// The turn under way comes to its end.
    pub(crate) fn when_ended(self, outcome: TurnOutcome) -> Self {
        let (agent, claim) = self.driven();
        self.when(ends(&agent, claim, outcome))
    }

    /// Whoever is next is invoked, and that comes to its end.
    pub(crate) fn and_ended(self, outcome: TurnOutcome) -> Self {
        self.and_turn().when_ended(outcome).then_accepted()
    }
}

/// What there is to look at.
impl Scenario {
    pub(crate) fn work(&self) -> Work {
        work(self.the_item(), &self.rules)
    }

    /// Who is invoked, and by whom.
    pub(crate) fn driven(&self) -> (String, Claim) {
        let (session, _, claim) = self.the_item().team.driven().unwrap();
        (session.as_str().trim_end_matches("@42").to_owned(), claim.clone())
    }

    pub(crate) fn turns(&self, agent: &str) -> &Turns {
        &self.the_item().team.turns[&format!("{agent}@42").parse().unwrap()]
    }

    pub(crate) fn happening(&self, number: u32) -> Option<&Happening> {
        self.the_item().team.happenings.get(&number)
    }

    /// Who calls the agent that was asked.
    pub(crate) fn call(&self, id: &str) -> Claim {
        self.question(id).call.as_ref().unwrap().claim.clone().unwrap()
    }

    /// What an agent has not heard.
    pub(crate) fn unheard(&self, agent: &str) -> Vec<String> {
        let (agent, session) = (name(agent), format!("{agent}@42").parse().unwrap());
        self.the_item().team.unheard(&agent, &session).map(|message| message.text.clone()).collect()
    }

    #[track_caller]
    pub(crate) fn then_next(self, agent: &str, purpose: Purpose) -> Self {
        let (agent, session) = (name(agent), format!("{agent}@42").parse().unwrap());
        assert_eq!(self.work(), Work::Turn { agent, session, purpose });
        self
    }

    #[track_caller]
    pub(crate) fn then_work(self, work: &Work) -> Self {
        assert_eq!(self.work(), *work);
        self
    }
}
