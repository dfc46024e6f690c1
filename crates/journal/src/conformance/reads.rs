//! What can be read, and in which order.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use querent_core::{ItemId, Moment};

use super::{Broken, Script, ensure, records, same, verify};
use crate::{Beat, Journal, Pulse, Which};

/// How long an event is waited for before it counts as lost. Nothing is slept: it usually takes a millisecond.
const LOST: Duration = Duration::from_mins(1);

pub(super) fn an_empty_journal_has_nothing(journal: &Arc<dyn Journal>, _: &Script) -> Result<(), Broken> {
    let snapshot = journal.read()?;
    same("an item", &snapshot.item(&"42".parse()?)?, &None)?;
    same("a question", &snapshot.question(&"CLR-42-001".parse()?)?, &None)?;
    journal.sync()?;
    same("the log", &verify(&**journal)?, &Vec::new())
}

pub(super) fn seqs_and_versions_are_dense(journal: &Arc<dyn Journal>, script: &Script) -> Result<(), Broken> {
    some_work(&**journal, script)?;

    let records = verify(&**journal)?;

    let places: Vec<(u64, &str, u64)> =
        records.iter().map(|record| (record.seq, record.stream.as_str(), record.version)).collect();
    let promised = [
        (1, "a", 1),
        (2, "b", 1),
        (3, "c", 1),
        (4, "a", 2),
        (5, "a", 3),
        (6, "b", 2),
        (7, "b", 3),
        (8, "c", 2),
        (9, "b", 4),
        (10, "b", 5),
        (11, "b", 6),
        (12, "c", 3),
    ];
    same("the places", &places.as_slice(), &promised.as_slice())
}

pub(super) fn records_come_in_order_after_since_and_stop_when_told(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    some_work(&**journal, script)?;
    let all = records(&**journal, 0)?;
    // Downwards and upwards: what an engine remembers of earlier readers must not matter.
    for since in (0..=13).rev().chain(0..=13) {
        let later: Vec<_> = all.iter().filter(|record| record.seq > since).cloned().collect();
        same(&format!("what comes after {since}"), &records(&**journal, since)?, &later)?;
        for most in 1..=later.len() {
            let mut some = Vec::new();
            journal.records(since, &mut |record| {
                some.push(record);
                some.len() < most
            })?;
            same(&format!("the first {most} after {since}"), &some.as_slice(), &&later[..most])?;
        }
    }
    same("what comes after the end of time", &records(&**journal, u64::MAX)?, &Vec::new())
}

pub(super) fn a_batch_is_whole(journal: &Arc<dyn Journal>, script: &Script) -> Result<(), Broken> {
    script.accept(&**journal, "op-1", &Script::open("42")?)?;
    for number in 1..=5 {
        script.accept(&**journal, &format!("op-ask-{number}"), &Script::ask("42", "Which bank?")?)?;
    }

    script.accept(&**journal, "op-end", &Script::end("42")?)?;

    let operation = Some("op-end".parse()?);
    let of_end = records(&**journal, 0)?.into_iter().filter(|record| record.operation_id == operation);
    let types: Vec<&str> = of_end.map(|record| record.event.type_name()).collect();
    same("the number of withdrawals", &types.iter().filter(|it| **it == "question_withdrawn").count(), &5)?;
    same("the number of ends", &types.iter().filter(|it| **it == "item_ended").count(), &1)?;
    verify(&**journal).map(drop)
}

pub(super) fn items_are_listed_by_whether_they_have_active_questions(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    let listed = |which| -> Result<Vec<String>, Broken> {
        let ids: Vec<ItemId> = journal.read()?.items(which)?;
        Ok(ids.iter().map(ToString::to_string).collect())
    };
    for item in ["b", "c", "a", "d"] {
        script.accept(&**journal, &format!("op-{item}"), &Script::open(item)?)?;
    }
    same("all items", &listed(Which::All)?, &["a", "b", "c", "d"].map(str::to_owned).to_vec())?;
    same("active items", &listed(Which::Active)?, &Vec::new())?;
    for item in ["b", "c", "a"] {
        script.accept(&**journal, &format!("op-{item}-ask"), &Script::ask(item, "Which bank?")?)?;
    }
    same("active items", &listed(Which::Active)?, &["a", "b", "c"].map(str::to_owned).to_vec())?;

    // Settled, ended, and answered by an agent: only the last still concerns somebody.
    script.accept(&**journal, "op-settle", &Script::answer(&"CLR-b-001".parse()?, "this"))?;
    script.accept(&**journal, "op-end", &Script::end("c")?)?;
    script.accept(&**journal, "op-answer", &Script::answer_as_architect(&"CLR-a-001".parse()?, "that")?)?;

    same("active items", &listed(Which::Active)?, &vec!["a".to_owned()])?;
    same("all items", &listed(Which::All)?, &["a", "b", "c", "d"].map(str::to_owned).to_vec())?;
    verify(&**journal).map(drop)
}

