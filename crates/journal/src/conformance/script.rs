//! What the suite, and every test of an engine, says to a journal: real commands under small fixed rules.

use std::sync::Arc;

use querent_core::{
    Action, Agent, AgentName, Applied, Ask, Autonomy, Blocker, Choice, Command, Config, Envelope, Fallback, Gate,
    HumanInput, Item, ItemId, Kind, LearnedId, Moment, Needs, Outcome, Party, Patience, ProjectConfig, QuestionId,
    Refusal, Risk, Rules, Run, Serve, SharedAction, SharedCommand, Span, State, Step, Ticket, Via, Workflow, apply,
    apply_shared, needs, needs_of_tick, tick,
};

use super::Broken;
use crate::{Error, Job, Journal, Update};

/// A small project and a time of day. In the step `implement` the engineer may ask the architect and humans; a planner may
/// ask humans under strict conditions.
#[derive(Clone)]
pub struct Script {
    rules: Arc<Rules>,
    now: Moment,
}

impl Script {
    /// At ten in the morning.
    pub fn new() -> Result<Self, Broken> {
        Ok(Self { rules: Arc::new(rules()?), now: Moment::from_millis(1_769_853_600_000) })
    }

    /// The same, where answers are learned and used. Elsewhere everything is asked.
    #[must_use]
    pub fn learning(&self) -> Self {
        let mut rules = (*self.rules).clone();
        rules.config.project.autonomy = Autonomy::Smart;
        Self { rules: Arc::new(rules), now: self.now }
    }

    /// The same, `span` later.
    #[must_use]
    pub fn later(&self, span: Span) -> Self {
        Self { rules: Arc::clone(&self.rules), now: self.now.plus(span) }
    }

    /// Carries out a command; the reply may be a refusal.
    pub fn send(&self, journal: &dyn Journal, operation: &str, command: &Command) -> Result<Envelope, Error> {
        journal.update(self.update(operation, command))
    }

    /// The same, where a refusal is not expected.
    pub fn accept(&self, journal: &dyn Journal, operation: &str, command: &Command) -> Result<Envelope, Broken> {
        let reply = self.send(journal, operation, command)?;
        reply.read::<serde_json::Value>()?;
        Ok(reply)
    }

    /// A command on its way. One whose operation id is not an id is refused.
    pub fn update(&self, operation: &str, command: &Command) -> Update {
        let ticket = operation.parse().ok().map(|id| Ticket::new(id, command));
        let job = Carry { script: self.clone(), command: command.clone(), ticket: ticket.clone() };
        Update { stream: command.item.clone().into(), ticket, job: Box::new(job) }
    }

    /// The deadlines of an item on their way.
    pub fn deadlines(&self, item: &ItemId) -> Update {
        Update { stream: item.clone().into(), ticket: None, job: Box::new(Tick { script: self.clone() }) }
    }
}

/// What people and agents say.
impl Script {
    /// A person opens an item.
    pub fn open(item: &str) -> Result<Command, Refusal> {
        let action = Action::OpenItem { title: format!("Work on {item}"), workflow: None, autonomy: None };
        Ok(Command { item: item.parse()?, by: Party::HUMAN, via: Via::Library, action })
    }

    /// The engineer asks the architect and goes on working. One event.
    pub fn ask(item: &str, prompt: &str) -> Result<Command, Refusal> {
        Self::asked(item, prompt, Party::Agent("architect".parse()?), false)
    }

    /// The engineer asks a human and waits: the item pauses. Two events.
    pub fn ask_human(item: &str, prompt: &str) -> Result<Command, Refusal> {
        Self::asked(item, prompt, Party::HUMAN, true)
    }

    fn asked(item: &str, prompt: &str, to: Party, blocking: bool) -> Result<Command, Refusal> {
        let (topic, prompt) = ("storage".to_owned(), prompt.to_owned());
        let ask = Ask { to: Some(to), topic, prompt, blocking: Some(blocking), ..Ask::default() };
        let by = Party::Agent("engineer".parse()?);
        Ok(Command { item: item.parse()?, by, via: Via::Library, action: Action::Ask(Box::new(ask)) })
    }

    /// The engineer asks a human what they like. One answer is enough to learn it.
    pub fn prefer(item: &str, prompt: &str) -> Result<Command, Refusal> {
        let mut command = Self::asked(item, prompt, Party::HUMAN, false)?;
        if let Action::Ask(ask) = &mut command.action {
            ask.kind = Some(Kind::Preference);
        }
        Ok(command)
    }

    /// The planner, who asks under strict conditions only, has met all but the quota.
    pub fn ask_strictly(item: &str, prompt: &str) -> Result<Command, Refusal> {
        let choice = |id: &str| Choice {
            id: id.to_owned(),
            label: id.to_owned(),
            description: None,
            recommended: false,
            implications: None,
        };
        let tried = ["codebase_search", "similar_features", "attempted_inference"];
        let ask = Ask {
            to: Some(Party::HUMAN),
            blocker: Some(Blocker::MissingExternalData),
            topic: "storage".to_owned(),
            prompt: prompt.to_owned(),
            options: ["left", "right"].map(choice).to_vec(),
            fallback: Some(Fallback { answer: "left".into(), reason: "it is safe".to_owned(), risk: Risk::Low }),
            evidence: Some(tried.map(|name| (name.to_owned(), "nothing".to_owned())).into()),
            ..Ask::default()
        };
        let by = Party::Agent("planner".parse()?);
        Ok(Command { item: item.parse()?, by, via: Via::Library, action: Action::Ask(Box::new(ask)) })
    }

