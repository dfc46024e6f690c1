//! The file system as the engine uses it, and no more of it: so that a simulated one can stand in for it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

#[cfg(target_os = "linux")]
use self::linux::{stat, stat_file};

/// Where the files of a journal are.
pub trait Disk: Send + Sync {
    /// Opens a file.
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>>;

    /// The whole of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// A file with this content, whatever was there.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Whether something has this name.
    fn exists(&self, path: &Path) -> bool;

    /// What the file of this name is known by.
    fn identity(&self, path: &Path) -> io::Result<Identity>;

    /// The same, and how long it is.
    fn stat(&self, path: &Path) -> io::Result<(Identity, u64)>;

    /// The names in a directory, in any order.
    fn names(&self, dir: &Path) -> io::Result<Vec<OsString>>;

    /// Makes a directory, and those above it, unless they are there.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Gives a file another name, in place of what had it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Lets two files change their names in one step; an error where that cannot be done.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()>;

    /// Gives a file one more name.
    fn hard_link(&self, file: &Path, name: &Path) -> io::Result<()>;

    /// Takes a file's name away.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// What changes when the machine starts anew; the same always where the system does not tell.
    fn boot(&self) -> String;
}

/// A file that is open. Closing it frees its lock.
pub trait DiskFile: Send + Sync {
    /// Reads from `at` on, as much as there is room for and comes at once; 0 at the end.
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize>;

    /// Writes all of it from `at` on.
    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;

    /// Cuts the file, or fills it up with zeros.
    fn set_len(&self, length: u64) -> io::Result<()>;

    /// How long it is.
    fn length(&self) -> io::Result<u64>;

    /// What it is known by.
    fn identity(&self) -> io::Result<Identity>;

    /// Makes durable what is in it.
    fn sync_data(&self) -> io::Result<()>;

    /// Takes its lock, once others have freed it.
    fn lock(&self) -> io::Result<()>;

    /// Takes its lock, unless somebody has it.
    fn try_lock(&self) -> Result<(), TryLockError>;

    /// Frees its lock.
    fn unlock(&self) -> io::Result<()>;

    /// Fills `into` from `at` on.
    fn read_exact_at(&self, into: &mut [u8], at: u64) -> io::Result<()> {
        let mut done = 0;
        while done < into.len() {
            match self.read_at(&mut into[done..], at + done as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// What a file is known by, whatever its name: its device and its number there.
pub type Identity = (u64, u64);

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// To read it.
    Read,
    /// To read and write it, if it is there.
    Write,
    /// To read and write it; an empty one if it is not there.
    Create,
    /// The same, and an error if it is there.
    CreateNew,
    /// To write it if it is there, past what the system remembers of it: in whole blocks of 4,096 bytes, from memory that begins where
    /// one could. An error where that cannot be done.
    Direct,
}

/// What a file that is opened directly is written in.
pub(crate) const BLOCK: usize = 4_096;

/// The disk of the operating system.
pub(crate) struct Os;

impl Disk for Os {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(how != Open::Read).create(how == Open::Create).create_new(how == Open::CreateNew);
        if how == Open::Direct {
            past_memory(&mut options)?;
        }
        Ok(Box::new(options.open(path)?))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::write(path, bytes)
    }

    fn exists(&self, path: &Path) -> bool {
        stat(path).is_ok()
    }

    fn identity(&self, path: &Path) -> io::Result<Identity> {
        stat(path).map(|(identity, _)| identity)
    }

    fn stat(&self, path: &Path) -> io::Result<(Identity, u64)> {
        stat(path)
    }

    fn names(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        Ok(fs::read_dir(dir)?.filter_map(|entry| Some(entry.ok()?.file_name())).collect())
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    #[cfg(target_os = "linux")]
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn exchange(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn hard_link(&self, file: &Path, name: &Path) -> io::Result<()> {
        fs::hard_link(file, name)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn boot(&self) -> String {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        id.trim().to_owned()
    }
}

impl DiskFile for File {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        FileExt::read_at(self, into, at)
    }

    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, at)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        File::set_len(self, length)
    }

    fn length(&self) -> io::Result<u64> {
        stat_file(self).map(|(_, length)| length)
    }

    fn identity(&self) -> io::Result<Identity> {
        stat_file(self).map(|(identity, _)| identity)
    }

    fn sync_data(&self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn lock(&self) -> io::Result<()> {
        File::lock(self)
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        File::try_lock(self)
    }

    fn unlock(&self) -> io::Result<()> {
        File::unlock(self)
    }
}

#[cfg(target_os = "linux")]
fn past_memory(options: &mut OpenOptions) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let flag = i32::try_from(rustix::fs::OFlags::DIRECT.bits()).map_err(io::Error::other)?;
    options.custom_flags(flag);
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn past_memory(_: &mut OpenOptions) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What a file is known by, and how long it is. Its times are not asked for: a system that has told them keeps more exact ones at
/// the next write, and then has something more to write at every sync.
#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsFd;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};

    use super::Identity;

    pub(super) fn stat(path: &Path) -> io::Result<(Identity, u64)> {
        of(CWD, path, AtFlags::empty())
    }

    pub(super) fn stat_file(file: &File) -> io::Result<(Identity, u64)> {
        of(file, Path::new(""), AtFlags::EMPTY_PATH)
    }

    fn of(place: impl AsFd, path: &Path, how: AtFlags) -> io::Result<(Identity, u64)> {
        let it = statx(place, path, how, StatxFlags::INO | StatxFlags::SIZE)?;
        Ok(((makedev(it.stx_dev_major, it.stx_dev_minor), it.stx_ino), it.stx_size))
    }
}

#[cfg(not(target_os = "linux"))]
fn stat(path: &Path) -> io::Result<(Identity, u64)> {
    fs::metadata(path).map(|it| told(&it))
}

#[cfg(not(target_os = "linux"))]
fn stat_file(file: &File) -> io::Result<(Identity, u64)> {
    file.metadata().map(|it| told(&it))
}

#[cfg(not(target_os = "linux"))]
fn told(file: &fs::Metadata) -> (Identity, u64) {
    use std::os::unix::fs::MetadataExt;
    ((file.dev(), file.ino()), file.len())
}
