//! A disk that processes share, and that can lose what was not synced.
//!
//! What a process writes is seen by all at once. A process that dies in the middle of a call leaves everything as it is, and
//! perhaps half of a last write; its locks are free. When the power fails, all processes die, and what no sync has reached is
//! there in part or not at all. A change that fails (the disk is full) may be half done, and the process goes on.

mod tree;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::TryLockError;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fastrand::Rng;
use querent_journal::files::{Disk, DiskFile, Identity, Open};

use self::tree::{Inode, Tree};

/// The number of a process.
pub(crate) type Process = u32;

/// The computer: its disk and its processes.
#[derive(Clone)]
pub(crate) struct Machine(Arc<Mutex<Hardware>>);

struct Hardware {
    tree: Tree,
    dice: Rng,
    boot: u32,
    processes: BTreeMap<Process, Life>,
    /// Which open file has the lock of a file.
    locks: BTreeMap<Inode, (Process, u64)>,
    opened: u64,
    wear: Wear,
    /// Whether syncs are promised and not done.
    lies: bool,
}

/// What is to happen to a process.
#[derive(Clone, Copy, Debug, Default)]
struct Life {
    alive: bool,
    /// After how many more changes it dies.
    dies_in: Option<u32>,
    /// After how many more changes one fails.
    fails_in: Option<u32>,
}

/// What happened to the disk so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wear {
    /// Changes and syncs.
    pub(crate) changes: u64,
    /// Those that failed.
    pub(crate) failed: u64,
    /// Writes of which a part was done when their process died, or that a power cut tore.
    pub(crate) torn: u64,
    /// Writes that a power cut took.
    pub(crate) lost: u64,
}

/// How a change goes.
enum Fate {
    Done,
    Dies,
    Fails,
}

impl Machine {
    /// A fresh one, with an empty disk.
    pub(crate) fn new(dice: Rng, lies: bool) -> Self {
        Self(Arc::new(Mutex::new(Hardware {
            tree: Tree::new(),
            dice,
            boot: 1,
            processes: BTreeMap::new(),
            locks: BTreeMap::new(),
            opened: 0,
            wear: Wear::default(),
            lies,
        })))
    }

    /// The disk as a new process sees it.
    pub(crate) fn start(&self, process: Process) -> Arc<dyn Disk> {
        self.hold().processes.insert(process, Life { alive: true, ..Life::default() });
        Arc::new(View { machine: self.clone(), process })
    }

    /// Lets a process die at one of its next changes.
    pub(crate) fn doom(&self, process: Process, after: u32) {
        self.life(process, |life| life.dies_in = Some(after));
    }

    /// Lets one of the next changes of a process fail.
    pub(crate) fn spoil(&self, process: Process, after: u32) {
        self.life(process, |life| life.fails_in = Some(after));
    }

    /// Nothing happens to a process any more.
    pub(crate) fn spare(&self, process: Process) {
        self.life(process, |life| (life.dies_in, life.fails_in) = (None, None));
    }

    /// Ends a process at once.
    pub(crate) fn kill(&self, process: Process) {
        self.hold().kill(process);
    }

    /// Whether a process is still there.
    pub(crate) fn is_alive(&self, process: Process) -> bool {
        self.hold().processes.get(&process).is_some_and(|life| life.alive)
    }

    /// The power fails: all processes die.
    pub(crate) fn cut_power(&self) {
        let mut hardware = self.hold();
        let Hardware { tree, dice, .. } = &mut *hardware;
        let taken = tree.cut_power(dice);
        hardware.wear.lost += taken.writes + taken.names;
        hardware.wear.torn += taken.torn;
        hardware.boot += 1;
        hardware.locks.clear();
        hardware.processes.values_mut().for_each(|life| life.alive = false);
    }

    /// Somebody deletes a file, or a directory with all that is in it.
    pub(crate) fn delete(&self, path: &Path) {
        // What is not there need not be deleted.
        let _ = self.hold().tree.remove(path);
    }

    /// What happened to the disk so far.
    pub(crate) fn wear(&self) -> Wear {
        self.hold().wear
    }

    fn life(&self, process: Process, change: impl FnOnce(&mut Life)) {
        self.hold().processes.get_mut(&process).map(change);
    }

    fn hold(&self) -> MutexGuard<'_, Hardware> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hardware {
    fn kill(&mut self, process: Process) {
        if let Some(life) = self.processes.get_mut(&process) {
            *life = Life::default();
        }
        self.locks.retain(|_, (holder, _)| *holder != process);
    }

