//! `querent item`: the units of work.

use clap::Subcommand;

use super::{item_add, item_end, item_list, item_move, item_show};
use crate::cli::context::Context;
use crate::cli::error::Failure;

/// Add, list, show, move and end items
///
/// An item is the unit of work: an issue, a feature, an idea. It follows a workflow and stands in one of its steps, or
/// in `awaiting_input`, `blocked`, `ready_to_merge`, `merged` or `failed`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent item add 42 --title \"Sign in by e-mail\"
  querent item list
  querent item move 42 --to implement")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Add(item_add::Args),
    List(item_list::Args),
    Show(item_show::Args),
    Move(item_move::Args),
    End(item_end::Args),
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    match args.command {
        Command::Add(args) => item_add::run(args, context),
        Command::List(args) => item_list::run(&args, context),
        Command::Show(args) => item_show::run(&args, context),
        Command::Move(args) => item_move::run(args, context),
        Command::End(args) => item_end::run(&args, context),
    }
}
