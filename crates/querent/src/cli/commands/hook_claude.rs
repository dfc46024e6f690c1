//! `querent hook claude`: what Claude Code's hooks call.

use std::io::{self, Read};

use querent_core::{Code, Party, Refusal};
use querent_hub::Handle;

use super::hook::Worker;
use crate::claude::{self, Input, RESUMED_FOR, Reaction, Seat};
use crate::cli::context::{Context, DONE};
use crate::cli::error::Failure;
use crate::cli::input::{caller, environment};
use crate::cli::output::print_line;

/// Answer a hook of Claude Code
///
/// Reads the hook's JSON on standard input. `PreToolUse` parks a headless session (`claude -p`) that asks a blocking
/// question: the question is asked, the call is deferred and the program ends; `querent resume` goes on with it when the
/// answer is there. While the item waits for a human, edits are denied. `SessionStart` and `UserPromptSubmit` tell new
/// answers and overturned assumptions, each once; `Stop` tells an answer that the session waited for.
///
/// It never blocks a session by failing: on an error it prints nothing, says why on standard error, and ends with 0.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  echo '{\"hook_event_name\":\"Notification\"}' | \\
      querent hook claude --agent engineer --item 42")]
pub(crate) struct Args {
    #[command(flatten)]
    worker: Worker,
    /// What Querent's MCP server is called in Claude's configuration
    #[arg(long, value_name = "NAME", default_value = "querent")]
    server: String,
}

/// More than any hook sends; what is longer is no hook.
const LARGEST: u64 = 64 << 20;

pub(crate) fn run(args: &Args, context: &Context) -> u8 {
    if let Err(failure) = react(args, context) {
        // Standard output is Claude's, and any other exit status would be a word of ours to it.
        failure.report(false);
    }
    DONE
}

fn react(args: &Args, context: &Context) -> Result<(), Failure> {
    let input = Input::read(&stdin()?)?;
    let seat = seat(args)?;
    let hub = context.hub(&Party::Agent(seat.agent.clone()))?;
    let Reaction { says, then } = claude::react(&hub, &seat, &input)?;
    if let Some(says) = says {
        print_line(&querent_core::canonical::text(&says))?;
    }
    for command in then {
        record(&hub, &command)?;
    }
    // A beat that is lost is made up for by the next.
    let _ = claude::beat(&hub, &seat);
    Ok(())
}

/// What is not so any more is passed over.
fn record(hub: &Handle, command: &querent_core::Command) -> Result<(), Refusal> {
    match hub.execute(command, None).read::<serde_json::Value>() {
        Err(refusal) if !matches!(refusal.code, Code::InvalidTransition | Code::Conflict) => Err(refusal),
        _ => Ok(()),
    }
}

fn seat(args: &Args) -> Result<Seat, Refusal> {
    let Party::Agent(agent) = caller("--agent", args.worker.agent.as_deref())? else {
        return Err(Refusal::invalid("agent", "a hook is an agent's, not a person's", "name a declared agent"));
    };
    let item = args.worker.item.clone().or_else(|| environment("QUERENT_ITEM"));
    Ok(Seat {
        agent,
        item: item.as_deref().map(str::parse).transpose()?,
        session: args.worker.session.as_deref().map(str::parse).transpose()?,
        server: args.server.clone(),
        headless: is_headless(&environment),
        resumed_for: environment(RESUMED_FOR).and_then(|id| id.parse().ok()),
    })
}

/// Whether nobody sits in front of the session. Claude says so itself; earlier versions only say how they were started.
fn is_headless(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    match variable("CLAUDE_CODE_SESSION_ATTENDED") {
        Some(attended) => attended == "0",
        None => variable("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entry| entry.starts_with("sdk")),
    }
}

fn stdin() -> Result<String, Refusal> {
    let mut text = String::new();
    io::stdin().lock().take(LARGEST).read_to_string(&mut text).map_err(|error| {
        let message = format!("standard input cannot be read: {error}");
        Refusal::invalid("stdin", message, "run it as a hook of Claude Code, which sends JSON on standard input")
    })?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_headless_if_claude_says_that_nobody_attends_it() {
        let with = |set: &'static [(&str, &str)]| {
            is_headless(&|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };

        assert!(with(&[("CLAUDE_CODE_SESSION_ATTENDED", "0"), ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]));
        assert!(!with(&[("CLAUDE_CODE_SESSION_ATTENDED", "1"), ("CLAUDE_CODE_ENTRYPOINT", "cli")]));
        assert!(with(&[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]));
        assert!(!with(&[("CLAUDE_CODE_ENTRYPOINT", "cli")]));
        assert!(!with(&[]));
    }
}