    fn alive(&self, process: Process) -> io::Result<()> {
        let alive = self.processes.get(&process).is_some_and(|life| life.alive);
        if alive { Ok(()) } else { Err(io::Error::other("the process is gone")) }
    }

    /// What becomes of a change that a process is about to make.
    fn fate(&mut self, process: Process) -> io::Result<Fate> {
        self.alive(process)?;
        self.wear.changes += 1;
        let Some(life) = self.processes.get_mut(&process) else { return Ok(Fate::Done) };
        if comes(&mut life.dies_in) {
            self.kill(process);
            return Ok(Fate::Dies);
        }
        if comes(&mut life.fails_in) {
            self.wear.failed += 1;
            return Ok(Fate::Fails);
        }
        Ok(Fate::Done)
    }

    /// Makes a change that is done or not; one that dies or fails may yet be done.
    fn change<T>(&mut self, process: Process, change: impl FnOnce(&mut Tree) -> io::Result<T>) -> io::Result<T> {
        match self.fate(process)? {
            Fate::Done => change(&mut self.tree),
            Fate::Dies => {
                if self.dice.bool() {
                    change(&mut self.tree)?;
                }
                Err(io::Error::other("the process died"))
            }
            Fate::Fails => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn write(&mut self, process: Process, inode: Inode, bytes: &[u8], at: u64) -> io::Result<()> {
        let fate = self.fate(process)?;
        let count = match fate {
            Fate::Done => bytes.len(),
            Fate::Dies | Fate::Fails => self.dice.usize(0..=bytes.len()),
        };
        self.wear.torn += u64::from(count > 0 && count < bytes.len());
        if count > 0 {
            self.tree.write(inode, &bytes[..count], at);
        }
        match fate {
            Fate::Done => Ok(()),
            Fate::Dies => Err(io::Error::other("the process died")),
            Fate::Fails => Err(io::ErrorKind::StorageFull.into()),
        }
    }
}

/// Whether what was to come has come.
fn comes(left: &mut Option<u32>) -> bool {
    match left {
        Some(0) => {
            *left = None;
            true
        }
        Some(more) => {
            *more -= 1;
            false
        }
        None => false,
    }
}

/// The disk as one process sees it.
struct View {
    machine: Machine,
    process: Process,
}

impl View {
    fn look<T>(&self, look: impl FnOnce(&Tree) -> io::Result<T>) -> io::Result<T> {
        let hardware = self.machine.hold();
        hardware.alive(self.process)?;
        look(&hardware.tree)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Tree) -> io::Result<T>) -> io::Result<T> {
        self.machine.hold().change(self.process, change)
    }
}

impl Disk for View {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let mut hardware = self.machine.hold();
        hardware.alive(self.process)?;
        let inode = match (hardware.tree.find(path), how) {
            (Ok(_), Open::CreateNew) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Ok(inode), _) => inode,
            (Err(error), Open::Create | Open::CreateNew) if error.kind() == io::ErrorKind::NotFound => {
                hardware.change(self.process, |tree| tree.create(path))?
            }
            (Err(error), _) => return Err(error),
        };
        hardware.opened += 1;
        // What a lock file says is for people and follows the real clock: it counts for nothing here.
        let lock = path.extension().is_some_and(|it| it == "lock");
        Ok(Box::new(Handle {
            machine: self.machine.clone(),
            process: self.process,
            inode,
            number: hardware.opened,
            lock,
        }))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.look(|tree| Ok(tree.bytes(tree.find(path)?)?.to_vec()))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut hardware = self.machine.hold();
        let inode = match hardware.tree.find(path) {
            Ok(inode) => inode,
            Err(_) => hardware.change(self.process, |tree| tree.create(path))?,
        };
        hardware.change(self.process, |tree| {
            tree.set_len(inode, 0);
            Ok(())
        })?;
        hardware.write(self.process, inode, bytes, 0)
    }

    fn exists(&self, path: &Path) -> bool {
        self.look(|tree| tree.find(path)).is_ok()
    }

    fn identity(&self, path: &Path) -> io::Result<Identity> {
        self.look(|tree| Ok((0, tree.find(path)?)))
    }

    fn stat(&self, path: &Path) -> io::Result<(Identity, u64)> {
        self.look(|tree| {
            let inode = tree.find(path)?;
            Ok(((0, inode), tree.bytes(inode)?.len() as u64))
        })
    }

    fn names(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        self.look(|tree| tree.names(dir))
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.change(|tree| tree.create_dir_all(dir))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.change(|tree| tree.sync_dir(dir))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|tree| tree.rename(from, to))
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        self.change(|tree| tree.exchange(one, other))
    }

    fn hard_link(&self, file: &Path, name: &Path) -> io::Result<()> {
        self.change(|tree| tree.hard_link(file, name))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.change(|tree| tree.remove(path))
    }

    fn boot(&self) -> String {
        format!("boot {}", self.machine.hold().boot)
    }
}

