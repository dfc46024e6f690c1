//! One run: processes, what they are sent, and what they say, against the model.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use querent_core::{Action, Command, Envelope, Record, Refusal, Rules, wire};
use querent_hub::{Clock, Handle};
use querent_journal::files::{Ledgers, Options, SlateOptions};
use querent_journal::{Error, Files, Journal};
use serde_json::{Value, json};

use crate::acts::{Act, Scene};
use crate::clock::SimClock;
use crate::disk::{Machine, Process};
use crate::log::Log;
use crate::model::{Meant, Model, Rule, Violation, broken, must};
use crate::tally::Tally;
use crate::{Outcome, Settings, cast};

/// The world of one run.
pub(crate) struct World {
    pub(crate) dice: Rng,
    pub(crate) machine: Machine,
    pub(crate) clock: Arc<SimClock>,
    pub(crate) rules: Rules,
    pub(crate) running: Vec<Running>,
    started: Process,
    segment_limit: u64,
    slate: SlateOptions,
    items: usize,
    pub(crate) model: Model,
    /// Up to where the journal must survive a power cut.
    pub(crate) durable: u64,
    /// What was accepted, and in which words.
    accepted: BTreeMap<String, (Act, String)>,
    /// What was sent and may or may not have happened.
    pub(crate) unknown: Vec<(String, Act)>,
    /// What will come once more.
    pub(crate) late: Vec<(String, Act)>,
    operations: u64,
    pub(crate) step: u64,
    pub(crate) tally: Tally,
    log: Log,
}

/// A process.
#[derive(Clone)]
pub(crate) struct Running {
    pub(crate) number: Process,
    pub(crate) files: Arc<Files>,
    pub(crate) hub: Handle,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// As it should.
    Well,
    /// The process died meanwhile.
    Dead,
    /// The disk failed meanwhile.
    Failed,
}

impl World {
    pub(crate) fn run(settings: Settings) -> Outcome {
        let mut dice = Rng::with_seed(settings.seed);
        let mut log = Log::default();
        log.begin(settings.seed, settings.steps);
        let rules = match cast::rules(&mut dice, settings.faults) {
            Ok(rules) => rules,
            Err(refusal) => {
                return Outcome { tally: Tally::default(), log, violation: Some((0, refusal.into())) };
            }
        };
        let mut world = Self {
            machine: Machine::new(dice.fork(), settings.disk_lies),
            clock: Arc::new(SimClock::new()),
            rules,
            running: Vec::new(),
            started: 0,
            segment_limit: if dice.bool() { 1 << 20 } else { dice.u64(1_000..60_000) },
            slate: SlateOptions { after: dice.u32(0..3), length: dice.usize(5_000..25_000) },
            items: dice.usize(1..8),
            model: Model::default(),
            durable: 0,
            accepted: BTreeMap::new(),
            unknown: Vec::new(),
            late: Vec::new(),
            operations: 0,
            step: 0,
            tally: Tally::default(),
            log,
            dice,
        };
        world.tell_the_steps();
        let violation = world.live(settings.steps).err();
        if let Some(it) = &violation {
            world.note(json!({ "event": "violation", "rule": it.rule.as_str(), "what": it.what }));
        }
        world.count_wear();
        Outcome { violation: violation.map(|it| (world.step, it)), tally: world.tally, log: world.log }
    }

    fn live(&mut self, steps: u64) -> Result<(), Violation> {
        self.start();
        for step in 1..=steps {
            self.step = step;
            self.tally.add("steps", 1);
            self.clock_goes_on();
            match self.dice.u8(0..100) {
                0..62 => self.act()?,
                62..72 => self.again()?,
                72..84 => self.look()?,
                84..88 => self.survey()?,
                88..94 => self.trouble()?,
                94..97 => self.follow()?,
                _ => self.come_and_go(),
            }
        }
        self.quiet()
    }

    /// A process joins.
    pub(crate) fn start(&mut self) -> Running {
        self.started += 1;
        let number = self.started;
        let ledgers = if self.dice.bool() { Ledgers::Prompt } else { Ledgers::OnDemand };
        let running = self.process(number, ledgers);
        self.running.push(running.clone());
        self.note(json!({ "event": "process started", "process": number, "ledgers": format!("{ledgers:?}") }));
        running
    }

    fn process(&self, number: Process, ledgers: Ledgers) -> Running {
        let options = Options {
            ledgers,
            segment_limit: self.segment_limit,
            slate: self.slate,
            disk: self.machine.start(number),
            ..Options::new("simulated")
        };
        let files = Arc::new(Files::open(Path::new("/"), options));
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let hub = Handle::new(Box::new(Arc::clone(&files)), self.rules.clone(), clock);
        Running { number, files, hub }
    }

