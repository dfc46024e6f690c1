//! The words that the people and agents of a test use. Each makes a command on item `42`.

use querent_core::{
    Action, AgentName, Ask, Assume, Blocker, Category, Cause, Choice, Command, Confidence, Expected, Fallback, Kind,
    Outcome, Party, Risk, RiskIfWrong, SessionId, Source, Span, Verdict, Via,
};
use serde_json::{Value, json};

/// The first question of item `42`.
pub(crate) const Q1: &str = "CLR-42-001";
/// The second one.
pub(crate) const Q2: &str = "CLR-42-002";
/// The third one.
pub(crate) const Q3: &str = "CLR-42-003";

/// Somebody who speaks.
pub(crate) struct Who(Party);

pub(crate) fn agent(name: &str) -> Who {
    Who(Party::Agent(name.parse().unwrap()))
}

pub(crate) fn product_manager() -> Who {
    agent("product-manager")
}

pub(crate) fn architect() -> Who {
    agent("architect")
}

pub(crate) fn engineer() -> Who {
    agent("engineer")
}

pub(crate) fn human() -> Who {
    Who(Party::HUMAN)
}

pub(crate) fn alice() -> Who {
    Who(Party::Human(Some("alice".to_owned())))
}

/// What only Querent itself may be.
pub(crate) fn querent() -> Who {
    Who(Party::Querent)
}

/// The same on another item.
pub(crate) fn on(item: &str, command: impl Into<Command>) -> Command {
    Command { item: item.parse().unwrap(), ..command.into() }
}

impl Who {
    /// Wants any action.
    pub(crate) fn does(self, action: Action) -> Command {
        Command { item: "42".parse().unwrap(), by: self.0, via: Via::Cli, action }
    }

    pub(crate) fn opens(self, title: &str) -> Command {
        self.does(Action::OpenItem { title: title.to_owned(), workflow: None, autonomy: None })
    }

    /// Asks `to`, and waits unless told otherwise.
    pub(crate) fn asks(self, to: &str, prompt: &str) -> Asking {
        let ask = Ask { to: Some(to.parse().unwrap()), ..question(prompt) };
        Asking { by: self, ask }
    }

    /// Asks without saying whom.
    pub(crate) fn asks_whoever_is_next(self, prompt: &str) -> Asking {
        Asking { by: self, ask: question(prompt) }
    }

    pub(crate) fn answers(self, id: &str, answer: impl Into<Value>) -> Command {
        self.does(Action::Answer { question: id.parse().unwrap(), answer: answer.into(), note: None })
    }

    pub(crate) fn follows_up(self, id: &str, prompt: &str) -> Command {
        self.does(Action::FollowUp { question: id.parse().unwrap(), prompt: prompt.to_owned() })
    }

    pub(crate) fn resolves(self, id: &str) -> Command {
        self.does(Action::Resolve { question: id.parse().unwrap(), note: None })
    }

    pub(crate) fn resolves_saying(self, id: &str, note: &str) -> Command {
        self.does(Action::Resolve { question: id.parse().unwrap(), note: Some(note.to_owned()) })
    }

    pub(crate) fn escalates(self, id: &str) -> Command {
        self.does(Action::Escalate { question: id.parse().unwrap(), summary: None, cause: Cause::Requested })
    }

    pub(crate) fn escalates_saying(self, id: &str, summary: &str) -> Command {
        let summary = Some(summary.to_owned());
        self.does(Action::Escalate { question: id.parse().unwrap(), summary, cause: Cause::Requested })
    }

    pub(crate) fn withdraws(self, id: &str) -> Command {
        self.does(Action::Withdraw { question: id.parse().unwrap(), reason: None })
    }

    /// Puts a decision on record: fairly sure of it, and little harm if it is wrong.
    pub(crate) fn assumes(self, decision: &str) -> Command {
        self.does(Action::Assume(Box::new(assume(decision))))
    }

    pub(crate) fn reviews(self, id: &str, verdict: Verdict) -> Command {
        self.does(Action::Review { assumption: id.parse().unwrap(), verdict, note: None })
    }

    pub(crate) fn starts(self) -> Command {
        self.does(Action::StartSession { session: None, process: None })
    }

    pub(crate) fn starts_as(self, session: &str) -> Command {
        self.does(Action::StartSession { session: Some(session.parse().unwrap()), process: None })
    }

    pub(crate) fn finishes(self) -> Command {
        self.does(Action::FinishSession { session: None, keep: false })
    }

    pub(crate) fn finishes_but_keeps_the_step(self) -> Command {
        self.does(Action::FinishSession { session: None, keep: true })
    }

