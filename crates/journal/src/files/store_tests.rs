use querent_core::{Action, Command, Via};

use super::super::flush::LedgersLock;
use super::super::log;
use super::super::scan::scan;
use super::*;
use crate::conformance::Script;

fn writer(layout: &Layout) -> Store {
    let mut store = Store::open(layout, &Options::new("test")).unwrap();
    store.catch_up().unwrap();
    store
}

fn write(store: &mut Store) {
    store.write(&mut Slate::new(Options::new("test").slate)).unwrap();
}

fn carry_out(store: &mut Store, operation: &str, command: &Command) -> Envelope {
    let reply = store.run(&mut Script::new().unwrap().update(operation, command)).unwrap();
    write(store);
    reply
}

fn tell(store: &mut Store, operation: &str, prompt: &str) -> Envelope {
    carry_out(store, operation, &Script::ask("42", prompt).unwrap())
}

fn opened(layout: &Layout) -> Store {
    let mut store = writer(layout);
    let open = Script::open("42").unwrap();
    store.run(&mut Script::new().unwrap().update("op-open", &open)).unwrap();
    write(&mut store);
    store
}

#[test]
fn what_was_seen_without_the_lock_and_taken_back_since_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::of(dir.path());
    let (mut one, mut other) = (opened(&layout), writer(&layout));
    let before = one.log().place;
    tell(&mut one, "op-1", "Which tea?");
    other.look_ahead();
    assert!(other.operation(&"op-1".parse().unwrap()).unwrap().is_some(), "it sees what the other wrote");

    log::cut(&layout, before).unwrap();
    tell(&mut writer(&layout), "op-2", "Which cake?");
    other.catch_up().unwrap();
    tell(&mut other, "op-3", "Which cup?");

    let mut prompts = Vec::new();
    let read = scan(&layout, Place::START, |entry| {
        if let Event::QuestionAsked(asked) = &entry.record(&layout)?.event {
            prompts.push(format!("{} {}", asked.question.id, asked.question.prompt));
        }
        Ok(())
    });
    assert!(!read.unwrap().torn);
    assert_eq!(prompts, ["CLR-42-001 Which cake?", "CLR-42-002 Which cup?"]);
    assert!(other.operation(&"op-1".parse().unwrap()).unwrap().is_none());
}

#[test]
fn an_operation_is_found_before_and_after_another_process_flushed_it_into_a_larger_index() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::of(dir.path());
    let (mut one, mut other) = (opened(&layout), writer(&layout));
    let replies: Vec<Envelope> = (0..1_500).map(|n| tell(&mut one, &format!("op-{n}"), "Which tea?")).collect();
    let all_are_found = |store: &Store| {
        replies.iter().enumerate().all(|(n, reply)| {
            let id = format!("op-{n}").parse().unwrap();
            store.operation(&id).unwrap().is_some_and(|operation| operation.reply == *reply)
        })
    };
    other.catch_up().unwrap();
    assert!(all_are_found(&other));

    let plan = one.plan().unwrap().unwrap();
    let lock = LedgersLock::take(&layout).unwrap().unwrap();
    plan.carry_out(&lock, &layout, &Options::new("test")).unwrap();
    assert!(all_are_found(&other), "by what it saw itself");
    other.plan().unwrap();

    assert!(other.tail.is_empty() && other.recent.is_empty());
    assert!(all_are_found(&other), "by the index that took the place of its own");
}

#[test]
fn a_question_that_has_its_answer_takes_in_what_another_process_does_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::of(dir.path());
    let (mut one, mut other) = (opened(&layout), writer(&layout));
    let (item, by, id): (_, _, QuestionId) =
        ("42".parse().unwrap(), "engineer".parse().unwrap(), "CLR-42-001".parse().unwrap());
    let answer = Script::answer_as_architect(&id, "Green").unwrap();
    tell(&mut one, "op-ask", "Which tea?");
    assert!(carry_out(&mut one, "op-answer", &answer).is_ok());
    assert!(one.settled.contains_key(&id), "no decision walks past it any more");

    let action = Action::FollowUp { question: id, prompt: "And which cup?".to_owned() };
    other.catch_up().unwrap();
    assert!(carry_out(&mut other, "op-follow-up", &Command { item, by, via: Via::Library, action }).is_ok());
    one.catch_up().unwrap();

    let again = carry_out(&mut one, "op-again", &answer);
    assert!(again.is_ok(), "it is open again: {}", again.as_str());
}
