//! What an update promises to the one who sends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use querent_core::reply::{AnswerReply, AskReply};
use querent_core::{Applied, Code, Envelope, Item, Needs, QuestionId, Span, Stage, State, Status};

use super::{Broken, Script, ensure, records, same, verify};
use crate::{Job, Journal, Update};

pub(super) fn an_update_is_read_at_once(journal: &Arc<dyn Journal>, script: &Script) -> Result<(), Broken> {
    script.accept(&**journal, "op-1", &Script::open("42")?)?;
    let asked: AskReply = script.send(&**journal, "op-2", &Script::ask_human("42", "Which bank?")?)?.read()?;

    let snapshot = journal.read()?;
    let item = snapshot.item(&"42".parse()?)?;
    same("the stage", &item.map(|item| item.stage.clone()), &Some(Stage::AwaitingInput))?;
    let question = snapshot.question(&asked.question_id)?;
    same("the prompt", &question.as_ref().map(|question| question.prompt.as_str()), &Some("Which bank?"))?;

    let answer = Script::answer(&asked.question_id, "the small one");
    let answered: AnswerReply = script.send(&**journal, "op-3", &answer)?.read()?;
    same("the item's going on", &answered.resumed, &true)?;
    let question = journal.read()?.question(&asked.question_id)?;
    same("the status", &question.as_ref().map(|question| question.status), &Some(Status::Resolved))?;
    same("the thread", &question.map(|question| question.thread.len()), &Some(2))?;
    verify(&**journal).map(drop)
}

pub(super) fn an_operation_sent_again_gets_the_first_reply_and_runs_nothing(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    script.accept(&**journal, "op-1", &Script::open("42")?)?;
    let ask = Script::ask("42", "Which bank?")?;
    let first = script.accept(&**journal, "op-2", &ask)?;
    script.accept(&**journal, "op-3", &Script::answer(&"CLR-42-001".parse()?, "the small one"))?;
    let before = records(&**journal, 0)?;

    let runs = Arc::new(AtomicUsize::new(0));
    let Update { stream, ticket, job } = script.later(Span::minutes(600)).update("op-2", &ask);
    let counted = Counted { job, runs: Arc::clone(&runs) };
    let again = journal.update(Update { stream, ticket, job: Box::new(counted) })?;

    same("the reply", &again.as_str(), &first.as_str())?;
    same("the number of runs", &runs.load(Ordering::SeqCst), &0)?;
    same("the log", &records(&**journal, 0)?, &before)
}

/// Counts how often it is run.
struct Counted {
    job: Box<dyn Job>,
    runs: Arc<AtomicUsize>,
}

impl Job for Counted {
    fn needs(&mut self, item: &Item) -> Needs {
        self.job.needs(item)
    }

    fn run(&mut self, state: &mut State) -> Applied {
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.job.run(state)
    }
}

pub(super) fn an_operation_with_other_content_is_a_conflict(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    script.accept(&**journal, "op-1", &Script::open("42")?)?;
    script.accept(&**journal, "op-2", &Script::ask("42", "Which bank?")?)?;
    let before = records(&**journal, 0)?;

    let other = script.send(&**journal, "op-2", &Script::ask("42", "Which other bank?")?)?;

    refused(&other, Code::OperationConflict)?;
    same("the log", &records(&**journal, 0)?, &before)
}

pub(super) fn an_operation_id_is_used_once_across_items(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    script.accept(&**journal, "op-1", &Script::open("42")?)?;

    let other = script.send(&**journal, "op-1", &Script::open("43")?)?;

    refused(&other, Code::OperationConflict)?;
    same("the other item", &journal.read()?.item(&"43".parse()?)?, &None)
}

pub(super) fn a_refused_command_records_nothing_and_may_be_sent_again(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    let ask = Script::ask("42", "Which bank?")?;
    refused(&script.send(&**journal, "op-1", &ask)?, Code::ItemNotFound)?;
    same("the log", &records(&**journal, 0)?, &Vec::new())?;
    script.accept(&**journal, "op-2", &Script::open("42")?)?;

    // An id is remembered for accepted commands only.
    script.accept(&**journal, "op-1", &ask)?;

    verify(&**journal).map(drop)
}

pub(super) fn a_refused_command_records_what_was_due(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    script.accept(&**journal, "op-1", &Script::open("42")?)?;
    script.accept(&**journal, "op-2", &Script::ask("42", "Which bank?")?)?;
    let before = records(&**journal, 0)?.len() as u64;

    let twice = script.later(Span::minutes(31)).send(&**journal, "op-3", &Script::open("42")?)?;

    refused(&twice, Code::Conflict)?;
    let due = records(&**journal, before)?;
    let types: Vec<&str> = due.iter().map(|record| record.event.type_name()).collect();
    same("what was recorded", &types, &vec!["question_stale", "question_retried"])?;
    ensure(due.iter().all(|record| record.operation_id.is_none()), || "a deadline bears an operation id".to_owned())?;
    verify(&**journal).map(drop)
}

pub(super) fn a_deadline_needs_no_operation(journal: &Arc<dyn Journal>, script: &Script) -> Result<(), Broken> {
    let id: QuestionId = "CLR-42-001".parse()?;
    script.accept(&**journal, "op-1", &Script::open("42")?)?;
    script.accept(&**journal, "op-2", &Script::ask("42", "Which bank?")?)?;

    for minutes in [10, 31, 40, 62] {
        journal.update(script.later(Span::minutes(minutes)).deadlines(&id.item))?;
    }

    let status = journal.read()?.question(&id)?.map(|question| question.status);
    same("the status", &status, &Some(Status::Escalated))?;
    verify(&**journal).map(drop)
}

pub(super) fn a_settled_question_is_at_hand_when_it_is_needed(
    journal: &Arc<dyn Journal>,
    script: &Script,
) -> Result<(), Broken> {
    let id: QuestionId = "CLR-42-001".parse()?;
    script.accept(&**journal, "op-1", &Script::open("42")?)?;
    script.accept(&**journal, "op-2", &Script::ask("42", "Which bank?")?)?;
    script.accept(&**journal, "op-3", &Script::answer(&id, "the small one"))?;
    script.accept(&**journal, "op-4", &Script::ask("42", "Which door?")?)?;

    let second = script.send(&**journal, "op-5", &Script::answer(&id, "the large one"))?;

    refused(&second, Code::QuestionAlreadyAnswered)
}

fn refused(reply: &Envelope, code: Code) -> Result<(), Broken> {
    let found = reply.read::<serde_json::Value>().err().map(|refusal| refusal.code);
    same("the refusal", &found, &Some(code))
}
