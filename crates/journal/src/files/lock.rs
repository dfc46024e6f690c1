//! Locks between processes: the operating system's own, so that a crash frees it at once.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::{Duration, SystemTime};

use querent_core::Moment;
use serde::{Deserialize, Serialize};

use crate::Error;

/// What the lock file says, for people who wonder who holds it. It is no part of the locking.
#[derive(Serialize, Deserialize)]
struct Holder {
    pid: u32,
    timestamp: Moment,
    agent: String,
}

/// How often another process is let go first before this one queues up: a lock is held for less time than a queue costs.
const YIELDS: usize = 32;

/// The way to the lock.
pub(crate) struct Lock {
    path: PathBuf,
    file: File,
    agent: String,
    /// The thread that queues up for this process, once it had to.
    waiter: OnceLock<mpsc::Sender<Wish>>,
}

/// Where a thread that waited puts the lock.
type Wish = mpsc::SyncSender<io::Result<Held>>;

/// The lock, held. Dropping it, or dying, frees it.
pub(crate) struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        // The close of the file frees it too, if this should fail.
        let _ = self.0.unlock();
    }
}

impl Lock {
    pub(crate) fn open(path: &Path, agent: &str) -> Result<Self, Error> {
        let agent = agent.chars().take(64).collect();
        Ok(Self { path: path.to_owned(), file: open(path)?, agent, waiter: OnceLock::new() })
    }

    /// Takes the lock; waits for it in the operating system's queue, not by polling.
    pub(crate) fn acquire(&self, patience: Duration) -> Result<Held, Error> {
        for _ in 0..YIELDS {
            match self.file.try_lock() {
                Ok(()) => {
                    let held = Held(self.file.try_clone().map_err(Error::io("lock", &self.path))?);
                    self.sign();
                    return Ok(held);
                }
                Err(TryLockError::WouldBlock) => thread::yield_now(),
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", &self.path)(error)),
            }
        }
        self.queue_up(patience)
    }

    /// Whether the file is still the one that others find: people delete lock files that look forgotten.
    pub(crate) fn is_in_place(&self) -> bool {
        let same = |here: Metadata, there: Metadata| here.ino() == there.ino() && here.dev() == there.dev();
        self.file.metadata().and_then(|here| Ok(same(here, fs::metadata(&self.path)?))).unwrap_or(false)
    }

    /// A thread waits with a file of its own, so that one that comes too late frees only what is its own.
    fn queue_up(&self, patience: Duration) -> Result<Held, Error> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let waiter = self.waiter.get_or_init(|| wait_for_others(self.path.clone()));
        // A thread that is gone never answers, which is a wait in vain.
        let _ = waiter.send(sender);
        match receiver.recv_timeout(patience) {
            Ok(Ok(held)) => {
                self.sign();
                Ok(held)
            }
            Ok(Err(error)) => Err(Error::io("lock", &self.path)(error)),
            Err(_) => Err(Error::LockTimeout { holder: self.holder(), waited: patience.as_secs() }),
        }
    }

    /// Says who holds the lock, for people.
    fn sign(&self) {
        let holder = Holder { pid: std::process::id(), timestamp: now(), agent: self.agent.clone() };
        let text = serde_json::to_string(&holder).unwrap_or_default();
        // Of one length, so that a shorter one covers a longer one. A full disk must not stop anybody here.
        let _ = self.file.write_all_at(format!("{text:<255}\n").as_bytes(), 0);
    }

    fn holder(&self) -> String {
        let mut text = String::new();
        let read = File::open(&self.path).and_then(|mut file| file.read_to_string(&mut text));
        match read.ok().and_then(|_| serde_json::from_str::<Holder>(&text).ok()) {
            Some(it) => format!("{} (pid {}) since {}", it.agent, it.pid, now().since(it.timestamp).rough()),
            None => "another process".to_owned(),
        }
    }
}

/// Takes the lock for whoever wishes for it, one after the other. Who does not wait any more leaves it free.
fn wait_for_others(path: PathBuf) -> mpsc::Sender<Wish> {
    let (sender, wishes) = mpsc::channel::<Wish>();
    thread::spawn(move || {
        for wish in wishes {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let held = file.and_then(|file| file.lock().map(|()| Held(file)));
            let _ = wish.send(held);
        }
    });
    sender
}

fn open(path: &Path) -> Result<File, Error> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    file.map_err(Error::io("open", path))
}

fn now() -> Moment {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Moment::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_refused_with_the_name_of_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.lock");
        let first = Lock::open(&path, "engineer").unwrap();
        let second = Lock::open(&path, "human").unwrap();
        let held = first.acquire(Duration::from_secs(5)).unwrap();

        let refused = second.acquire(Duration::from_millis(20)).err().unwrap().to_string();

        assert!(refused.contains("engineer") && refused.contains(&std::process::id().to_string()), "{refused}");
        drop(held);
        assert!(second.acquire(Duration::from_secs(5)).is_ok());
    }

    #[test]
    fn a_lock_that_was_waited_for_is_held_like_any_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.lock");
        let [first, second, third] = ["a", "b", "c"].map(|name| Lock::open(&path, name).unwrap());
        let held = first.acquire(Duration::from_secs(5)).unwrap();
        let waiter = thread::spawn(move || second.queue_up(Duration::from_mins(1)).unwrap());
        drop(held);
        let held = waiter.join().unwrap();

        assert!(third.acquire(Duration::from_millis(20)).is_err());
        drop(held);
        assert!(third.acquire(Duration::from_secs(5)).is_ok());
    }

    #[test]
    fn a_waiter_gets_the_lock_when_it_is_freed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.lock");
        let first = Lock::open(&path, "a").unwrap();
        let held = first.acquire(Duration::from_secs(5)).unwrap();
        let waiter = thread::spawn({
            let second = Lock::open(&path, "b").unwrap();
            move || second.acquire(Duration::from_mins(1)).is_ok()
        });

        drop(held);

        assert!(waiter.join().unwrap());
    }
}
