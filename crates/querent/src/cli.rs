//! The command line: what may be typed, and which command it is. A file a command below `commands/`.

mod commands;
mod context;
mod conversation;
mod error;
mod input;
mod narrator;
mod output;
mod pages;
mod progress;
mod table;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, CommandFactory, Parser, Subcommand};

use commands::{
    alerts, answer, ask, assume, assumptions, await_answer, beat, completions, connect, deliveries, demo, digest,
    disconnect, doctor, emit, escalate, events, follow_up, guide, hook, init, item, learned, lock, locks, mcp, monitor,
    notify, own, questions, ready, resolve, resume, run, send, serve, show, state, status, token, trigger, unlock,
    watch, withdraw,
};
use context::Context;
use error::Failure;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// The question layer for teams of AI coding agents
///
/// An agent that meets an ambiguity asks instead of guessing. Querent carries the question to the agent that owns the
/// matter or to a human, pauses exactly the work that depends on it, resumes that work with the answer, and keeps
/// every word. All of it is files below `.querent/`; no service is needed.
#[derive(Parser)]
#[command(name = "querent", version, max_term_width = 100, styles = STYLES, after_help = AFTER_HELP)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  querent demo
  querent init && querent item add 42 --title \"Sign in by e-mail\"
  querent ask --item 42 --from engineer --topic \"Tokens\" --question \"How long?\"
  querent answer CLR-42-001 --by architect --answer \"15 minutes\"

Exit status:
  0  done
  1  refused
  2  the command line does not parse
  3  the environment: no project, a broken config, a lock, the disk

Environment:
  QUERENT_ITEM, QUERENT_AGENT  the item and the agent of calls that name none
  QUERENT_CLAUDE               the program that `querent resume` runs
  NO_COLOR                     no colour, also on a terminal";

/// What every command takes.
#[derive(Args)]
struct Global {
    /// Print one JSON envelope instead of text
    ///
    /// `{"ok":true,"data":…}`, or `{"ok":false,"error":{"code","message","hint","details"}}` for a refusal. The envelope
    /// is on standard output in both cases, and standard error is silent.
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,
    /// The project's directory, which holds `.querent/`
    ///
    /// Without it: the nearest directory upwards from here that has a `.querent/`.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    project: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Args),
    Connect(connect::Args),
    Disconnect(disconnect::Args),
    Demo(demo::Args),
    Item(item::Args),
    Run(run::Args),
    Send(send::Args),
    Emit(emit::Args),
    Hook(hook::Args),
    Ask(Box<ask::Args>),
    Trigger(trigger::Args),
    FollowUp(follow_up::Args),
    Answer(answer::Args),
    Resolve(resolve::Args),
    Escalate(escalate::Args),
    Withdraw(withdraw::Args),
    Questions(questions::Args),
    Show(show::Args),
    Watch(watch::Args),
    Await(await_answer::Args),
    Assume(Box<assume::Args>),
    Assumptions(assumptions::Args),
    Learned(learned::Args),
    Context(commands::context::Args),
    Resume(resume::Args),
    State(state::Args),
    Ready(ready::Args),
    Status(status::Args),
    Monitor(monitor::Args),
    Alerts(alerts::Args),
    Deliveries(deliveries::Args),
    Notify(notify::Args),
    Beat(beat::Args),
    Lock(lock::Args),
    Unlock(unlock::Args),
    Locks(locks::Args),
    Own(own::Args),
    Mcp(mcp::Args),
    Serve(serve::Args),
    Token(token::Args),
    Events(events::Args),
    Digest(digest::Args),
    Guide(guide::Args),
    Doctor(doctor::Args),
    Completions(completions::Args),
}

/// Runs what was typed. The exit status is the command's.
pub(crate) fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let status = match Cli::try_parse_from(&typed) {
        Ok(cli) => {
            let context = Context::new(cli.global.json, cli.global.project);
            run(cli.command, &context).unwrap_or_else(|failure| failure.report(context.json))
        }
        Err(error) => {
            let status = error::report_unparsed(&error, &typed, &Cli::command());
            // To Claude Code the exit status of a usage error would mean that the session is held.
            if typed.windows(2).any(|pair| pair == ["hook", "claude"]) { context::DONE } else { status }
        }
    };
    ExitCode::from(status)
}

fn run(command: Command, context: &Context) -> Result<u8, Failure> {
    match command {
        Command::Init(args) => init::run(&args, context),
        Command::Connect(args) => connect::run(&args, context),
        Command::Disconnect(args) => disconnect::run(&args, context),
        Command::Demo(args) => demo::run(&args, context),
        Command::Item(args) => item::run(args, context),
        Command::Run(args) => run::run(&args, context),
        Command::Send(args) => send::run(&args, context),
        Command::Emit(args) => emit::run(&args, context),
        Command::Hook(args) => hook::run(args, context),
        Command::Ask(args) => ask::run(*args, context),
        Command::Trigger(args) => trigger::run(&args, context),
        Command::FollowUp(args) => follow_up::run(args, context),
        Command::Answer(args) => answer::run(&args, context),
        Command::Resolve(args) => resolve::run(args, context),
        Command::Escalate(args) => escalate::run(args, context),
        Command::Withdraw(args) => withdraw::run(args, context),
        Command::Questions(args) => questions::run(&args, context),
        Command::Show(args) => show::run(&args, context),
        Command::Watch(args) => watch::run(&args, context),
        Command::Await(args) => await_answer::run(&args, context),
        Command::Assume(args) => assume::run(*args, context),
        Command::Assumptions(args) => assumptions::run(args, context),
        Command::Learned(args) => learned::run(args, context),
        Command::Context(args) => commands::context::run(&args, context),
        Command::Resume(args) => resume::run(&args, context),
        Command::State(args) => state::run(&args, context),
        Command::Ready(args) => ready::run(&args, context),
        Command::Status(args) => status::run(&args, context),
        Command::Monitor(args) => monitor::run(&args, context),
        Command::Alerts(args) => alerts::run(args, context),
        Command::Deliveries(args) => deliveries::run(&args, context),
        Command::Notify(args) => notify::run(&args, context),
        Command::Beat(args) => beat::run(&args, context),
        Command::Lock(args) => lock::run(&args, context),
        Command::Unlock(args) => unlock::run(&args, context),
        Command::Locks(args) => locks::run(&args, context),
        Command::Mcp(args) => mcp::run(&args, context),
        Command::Serve(args) => serve::run(&args, context),
        Command::Token(args) => token::run(args, context),
        Command::Own(args) => own::run(&args, context),
        Command::Events(args) => events::run(&args, context),
        Command::Digest(args) => digest::run(&args, context),
        Command::Guide(args) => guide::run(&args, context),
        Command::Doctor(args) => doctor::run(&args, context),
        Command::Completions(args) => completions::run(&args, context, &mut Cli::command()),
    }
}

/// Every command, and every command below one, as the HTTP API names them.
#[cfg(test)]
pub(crate) fn commands_in_snake_case() -> std::collections::BTreeSet<String> {
    let mut names = std::collections::BTreeSet::new();
    for command in Cli::command().get_subcommands() {
        let name = command.get_name().replace('-', "_");
        names.extend(command.get_subcommands().map(|below| format!("{name}_{}", below.get_name().replace('-', "_"))));
        names.insert(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
