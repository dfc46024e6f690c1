//! What people and programs look at, held against the model.

use querent_core::view::{Filter, StatusFilter};
use querent_core::{Question, Refusal};
use serde_json::json;

use crate::model::{Rule, Violation, must};
use crate::world::{Ended, Running, World};

impl World {
    /// Somebody looks at something.
    pub(crate) fn look(&mut self) -> Result<(), Violation> {
        let process = self.any();
        let pick = self.dice.u8(0..12);
        let looked = match pick {
            0..4 => self.look_at_questions(&process),
            4..8 => self.look_at_an_item(&process),
            8 => self.compare(&process, "ready", process.hub.ready()).map(drop),
            9 => self.compare(&process, "sessions", process.hub.sessions()).map(drop),
            10 => self.compare(&process, "deadlines", process.hub.run_due()).map(drop),
            _ => return self.look_closely(&process),
        };
        self.tally.add("reads", 1);
        looked
    }

    /// A monitor runs: after it, nobody waits in a ring.
    pub(crate) fn survey(&mut self) -> Result<(), Violation> {
        let process = self.any();
        self.observe(&process)?;
        let (dry_run, before) = (self.dice.u8(0..4) == 0, self.model.seq());
        self.tally.add("rings of agents before a monitor ran", u64::from(!self.model.deadlocked().is_empty()));
        let found = process.hub.monitor(dry_run);
        let Some(found) = self.compare(&process, "monitor", found)? else { return Ok(()) };
        self.tally.add("findings of the monitor", found.len() as u64);
        if dry_run {
            let after = self.model.seq();
            return must(after == before, Rule::DryRun, || format!("{} records", after - before));
        }
        self.tally.add("surveys of the monitor", 1);
        let held = self.model.deadlocked();
        must(held.is_empty(), Rule::NoDeadlock, || format!("{held:?} after the monitor found {found:?}"))
    }

    /// Everything that can be read follows from the records.
    fn look_closely(&mut self, process: &Running) -> Result<(), Violation> {
        let process = process.clone();
        self.machine.spare(process.number);
        self.tally.add("whole journals verified", 1);
        self.note(json!({ "event": "verify", "process": process.number }));
        Self::verify(&*process.files)?;
        self.observe(&process)
    }

    fn look_at_questions(&mut self, process: &Running) -> Result<(), Violation> {
        let all = self.dice.bool();
        let status = if all { StatusFilter::All } else { StatusFilter::Active };
        let found = process.hub.questions(None, &Filter { to: None, status });
        let found = self.compare(process, "questions", found)?;
        let Some(found) = found else { return Ok(()) };
        for question in &found {
            self.is_as_recorded(question)?;
        }
        let ended = |id: &str| self.model.items.get(id).is_some_and(|item| item.ended);
        let shown =
            self.model.questions().filter(|it| all || (!ended(it.item()) && (it.is_open() || it.status == "answered")));
        let expected = shown.count();
        must(found.len() == expected, Rule::Read, || format!("{} questions are listed of {expected}", found.len()))
    }

    fn look_at_an_item(&mut self, process: &Running) -> Result<(), Violation> {
        let known = self.model.items.len();
        if known == 0 {
            return Ok(());
        }
        let id = format!("item-{}", self.dice.usize(0..known));
        let Ok(parsed) = id.parse() else { return Ok(()) };
        let found = process.hub.item(&parsed);
        let Some(found) = self.compare(process, "item", found)? else { return Ok(()) };
        let stage = self.model.items.get(&id).map(|item| item.stage.as_str());
        must(stage == Some(found.stage.as_str()), Rule::Read, || format!("{id} is {stage:?} and read as {found:?}"))
    }

    /// A question that was read is what the model says.
    pub(crate) fn is_as_recorded(&self, found: &Question) -> Result<(), Violation> {
        let id = found.id.to_string();
        let holds = self.model.question(&id).is_some_and(|it| {
            let answer = found.answer.as_ref().map_or(serde_json::Value::Null, |answer| answer.value.clone());
            it.status == found.status.as_str() && it.answer == answer && it.to == found.to.to_string()
        });
        must(holds, Rule::Read, || format!("{id} is {:?} and read as {found:?}", self.model.question(&id)))
    }

    /// What a query told, once what it did on the way is taken in; nothing if its process or the disk failed it.
    fn compare<T>(&mut self, process: &Running, what: &str, told: Result<T, Refusal>) -> Result<Option<T>, Violation> {
        self.note(json!({ "event": "look", "process": process.number, "what": what, "told": told.is_ok() }));
        let refused = told.as_ref().err();
        if self.ended(process, refused)? != Ended::Well {
            return Ok(None);
        }
        self.observe(process)?;
        Ok(told.ok())
    }
}