    /// Any process that runs.
    pub(crate) fn any(&mut self) -> Running {
        match self.running.len() {
            0 => self.start(),
            count => self.running[self.dice.usize(0..count)].clone(),
        }
    }

    fn act(&mut self) -> Result<(), Violation> {
        self.operations += 1;
        let number = self.operations;
        let scene = Scene { model: &self.model, rules: &self.rules, items: self.items, number };
        let act = scene.next(&mut self.dice)?;
        let Some(act) = act else { return Ok(()) };
        let operation = format!("op-{number}");
        if self.dice.u8(0..12) == 0 {
            self.late.push((operation.clone(), act.clone()));
        }
        let process = self.any();
        self.deliver(&process, &operation, &act)
    }

    /// What a human says to a question, at once.
    pub(crate) fn human_answers(&mut self, id: &str) -> Result<(), Violation> {
        self.operations += 1;
        let number = self.operations;
        let scene = Scene { model: &self.model, rules: &self.rules, items: self.items, number };
        let Some(question) = self.model.question(id) else { return Ok(()) };
        let act = scene.human_answers(question, &mut self.dice)?;
        let process = self.any();
        act.map_or(Ok(()), |act| self.deliver(&process, &format!("op-{number}"), &act))
    }

    /// Something comes again: what is not known to have happened, what comes late, or what was answered long ago.
    fn again(&mut self) -> Result<(), Violation> {
        let process = self.any();
        let pick = self.dice.u8(0..3);
        if pick == 0 && !self.unknown.is_empty() {
            let (operation, act) = self.unknown.swap_remove(self.dice.usize(0..self.unknown.len()));
            return self.deliver(&process, &operation, &act);
        }
        if pick == 1 && !self.late.is_empty() {
            let (operation, act) = self.late.swap_remove(self.dice.usize(0..self.late.len()));
            return self.deliver(&process, &operation, &act);
        }
        if self.accepted.is_empty() {
            return Ok(());
        }
        let known = self.dice.usize(0..self.accepted.len());
        let Some((operation, (act, _))) = self.accepted.iter().nth(known) else { return Ok(()) };
        let (operation, act) = (operation.clone(), act.clone());
        if self.dice.u8(0..8) == 0 {
            return self.misuse(&process, &operation, act);
        }
        self.deliver(&process, &operation, &act)
    }

    /// An operation id that was used is used for something else.
    fn misuse(&mut self, process: &Running, operation: &str, act: Act) -> Result<(), Violation> {
        let Act::Command(mut command) = act else { return Ok(()) };
        let title = "something else".to_owned();
        command.action = Action::OpenItem { title, workflow: None, autonomy: None };
        let reply = process.hub.execute(&command, operation.parse().ok());
        self.tally.add("operation ids misused", 1);
        let ended = self.ended(process, refusal(&reply).as_ref())?;
        let conflict = refusal(&reply).is_some_and(|it| it.code.as_str() == "operation_conflict");
        must(ended != Ended::Well || conflict, Rule::Replayed, || {
            format!("{operation} was used for something else: {}", reply.as_str())
        })
    }

    /// Sends something to a process, and holds what it says against the model.
    pub(crate) fn deliver(&mut self, process: &Running, operation: &str, act: &Act) -> Result<(), Violation> {
        let (meant, shown) = describe(act);
        self.model.means(operation, meant);
        let reply = match act {
            Act::Command(command) => process.hub.execute(command, operation.parse().ok()),
            Act::Shared(command) => process.hub.execute_shared(command, operation.parse().ok()),
        };
        let refused = refusal(&reply);
        let outcome = match &refused {
            Some(refusal) => format!("refused: {}", refusal.code.as_str()),
            None => "accepted".to_owned(),
        };
        let mut event = shown;
        event["event"] = json!("send");
        event["process"] = json!(process.number);
        event["operation"] = json!(operation);
        event["outcome"] = json!(outcome);
        self.note(event);
        match self.ended(process, refused.as_ref())? {
            Ended::Well => {}
            Ended::Dead | Ended::Failed => {
                self.tally.add("operations left open by a crash or a full disk", 1);
                self.unknown.push((operation.to_owned(), act.clone()));
                return Ok(());
            }
        }
        self.observe(process)?;
        self.tally.add(if refused.is_some() { &outcome } else { kind(act) }, 1);
        // One refusal is a reply that is remembered: the last round is over, and the question was escalated.
        let code = refused.map(|it| it.code.as_str());
        // A sync of the one log covers every earlier line. What a survey adds after the command is acknowledged to nobody.
        self.durable = self.durable.max(self.model.last_of(operation));
        if !self.model.knows(operation) {
            return must(code.is_some(), Rule::Kept, || format!("{operation} was acknowledged and not recorded"));
        }
        let told = code.is_none_or(|code| code == "max_rounds_exceeded");
        must(told, Rule::Replayed, || format!("{operation} was recorded, and then {}", reply.as_str()))?;
        if let Some((_, first)) = self.accepted.get(operation) {
            self.tally.add("replays", 1);
            let same = first == reply.as_str();
            return must(same, Rule::Replayed, || format!("{operation}: {first} and then {}", reply.as_str()));
        }
        self.accepted.insert(operation.to_owned(), (act.clone(), reply.as_str().to_owned()));
        Ok(())
    }