/// A file that a process has open.
struct Handle {
    machine: Machine,
    process: Process,
    inode: Inode,
    number: u64,
    lock: bool,
}

impl Drop for Handle {
    fn drop(&mut self) {
        let _ = self.unlock();
    }
}

impl DiskFile for Handle {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let hardware = self.machine.hold();
        hardware.alive(self.process)?;
        let bytes = hardware.tree.bytes(self.inode)?;
        let from = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        let count = into.len().min(bytes.len() - from);
        into[..count].copy_from_slice(&bytes[from..from + count]);
        Ok(count)
    }

    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        if self.lock {
            return Ok(());
        }
        self.machine.hold().write(self.process, self.inode, bytes, at)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.machine.hold().change(self.process, |tree| {
            tree.set_len(self.inode, length);
            Ok(())
        })
    }

    fn length(&self) -> io::Result<u64> {
        let hardware = self.machine.hold();
        hardware.alive(self.process)?;
        Ok(hardware.tree.bytes(self.inode)?.len() as u64)
    }

    fn identity(&self) -> io::Result<Identity> {
        Ok((0, self.inode))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut hardware = self.machine.hold();
        let lies = hardware.lies;
        hardware.change(self.process, |tree| {
            if !lies {
                tree.sync(self.inode);
            }
            Ok(())
        })
    }

    fn lock(&self) -> io::Result<()> {
        // One call runs at a time, so nobody would ever free it.
        self.try_lock().map_err(|_| io::Error::other("a lock was left behind"))
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        let mut hardware = self.machine.hold();
        hardware.alive(self.process).map_err(TryLockError::Error)?;
        let holder = hardware.locks.entry(self.inode).or_insert((self.process, self.number));
        if *holder == (self.process, self.number) { Ok(()) } else { Err(TryLockError::WouldBlock) }
    }

    fn unlock(&self) -> io::Result<()> {
        let mut hardware = self.machine.hold();
        if hardware.locks.get(&self.inode) == Some(&(self.process, self.number)) {
            hardware.locks.remove(&self.inode);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> &Path {
        Path::new(name)
    }

    /// What is left of `writes`, and of a name that was not synced, over many power cuts.
    fn survivors(cuts: u64, prepare: impl Fn(&dyn Disk)) -> Vec<Option<Vec<u8>>> {
        let survivor = |seed| {
            let machine = Machine::new(Rng::with_seed(seed), false);
            prepare(&*machine.start(1));
            machine.cut_power();
            machine.start(2).read(path("/log")).ok()
        };
        (0..cuts).map(survivor).collect()
    }

    #[test]
    fn what_was_synced_survives_a_power_cut_and_the_rest_is_a_beginning() {
        let left = survivors(200, |disk| {
            let file = disk.open(path("/log"), Open::Create).unwrap();
            disk.sync_dir(path("/")).unwrap();
            file.write_all_at(b"kept", 0).unwrap();
            file.sync_data().unwrap();
            file.write_all_at(b"lost", 4).unwrap();
        });

        assert!(left.iter().flatten().all(|it| it.starts_with(b"kept")) && left.len() == 200);
        for rest in [&b""[..], b"l", b"lost", b"\0\0\0\0"] {
            assert!(left.contains(&Some([b"kept", rest].concat())), "{rest:?}");
        }
    }

    #[test]
    fn a_name_that_was_not_synced_may_be_lost_though_the_file_was() {
        let left = survivors(20, |disk| {
            let file = disk.open(path("/log"), Open::Create).unwrap();
            file.write_all_at(b"kept", 0).unwrap();
            file.sync_data().unwrap();
        });

        assert!(left.contains(&None) && left.contains(&Some(b"kept".to_vec())));
    }

    #[test]
    fn a_process_that_dies_frees_its_locks_and_does_nothing_more() {
        let machine = Machine::new(Rng::with_seed(1), false);
        let (first, second) = (machine.start(1), machine.start(2));
        let held = first.open(path("/a.lock"), Open::Create).unwrap();
        held.try_lock().unwrap();
        let wanted = second.open(path("/a.lock"), Open::Create).unwrap();
        assert!(wanted.try_lock().is_err());

        machine.kill(1);

        assert!(wanted.try_lock().is_ok());
        assert!(first.open(path("/b"), Open::Create).is_err() && !second.exists(path("/b")));
    }
}
