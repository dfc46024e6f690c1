//! The quiet at the end: whatever was left open is sent again, humans answer, time passes; then nothing may be open, and all
//! that can be read must follow from the journal.

use serde_json::json;

use crate::model::{Rule, Violation, broken, must};
use crate::world::{Running, World};

/// How often humans look before they should have found everything.
const ROUNDS: usize = 60;

impl World {
    pub(crate) fn quiet(&mut self) -> Result<(), Violation> {
        self.note(json!({ "event": "quiet" }));
        for process in &self.running {
            self.machine.spare(process.number);
        }
        let again: Vec<_> = self.unknown.drain(..).chain(self.late.drain(..)).collect();
        for (operation, act) in again {
            let process = self.any();
            self.deliver(&process, &operation, &act)?;
        }
        self.survey()?;
        self.settle()?;
        for process in self.running.clone() {
            Self::verify(&*process.files)?;
        }
        let process = self.start();
        self.is_sound(&process)?;
        self.delete_what_is_derived();
        self.running.clear();
        let process = self.start();
        Self::verify(&*process.files)?;
        self.is_sound(&process)
    }

    /// Humans answer all that comes to them, and deadlines pass, until nothing is open.
    fn settle(&mut self) -> Result<(), Violation> {
        for _ in 0..ROUNDS {
            let process = self.any();
            let open: Vec<String> =
                self.model.questions().filter(|it| it.is_open() && it.to_human()).map(|it| it.id.clone()).collect();
            for id in open {
                self.human_answers(&id)?;
            }
            self.clock.jump(2 * 3_600_000);
            let due = process.hub.run_due();
            self.ended(&process, due.as_ref().err())?;
            self.observe(&process)?;
            if !self.model.questions().any(crate::model::Question::is_open) {
                break;
            }
        }
        let open = self.model.questions().find(|it| it.is_open());
        must(open.is_none(), Rule::Settles, || format!("still open: {open:?}"))?;
        let waits = self.model.items.iter().find(|(_, item)| item.stage == "awaiting_input");
        must(waits.is_none(), Rule::Settles, || format!("still waiting: {waits:?}"))
    }

    /// A doctor finds nothing once somebody has written, and the journal is as long as it was.
    fn is_sound(&mut self, process: &Running) -> Result<(), Violation> {
        process.files.follow()?;
        let lines = Self::everything(process)?;
        let durable = self.durable;
        self.model.again(lines, durable)?;
        let findings = process.files.examine()?;
        match findings.first() {
            Some(finding) => broken(Rule::Read, format!("the doctor finds: {finding:?}")),
            None => Ok(()),
        }
    }
}