    /// Wants files for the session that it has without naming one.
    pub(crate) fn locks(self, paths: &[&str]) -> Command {
        self.wants_files(paths, false)
    }

    /// The same, and waits if others have them.
    pub(crate) fn waits_for(self, paths: &[&str]) -> Command {
        self.wants_files(paths, true)
    }

    fn wants_files(self, paths: &[&str], wait: bool) -> Command {
        let session = format!("{}@42", self.0).parse().unwrap();
        let paths = paths.iter().map(|path| path.parse().unwrap()).collect();
        self.does(Action::Lock { session, paths, ttl: Span::minutes(30), wait })
    }

    /// The same for a session that is named.
    pub(crate) fn locks_as(self, session: &str, paths: &[&str], wait: bool) -> Command {
        let paths = paths.iter().map(|path| path.parse().unwrap()).collect();
        self.does(Action::Lock { session: session.parse().unwrap(), paths, ttl: Span::minutes(30), wait })
    }

    pub(crate) fn unlocks(self, paths: &[&str]) -> Command {
        let session = format!("{}@42", self.0).parse().unwrap();
        let paths = paths.iter().map(|path| path.parse().unwrap()).collect();
        self.does(Action::Unlock { session, paths })
    }

    pub(crate) fn moves_to(self, stage: &str) -> Command {
        self.does(Action::Advance { to: stage.to_owned() })
    }

    pub(crate) fn ends_as(self, outcome: Outcome) -> Command {
        self.does(Action::EndItem { outcome })
    }
}

/// A decision with all that must be said of it.
pub(crate) fn assume(decision: &str) -> Assume {
    Assume {
        decision: decision.to_owned(),
        reasoning: "src/auth.rs does so".to_owned(),
        confidence: Confidence::Medium,
        risk_if_wrong: RiskIfWrong { level: Risk::Low, note: None },
        source: Source::InferredFromCodebase,
        blocker: None,
        question: None,
    }
}

fn question(prompt: &str) -> Ask {
    Ask { topic: "Authentication".to_owned(), prompt: prompt.to_owned(), ..Ask::default() }
}

/// A question that is being put together.
pub(crate) struct Asking {
    by: Who,
    ask: Ask,
}

impl From<Asking> for Command {
    fn from(asking: Asking) -> Self {
        asking.by.does(Action::Ask(Box::new(asking.ask)))
    }
}

impl Asking {
    /// Anything that has no word of its own.
    pub(crate) fn with(mut self, edit: impl FnOnce(&mut Ask)) -> Self {
        edit(&mut self.ask);
        self
    }

    pub(crate) fn without_blocking(self) -> Self {
        self.with(|ask| ask.blocking = Some(false))
    }

    pub(crate) fn kind(self, kind: Kind) -> Self {
        self.with(|ask| ask.kind = Some(kind))
    }

    pub(crate) fn category(self, category: Category) -> Self {
        self.with(|ask| ask.category = Some(category))
    }

    pub(crate) fn blocker(self, blocker: Blocker) -> Self {
        self.with(|ask| ask.blocker = Some(blocker))
    }

    pub(crate) fn expecting(self, expected: Expected) -> Self {
        self.with(|ask| ask.expected = Some(expected))
    }

    /// Offers these options, each as `(id, label)`.
    pub(crate) fn options<const N: usize>(self, options: [(&str, &str); N]) -> Self {
        self.with(|ask| ask.options = options.map(|(id, label)| option(id, label)).into())
    }

    /// Says what is done if nobody answers.
    pub(crate) fn else_takes(self, answer: &str, reason: &str) -> Self {
        let fallback = Fallback { answer: json!(answer), reason: reason.to_owned(), risk: Risk::Low };
        self.with(|ask| ask.fallback = Some(fallback))
    }

    pub(crate) fn expires_in(self, span: &str) -> Self {
        self.with(|ask| ask.expires_in = Some(span.parse().unwrap()))
    }

    pub(crate) fn max_rounds(self, rounds: u32) -> Self {
        self.with(|ask| ask.max_rounds = Some(rounds))
    }

    pub(crate) fn session(self, session: &str) -> Self {
        self.with(|ask| ask.session = Some(session.parse::<SessionId>().unwrap()))
    }
}

pub(crate) fn option(id: &str, label: &str) -> Choice {
    Choice { id: id.into(), label: label.into(), description: None, recommended: false, implications: None }
}

pub(crate) fn name(agent: &str) -> AgentName {
    agent.parse().unwrap()
}