pub(super) fn every_read_follows_from_the_records(journal: &Arc<dyn Journal>, script: &Script) -> Result<(), Broken> {
    for number in 0..6 {
        let item = format!("item-{number}");
        script.accept(&**journal, &format!("{item}-open"), &Script::open(&item)?)?;
        for round in 1..=4 {
            let name = |what: &str| format!("{item}-{round}-{what}");
            script.accept(&**journal, &name("ask"), &Script::ask(&item, "Which bank?")?)?;
            script.accept(&**journal, &name("ask-human"), &Script::ask_human(&item, "Which door?")?)?;
            let human = format!("CLR-{item}-{:03}", 2 * round).parse()?;
            script.accept(&**journal, &name("answer"), &Script::answer(&human, "the left one"))?;
            verify(&**journal)?;
        }
        if number % 2 == 0 {
            script.accept(&**journal, &format!("{item}-end"), &Script::end(&item)?)?;
        }
        journal.update(script.later(querent_core::Span::minutes(31)).deadlines(&item.parse()?))?;
        verify(&**journal)?;
    }
    Ok(())
}

pub(super) fn a_watch_wakes_on_a_change(journal: &Arc<dyn Journal>, script: &Script) -> Result<(), Broken> {
    let (sender, woken) = mpsc::channel();
    let watch = journal.watch(Arc::new(move || {
        // Nobody listens any more once the check is over.
        let _ = sender.send(());
    }))?;
    for number in 0..10 {
        while woken.try_recv().is_ok() {}
        script.accept(&**journal, &format!("op-{number}"), &Script::open(&format!("item-{number}"))?)?;
        ensure(woken.recv_timeout(LOST).is_ok(), || format!("nobody was woken by change {number}"))?;
    }
    drop(watch);
    script.accept(&**journal, "op-last", &Script::open("last")?).map(drop)
}

/// Three items with twelve records between them.
fn some_work(journal: &dyn Journal, script: &Script) -> Result<(), Broken> {
    for item in ["a", "b", "c"] {
        script.accept(journal, &format!("op-{item}"), &Script::open(item)?)?;
    }
    script.accept(journal, "op-4", &Script::ask_human("a", "Which bank?")?)?;
    script.accept(journal, "op-5", &Script::ask("b", "Which door?")?)?;
    script.accept(journal, "op-6", &Script::ask("b", "Which key?")?)?;
    script.accept(journal, "op-7", &Script::ask("c", "Which day?")?)?;
    script.accept(journal, "op-8", &Script::end("b")?)?;
    script.accept(journal, "op-9", &Script::answer(&"CLR-c-001".parse()?, "Friday")).map(drop)
}

pub(super) fn a_beat_is_read_until_the_next_and_records_nothing(
    journal: &Arc<dyn Journal>,
    _: &Script,
) -> Result<(), Broken> {
    let beat = |pulse, name: &str, millis| -> Result<Beat, Broken> {
        Ok(Beat { pulse, name: name.parse()?, at: Moment::from_millis(millis) })
    };
    let long = "größe/..:".repeat(20);
    let beats = [
        beat(Pulse::Component, "runner", 1_000)?,
        beat(Pulse::Session, "engineer@42", 2_000)?,
        beat(Pulse::Session, "engineer_42", 2_500)?,
        beat(Pulse::Wait, "engineer@42", 3_000)?,
        beat(Pulse::Wait, &long, 4_000)?,
    ];
    for beat in &beats {
        journal.beat(&Beat { at: Moment::from_millis(0), ..beat.clone() })?;
        journal.beat(beat)?;
    }

    for pulse in Pulse::ALL {
        let expected: Vec<Beat> = beats.iter().filter(|beat| beat.pulse == pulse).cloned().collect();
        same("the beats", &journal.beats(pulse)?, &expected)?;
    }
    journal.still(Pulse::Session, &beats[1].name)?;
    journal.still(Pulse::Session, &beats[1].name)?;
    same("those that are left", &journal.beats(Pulse::Session)?, &vec![beats[2].clone()])?;
    same("those of another sort", &journal.beats(Pulse::Wait)?.len(), &2)?;
    same("the records", &records(&**journal, 0)?.len(), &0)
}
