//! `querent trigger`: something happened; the project's triggers say what is asked about it.

use clap::Subcommand;
use querent_core::Refusal;
use querent_hub::{Fired, Happening};

use super::{trigger_install, trigger_list};
use crate::cli::context::{Context, item_of};
use crate::cli::error::{Failure, usage};
use crate::cli::input::{self, Operation, caller};
use crate::cli::output::Page;
use crate::cli::pages;
use crate::text::clean_line;

/// Report an event, and raise the questions that the project's triggers have for it
///
/// The triggers are the files `.querent/questions/*.yaml`. A trigger whose phase or condition does not fit is skipped with
/// the reason; so is an event that no trigger is for. What a question needs and the data lacks refuses the call, and then
/// nothing is raised.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  querent trigger idea_created --item 42 --from engineer
  querent trigger phase_complete --item 42 --from engineer --phase EXPLORING
  querent trigger missing_context --item 42 --from engineer \\
      --data '{\"task_id\": \"T-7\", \"missing_info\": \"the region of the bucket\"}'
  querent trigger install build
  querent trigger list"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// What happened
    #[arg(required = true)]
    event: Option<String>,
    /// The item; without it, that of `QUERENT_ITEM`, else the only item that has not ended
    #[arg(long, value_name = "ID")]
    item: Option<String>,
    /// The agent that asks; without it, that of `QUERENT_AGENT`
    #[arg(long, value_name = "AGENT")]
    from: Option<String>,
    /// The phase in which it happened
    #[arg(long)]
    phase: Option<String>,
    /// What is known about it: a JSON object, `@FILE` with one, or `-` for standard input
    #[arg(long, value_name = "JSON")]
    data: Option<String>,
    #[command(flatten)]
    operation: Operation,
}

#[derive(Subcommand)]
enum Command {
    Install(trigger_install::Args),
    List(trigger_list::Args),
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    match &args.command {
        Some(Command::Install(args)) => trigger_install::run(args, context),
        Some(Command::List(args)) => trigger_list::run(args, context),
        None => fire(args, context),
    }
}

fn fire(args: &Args, context: &Context) -> Result<u8, Failure> {
    let by = caller("--from", args.from.as_deref())?;
    let operation = args.operation.id()?;
    let event = event(args)?;
    let data = args.data.as_deref().map(|given| input::object("--data", "data", given)).transpose()?;
    let hub = context.hub(&by)?;
    let item = item_of(args.item.as_deref(), &hub)?;
    let phase = args.phase.clone();
    let happening = Happening { item, by, event, phase, data: data.unwrap_or_default() };
    let fired = hub.fire(&happening, operation.as_ref())?;
    context.reply(&fired, |page| show(page, &fired))
}

fn event(args: &Args) -> Result<String, Refusal> {
    args.event.clone().ok_or_else(|| usage("the event is missing", "name it: querent trigger idea_created"))
}

fn show(page: &mut Page, fired: &Fired) {
    for reply in &fired.raised {
        pages::asked(page, reply);
    }
    for skipped in &fired.skipped {
        page.line(format!("{} raised nothing: {}", clean_line(&skipped.trigger), clean_line(&skipped.reason)));
    }
}
