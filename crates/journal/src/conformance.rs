//! One suite for every engine: what a [`Journal`] promises, as checks that can be run.
//!
//! [`violations`] runs them all on fresh, empty journals and says which promises were broken. [`verify`] looks at a journal
//! that anything may have happened to, and says whether all that can be read from it follows from its records.

mod crowds;
mod reads;
mod script;
mod shared;
mod updates;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use querent_core::{Event, ItemId, OperationId, Record, Refusal, State, Stream, evolve};

pub use self::script::Script;
use crate::{Error, Journal, Which};

/// A promise, by the name of what it protects.
struct Check {
    name: &'static str,
    run: fn(&Arc<dyn Journal>, &Script) -> Result<(), Broken>,
}

/// Makes the list of checks, each named as its function is.
macro_rules! checks {
    ($($module:ident { $($name:ident,)* })*) => {
        const CHECKS: &[Check] = &[$($(Check { name: stringify!($name), run: $module::$name },)*)*];
    };
}

checks! {
    updates {
        an_update_is_read_at_once,
        an_operation_sent_again_gets_the_first_reply_and_runs_nothing,
        an_operation_with_other_content_is_a_conflict,
        an_operation_id_is_used_once_across_items,
        a_refused_command_records_nothing_and_may_be_sent_again,
        a_refused_command_records_what_was_due,
        a_deadline_needs_no_operation,
        a_settled_question_is_at_hand_when_it_is_needed,
    }
    reads {
        an_empty_journal_has_nothing,
        seqs_and_versions_are_dense,
        records_come_in_order_after_since_and_stop_when_told,
        a_batch_is_whole,
        items_are_listed_by_whether_they_have_active_questions,
        every_read_follows_from_the_records,
        a_watch_wakes_on_a_change,
        a_beat_is_read_until_the_next_and_records_nothing,
    }
    shared {
        what_is_learned_on_one_item_answers_on_another,
        of_many_strict_questions_at_once_one_is_asked,
        the_quota_is_right_whatever_else_is_asked_on_its_item,
        of_many_sessions_that_want_a_file_at_once_one_has_it,
    }
    crowds {
        many_threads_on_one_item_lose_nothing,
        many_threads_on_many_items_lose_nothing,
        whoever_is_called_back_is_called_once_and_finds_what_it_did,
        one_operation_from_many_threads_has_one_effect,
        readers_beside_writers_see_all_that_was_acknowledged,
    }
}

/// Runs every check on a journal of its own; one line for each promise that is broken.
pub fn violations(fresh: &dyn Fn() -> Arc<dyn Journal>) -> Vec<String> {
    let run = |check: &Check| (check.run)(&fresh(), &Script::new()?);
    CHECKS.iter().filter_map(|check| Some(format!("{}: {}", check.name, run(check).err()?.0))).collect()
}

/// Whether all that can be read follows from the records, which it returns. For a journal that nobody writes to meanwhile.
pub fn verify(journal: &dyn Journal) -> Result<Vec<Arc<Record>>, Broken> {
    let records = records(journal, 0)?;
    let mut states: BTreeMap<Stream, State> = BTreeMap::new();
    for (seq, record) in (1..).zip(&records) {
        same("a record's seq", &record.seq, &seq)?;
        let state = states.entry(record.stream.clone()).or_default();
        same("a record's version", &record.version, &(state.version(&record.stream) + 1))?;
        if let Event::QuestionAsked(asked) = &record.event {
            let next = state.item.as_ref().map_or(0, |item| item.asked) + 1;
            same("a question's number", &asked.question.id.number, &next)?;
        }
        evolve(state, record);
    }
    same("the head", &journal.read()?.head(), &(records.len() as u64))?;
    operations_are_contiguous(&records)?;
    let snapshot = journal.read()?;
    let all: Vec<ItemId> = states.keys().filter_map(Stream::item).cloned().collect();
    same("the items", &snapshot.items(Which::All)?, &all)?;
    let is_active = |state: &State| state.item.as_ref().is_some_and(querent_core::Item::is_active);
    let active =
        states.iter().filter(|(_, state)| is_active(state)).filter_map(|(stream, _)| stream.item().cloned()).collect();
    same("the active items", &snapshot.items(Which::Active)?, &active)?;
    for (stream, state) in &states {
        let id = match stream {
            Stream::Item(id) => id,
            Stream::Shared(which) => {
                let mut found = State::default();
                found.swap(*which, &mut Arc::unwrap_or_clone(snapshot.shared(*which)?));
                same(&format!("what is shared in {stream}"), &found, state)?;
                continue;
            }
        };
        same(&format!("item {id}"), &snapshot.item(id)?.as_deref(), &state.item.as_ref())?;
        for (id, question) in &state.questions {
            same(&format!("question {id}"), &snapshot.question(id)?.as_deref(), &Some(question))?;
        }
    }
    Ok(records)
}

/// A batch is recorded in one piece and an operation is carried out once, so its records stand together.
fn operations_are_contiguous(records: &[Arc<Record>]) -> Result<(), Broken> {
    let mut seen: BTreeMap<&OperationId, u64> = BTreeMap::new();
    for record in records {
        let Some(id) = &record.operation_id else { continue };
        if let Some(last) = seen.insert(id, record.seq) {
            same(&format!("the record after {last} of operation {id}"), &record.seq, &(last + 1))?;
        }
    }
    Ok(())
}

/// All records after `since`.
fn records(journal: &dyn Journal, since: u64) -> Result<Vec<Arc<Record>>, Broken> {
    let mut records = Vec::new();
    journal.records(since, &mut |record| {
        records.push(record);
        true
    })?;
    Ok(records)
}

/// What was found instead of what was promised.
#[derive(Debug)]
pub struct Broken(pub String);

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self(format!("an error: {error}"))
    }
}

impl From<Refusal> for Broken {
    fn from(refusal: Refusal) -> Self {
        Self(format!("a refusal: {refusal}"))
    }
}

fn same<T: PartialEq + Debug>(what: &str, found: &T, promised: &T) -> Result<(), Broken> {
    ensure(found == promised, || format!("{what} is {found:?} and not {promised:?}"))
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken(what())) }
}
