//! What goes wrong: crashes, power cuts, full disks, clocks that jump.

use serde_json::json;

use crate::cast;
use crate::disk::Process;
use crate::model::{Rule, Violation, broken};
use crate::world::World;

/// How many processes run at most.
const MOST_PROCESSES: usize = 4;

impl World {
    /// Usually a minute or two; sometimes hours, sometimes a little back.
    pub(crate) fn clock_goes_on(&mut self) {
        let millis = match self.dice.u8(0..40) {
            0 => self.dice.i64(3_600_000..30_000_000),
            1 => -self.dice.i64(0..120_000),
            2..10 => 0,
            _ => self.dice.i64(0..120_000),
        };
        if millis < 0 {
            self.tally.add("clock jumps back", 1);
        } else if millis > 3_000_000 {
            self.tally.add("clock jumps ahead", 1);
        }
        self.clock.jump(millis);
    }

    /// Something will go wrong, or does at once.
    pub(crate) fn trouble(&mut self) -> Result<(), Violation> {
        let process = self.any().number;
        let after = self.dice.u32(0..30);
        match self.dice.u8(0..10) {
            0..5 => {
                self.machine.doom(process, after);
                self.note(json!({ "event": "process will crash", "process": process, "after": after }));
            }
            5..8 => {
                self.machine.spoil(process, after);
                self.note(json!({ "event": "disk will be full", "process": process, "after": after }));
            }
            8 => {
                self.machine.kill(process);
                self.bury(process)?;
            }
            _ => self.cut_power()?,
        }
        Ok(())
    }

    /// A process is gone; perhaps because the power is.
    pub(crate) fn bury(&mut self, process: Process) -> Result<(), Violation> {
        self.running.retain(|it| it.number != process);
        self.tally.add("crashes", 1);
        self.note(json!({ "event": "process crashed", "process": process }));
        if self.dice.u8(0..3) == 0 { self.cut_power() } else { Ok(()) }
    }

    fn cut_power(&mut self) -> Result<(), Violation> {
        self.machine.cut_power();
        self.running.clear();
        self.tally.add("power cuts", 1);
        self.note(json!({ "event": "power cut" }));
        let process = self.start();
        let lines = Self::everything(&process)?;
        let lost = self.model.seq().saturating_sub(lines.len() as u64);
        self.tally.add("records that a power cut took before they were acknowledged", lost);
        self.note(json!({ "event": "power is back", "records": lines.len(), "durable": self.durable, "lost": lost }));
        self.model.again(lines, self.durable)?;
        self.model.settled()
    }

    /// A process lets its ledgers follow.
    pub(crate) fn follow(&mut self) -> Result<(), Violation> {
        let process = self.any();
        let followed = process.files.follow();
        self.note(json!({ "event": "ledgers follow", "process": process.number, "done": followed.is_ok() }));
        self.tally.add("ledgers brought up to the log", 1);
        let refusal = followed.err().map(Into::into);
        self.ended(&process, refusal.as_ref())?;
        Ok(())
    }

    /// A process ends as it should, or another begins.
    pub(crate) fn come_and_go(&mut self) {
        if self.dice.u8(0..8) == 0 {
            self.edit_the_rules();
        } else if self.running.len() < MOST_PROCESSES && self.dice.bool() {
            self.start();
        } else if self.running.len() > 1 {
            let gone = self.running.swap_remove(self.dice.usize(0..self.running.len()));
            self.machine.kill(gone.number);
            self.note(json!({ "event": "process ended", "process": gone.number }));
        }
    }

    /// Somebody edits the workflow and the policy; all processes see that.
    fn edit_the_rules(&mut self) {
        cast::edit(&mut self.dice, &mut self.rules);
        for process in std::mem::take(&mut self.running) {
            self.machine.kill(process.number);
        }
        self.tally.add("rules edited", 1);
        let steps = self.tell_the_steps();
        self.note(json!({ "event": "rules edited", "steps": steps }));
    }

    /// The model knows the workflow by the names of its steps.
    pub(crate) fn tell_the_steps(&mut self) -> usize {
        let steps = self.rules.workflows.values().flat_map(|it| &it.steps).map(|step| step.name.clone());
        let steps: Vec<String> = steps.collect();
        let count = steps.len();
        self.model.workflows.push(steps);
        count
    }

    /// What the disk went through.
    pub(crate) fn count_wear(&mut self) {
        let wear = self.machine.wear();
        self.tally.add("changes of the disk", wear.changes);
        self.tally.add("torn writes", wear.torn);
        self.tally.add("writes and names that a power cut took", wear.lost);
    }

    /// Everything derived is deleted by somebody who wants to tidy up.
    pub(crate) fn delete_what_is_derived(&mut self) {
        for path in ["items", "open", "operations", "shared", "journal/checkpoint"] {
            self.machine.delete(path.as_ref());
        }
        self.note(json!({ "event": "everything derived is deleted" }));
    }

    /// Whether a journal is as it should be, to itself.
    pub(crate) fn verify(journal: &dyn querent_journal::Journal) -> Result<(), Violation> {
        match querent_journal::conformance::verify(journal) {
            Ok(_) => Ok(()),
            Err(found) => broken(Rule::Read, found.0),
        }
    }
}
