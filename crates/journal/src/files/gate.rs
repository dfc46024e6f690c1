//! Where updates of a process wait for each other: one thread commits for all that wait.

use std::io;
use std::iter::repeat_with;
use std::sync::{MutexGuard, PoisonError};

use querent_core::Envelope;

use super::commit::{Locked, Shared, hold};
use super::seat::{Bell, seat};
use crate::{Attempt, Done, Error, Update};

/// Where updates of this process wait for each other: one thread commits for all that wait.
#[derive(Default)]
pub(crate) struct Gate {
    waiting: Vec<Waiting>,
    busy: bool,
    /// Whether the clerk is to lead, and whether it is to end.
    summons: bool,
    pub(crate) closing: bool,
}

/// Updates that came together, and who is told what became of them.
pub(crate) struct Waiting {
    pub(crate) updates: Vec<Update>,
    whom: Whom,
}

/// Who waits for updates.
enum Whom {
    /// A thread, which is told its turn.
    Thread(Bell<Turn>),
    /// Nobody: it is called back. The clerk leads in its place.
    Callback(Done),
}

impl Waiting {
    /// Tells what became of each: the next of `done`.
    fn tell(self, done: impl Iterator<Item = Result<Envelope, Error>>) {
        let done = done.take(self.updates.len()).collect();
        match self.whom {
            Whom::Thread(bell) => bell.tell(Turn::Done(done)),
            Whom::Callback(call) => call(done),
        }
    }
}

/// What a thread that waits is told.
enum Turn {
    /// Commit, for all that wait.
    Lead,
    /// They are committed, or could not be.
    Done(Vec<Result<Envelope, Error>>),
}

impl Shared {
    /// Waits until the update is committed, by this thread or by another that commits for it.
    pub(crate) fn update(&self, update: Update) -> Result<Envelope, Error> {
        let done = self.enter(hold(&self.gate), vec![update], None).and_then(|mut done| done.pop());
        done.unwrap_or_else(|| {
            let lost = io::Error::other("the thread that wrote for others ended");
            Err(Error::io("write", self.layout.dir())(lost))
        })
    }

    /// Commits updates on this thread, unless they would have to wait for anything but a quick disk.
    pub(crate) fn attempt(&self, updates: Vec<Update>) -> Attempt {
        let gate = hold(&self.gate);
        match if gate.busy { None } else { self.lock_at_once() } {
            Some(locked) => Attempt::Done(self.enter(gate, updates, Some(locked)).unwrap_or_default()),
            None => Attempt::Busy(updates),
        }
    }

    /// What becomes of updates; none if the thread that committed for this one is gone.
    fn enter(
        &self,
        mut gate: MutexGuard<'_, Gate>,
        updates: Vec<Update>,
        locked: Option<Locked<'_>>,
    ) -> Option<Vec<Result<Envelope, Error>>> {
        let (bell, seat) = seat();
        let lead = !std::mem::replace(&mut gate.busy, true);
        gate.waiting.push(Waiting { updates, whom: Whom::Thread(bell) });
        drop(gate);
        if lead {
            self.lead(locked);
        }
        loop {
            match seat.wait()? {
                Turn::Done(done) => return Some(done),
                Turn::Lead => self.lead(None),
            }
        }
    }

    /// Has updates committed together by somebody else, who calls back.
    pub(crate) fn submit(&self, updates: Vec<Update>, done: Done) {
        let mut gate = hold(&self.gate);
        gate.waiting.push(Waiting { updates, whom: Whom::Callback(done) });
        if !std::mem::replace(&mut gate.busy, true) {
            gate.summons = true;
            drop(gate);
            self.summoned.notify_one();
        }
    }

    /// The life of the clerk: the thread that commits for those who wait on none.
    pub(crate) fn serve_callers(&self) {
        let mut gate = hold(&self.gate);
        loop {
            if std::mem::take(&mut gate.summons) {
                drop(gate);
                self.lead(None);
                gate = hold(&self.gate);
            } else if gate.closing {
                return;
            } else {
                gate = self.summoned.wait(gate).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Commits all that wait, and tells each; then another leads, if more have come.
    fn lead(&self, locked: Option<Locked<'_>>) {
        let _passing = Passing(self);
        let mut waiting = std::mem::take(&mut hold(&self.gate).waiting);
        match self.commit(&mut waiting, locked) {
            Ok(replies) => {
                let mut replies = replies.into_iter().map(Ok);
                for it in waiting {
                    it.tell(replies.by_ref());
                }
            }
            Err(error) => {
                for it in waiting {
                    it.tell(repeat_with(|| Err(error.again())));
                }
            }
        }
    }
}

/// Lets the next one lead, however the commit ends.
struct Passing<'a>(&'a Shared);

impl Drop for Passing<'_> {
    fn drop(&mut self) {
        let mut gate = hold(&self.0.gate);
        gate.busy = match gate.waiting.first().map(|next| &next.whom) {
            // It is told nothing else before it has led.
            Some(Whom::Thread(bell)) => {
                bell.tell(Turn::Lead);
                true
            }
            Some(Whom::Callback(_)) => {
                gate.summons = true;
                self.0.summoned.notify_one();
                true
            }
            None => false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Script;
    use crate::files::layout::Layout;
    use crate::files::{Ledgers, Options};
    use crate::{Files, Journal};

    /// Whether this is carried out at once.
    fn at_once(files: &Files, operation: &str) -> bool {
        let update = Script::new().unwrap().update(operation, &Script::ask("42", "Which tea?").unwrap());
        match files.attempt(vec![update]) {
            Attempt::Done(done) => done.into_iter().all(|it| it.unwrap().as_str().contains("\"ok\":true")),
            Attempt::Busy(updates) => {
                for update in updates {
                    files.update(update).unwrap();
                }
                false
            }
        }
    }

    #[test]
    fn a_process_that_has_the_log_at_hand_commits_at_once_and_one_that_has_not_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let stays = || Options { ledgers: Ledgers::OnDemand, ..Options::new("test") };
        let files = Files::open(dir.path(), stays());
        Script::new().unwrap().accept(&files, "op-open", &Script::open("42").unwrap()).unwrap();
        let other = Files::open(dir.path(), stays());

        assert!(!at_once(&other, "op-cold"), "it has to read the log first");
        assert!(at_once(&other, "op-warm"));
        assert!(at_once(&files, "op-after"), "the lines of others are taken in");
    }

    #[test]
    fn nobody_waits_at_once_for_the_lock_of_another_process() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::open(dir.path(), Options { ledgers: Ledgers::OnDemand, ..Options::new("test") });
        Script::new().unwrap().accept(&files, "op-open", &Script::open("42").unwrap()).unwrap();
        let lock = std::fs::File::open(Layout::of(dir.path()).lock()).unwrap();
        lock.lock().unwrap();
        let update = Script::new().unwrap().update("op-1", &Script::ask("42", "Which tea?").unwrap());

        let attempt = files.attempt(vec![update]);

        assert!(matches!(attempt, Attempt::Busy(_)));
        lock.unlock().unwrap();
        assert!(at_once(&files, "op-2"));
    }
}
