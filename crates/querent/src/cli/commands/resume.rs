//! `querent resume`: parked sessions go on.

use std::collections::BTreeSet;

use querent_core::view::ParkedView;
use querent_core::{Code, Party, ProgramHandle, QuestionId, Refusal, SessionId};
use querent_hub::{Handle, Resumption};
use serde::Serialize;

use crate::claude::{Launched, Launcher, prompt};
use crate::cli::context::{Context, DONE};
use crate::cli::error::Failure;

/// Resume the parked sessions whose question is settled
///
/// A headless session of Claude Code that asks a blocking question ends and is parked (see `querent hook claude`). This
/// goes on with each of them whose question has its answer, or will never have one: it runs `claude -p --resume` where the
/// session worked, once, however many call it at once. What Claude says is passed through. A program that fails leaves its
/// session parked, for the next call. Without anything to resume, nothing happens, and the exit status is 0; it is 1 if a
/// program failed.
///
/// The program is that of `QUERENT_CLAUDE`, else `claude` on the path. Arguments after `--` are handed on to it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent resume
  querent resume CLR-42-001 --json
  querent resume -- --output-format json")]
pub(crate) struct Args {
    /// The questions; without any, all on which sessions are parked
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Handed on to the program
    #[arg(last = true, value_name = "ARGS")]
    extra: Vec<String>,
}

/// The exit status if a program failed.
const FAILED: u8 = 1;

/// A session that went on.
#[derive(Serialize)]
struct Resumed {
    question_id: QuestionId,
    session: SessionId,
    handle: ProgramHandle,
    exit_code: Option<i32>,
    output: String,
    /// Whether it failed and is still parked.
    parked: bool,
}

#[derive(Serialize)]
struct Reply {
    resumed: Vec<Resumed>,
    /// The questions that are still open.
    waiting: Vec<QuestionId>,
    /// Those whose session somebody else resumes.
    claimed: Vec<QuestionId>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let wanted: BTreeSet<QuestionId> = args.ids.iter().map(|id| id.parse()).collect::<Result<_, Refusal>>()?;
    let hub = context.hub(&Party::HUMAN)?;
    for id in &wanted {
        hub.question(id)?;
    }
    let parked = hub.parked()?.into_iter().filter(|it| wanted.is_empty() || wanted.contains(&it.question_id));
    let (settled, open): (Vec<ParkedView>, Vec<ParkedView>) = parked.partition(|it| it.settled);
    let waiting = open.into_iter().map(|it| it.question_id).collect();
    let mut reply = Reply { resumed: Vec::new(), waiting, claimed: Vec::new() };
    if !settled.is_empty() {
        let launcher = Launcher::find(&args.extra, context.json)?;
        for ParkedView { question_id, .. } in settled {
            match hub.claim(&question_id, &Party::HUMAN) {
                Ok(claimed) => reply.resumed.push(resume(&hub, claimed, &launcher, context)?),
                Err(refusal) if refusal.code == Code::Conflict => reply.claimed.push(question_id),
                // It went on by itself meanwhile.
                Err(refusal) if refusal.code == Code::InvalidTransition => {}
                Err(refusal) => return Err(refusal.into()),
            }
        }
    }
    context.reply(&reply, |page| {
        for it in &reply.resumed {
            let Resumed { question_id, session, parked, .. } = it;
            let how =
                it.exit_code.map_or_else(|| "did not end by itself".to_owned(), |code| format!("ended with {code}"));
            page.line(format!("{session} went on with {question_id}: claude {how}."));
            if *parked {
                page.next(format!("look at it, then try again: querent resume {question_id}"));
            }
        }
        for id in &reply.claimed {
            page.line(format!("The session on {id} is being resumed by somebody else."));
        }
        for id in &reply.waiting {
            page.line(format!("The session on {id} waits: the question is open."));
        }
        if reply.resumed.is_empty() && reply.claimed.is_empty() && reply.waiting.is_empty() {
            page.line("No session is parked.");
        }
    })?;
    let failed = reply.resumed.iter().any(|it| it.exit_code != Some(0));
    Ok(if failed { FAILED } else { DONE })
}

/// Runs the program to its end. A session whose call is not there any more is given the answer as a prompt instead.
fn resume(hub: &Handle, mut claimed: Resumption, launcher: &Launcher, context: &Context) -> Result<Resumed, Failure> {
    let id = claimed.question.id.clone();
    if !context.json {
        context.tell(|page| page.line(format!("Resuming {} on {id}.", claimed.parked.session)))?;
    }
    let words = prompt(&claimed.question);
    let has_call = claimed.parked.call.is_some();
    let mut ended = launch(hub, &mut claimed, launcher, (!has_call).then_some(words.as_str()))?;
    let still_has_call = || {
        let item = hub.item(&id.item)?;
        Ok::<bool, Refusal>(item.parked.get(&id.number).is_some_and(|parked| parked.call.is_some()))
    };
    if has_call && ended.exit_code.is_some_and(|code| code != 0) && still_has_call()? {
        ended = launch(hub, &mut claimed, launcher, Some(&words))?;
    }
    let parked = hub.end_resume(&claimed, ended.exit_code)?;
    let Launched { exit_code, output } = ended;
    let (session, handle) = (claimed.parked.session, claimed.parked.handle);
    Ok(Resumed { question_id: id, session, handle, exit_code, output, parked })
}

fn launch(
    hub: &Handle,
    claimed: &mut Resumption,
    launcher: &Launcher,
    words: Option<&str>,
) -> Result<Launched, Refusal> {
    let (question, parked) = (claimed.question.clone(), claimed.parked.clone());
    launcher.run(&question, &parked, words, |pid| hub.hand_on(claimed, pid))
}
