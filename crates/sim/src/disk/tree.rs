//! Files and directories in memory, with what of them would survive a power cut.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path};

use fastrand::Rng;

/// The number of a file or directory.
pub(super) type Inode = u64;

/// The project's directory, which is there from the start.
pub(super) const ROOT: Inode = 0;

/// How many writes to a file wait at most for a sync: the oldest are written back meanwhile.
const MOST_PENDING: usize = 64;

/// The tree as processes see it, and what of it is on the platters.
pub(super) struct Tree {
    files: BTreeMap<Inode, File>,
    dirs: BTreeMap<Inode, Dir>,
    next: Inode,
    /// Changes of names that no sync has reached, in order.
    pending: Vec<Rename>,
}

/// What a file holds, and what it would hold after a power cut.
#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Write>,
}

enum Write {
    At(u64, Vec<u8>),
    Length(u64),
}

#[derive(Default)]
struct Dir {
    names: BTreeMap<OsString, Inode>,
    durable: BTreeMap<OsString, Inode>,
}

/// Names that change together: where, which, and what has the name then.
struct Rename(Vec<(Inode, OsString, Option<Inode>)>);

/// What a power cut took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// Writes that are gone.
    pub(super) writes: u64,
    /// Writes of which a part is gone.
    pub(super) torn: u64,
    /// Changes of names that are gone.
    pub(super) names: u64,
}

impl Tree {
    pub(super) fn new() -> Self {
        Self { files: BTreeMap::new(), dirs: [(ROOT, Dir::default())].into(), next: ROOT + 1, pending: Vec::new() }
    }

    /// What has this path, below the root.
    pub(super) fn find(&self, path: &Path) -> io::Result<Inode> {
        let mut at = ROOT;
        for name in names(path) {
            at = *self.dir(at)?.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        }
        Ok(at)
    }

    fn dir(&self, inode: Inode) -> io::Result<&Dir> {
        self.dirs.get(&inode).ok_or_else(|| io::ErrorKind::NotADirectory.into())
    }

    /// The directory that a path is in, and its name there.
    fn place<'a>(&self, path: &'a Path) -> io::Result<(Inode, &'a OsStr)> {
        let dir = self.find(path.parent().unwrap_or_else(|| Path::new("")))?;
        self.dir(dir)?;
        Ok((dir, path.file_name().ok_or(io::ErrorKind::InvalidInput)?))
    }

    pub(super) fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        Ok(self.dir(self.find(path)?)?.names.keys().cloned().collect())
    }

    /// An empty file.
    pub(super) fn create(&mut self, path: &Path) -> io::Result<Inode> {
        let (dir, name) = self.place(path)?;
        let inode = self.next;
        self.next += 1;
        self.files.insert(inode, File::default());
        self.change(vec![(dir, name.to_owned(), Some(inode))]);
        Ok(inode)
    }

    pub(super) fn create_dir_all(&mut self, path: &Path) -> io::Result<()> {
        let mut at = ROOT;
        for name in names(path) {
            at = if let Some(inode) = self.dir(at)?.names.get(name) {
                *inode
            } else {
                let inode = self.next;
                self.next += 1;
                self.dirs.insert(inode, Dir::default());
                self.change(vec![(at, name.to_owned(), Some(inode))]);
                inode
            };
        }
        self.dir(at).map(drop)
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let moved = self.find(from)?;
        let (old, new) = (self.place(from)?, self.place(to)?);
        self.change(vec![(old.0, old.1.to_owned(), None), (new.0, new.1.to_owned(), Some(moved))]);
        Ok(())
    }

    pub(super) fn exchange(&mut self, one: &Path, other: &Path) -> io::Result<()> {
        let (first, second) = (self.find(one)?, self.find(other)?);
        let (here, there) = (self.place(one)?, self.place(other)?);
        self.change(vec![(here.0, here.1.to_owned(), Some(second)), (there.0, there.1.to_owned(), Some(first))]);
        Ok(())
    }

    pub(super) fn hard_link(&mut self, file: &Path, name: &Path) -> io::Result<()> {
        let inode = self.find(file)?;
        let (dir, name) = self.place(name)?;
        if self.dir(dir)?.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.change(vec![(dir, name.to_owned(), Some(inode))]);
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.find(path)?;
        let (dir, name) = self.place(path)?;
        self.change(vec![(dir, name.to_owned(), None)]);
        Ok(())
    }

    fn change(&mut self, changes: Vec<(Inode, OsString, Option<Inode>)>) {
        for (dir, name, what) in &changes {
            set(self.dirs.get_mut(dir).map(|dir| &mut dir.names), name, *what);
        }
        self.pending.push(Rename(changes));
    }

    pub(super) fn bytes(&self, inode: Inode) -> io::Result<&[u8]> {
        self.files.get(&inode).map(|file| &*file.bytes).ok_or_else(|| io::ErrorKind::IsADirectory.into())
    }

    pub(super) fn write(&mut self, inode: Inode, bytes: &[u8], at: u64) {
        self.put(inode, Write::At(at, bytes.to_vec()));
    }

    pub(super) fn set_len(&mut self, inode: Inode, length: u64) {
        self.put(inode, Write::Length(length));
    }

    fn put(&mut self, inode: Inode, write: Write) {
        let Some(file) = self.files.get_mut(&inode) else { return };
        write.apply(&mut file.bytes);
        file.pending.push(write);
        if file.pending.len() > MOST_PENDING {
            file.pending.drain(..MOST_PENDING / 2).for_each(|write| write.apply(&mut file.durable));
        }
    }

    /// Makes durable what is in a file: not its name.
    pub(super) fn sync(&mut self, inode: Inode) {
        if let Some(file) = self.files.get_mut(&inode) {
            file.pending.drain(..).for_each(|write| write.apply(&mut file.durable));
        }
    }

    /// Makes durable the names in a directory, and whatever earlier change of names those depend on.
    pub(super) fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        let mut reached = BTreeSet::from([self.find(path)?]);
        let mut kept = Vec::new();
        let mut synced = Vec::new();
        for rename in std::mem::take(&mut self.pending).into_iter().rev() {
            let touches = rename.0.iter().any(|(dir, ..)| reached.contains(dir));
            if touches {
                reached.extend(rename.0.iter().map(|(dir, ..)| *dir));
                synced.push(rename);
            } else {
                kept.push(rename);
            }
        }
        kept.reverse();
        self.pending = kept;
        synced.into_iter().rev().for_each(|rename| self.settle(rename));
        Ok(())
    }

    fn settle(&mut self, rename: Rename) {
        for (dir, name, what) in rename.0 {
            set(self.dirs.get_mut(&dir).map(|dir| &mut dir.durable), &name, what);
        }
    }

    /// The power fails. Of what was added to a file since its sync, a beginning is there, its last write perhaps torn, with
    /// zeros perhaps where the rest would be; of what was written over, any part; of the changes of names, a beginning.
    pub(super) fn cut_power(&mut self, dice: &mut Rng) -> Taken {
        let mut taken = Taken::default();
        for file in self.files.values_mut().filter(|file| !file.pending.is_empty()) {
            file.cut_power(dice, &mut taken);
        }
        let mut renames = std::mem::take(&mut self.pending);
        let kept = dice.usize(0..=renames.len());
        taken.names += (renames.len() - kept) as u64;
        renames.drain(..kept).for_each(|rename| self.settle(rename));
        for dir in self.dirs.values_mut() {
            dir.names.clone_from(&dir.durable);
        }
        self.forget_the_nameless();
        taken
    }

    fn forget_the_nameless(&mut self) {
        let mut named = BTreeSet::from([ROOT]);
        let mut left = vec![ROOT];
        while let Some(dir) = left.pop().and_then(|inode| self.dirs.get(&inode)) {
            left.extend(dir.names.values().filter(|inode| named.insert(**inode)));
            left.retain(|inode| self.dirs.contains_key(inode));
        }
        self.files.retain(|inode, _| named.contains(inode));
        self.dirs.retain(|inode, _| named.contains(inode));
    }
}

