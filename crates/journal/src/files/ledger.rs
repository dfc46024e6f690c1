//! The ledgers: what an item and its questions are, as JSON that people can read. Derived from the log, written by rename.

use std::io;
use std::path::Path;

use querent_core::{Item, ItemId, Question, QuestionId, Shared, State, Stream};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::disk::{Disk, Open};
use super::layout::Layout;
use super::place::Place;
use crate::Error;

/// What a ledger file says.
pub(crate) enum Found<T> {
    /// It stands on a line that is in the log.
    Good(T),
    /// There is none.
    Missing,
    /// It cannot be read, or stands on a line that is not in the log.
    Bad,
}

impl<T> Found<T> {
    fn map<U>(self, make: impl FnOnce(T) -> U) -> Found<U> {
        match self {
            Self::Good(it) => Found::Good(make(it)),
            Self::Missing => Found::Missing,
            Self::Bad => Found::Bad,
        }
    }
}

#[derive(Serialize)]
struct Written<'a, T> {
    #[serde(flatten)]
    body: &'a T,
    as_of: Place,
}

#[derive(Deserialize)]
struct Stamp {
    as_of: Place,
}

pub(crate) fn read_item(layout: &Layout, id: &ItemId) -> Result<Found<Item>, Error> {
    read(layout, &layout.item(id), |item: &Item| item.id == *id)
}

pub(crate) fn read_question(layout: &Layout, id: &QuestionId) -> Result<Found<Question>, Error> {
    read(layout, &layout.question(id), |question: &Question| question.id == *id)
}

/// What is known of a stream, without the questions of an item.
pub(crate) fn read_stream(layout: &Layout, stream: &Stream) -> Result<Found<State>, Error> {
    match stream {
        Stream::Item(id) => Ok(read_item(layout, id)?.map(|item| State { item: Some(item), ..State::default() })),
        Stream::Shared(which) => read_shared(layout, *which),
    }
}

/// What all items share, as a state that has this of it.
pub(crate) fn read_shared(layout: &Layout, which: Shared) -> Result<Found<State>, Error> {
    let path = layout.shared(which);
    Ok(match which {
        Shared::Quota => read(layout, &path, |_| true)?.map(|quota| State { quota, ..State::default() }),
        Shared::Knowledge => read(layout, &path, |_| true)?.map(|knowledge| State { knowledge, ..State::default() }),
        Shared::Resources => read(layout, &path, |_| true)?.map(|resources| State { resources, ..State::default() }),
        Shared::Alerts => read(layout, &path, |_| true)?.map(|alerts| State { alerts, ..State::default() }),
        Shared::Access => read(layout, &path, |_| true)?.map(|access| State { access, ..State::default() }),
    })
}

/// A file that looks bad is looked at again: it may have become the spare one while it was read.
fn read<T: DeserializeOwned>(layout: &Layout, path: &Path, is_it: impl Fn(&T) -> bool) -> Result<Found<T>, Error> {
    for _ in 0..3 {
        let bytes = match layout.disk().read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Missing),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        if let Some((body, as_of)) = unseal::<T>(&bytes)
            && is_it(&body)
            && as_of.is_in(layout)
        {
            return Ok(Found::Good(body));
        }
    }
    Ok(Found::Bad)
}

pub(crate) fn write_item(layout: &Layout, item: &Item, as_of: Place) -> Result<(), Error> {
    write(layout, &layout.item(&item.id), &seal(item, as_of))
}

pub(crate) fn write_question(layout: &Layout, question: &Question, as_of: Place) -> Result<(), Error> {
    write(layout, &layout.question(&question.id), &seal(question, as_of))
}

pub(crate) fn write_shared(layout: &Layout, which: Shared, state: &State, as_of: Place) -> Result<(), Error> {
    let text = match which {
        Shared::Quota => seal(&state.quota, as_of),
        Shared::Knowledge => seal(&state.knowledge, as_of),
        Shared::Resources => seal(&state.resources, as_of),
        Shared::Alerts => seal(&state.alerts, as_of),
        Shared::Access => seal(&state.access, as_of),
    };
    write(layout, &layout.shared(which), &text)
}

