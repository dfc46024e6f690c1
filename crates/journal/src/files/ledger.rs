//! The ledgers: what an item and its questions are, as JSON that people can read. Derived from the log, written by rename.

use std::fs;
use std::io;
use std::path::Path;

use querent_core::{Item, ItemId, Question, QuestionId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

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

fn read<T: DeserializeOwned>(layout: &Layout, path: &Path, is_it: impl Fn(&T) -> bool) -> Result<Found<T>, Error> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Missing),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    let (Ok(body), Ok(stamp)) = (serde_json::from_slice::<T>(&bytes), serde_json::from_slice::<Stamp>(&bytes)) else {
        return Ok(Found::Bad);
    };
    Ok(if is_it(&body) && stamp.as_of.is_in(layout) { Found::Good(body) } else { Found::Bad })
}

pub(crate) fn write_item(layout: &Layout, item: &Item, as_of: Place) -> Result<(), Error> {
    write(&layout.item(&item.id), item, as_of)
}

pub(crate) fn write_question(layout: &Layout, question: &Question, as_of: Place) -> Result<(), Error> {
    write(&layout.question(&question.id), question, as_of)
}

fn write<T: Serialize>(path: &Path, body: &T, as_of: Place) -> Result<(), Error> {
    let mut text = serde_json::to_vec_pretty(&Written { body, as_of }).unwrap_or_default();
    text.push(b'\n');
    // One name is enough for all: writers hold the lock. A reader never sees it.
    let draft = path.with_extension("draft");
    let written = fs::write(&draft, &text).or_else(|error| match (error.kind(), path.parent()) {
        (io::ErrorKind::NotFound, Some(dir)) => fs::create_dir_all(dir).and_then(|()| fs::write(&draft, &text)),
        _ => Err(error),
    });
    written.and_then(|()| put(&draft, path)).map_err(Error::io("write", path))
}

/// Puts a draft in its place in one step. A ledger need not be durable, so the two files change places where the system can
/// do that: some file systems write a file out when a rename replaces another by it, and then every sync of the log waits.
fn put(draft: &Path, path: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        if renameat_with(CWD, draft, CWD, path, RenameFlags::EXCHANGE).is_ok() {
            return fs::remove_file(draft);
        }
    }
    fs::rename(draft, path)
}

/// Marks the item as one with active questions, or not. Says by how much the number of marks changed.
pub(crate) fn mark(layout: &Layout, item: &Item) -> Result<i64, Error> {
    let path = layout.marker(&item.id);
    let marked = if item.has_active_questions() {
        match fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => Ok(1),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(0),
            Err(error) => Err(error),
        }
    } else {
        match fs::remove_file(&path) {
            Ok(()) => Ok(-1),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    };
    marked.map_err(Error::io("mark", &path))
}

/// The names in a directory of items or marks, sorted.
pub(crate) fn names(dir: &Path) -> Result<Vec<ItemId>, Error> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", dir)(error)),
    };
    let mut names: Vec<ItemId> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()?.parse().ok()).collect();
    names.sort_unstable();
    Ok(names)
}
