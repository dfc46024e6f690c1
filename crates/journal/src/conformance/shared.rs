//! What all items share: an update may change it together with its item, or not at all.

use std::sync::Arc;
use std::thread;

use querent_core::reply::{AskReply, LockReply};
use querent_core::{Code, Envelope, LearnedId, Provenance, Shared, Span};

use super::{Broken, Script, ensure, same, verify};
use crate::Journal;

pub(super) fn what_is_learned_on_one_item_answers_on_another(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    let script = script.learning();
    for item in ["a", "b", "c"] {
        script.accept(&**journal, &format!("op-{item}"), &Script::open(item)?)?;
    }
    script.accept(&**journal, "op-1", &Script::prefer("a", "Tabs or spaces?")?)?;
    script.accept(&**journal, "op-2", &Script::answer(&"CLR-a-001".parse()?, "spaces"))?;
    verify(&**journal)?;

    let asked: AskReply = script.accept(&**journal, "op-3", &Script::prefer("b", "Tabs or spaces?")?)?.read()?;

    same("the provenance", &asked.answer.map(|it| it.provenance), &Some(Provenance::Learned))?;
    let knowledge = journal.read()?.shared(Shared::Knowledge)?.knowledge.clone();
    same("the uses", &knowledge.learned.get(&1).map(|it| it.uses), &Some(1))?;
    verify(&**journal)?;

    journal.update(script.revoke("op-4", LearnedId(1))?)?.read::<serde_json::Value>()?;
    let again = journal.update(script.revoke("op-4", LearnedId(1))?)?;
    ensure(again.as_str().contains("revoked"), || "an operation that is sent again lost its first reply".to_owned())?;

    let asked: AskReply = script.accept(&**journal, "op-5", &Script::prefer("c", "Tabs or spaces?")?)?.read()?;
    same("the answer once it is taken back", &asked.answer, &None)?;
    verify(&**journal).map(drop)
}

pub(super) fn of_many_strict_questions_at_once_one_is_asked(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    let items: Vec<String> = (1..=8).map(|number| format!("item-{number}")).collect();
    for item in &items {
        script.accept(&**journal, &format!("op-{item}"), &Script::open(item)?)?;
    }
    let ask = |item: &String| -> Result<Envelope, Broken> {
        Ok(script.send(&**journal, &format!("op-ask-{item}"), &Script::ask_strictly(item, "Which mode?")?)?)
    };
    let replies = at_once(&items, ask);
    let mut asked = Vec::new();
    for reply in replies {
        match reply?.read::<AskReply>() {
            Ok(reply) => asked.push(reply.question_id),
            Err(refusal) => same("why the others are refused", &refusal.code, &Code::ConditionsNotMet)?,
        }
    }
    same("how many are asked", &asked.len(), &1)?;
    same("the active one", &journal.read()?.shared(Shared::Quota)?.quota.active.as_ref(), &asked.first())?;
    verify(&**journal)?;

    // Its time is over: the fallback is taken, and the next may be asked.
    for question in &asked {
        journal.update(script.later(Span::minutes(5)).deadlines(&question.item))?;
    }
    same("the active one", &journal.read()?.shared(Shared::Quota)?.quota.active, &None)?;
    let other = items.iter().find(|item| asked.iter().all(|id| id.item.as_str() != item.as_str()));
    if let Some(item) = other {
        script.accept(&**journal, "op-next", &Script::ask_strictly(item, "Which mode?")?)?;
    }
    verify(&**journal).map(drop)
}

pub(super) fn the_quota_is_right_whatever_else_is_asked_on_its_item(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    let active =
        || Ok::<_, Broken>(journal.read()?.shared(Shared::Quota)?.quota.active.as_ref().map(ToString::to_string));
    script.accept(&**journal, "op-1", &Script::open("42")?)?;
    script.accept(&**journal, "op-2", &Script::ask_strictly("42", "Which mode?")?)?;
    script.accept(&**journal, "op-3", &Script::ask("42", "Which bank?")?)?;
    same("the active one", &active()?.as_deref(), &Some("CLR-42-001"))?;
    verify(&**journal)?;

    // One command sees its time run out, which frees the quota, and asks something else.
    let later = script.later(Span::minutes(5));
    later.accept(&**journal, "op-4", &Script::ask("42", "Which door?")?)?;
    same("the active one", &active()?, &None)?;
    verify(&**journal)?;

    script.accept(&**journal, "op-5", &Script::open("43")?)?;
    later.accept(&**journal, "op-6", &Script::ask_strictly("43", "Which mode?")?)?;
    same("the active one", &active()?.as_deref(), &Some("CLR-43-001"))?;
    verify(&**journal).map(drop)
}

pub(super) fn of_many_sessions_that_want_a_file_at_once_one_has_it(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    let items: Vec<String> = (1..=8).map(|number| format!("item-{number}")).collect();
    for item in &items {
        script.accept(&**journal, &format!("op-{item}"), &Script::open(item)?)?;
        script.accept(&**journal, &format!("op-start-{item}"), &Script::start(item)?)?;
    }
    let lock = |item: &String| -> Result<bool, Broken> {
        let path = if item.ends_with('1') { "src" } else { "src/auth.rs" };
        let reply = script.send(&**journal, &format!("op-lock-{item}"), &Script::lock(item, path)?)?;
        match reply.read::<LockReply>() {
            Ok(reply) => Ok(!reply.granted.is_empty()),
            Err(refusal) if refusal.code == Code::FileLocked => Ok(false),
            Err(refusal) => Err(refusal.into()),
        }
    };
    let granted = at_once(&items, lock);
    let mut holders = Vec::new();
    for (item, granted) in items.iter().zip(granted) {
        holders.extend(granted?.then_some(item));
    }
    same("how many have it", &holders.len(), &1)?;
    verify(&**journal)?;
    for holder in holders {
        script.accept(&**journal, "op-end", &Script::end(holder)?)?;
    }
    same(
        "what is held when the holder is over",
        &journal.read()?.shared(Shared::Resources)?.resources.locks.len(),
        &0,
    )?;
    verify(&**journal).map(drop)
}

/// Does the same for every item at once, a thread each.
fn at_once<T: Send>(
    items: &[String],
    act: impl Fn(&String) -> Result<T, Broken> + Copy + Send,
) -> Vec<Result<T, Broken>> {
    thread::scope(|scope| {
        let threads: Vec<_> = items.iter().map(|item| scope.spawn(move || act(item))).collect();
        let ended = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err(Broken("a thread panicked".to_owned())))
        };
        threads.into_iter().map(ended).collect()
    })
}
