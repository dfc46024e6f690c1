//! The reference model: what must hold, whatever happened. Small and obvious, and of its own: it knows the journal's lines as
//! JSON and none of the core's code.

mod question;
mod waits;

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) use self::question::Question;

/// A rule that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub rule: Rule,
    /// What was found.
    pub what: String,
}

/// Makes [`Rule`] with its sentences.
macro_rules! rules {
    ($($name:ident = $text:literal,)*) => {
        /// What must hold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule { $(#[doc = $text] $name,)* }

        impl Rule {
            /// The rule as a sentence.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

rules! {
    Kept = "nothing that was acknowledged is lost",
    Delivered = "each answer belongs to its question, and to no other",
    Resumed = "each pause has one resume",
    NobodyForgotten = "no item waits without a question to a human, and none runs while one is open",
    Final = "what is final stays as it is",
    Dense = "ids are dense",
    Replayed = "an operation that is sent again is answered with the same bytes, and is carried out once",
    Read = "what is read follows from what was recorded",
    Works = "nothing is refused for the storage's sake while the disk is well",
    Settles = "once humans answer and time passes, nothing is open and no item waits",
    Locked = "no two sessions hold the same files",
    DryRun = "a dry run records nothing",
    NoDeadlock = "after the monitor has run, no agents wait for each other in a ring",
}

/// Fails with a rule.
pub(crate) fn broken<T>(rule: Rule, what: impl Into<String>) -> Result<T, Violation> {
    Err(Violation { rule, what: what.into() })
}

pub(crate) fn must(holds: bool, rule: Rule, what: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { broken(rule, what()) }
}

/// What somebody meant to say under an operation id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meant {
    pub(crate) by: String,
    pub(crate) question: Option<String>,
    pub(crate) answer: Option<Value>,
}

/// An item as the model sees it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    pub(crate) stage: String,
    /// Where it goes on, while it is held.
    held: Option<String>,
    /// The question whose expiry blocked it.
    blocked_by: Option<String>,
    pub(crate) ended: bool,
    pub(crate) questions: Vec<Question>,
    pub(crate) assumptions: u64,
    /// The sessions that are at work, with their agents.
    pub(crate) sessions: BTreeMap<String, String>,
}

/// All that was recorded.
#[derive(Default)]
pub(crate) struct Model {
    pub(crate) items: BTreeMap<String, Item>,
    pub(crate) learned: u64,
    pub(crate) alerts: u64,
    /// Who holds which files.
    locks: BTreeMap<String, String>,
    /// The steps of the workflow, each time that it was edited.
    pub(crate) workflows: Vec<Vec<String>>,
    lines: Vec<String>,
    versions: BTreeMap<String, u64>,
    /// The last seq of each operation.
    operations: BTreeMap<String, u64>,
    /// What was meant by each operation, recorded or not.
    meant: BTreeMap<String, Meant>,
}

impl Model {
    /// The seq of the last record.
    pub(crate) fn seq(&self) -> u64 {
        self.lines.len() as u64
    }

    pub(crate) fn means(&mut self, operation: &str, meant: Meant) {
        self.meant.insert(operation.to_owned(), meant);
    }

    pub(crate) fn knows(&self, operation: &str) -> bool {
        self.operations.contains_key(operation)
    }

    /// The seq of the last record of an operation; 0 if there is none.
    pub(crate) fn last_of(&self, operation: &str) -> u64 {
        self.operations.get(operation).copied().unwrap_or_default()
    }

    pub(crate) fn question(&self, id: &str) -> Option<&Question> {
        let (item, number) = id.strip_prefix("CLR-")?.rsplit_once('-')?;
        self.items.get(item)?.questions.get(number.parse::<usize>().ok()?.checked_sub(1)?)
    }

    pub(crate) fn questions(&self) -> impl Iterator<Item = &Question> {
        self.items.values().flat_map(|item| &item.questions)
    }

    /// The whole journal as it is after a power cut: what was durable must be as it was.
    pub(crate) fn again(&mut self, lines: Vec<String>, durable: u64) -> Result<(), Violation> {
        let held = usize::try_from(durable).unwrap_or(usize::MAX).min(self.lines.len());
        let same = self.lines[..held].iter().zip(&lines).take_while(|(old, new)| old == new).count();
        must(same == held, Rule::Kept, || format!("record {} of {held} durable ones is lost or changed", same + 1))?;
        let (workflows, meant) = (std::mem::take(&mut self.workflows), std::mem::take(&mut self.meant));
        *self = Self { workflows, meant, ..Self::default() };
        lines.into_iter().try_for_each(|line| self.take(line))
    }

    /// Takes in the next record.
    pub(crate) fn take(&mut self, line: String) -> Result<(), Violation> {
        let Ok(record) = serde_json::from_str::<Value>(&line) else {
            return broken(Rule::Read, format!("a record is not JSON: {line}"));
        };
        let seq = record["seq"].as_u64().unwrap_or_default();
        must(seq == self.seq() + 1, Rule::Dense, || format!("after record {} comes {seq}", self.seq()))?;
        let stream = text(&record["stream"]);
        let version = self.versions.entry(stream.clone()).or_default();
        *version += 1;
        let expected = *version;
        must(record["version"] == expected, Rule::Dense, || format!("version {expected} of {stream} is {record}"))?;
        if let Some(operation) = record["operation_id"].as_str() {
            let before = self.operations.insert(operation.to_owned(), seq);
            let once = before.is_none_or(|before| before + 1 == seq);
            must(once, Rule::Replayed, || format!("operation {operation} was carried out twice: {record}"))?;
            must(self.meant.contains_key(operation), Rule::Replayed, || format!("nobody sent {operation}: {record}"))?;
        }
        self.lines.push(line);
        match stream.as_str() {
            "knowledge" => {
                self.learned += u64::from(record["type"] == "answer_learned");
                Ok(())
            }
            "resources" => self.lock(&record),
            "alerts" => {
                self.alerts += u64::from(record["type"] == "alert_raised");
                Ok(())
            }
            "quota" => Ok(()),
            item => self.change(item, &record),
        }
    }

    /// What must hold between commands: they are recorded whole.
    pub(crate) fn settled(&self) -> Result<(), Violation> {
        for (id, item) in &self.items {
            let waits = item.questions.iter().find(|it| it.is_open() && it.blocking && it.to_human());
            let paused = item.stage == "awaiting_input";
            must(!paused || waits.is_some(), Rule::NobodyForgotten, || format!("item {id} waits for nobody"))?;
            let held = paused || item.stage == "blocked" || item.ended;
            must(held || waits.is_none(), Rule::NobodyForgotten, || format!("item {id} runs in {}", item.stage))?;
            let left = item.questions.iter().find(|it| item.ended && it.is_open());
            must(left.is_none(), Rule::Final, || format!("item {id} has ended and left {left:?}"))?;
        }
        Ok(())
    }

    fn change(&mut self, id: &str, record: &Value) -> Result<(), Violation> {
        let (kind, data) = (text(&record["type"]), &record["data"]);
        if kind == "item_opened" {
            let item = Item { stage: text(&data["stage"]), ..Item::default() };
            let before = self.items.insert(id.to_owned(), item);
            return must(before.is_none(), Rule::Dense, || format!("item {id} was opened twice"));
        }
        let Some(item) = self.items.get_mut(id) else {
            return broken(Rule::Read, format!("nobody opened {id}: {record}"));
        };
        match kind.as_str() {
            "item_moved" | "item_paused" | "item_resumed" | "item_ended" => item.goes(id, &kind, data, &self.workflows),
            "session_started" => {
                item.sessions.insert(text(&data["session"]), text(&data["agent"]));
                Ok(())
            }
            "session_finished" | "session_lost" => {
                item.sessions.remove(&text(&data["session"]));
                let heir = data["moved_to"].as_str().map(|it| (it.to_owned(), text(&data["agent"])));
                item.sessions.extend(heir);
                Ok(())
            }
            "assumption_recorded" => {
                item.assumptions += 1;
                let expected = format!("ASM-{id}-{:03}", item.assumptions);
                must(data["assumption"]["id"] == expected.as_str(), Rule::Dense, || format!("{expected} is {data}"))
            }
            kind if kind.starts_with("question_") || kind == "late_answer_recorded" => self.ask(id, kind, record),
            _ => Ok(()),
        }
    }

    fn ask(&mut self, id: &str, kind: &str, record: &Value) -> Result<(), Violation> {
        let data = &record["data"];
        let operation = record["operation_id"].as_str();
        if kind == "question_asked" {
            let question = Question::asked(&data["question"]);
            let Some(item) = self.items.get_mut(id) else { return Ok(()) };
            let expected = format!("CLR-{id}-{:03}", item.questions.len() + 1);
            must(question.id == expected, Rule::Dense, || format!("{expected} is {}", question.id))?;
            must(!item.ended, Rule::Final, || format!("{expected} was asked after the end of {id}"))?;
            item.questions.push(question);
            return Ok(());
        }
        if data["answer"].is_object() {
            self.is_meant(&text(&data["question"]), &data["answer"], operation)?;
        }
        let number = data["question"].as_str().and_then(|it| it.rsplit_once('-')?.1.parse::<usize>().ok());
        let item = self.items.get_mut(id);
        let question = item.and_then(|item| item.questions.get_mut(number?.checked_sub(1)?));
        question.map_or_else(|| broken(Rule::Read, format!("nobody asked {data}")), |it| it.changes(kind, data))
    }

    /// An answer is what somebody said to this very question, or what such an answer taught, or the fallback.
    fn is_meant(&self, question: &str, answer: &Value, operation: Option<&str>) -> Result<(), Violation> {
        let fail = || broken(Rule::Delivered, format!("{question} got {answer} by {operation:?}"));
        let holds = match answer["provenance"].as_str() {
            Some("human" | "agent") => operation.and_then(|it| self.meant.get(it)).is_some_and(|meant| {
                meant.question.as_deref() == Some(question)
                    && meant.answer.as_ref() == Some(&answer["value"])
                    && answer["by"] == meant.by.as_str()
            }),
            Some("learned") => {
                let from = answer["learned"]["question_id"].as_str().and_then(|it| self.question(it));
                from.is_some_and(|from| from.heard.contains(&answer["value"]))
            }
            Some("fallback") => self.question(question).is_some_and(|it| it.fallback == answer["value"]),
            _ => false,
        };
        if holds { Ok(()) } else { fail() }
    }
}

impl Item {
    fn goes(&mut self, id: &str, kind: &str, data: &Value, workflows: &[Vec<String>]) -> Result<(), Violation> {
        must(!self.ended, Rule::Final, || format!("{kind} after the end of item {id}: {data}"))?;
        let paused = self.stage == "awaiting_input";
        match kind {
            "item_paused" => {
                must(!paused, Rule::Resumed, || format!("item {id} pauses while it is paused: {data}"))?;
                "awaiting_input".clone_into(&mut self.stage);
                self.held = Some(text(&data["resume_stage"]));
                self.blocked_by = None;
            }
            "item_resumed" => {
                let late = self.stage == "blocked" && self.blocked_by.as_deref() == data["question"].as_str();
                must(paused || late, Rule::Resumed, || format!("item {id} resumes and was not paused: {data}"))?;
                let to = text(&data["to"]);
                // Where the step is gone, the first one takes its place.
                let there = self.held.as_ref().is_some_and(|held| {
                    let instead = |steps: &Vec<String>| !steps.contains(held) && steps.first() == Some(&to);
                    *held == to || (held.starts_with("step-") && workflows.iter().any(instead))
                });
                must(there, Rule::Resumed, || format!("item {id} goes on elsewhere: {data}"))?;
                (self.stage, self.held, self.blocked_by) = (to, None, None);
            }
            "item_ended" => {
                self.stage = text(&data["outcome"]);
                self.ended = true;
                self.sessions.clear();
            }
            _ => {
                must(self.stage == data["from"], Rule::Read, || format!("item {id} is in {}: {data}", self.stage))?;
                let expired = data["question"].as_str().map(str::to_owned);
                must(!paused || expired.is_some(), Rule::Resumed, || format!("item {id} moves though paused: {data}"))?;
                self.stage = text(&data["to"]);
                self.held = data["resume_stage"].as_str().map(str::to_owned);
                self.blocked_by = expired;
            }
        }
        Ok(())
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
