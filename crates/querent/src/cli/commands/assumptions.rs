//! `querent assumptions`: what was decided without asking.

use querent_core::{Assumption, AssumptionFilter, AssumptionStatus, ItemId, Risk};
use serde::Serialize;

use super::assumptions_review;
use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::input::one_of;
use crate::cli::output::{Page, Paint};
use crate::cli::table::{Cell, Table};

/// List what was decided without asking, and judge it
///
/// What nobody judged yet comes first, the riskiest and least certain of it at the top: the list to read before merging.
#[derive(clap::Args)]
#[command(
    after_help = "\
Examples:
  querent assumptions
  querent assumptions --item 42 --status standing --json
  querent assumptions review ASM-42-001 --confirm",
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Args {
    /// Only those of this item
    #[arg(long, value_name = "ID")]
    item: Option<String>,
    /// Only those of this status
    #[arg(long, default_value = "all", value_parser = one_of(AssumptionFilter::ALL, AssumptionFilter::as_str))]
    status: AssumptionFilter,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    Review(assumptions_review::Args),
}

#[derive(Serialize)]
struct Reply<'a> {
    assumptions: &'a [Assumption],
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    if let Some(Command::Review(review)) = args.command {
        return assumptions_review::run(review, context);
    }
    let item: Option<ItemId> = args.item.as_deref().map(str::parse).transpose()?;
    let found = context.reader()?.assumptions(item.as_ref(), args.status)?;
    context.reply(&Reply { assumptions: &found }, |page| {
        if found.is_empty() {
            return none(page, args.status);
        }
        let mut table = Table::new(["ID", "STATUS", "RISK", "CONFIDENCE", "SOURCE", "BY", "DECISION"]);
        for it in &found {
            table.row([
                Cell::painted(it.id.to_string(), Paint::Bold),
                Cell::painted(it.status.as_str(), status_paint(it.status)),
                Cell::painted(it.risk_if_wrong.level.as_str(), risk_paint(it.risk_if_wrong.level)),
                it.confidence.as_str().into(),
                it.source.as_str().into(),
                it.by.to_string().into(),
                Cell::free(&it.decision),
            ]);
        }
        table.write(page);
        if found.iter().any(|it| it.status == AssumptionStatus::Standing) {
            page.next("judge one with `querent assumptions review ID --confirm` or `--overturn --note …`");
        }
    })
}

/// The colour of a judgement.
pub(super) fn status_paint(status: AssumptionStatus) -> Paint {
    match status {
        AssumptionStatus::Standing => Paint::Warn,
        AssumptionStatus::Confirmed => Paint::Good,
        AssumptionStatus::Overturned => Paint::Bad,
    }
}

fn risk_paint(risk: Risk) -> Paint {
    match risk {
        Risk::Low => Paint::Plain,
        Risk::Medium => Paint::Warn,
        Risk::High => Paint::Bad,
    }
}

fn none(page: &mut Page, status: AssumptionFilter) {
    match status {
        AssumptionFilter::All => page.line("Nothing was assumed yet."),
        _ => page.line(format!("No assumption is {status}.")),
    }
}
