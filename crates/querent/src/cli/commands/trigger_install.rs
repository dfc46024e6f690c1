//! `querent trigger install`: a shipped set of triggers becomes a file of the project.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use querent_hub::Triggers;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::Failure;

/// Write a shipped set of triggers into `.querent/questions/`
///
/// The file is yours: edit it and keep it in git. A file that was edited is never written over (conflict).
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent trigger install build
  querent trigger install ux --json")]
pub(crate) struct Args {
    /// The set
    #[arg(value_parser = PossibleValuesParser::new(Triggers::SETS))]
    name: String,
}

#[derive(Serialize)]
struct Reply {
    created: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let created = Triggers::install(&context.project()?, &args.name)?;
    let reply = Reply { created: created.into_iter().collect() };
    context.reply(&reply, |page| match reply.created.first() {
        Some(file) => {
            page.line(format!("Created {}.", file.display()));
            page.next("see its triggers with `querent trigger list`");
        }
        None => page.line(format!("The set {} is there already; nothing was changed.", args.name)),
    })
}