    /// A person takes back what was learned.
    pub fn revoke(&self, operation: &str, learned: LearnedId) -> Result<Update, Refusal> {
        self.share(operation, SharedAction::Revoke { learned, note: None })
    }

    /// A person wants something of what all items share.
    pub fn share(&self, operation: &str, action: SharedAction) -> Result<Update, Refusal> {
        let command = SharedCommand { by: Party::HUMAN, via: Via::Library, action };
        let (stream, ticket) = (command.stream().into(), Ticket::shared(operation.parse()?, &command));
        let job = CarryShared { command, ticket: ticket.clone(), script: self.clone() };
        Ok(Update { stream, ticket: Some(ticket), job: Box::new(job) })
    }

    /// A human answers, which settles the question.
    pub fn answer(question: &QuestionId, answer: &str) -> Command {
        Self::answered(question, answer, Party::HUMAN)
    }

    /// The architect answers; the asker has the word.
    pub fn answer_as_architect(question: &QuestionId, answer: &str) -> Result<Command, Refusal> {
        Ok(Self::answered(question, answer, Party::Agent("architect".parse()?)))
    }

    fn answered(question: &QuestionId, answer: &str, by: Party) -> Command {
        let action = Action::Answer { question: question.clone(), answer: answer.into(), note: None };
        Command { item: question.item.clone(), by, via: Via::Library, action }
    }

    /// The engineer begins to work.
    pub fn start(item: &str) -> Result<Command, Refusal> {
        let (by, action) = (Party::Agent("engineer".parse()?), Action::StartSession { session: None, process: None });
        Ok(Command { item: item.parse()?, by, via: Via::Library, action })
    }

    /// The engineer, who is at work, wants a file.
    pub fn lock(item: &str, path: &str) -> Result<Command, Refusal> {
        let (by, item) = (Party::Agent("engineer".parse()?), item.parse::<ItemId>()?);
        let (session, paths) = (format!("engineer@{item}").parse()?, [path.parse()?].into());
        let action = Action::Lock { session, paths, ttl: Span::minutes(30), wait: false };
        Ok(Command { item, by, via: Via::Library, action })
    }

    /// A person ends an item: what is open is withdrawn. One event, and one for each question that was open.
    pub fn end(item: &str) -> Result<Command, Refusal> {
        let action = Action::EndItem { outcome: Outcome::Merged };
        Ok(Command { item: item.parse()?, by: Party::HUMAN, via: Via::Library, action })
    }
}

fn rules() -> Result<Rules, Refusal> {
    let agent = |name: &str, rank, gate| Ok::<_, Refusal>((name.parse()?, Agent::new(rank, gate)));
    let agents =
        [agent("architect", 1, Gate::Open)?, agent("engineer", 2, Gate::Open)?, agent("planner", 3, Gate::Strict)?];
    let config = Config {
        project: ProjectConfig { name: "suite".to_owned(), workflow: None, autonomy: Autonomy::AlwaysAsk },
        human_input: HumanInput::default(),
        monitor: Patience::default(),
        agents: agents.into(),
        serve: Serve::default(),
        notify: Vec::new(),
        run: Run::default(),
        providers: std::collections::BTreeMap::new(),
    };
    let architect: AgentName = "architect".parse()?;
    let step = Step { can_clarify: vec![architect], planning: true, ..Step::new("implement", "engineer".parse()?) };
    let plan = Step { name: "plan".to_owned(), agent: "planner".parse()?, ..step.clone() };
    let workflow = Workflow { name: "suite".to_owned(), steps: vec![step, plan] };
    Ok(Rules { config, workflows: [(workflow.name.clone(), workflow)].into() })
}

/// One command, as the hub carries it.
struct Carry {
    script: Script,
    command: Command,
    ticket: Option<Ticket>,
}

impl Job for Carry {
    fn needs(&mut self, item: &Item) -> Needs {
        needs(&self.command, item, self.script.now)
    }

    fn run(&mut self, state: &mut State) -> Applied {
        let Some(ticket) = &self.ticket else {
            let reply = Envelope::refused(&Refusal::malformed("operation_id", "", "a word"));
            return Applied { batches: Vec::new(), reply };
        };
        apply(state, &self.command, ticket, &self.script.rules, self.script.now)
    }
}

struct CarryShared {
    command: SharedCommand,
    ticket: Ticket,
    script: Script,
}

impl Job for CarryShared {
    fn needs(&mut self, _: &Item) -> Needs {
        Needs::default()
    }

    fn run(&mut self, state: &mut State) -> Applied {
        apply_shared(state, &self.command, Some(&self.ticket), &self.script.rules, self.script.now)
    }
}

struct Tick {
    script: Script,
}

impl Job for Tick {
    fn needs(&mut self, item: &Item) -> Needs {
        needs_of_tick(item, self.script.now)
    }

    fn run(&mut self, state: &mut State) -> Applied {
        Applied { batches: tick(state, &self.script.rules, self.script.now), reply: Envelope::ok(&()) }
    }
}