    /// How a call ended, if what it said is what it should say.
    pub(crate) fn ended(&mut self, process: &Running, refused: Option<&Refusal>) -> Result<Ended, Violation> {
        if !self.machine.is_alive(process.number) {
            self.bury(process.number)?;
            return Ok(Ended::Dead);
        }
        let failed = self.machine.wear().failed;
        let is_new = failed > self.tally.of("disk full");
        self.tally.add("disk full", failed - self.tally.of("disk full"));
        match refused.filter(|it| matches!(it.code.as_str(), "storage_error" | "lock_timeout")) {
            Some(_) if is_new => Ok(Ended::Failed),
            Some(refusal) => broken(Rule::Works, format!("process {}: {refusal}", process.number)),
            None => Ok(Ended::Well),
        }
    }

    /// Takes in what was recorded since.
    pub(crate) fn observe(&mut self, process: &Running) -> Result<(), Violation> {
        let mut lines = Vec::new();
        let read = process.files.records(self.model.seq(), &mut |record: Arc<Record>| {
            lines.push((record.event.type_name(), wire::encode_record(&record)));
            true
        });
        read?;
        for (kind, line) in lines {
            self.log.add(line.clone());
            self.tally.add(&format!("recorded: {kind}"), 1);
            self.model.take(line)?;
        }
        self.model.settled()
    }

    /// The whole journal, as lines.
    pub(crate) fn everything(process: &Running) -> Result<Vec<String>, Violation> {
        let mut lines = Vec::new();
        let read = process.files.records(0, &mut |record: Arc<Record>| {
            lines.push(wire::encode_record(&record));
            true
        });
        read?;
        Ok(lines)
    }

    /// Puts on the event log what happens.
    pub(crate) fn note(&mut self, mut event: Value) {
        event["step"] = json!(self.step);
        event["at"] = json!(self.clock.now());
        self.log.add(event.to_string());
    }
}

/// The simulator says only what can be said.
impl From<Refusal> for Violation {
    fn from(refusal: Refusal) -> Self {
        Self { rule: Rule::Works, what: refusal.to_string() }
    }
}

/// What is read while the disk is well can be read.
impl From<Error> for Violation {
    fn from(error: Error) -> Self {
        Self { rule: Rule::Read, what: error.to_string() }
    }
}

fn refusal(reply: &Envelope) -> Option<Refusal> {
    reply.read::<Value>().err()
}

/// What is meant by an act, and how it is shown.
fn describe(act: &Act) -> (Meant, Value) {
    let Command { item, by, action, .. } = match act {
        Act::Command(command) => &**command,
        Act::Shared(shared) => {
            let by = shared.by.to_string();
            let shown = json!({ "by": by, "action": shared.action });
            return (Meant { by, ..Meant::default() }, shown);
        }
    };
    let answer = match action {
        Action::Answer { answer, .. } => Some(answer.clone()),
        Action::Resolve { note, .. } => note.clone().map(Value::from),
        _ => None,
    };
    let question = action.question().map(ToString::to_string);
    let shown = json!({ "item": item, "by": by, "action": action });
    (Meant { by: by.to_string(), question, answer }, shown)
}

fn kind(act: &Act) -> &'static str {
    let Act::Command(command) = act else { return "commands about what items share" };
    match &command.action {
        Action::OpenItem { .. } => "items opened",
        Action::StartSession { .. } | Action::FinishSession { .. } => "sessions started or finished",
        Action::Advance { .. } => "items moved",
        Action::EndItem { .. } => "items ended",
        Action::Ask(_) => "asks",
        Action::FollowUp { .. } => "follow-ups",
        Action::Answer { .. } if command.by.is_human() => "answers of humans",
        Action::Answer { .. } => "answers of agents",
        Action::Resolve { .. } => "resolves",
        Action::Escalate { .. } => "escalations",
        Action::Withdraw { .. } => "withdrawals",
        Action::Assume(_) => "assumptions",
        Action::Review { .. } => "reviews",
        Action::Lock { .. } => "files locked",
        Action::Unlock { .. } => "files unlocked",
        _ => "other commands",
    }
}
