//! Commands for which no thread waits, on their way to the journal: those that come together are committed together. A commit costs
//! about the same for one as for many, and one that began with the first who comes back from the last would let all others
//! wait for it.

use std::mem::{replace, take};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use querent_core::Envelope;
use querent_journal::{Attempt, Error, Update};
use tokio::sync::oneshot;
use tokio::task::yield_now;

use crate::handle::Handle;

/// How often somebody who is expected is looked for in vain: about as long as a client on this machine takes from a reply to its
/// next request. Where there is but one processor, nobody can come while it is looked for.
static LOOKS: LazyLock<u32> =
    LazyLock::new(|| if available_parallelism().is_ok_and(|processors| processors.get() > 1) { 64 } else { 0 });

/// The commands that wait to be committed.
#[derive(Default)]
pub(crate) struct Gathering {
    waiting: Mutex<Waiting>,
    /// Whether those that were committed last were several.
    pub(crate) is_crowded: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    commands: Vec<Command>,
    /// Whether somebody gathers them.
    is_gathered: bool,
}

/// One of them, and who is told what became of it.
type Command = (Update, oneshot::Sender<Result<Envelope, Error>>);

impl Gathering {
    fn hold(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Handle {
    /// What becomes of an update; none if that is not known. Needs a tokio runtime.
    pub(crate) async fn gathered(&self, update: Update) -> Option<Result<Envelope, Error>> {
        let (tell, told) = oneshot::channel();
        let is_first = {
            let mut waiting = self.inner.gathering.hold();
            waiting.commands.push((update, tell));
            !replace(&mut waiting.is_gathered, true)
        };
        if is_first {
            // On its own: whoever came first may go away. It begins when all who are ready now have come.
            tokio::spawn(Gatherer { hub: self.clone(), is_over: false }.gather());
        }
        told.await.ok()
    }
}

/// Whoever gathers. However it ends, another one can; whom it leaves waiting is told that it broke off.
struct Gatherer {
    hub: Handle,
    is_over: bool,
}

impl Gatherer {
    /// Commits whatever waits, until nothing does.
    async fn gather(mut self) {
        let mut answered = 0;
        loop {
            self.expect(answered).await;
            let Some(commands) = self.take() else { return };
            answered = commands.len();
            self.hub.inner.gathering.is_crowded.store(answered > 1, Ordering::Relaxed);
            let (updates, tell): (Vec<_>, Vec<_>) = commands.into_iter().unzip();
            let replies = self.commit(updates).await.unwrap_or_default();
            // Who does not want to know any more needs no reply.
            tell.into_iter().zip(replies).for_each(|(tell, reply)| drop(tell.send(reply)));
        }
    }

    /// Waits until those who were answered just now are back, or nobody else comes.
    async fn expect(&self, answered: usize) {
        let count = || self.hub.inner.gathering.hold().commands.len();
        let (mut come, mut looks) = (count(), 0);
        let all = come + answered;
        while come < all && looks < *LOOKS {
            // Whoever is ready goes first.
            yield_now().await;
            let now = count();
            looks = if now > come { 0 } else { looks + 1 };
            come = now;
        }
    }

    /// All who wait; none if nobody does, and then it is over.
    fn take(&mut self) -> Option<Vec<Command>> {
        let mut waiting = self.hub.inner.gathering.hold();
        self.is_over = waiting.commands.is_empty();
        waiting.is_gathered = !self.is_over;
        (!self.is_over).then(|| take(&mut waiting.commands))
    }

    /// What becomes of these. They are carried out here, if nothing but a quick disk has to be waited for: to wake another thread
    /// for it, and to be woken by that, takes as long as many a disk.
    async fn commit(&self, updates: Vec<Update>) -> Option<Vec<Result<Envelope, Error>>> {
        match self.hub.inner.journal.attempt(updates) {
            Attempt::Done(replies) => Some(replies),
            Attempt::Busy(updates) => {
                let (done, told) = oneshot::channel();
                self.hub.inner.journal.submit(updates, Box::new(|it| drop(done.send(it))));
                told.await.ok()
            }
        }
    }
}

impl Drop for Gatherer {
    fn drop(&mut self) {
        if !self.is_over {
            *self.hub.inner.gathering.hold() = Waiting::default();
        }
    }
}
