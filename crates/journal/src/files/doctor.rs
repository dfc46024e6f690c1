//! What is wrong with a project's files, and what can be done.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use querent_core::{Shared, State, Stream, evolve};

use super::checkpoint::Checkpoint;
use super::layout::Layout;
use super::ledger::{self, Found};
use super::operations::Index;
use super::place::Place;
use super::scan::scan;
use super::slate;
use super::store::keys;
use crate::Error;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Derived data that the next write, or a repair, makes anew.
    Warning,
    /// The log itself is damaged.
    Error,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub what: String,
    /// Where.
    pub place: String,
    /// What to do about it.
    pub cure: String,
}

/// Reads the whole log and compares everything that is derived from it. Changes nothing.
pub(crate) fn examine(layout: &Layout) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    if slate::lost(layout).is_some() {
        findings.push(derived("a power cut took lines from the log that are kept beside it", &layout.slate()));
        return Ok(findings);
    }
    let index = Index::open_to_read(layout)?;
    let mut unindexed = 0_u64;
    let mut states: BTreeMap<Stream, State> = BTreeMap::new();
    // Ledgers may be behind the log, but not behind the checkpoint: a process that stays lets them follow a little later.
    let checkpoint = Checkpoint::load(layout).filter(|it| it.place.is_in(layout));
    let promised = checkpoint.as_ref().map_or(u64::MAX, |it| it.place.seq);
    let mut late: BTreeSet<Stream> = BTreeSet::new();
    let mut counted = None;
    let scanned = scan(layout, Place::START, |entry| {
        if let Some(index) = index.as_ref().filter(|_| entry.head.seq <= promised) {
            for key in keys(&entry.head) {
                unindexed += u64::from(!index.find(key)?.contains(&entry.start));
            }
        }
        if entry.head.seq > promised {
            counted.get_or_insert_with(|| count(&states));
            late.insert(entry.head.stream.clone());
        }
        evolve(states.entry(entry.head.stream.clone()).or_default(), entry.record(layout)?);
        Ok(())
    });
    match scanned {
        Err(Error::Damaged { segment, line, why }) => {
            findings.push(damaged(&segment, line, &why));
            return Ok(findings);
        }
        Err(error) => return Err(error),
        Ok(end) if end.torn => findings.push(derived(
            "the log ends in a line that was never finished, and so never acknowledged",
            &layout.segment(end.place.segment),
        )),
        Ok(_) => {}
    }
    if states.is_empty() {
        return Ok(findings);
    }
    if index.is_none() || unindexed > 0 {
        findings.push(derived("the index of operations is missing or incomplete", &layout.operations_index()));
    }
    compare_ledgers(layout, &states, &late, &mut findings)?;
    let counted = counted.unwrap_or_else(|| count(&states));
    if checkpoint.is_none_or(|it| (it.items, it.open) != counted) {
        findings.push(derived("the checkpoint does not follow from the log", &layout.checkpoint()));
    }
    Ok(findings)
}

/// How many items there are, and how many of them have active questions.
fn count(states: &BTreeMap<Stream, State>) -> (u64, u64) {
    let items = || states.values().filter_map(|state| state.item.as_ref());
    (items().count() as u64, items().filter(|item| item.is_active()).count() as u64)
}

fn compare_ledgers(
    layout: &Layout,
    states: &BTreeMap<Stream, State>,
    late: &BTreeSet<Stream>,
    findings: &mut Vec<Finding>,
) -> Result<(), Error> {
    for (stream, state) in states.iter().filter(|(stream, _)| !late.contains(*stream)) {
        let id = match stream {
            Stream::Item(id) => id,
            Stream::Shared(which) => {
                if !matches!(ledger::read_shared(layout, *which)?, Found::Good(found) if found == *state) {
                    findings.push(derived("a shared ledger does not follow from the log", &layout.shared(*which)));
                }
                continue;
            }
        };
        let good = matches!(ledger::read_item(layout, id)?, Found::Good(item) if Some(&item) == state.item.as_ref());
        if !good {
            findings.push(derived("the ledger of an item does not follow from the log", &layout.item(id)));
        }
        for (id, question) in &state.questions {
            let good = matches!(ledger::read_question(layout, id)?, Found::Good(found) if found == *question);
            if !good {
                findings.push(derived("the ledger of a question does not follow from the log", &layout.question(id)));
            }
        }
        let active = state.item.as_ref().is_some_and(querent_core::Item::is_active);
        if active != layout.has(&layout.marker(id)) {
            findings.push(derived("the mark of an item with active questions is wrong", &layout.marker(id)));
        }
    }
    let items = ledger::names(layout, &layout.items())?.into_iter().map(|id| (layout.item_dir(&id), Stream::from(id)));
    let shared = Shared::ALL.into_iter().map(|which| (layout.shared(which), Stream::from(which)));
    for (path, _) in items.chain(shared).filter(|(path, stream)| !states.contains_key(stream) && layout.has(path)) {
        findings.push(Finding {
            severity: Severity::Warning,
            what: "a ledger is of something that the log does not know".to_owned(),
            place: path.display().to_string(),
            cure: "querent doctor --repair sets it aside; nothing of it is deleted".to_owned(),
        });
    }
    Ok(())
}

fn derived(what: &str, place: &Path) -> Finding {
    Finding {
        severity: Severity::Warning,
        what: what.to_owned(),
        place: place.display().to_string(),
        cure: "querent doctor --repair makes it anew from the log".to_owned(),
    }
}

fn damaged(segment: &Path, line: u64, why: &str) -> Finding {
    Finding {
        severity: Severity::Error,
        what: format!("a line in the middle of the log is damaged: {why}"),
        place: format!("{}, line {line}", segment.display()),
        cure: format!(
            "nothing was changed. Restore {} from a backup; or, to give up this line and all after it, keep a copy of the file and cut it before line {line}",
            segment.display()
        ),
    }
}
