//! Locks between processes: the operating system's own, so that a crash frees it at once.

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use querent_core::Moment;
use serde::{Deserialize, Serialize};

use super::commit::hold;
use super::disk::{Disk, DiskFile, Identity, Open};
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

/// How old a signature grows before it is renewed.
const SIGNED_ANEW: Duration = Duration::from_secs(1);

/// The way to the lock.
pub(crate) struct Lock {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    identity: Identity,
    agent: String,
    signed: Mutex<Option<Instant>>,
    /// The thread that queues up for this process, once it had to.
    waiter: OnceLock<mpsc::Sender<Wish>>,
}

/// Where a thread that waited puts the lock.
type Wish = mpsc::SyncSender<io::Result<Held>>;

/// The lock, held. Dropping it, or dying, frees it.
pub(crate) struct Held(Arc<dyn DiskFile>);

impl Drop for Held {
    fn drop(&mut self) {
        // It fails only where no lock is held.
        let _ = self.0.unlock();
    }
}

impl Lock {
    pub(crate) fn open(disk: &Arc<dyn Disk>, path: &Path, agent: &str) -> Result<Self, Error> {
        let agent = agent.chars().take(64).collect();
        let file = disk.open(path, Open::Create).map_err(Error::io("open", path))?;
        let identity = file.identity().map_err(Error::io("open", path))?;
        Ok(Self {
            disk: Arc::clone(disk),
            path: path.to_owned(),
            file: Arc::from(file),
            identity,
            agent,
            signed: Mutex::default(),
            waiter: OnceLock::new(),
        })
    }

    /// Takes the lock; waits for it in the operating system's queue, not by polling. `meanwhile` is done as long as others
    /// are let go first.
    pub(crate) fn acquire(&self, patience: Duration, mut meanwhile: impl FnMut()) -> Result<Held, Error> {
        for _ in 0..YIELDS {
            match self.file.try_lock() {
                Ok(()) => {
                    self.sign();
                    return Ok(Held(Arc::clone(&self.file)));
                }
                Err(TryLockError::WouldBlock) => {
                    meanwhile();
                    thread::yield_now();
                }
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", &self.path)(error)),
            }
        }
        self.queue_up(patience)
    }

    /// Takes the lock if nobody has it.
    pub(crate) fn acquire_at_once(&self) -> Option<Held> {
        self.file.try_lock().ok()?;
        let held = Held(Arc::clone(&self.file));
        self.is_in_place().then(|| {
            self.sign();
            held
        })
    }

    /// Whether the file is still the one that others find: people delete lock files that look forgotten.
    pub(crate) fn is_in_place(&self) -> bool {
        self.disk.identity(&self.path).is_ok_and(|there| there == self.identity)
    }

    /// A thread waits with a file of its own, so that one that comes too late frees only what is its own.
    fn queue_up(&self, patience: Duration) -> Result<Held, Error> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let waiter = self.waiter.get_or_init(|| wait_for_others(Arc::clone(&self.disk), self.path.clone()));
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

    /// Says who holds the lock, for people. Often enough: who holds it for long is found by the process id.
    fn sign(&self) {
        let mut signed = hold(&self.signed);
        if signed.is_some_and(|at| at.elapsed() < SIGNED_ANEW) {
            return;
        }
        *signed = Some(Instant::now());
        let holder = Holder { pid: std::process::id(), timestamp: now(), agent: self.agent.clone() };
        let mut text = serde_json::to_vec(&holder).unwrap_or_default();
        // Of one length, so that a shorter one covers a longer one. A full disk must not stop anybody here.
        text.resize(255, b' ');
        text.push(b'\n');
        let _ = self.file.write_all_at(&text, 0);
    }

    fn holder(&self) -> String {
        let text = self.disk.read(&self.path).unwrap_or_default();
        let signed = serde_json::from_slice::<Holder>(&text).ok();
        let pid = self.holding_process();
        match signed.filter(|it| pid.is_none_or(|pid| pid == it.pid)) {
            Some(it) => format!("{} (pid {}) since {}", it.agent, it.pid, now().since(it.timestamp).rough()),
            None => pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}")),
        }
    }

    /// The process that holds the lock, where the system tells: a line is `1: FLOCK ADVISORY WRITE 4711 fe:00:1234 0 EOF`.
    fn holding_process(&self) -> Option<u32> {
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        let inode = format!(":{}", self.identity.1);
        let mut held = locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let ours = held.find(|it| it.get(1) == Some(&"FLOCK") && it.get(5).is_some_and(|at| at.ends_with(&inode)))?;
        ours[4].parse().ok()
    }
}

/// Takes the lock for whoever wishes for it, one after the other. Who does not wait any more leaves it free.
fn wait_for_others(disk: Arc<dyn Disk>, path: PathBuf) -> mpsc::Sender<Wish> {
    let (sender, wishes) = mpsc::channel::<Wish>();
    thread::spawn(move || {
        for wish in wishes {
            let held = disk.open(&path, Open::Create).and_then(|file| file.lock().map(|()| Held(Arc::from(file))));
            let _ = wish.send(held);
        }
    });
    sender
}

fn now() -> Moment {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Moment::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::disk::Os;
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_refused_with_the_name_of_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        let (path, disk): (_, Arc<dyn Disk>) = (dir.path().join("journal.lock"), Arc::new(Os));
        let first = Lock::open(&disk, &path, "engineer").unwrap();
        let second = Lock::open(&disk, &path, "human").unwrap();
        let held = first.acquire(Duration::from_secs(5), || {}).unwrap();

        let refused = second.acquire(Duration::from_millis(20), || {}).err().unwrap().to_string();

        assert!(refused.contains("engineer") && refused.contains(&std::process::id().to_string()), "{refused}");
        drop(held);
        assert!(second.acquire(Duration::from_secs(5), || {}).is_ok());
    }

    #[test]
    fn a_lock_that_was_waited_for_is_held_like_any_other() {
        let dir = tempfile::tempdir().unwrap();
        let (path, disk): (_, Arc<dyn Disk>) = (dir.path().join("journal.lock"), Arc::new(Os));
        let [first, second, third] = ["a", "b", "c"].map(|name| Lock::open(&disk, &path, name).unwrap());
        let held = first.acquire(Duration::from_secs(5), || {}).unwrap();
        let waiter = thread::spawn(move || second.queue_up(Duration::from_mins(1)).unwrap());
        drop(held);
        let held = waiter.join().unwrap();

        assert!(third.acquire(Duration::from_millis(20), || {}).is_err());
        drop(held);
        assert!(third.acquire(Duration::from_secs(5), || {}).is_ok());
    }

    #[test]
    fn a_waiter_gets_the_lock_when_it_is_freed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, disk): (_, Arc<dyn Disk>) = (dir.path().join("journal.lock"), Arc::new(Os));
        let first = Lock::open(&disk, &path, "a").unwrap();
        let held = first.acquire(Duration::from_secs(5), || {}).unwrap();
        let waiter = thread::spawn({
            let second = Lock::open(&disk, &path, "b").unwrap();
            move || second.acquire(Duration::from_mins(1), || {}).is_ok()
        });

        drop(held);

        assert!(waiter.join().unwrap());
    }
}
