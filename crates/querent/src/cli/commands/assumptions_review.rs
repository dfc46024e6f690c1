//! `querent assumptions review`: a person judges an assumption.

use querent_core::reply::AssumptionReply;
use querent_core::{Action, AssumptionId, Verdict};

use super::assumptions::status_paint;
use crate::cli::context::{Context, command};
use crate::cli::error::Failure;
use crate::cli::input::{By, Operation};
use crate::cli::output::Paint;
use crate::text::clean_line;

/// Confirm or overturn an assumption
///
/// Overturning marks the item for rework, and its agents find it first in their context. What is overturned stays so.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent assumptions review ASM-42-001 --confirm
  querent assumptions review ASM-42-002 --overturn --note \"a day, for customers\"", group = clap::ArgGroup::new("verdict").required(true).args(["confirm", "overturn"]))]
pub(crate) struct Args {
    /// The assumption's id
    id: String,
    /// It is right
    #[arg(long)]
    confirm: bool,
    /// It is wrong
    #[arg(long)]
    overturn: bool,
    /// Why, or what holds instead
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    let by = args.by.party()?;
    let assumption: AssumptionId = args.id.parse()?;
    let hub = context.hub(&by)?;
    let verdict = if args.overturn { Verdict::Overturn } else { Verdict::Confirm };
    let wish = command(assumption.item.clone(), by, Action::Review { assumption, verdict, note: args.note });
    context.execute(&hub, &wish, &args.operation, |page, AssumptionReply { assumption }| {
        page.paint(Paint::Bold, &assumption.id.to_string());
        page.text(" is ");
        page.paint(status_paint(assumption.status), assumption.status.as_str());
        page.line(format!(": {}", clean_line(&assumption.decision)));
        if verdict == Verdict::Overturn {
            page.line(format!("Item {} needs rework.", assumption.item));
        }
    })
}
