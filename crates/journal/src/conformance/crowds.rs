//! What holds when many do something at once.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

use querent_core::reply::AskReply;

use super::{Broken, Script, ensure, records, same, verify};
use crate::{Attempt, Journal, Which};

const THREADS: usize = 8;
/// Questions that each of them asks and answers.
const QUESTIONS: usize = 12;

pub(super) fn many_threads_on_one_item_lose_nothing(journal: &Arc<dyn Journal>, script: &Script) -> Result<(), Broken> {
    script.accept(&**journal, "op-open", &Script::open("42")?)?;

    at_once(THREADS, |thread| ask_and_answer(&**journal, script, "42", thread, || ()))?;

    let log = verify(&**journal)?;
    same("the number of records", &log.len(), &(1 + THREADS * QUESTIONS * 2))?;
    let item = journal.read()?.item(&"42".parse()?)?;
    same("the questions asked", &item.map(|item| item.asked as usize), &Some(THREADS * QUESTIONS))
}

pub(super) fn many_threads_on_many_items_lose_nothing(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    at_once(THREADS, |thread| {
        let item = format!("item-{thread}");
        script.accept(&**journal, &format!("op-open-{thread}"), &Script::open(&item)?)?;
        ask_and_answer(&**journal, script, &item, thread, || ())
    })?;

    let log = verify(&**journal)?;
    same("the number of records", &log.len(), &(THREADS * (1 + QUESTIONS * 2)))?;
    same("the number of items", &journal.read()?.items(Which::All)?.len(), &THREADS)
}

pub(super) fn whoever_is_called_back_is_called_once_and_finds_what_it_did(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    script.accept(&**journal, "op-open", &Script::open("42")?)?;
    let (called, calls) = mpsc::channel();
    let submitted = THREADS * QUESTIONS * 2;

    // Some wait for a callback, some only if they would have to wait here, and some on their threads: all for each other.
    at_once(THREADS, |thread| {
        for number in 0..QUESTIONS {
            let name = format!("op-{thread}-{number}");
            let ask = Script::ask("42", &format!("Which one of {name}?"))?;
            let other = format!("{name}-too");
            let too = Script::ask("42", &format!("Which one of {other}?"))?;
            let (called, both) = (called.clone(), vec![script.update(&name, &ask), script.update(&other, &too)]);
            let call = move |done: Vec<_>| [name, other].into_iter().zip(done).for_each(|it| drop(called.send(it)));
            let attempt = if number % 2 == 0 { Attempt::Busy(both) } else { journal.attempt(both) };
            match attempt {
                Attempt::Done(done) => call(done),
                Attempt::Busy(both) => journal.submit(both, Box::new(call)),
            }
            script.accept(&**journal, &format!("op-wait-{thread}-{number}"), &Script::ask("42", "Which way?")?)?;
        }
        Ok(())
    })?;
    drop(called);

    let mut names = BTreeSet::new();
    for (name, done) in calls {
        let asked: AskReply = done?.read()?;
        ensure(names.insert(name.clone()), || format!("{name} was called twice"))?;
        let found = journal.read()?.question(&asked.question_id)?;
        ensure(found.is_some_and(|it| it.prompt.contains(&name)), || format!("{name} does not find its question"))?;
    }
    same("those who were called", &names.len(), &submitted)?;
    verify(&**journal).map(drop)
}

pub(super) fn one_operation_from_many_threads_has_one_effect(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    script.accept(&**journal, "op-open", &Script::open("42")?)?;
    let ask = Script::ask("42", "Which bank?")?;
    for round in 0..10 {
        let operation = format!("op-{round}");

        let replies = at_once(16, |_| Ok(script.accept(&**journal, &operation, &ask)?.as_str().to_owned()))?;

        same("the number of different replies", &replies.iter().collect::<BTreeSet<_>>().len(), &1)?;
        same("the number of records", &records(&**journal, 0)?.len(), &(round + 2))?;
    }
    verify(&**journal).map(drop)
}

pub(super) fn readers_beside_writers_see_all_that_was_acknowledged(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    let (acknowledged, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let write = |thread: usize| {
        let item = format!("item-{thread}");
        script.accept(&**journal, &format!("op-open-{thread}"), &Script::open(&item)?)?;
        acknowledged.fetch_add(1, Ordering::SeqCst);
        ask_and_answer(&**journal, script, &item, thread, || {
            acknowledged.fetch_add(1, Ordering::SeqCst);
        })
    };
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    while !done.load(Ordering::SeqCst) {
                        look(&**journal, acknowledged.load(Ordering::SeqCst))?;
                    }
                    Ok::<(), Broken>(())
                })
            })
            .collect();
        let written = at_once(4, write);
        done.store(true, Ordering::SeqCst);
        written?;
        readers.into_iter().try_for_each(|reader| reader.join().unwrap_or_else(|_| Err(panicked())))
    })?;
    verify(&**journal).map(drop)
}

/// One look at everything, while others write; at least `least` records are there.
fn look(journal: &dyn Journal, least: usize) -> Result<(), Broken> {
    let log = records(journal, 0)?;
    ensure(log.len() >= least, || format!("{least} records were acknowledged and {} are there", log.len()))?;
    let dense = (1..).zip(&log).all(|(seq, record)| record.seq == seq);
    ensure(dense, || "the records that a reader sees are not dense".to_owned())?;
    let snapshot = journal.read()?;
    for item in snapshot.items(Which::All)? {
        ensure(snapshot.item(&item)?.is_some(), || format!("item {item} is listed and not there"))?;
    }
    for record in &log {
        let Some(id) = record.event.question() else { continue };
        let version = snapshot.question(id)?.map_or(0, |question| question.version);
        ensure(version >= record.version, || format!("{id} is of version {version}, before {}", record.version))?;
    }
    snapshot.items(Which::Active).map(drop).map_err(Broken::from)
}

fn ask_and_answer(
    journal: &dyn Journal,
    script: &Script,
    item: &str,
    thread: usize,
    acknowledged: impl Fn(),
) -> Result<(), Broken> {
    for number in 0..QUESTIONS {
        let ask = Script::ask(item, &format!("{thread} wants to know {number}"))?;
        let asked: AskReply = script.send(journal, &format!("op-{thread}-{number}-ask"), &ask)?.read()?;
        acknowledged();
        let answer = Script::answer(&asked.question_id, "this");
        script.accept(journal, &format!("op-{thread}-{number}-answer"), &answer)?;
        acknowledged();
    }
    Ok(())
}

/// Lets as many threads do the same at the same moment.
fn at_once<T: Send>(threads: usize, work: impl Fn(usize) -> Result<T, Broken> + Sync) -> Result<Vec<T>, Broken> {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let run = |thread| {
            barrier.wait();
            work(thread)
        };
        let spawned: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        spawned.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(panicked()))).collect()
    })
}

fn panicked() -> Broken {
    Broken("a thread panicked".to_owned())
}