/// The text of a ledger. Its last line is a checksum of all before it, so that half of one is never taken for a whole.
fn seal<T: Serialize>(body: &T, as_of: Place) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(&Written { body, as_of }).unwrap_or_default();
    text.truncate(text.len().saturating_sub(b"\n}".len()));
    let sum = crc32fast::hash(&text);
    text.extend_from_slice(format!("{CRC}{sum:08x}{END}").as_bytes());
    text
}

const CRC: &str = ",\n  \"crc\": \"";
const END: &str = "\"\n}\n";

fn unseal<T: DeserializeOwned>(text: &[u8]) -> Option<(T, Place)> {
    let (body, sum) = text.strip_suffix(END.as_bytes())?.split_last_chunk::<8>()?;
    let body = body.strip_suffix(CRC.as_bytes())?;
    if format!("{:08x}", crc32fast::hash(body)).as_bytes() != sum {
        return None;
    }
    let Stamp { as_of } = serde_json::from_slice(text).ok()?;
    Some((serde_json::from_slice(text).ok()?, as_of))
}

/// Writes a ledger: a new one where it belongs, any other beside its place, where it is put in one step. What it replaces is the
/// spare file of the next one: no file is made for a ledger that is there, and none is deleted. Whoever meets a new one that is
/// not whole yet reads the log instead. Under the lock of the ledgers.
fn write(layout: &Layout, path: &Path, text: &[u8]) -> Result<(), Error> {
    let (disk, spare) = (&**layout.disk(), layout.spare());
    let write_spare = || {
        let file = disk.open(&spare, Open::Create)?;
        file.write_all_at(text, 0)?;
        file.set_len(text.len() as u64)
    };
    let written = or_in_new_dir(disk, path, || disk.open(path, Open::CreateNew)?.write_all_at(text, 0));
    let written = written.or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => or_in_new_dir(disk, &spare, write_spare).and_then(|()| put(disk, &spare, path)),
        _ => Err(error),
    });
    written.map_err(Error::io("write", path))
}

fn or_in_new_dir(disk: &dyn Disk, path: &Path, step: impl Fn() -> io::Result<()>) -> io::Result<()> {
    step().or_else(|error| match (error.kind(), path.parent()) {
        (io::ErrorKind::NotFound, Some(dir)) => disk.create_dir_all(dir).and_then(|()| step()),
        _ => Err(error),
    })
}

/// The two files change places, where the system can do that. Some file systems write a file out when a rename replaces another
/// by it; a ledger need not be durable, and every sync of the log would wait for it.
fn put(disk: &dyn Disk, spare: &Path, path: &Path) -> io::Result<()> {
    disk.exchange(spare, path).or_else(|_| disk.rename(spare, path))
}

/// Marks the item as an active one, or not. Says by how much the number of marks changed.
pub(crate) fn mark(layout: &Layout, item: &Item) -> Result<i64, Error> {
    let path = layout.marker(&item.id);
    let marked = if item.is_active() {
        match set_mark(layout, &path) {
            Ok(()) => Ok(1),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(0),
            Err(error) => Err(error),
        }
    } else {
        match layout.disk().remove_file(&path) {
            Ok(()) => Ok(-1),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    };
    marked.map_err(Error::io("mark", &path))
}

/// A mark is one more name of one empty file: names come and go without files being made and deleted.
fn set_mark(layout: &Layout, path: &Path) -> io::Result<()> {
    let disk = &**layout.disk();
    let linked = disk.hard_link(&layout.mark(), path);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // The empty file is not there yet, has all the names that it can have, or the system knows no links.
            or_in_new_dir(disk, path, || disk.open(path, Open::CreateNew).map(drop))?;
            let _ = disk.hard_link(path, &layout.mark());
            Ok(())
        }
        linked => linked,
    }
}

/// The names in a directory of items or marks, sorted.
pub(crate) fn names(layout: &Layout, dir: &Path) -> Result<Vec<ItemId>, Error> {
    let entries = match layout.disk().names(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", dir)(error)),
    };
    let mut names: Vec<ItemId> = entries.into_iter().filter_map(|name| name.into_string().ok()?.parse().ok()).collect();
    names.sort_unstable();
    Ok(names)
}