impl File {
    fn cut_power(&mut self, dice: &mut Rng, taken: &mut Taken) {
        let mut writes = std::mem::take(&mut self.pending);
        let kept = match dice.u8(0..4) {
            0 => 0,
            1 => writes.len(),
            _ => dice.usize(0..=writes.len()),
        };
        taken.writes += (writes.len() - kept) as u64;
        let mut lost = writes.split_off(kept);
        for write in writes {
            write.apply(&mut self.durable);
        }
        if let Some(Write::At(at, bytes)) = lost.first_mut()
            && dice.bool()
        {
            bytes.truncate(dice.usize(0..=bytes.len()));
            taken.torn += 1;
            Write::At(*at, std::mem::take(bytes)).apply(&mut self.durable);
        }
        for write in lost.iter().skip(1) {
            if write.fits_into(&self.durable) && dice.bool() {
                write.apply(&mut self.durable);
            }
        }
        if !lost.is_empty() && self.bytes.len() > self.durable.len() && dice.u8(0..4) == 0 {
            self.durable.resize(self.bytes.len(), 0);
        }
        self.bytes.clone_from(&self.durable);
    }
}

impl Write {
    /// Whether it leaves the file as long as it is.
    fn fits_into(&self, file: &[u8]) -> bool {
        matches!(self, Self::At(at, bytes) if at + bytes.len() as u64 <= file.len() as u64)
    }

    fn apply(&self, file: &mut Vec<u8>) {
        let fits = |length: u64| usize::try_from(length).unwrap_or(usize::MAX);
        match self {
            Self::At(at, bytes) => {
                let (start, end) = (fits(*at), fits(*at) + bytes.len());
                if file.len() < end {
                    file.resize(end, 0);
                }
                file[start..end].copy_from_slice(bytes);
            }
            Self::Length(length) => file.resize(fits(*length), 0),
        }
    }
}

fn set(names: Option<&mut BTreeMap<OsString, Inode>>, name: &OsStr, what: Option<Inode>) {
    match (names, what) {
        (Some(names), Some(inode)) => drop(names.insert(name.to_owned(), inode)),
        (Some(names), None) => drop(names.remove(name)),
        (None, _) => {}
    }
}

fn names(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    })
}
