//! How what is derived is made anew from the log.

use std::collections::{BTreeMap, BTreeSet};

use querent_core::{ItemId, QuestionId, Shared, State, Stream, evolve};

use super::checkpoint::Checkpoint;
use super::flush::LedgersLock;
use super::layout::Layout;
use super::ledger::{self, Found};
use super::log;
use super::operations::{Index, Start};
use super::place::Place;
use super::scan::{End, scan};
use super::slate;
use super::store::keys;
use super::syncs::Syncs;
use crate::Error;

/// Reads the whole log and repairs whatever does not follow from it: index, ledgers, marks, checkpoint. Under the lock.
pub(crate) fn recover(layout: &Layout) -> Result<(Checkpoint, Index), Error> {
    recover_with(layout, &LedgersLock::wait(layout)?)
}

/// The same, with the lock of the derived files at hand.
pub(crate) fn recover_with(layout: &Layout, _ledgers: &LedgersLock) -> Result<(Checkpoint, Index), Error> {
    make_dirs(layout)?;
    slate::put_back(layout)?;
    let mut lines: Vec<(u64, Start)> = Vec::new();
    let mut versions: BTreeMap<Stream, u64> = BTreeMap::new();
    let mut questions: BTreeMap<QuestionId, u64> = BTreeMap::new();
    let End { place, torn } = scan(layout, Place::START, |entry| {
        lines.extend(keys(&entry.head).map(|key| (key, entry.start)));
        let version = entry.head.version;
        questions.extend(entry.record(layout)?.event.question().map(|id| (id.clone(), version)));
        versions.insert(entry.head.stream, version);
        Ok(())
    })?;
    // Nothing was touched so far: a log that cannot be read leaves the rest as it is.
    if torn {
        log::cut(layout, place)?;
    }
    slate::wipe(layout)?;
    Syncs::reset(layout);
    let index = Index::create(layout, &lines)?;
    set_aside_strangers(layout, &versions)?;
    let mut wrong = BTreeSet::new();
    for (id, version) in &versions {
        let good = matches!(ledger::read_stream(layout, id)?, Found::Good(state) if state.version(id) == *version);
        if !good {
            wrong.insert(id.clone());
        }
    }
    for (id, version) in questions {
        let good = matches!(ledger::read_question(layout, &id)?, Found::Good(question) if question.version == version);
        if !good {
            wrong.insert(id.item.into());
        }
    }
    rewrite(layout, &wrong)?;
    let open = remark(layout)?;
    let items = versions.keys().filter(|stream| stream.item().is_some()).count() as u64;
    let checkpoint = Checkpoint { place, items, open, ..Checkpoint::empty(layout) };
    checkpoint.store(layout)?;
    Ok((checkpoint, index))
}

fn make_dirs(layout: &Layout) -> Result<(), Error> {
    // Whoever made them may have died before they were durable: only a segment shows that they are.
    let fresh = !layout.has(&layout.segment(1));
    for dir in [layout.journal(), layout.items(), layout.open(), layout.operations()] {
        layout.disk().create_dir_all(&dir).map_err(Error::io("make", &dir))?;
    }
    // The log is durable only in a directory that is.
    let durable = if fresh { layout.disk().sync_dir(layout.dir()) } else { Ok(()) };
    durable.map_err(Error::io("sync", layout.dir()))
}

/// Moves the ledgers that the log does not know out of the way: a power cut took their lines. They are kept.
fn set_aside_strangers(layout: &Layout, known: &BTreeMap<Stream, u64>) -> Result<(), Error> {
    let items = ledger::names(layout, &layout.items())?.into_iter().map(|id| (layout.item_dir(&id), Stream::from(id)));
    let shared = Shared::ALL.into_iter().map(|which| (layout.shared(which), Stream::from(which)));
    for (path, _) in items.chain(shared).filter(|(path, stream)| !known.contains_key(stream) && layout.has(path)) {
        let mut aside = (1..).map(|number| path.with_extension(format!("unknown-{number}")));
        let aside = aside.find(|aside| !layout.has(aside)).unwrap_or_default();
        layout.disk().rename(&path, &aside).map_err(Error::io("set aside", &path))?;
    }
    Ok(())
}

/// A stream with all of its questions, folded from the whole log.
pub(crate) fn rebuild(layout: &Layout, id: &Stream) -> Result<State, Error> {
    let mut state = State::default();
    scan(layout, Place::START, |entry| {
        if entry.head.stream == *id {
            evolve(&mut state, entry.record(layout)?);
        }
        Ok(())
    })?;
    Ok(state)
}

/// Writes every ledger anew, also those that look right: somebody may have edited one.
pub(crate) fn rewrite_all(layout: &Layout, _ledgers: &LedgersLock) -> Result<(), Error> {
    let items = ledger::names(layout, &layout.items())?.into_iter().map(Stream::from);
    rewrite(layout, &items.chain(Shared::ALL.map(Stream::from)).collect())
}

/// Folds these streams from the log and writes their ledgers anew.
fn rewrite(layout: &Layout, ids: &BTreeSet<Stream>) -> Result<(), Error> {
    if ids.is_empty() {
        return Ok(());
    }
    let mut states: BTreeMap<Stream, (State, Place, BTreeMap<QuestionId, Place>)> = BTreeMap::new();
    scan(layout, Place::START, |entry| {
        if ids.contains(&entry.head.stream) {
            let (record, place) = (entry.record(layout)?, entry.place);
            let item = states.entry(record.stream.clone());
            let (state, last, questions) = item.or_insert_with(|| (State::default(), place, BTreeMap::new()));
            evolve(state, record);
            *last = place;
            questions.extend(record.event.question().map(|id| (id.clone(), place)));
        }
        Ok(())
    })?;
    for (stream, (state, last, questions)) in &states {
        if let Stream::Shared(which) = stream {
            ledger::write_shared(layout, *which, state, *last)?;
        }
        for (id, place) in questions {
            if let Some(question) = state.questions.get(id) {
                ledger::write_question(layout, question, *place)?;
            }
        }
        if let Some(item) = &state.item {
            ledger::write_item(layout, item, *last)?;
        }
    }
    Ok(())
}

/// Sets every mark by its item's ledger; says how many there are.
pub(crate) fn remark(layout: &Layout) -> Result<u64, Error> {
    let known: BTreeSet<ItemId> = ledger::names(layout, &layout.items())?.into_iter().collect();
    for id in ledger::names(layout, &layout.open())?.iter().filter(|id| !known.contains(*id)) {
        let path = layout.marker(id);
        layout.disk().remove_file(&path).map_err(Error::io("remove", &path))?;
    }
    let mut open = 0;
    for id in &known {
        if let Found::Good(item) = ledger::read_item(layout, id)? {
            ledger::mark(layout, &item)?;
            open += u64::from(item.is_active());
        }
    }
    Ok(open)
}
