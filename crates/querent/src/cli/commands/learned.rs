//! `querent learned`: the answers that are given without asking.

use querent_core::view::LearnedView;
use querent_core::{Learned, LearnedStatus};
use serde::Serialize;

use super::{learned_revoke, learned_show};
use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::input::one_of;
use crate::cli::output::Paint;
use crate::cli::table::{Cell, Table};

/// List what was learned from people's answers, and take it back
///
/// One answer to a `preference` question is learned, and so is the same answer given twice to the same question. From then
/// on the question is answered at once, with `provenance: learned`, and the answer stands among the assumptions. A human
/// who says otherwise lowers its confidence; the second time retires it. Questions about security, permission and risk are
/// never answered so.
#[derive(clap::Args)]
#[command(
    after_help = "\
Examples:
  querent learned
  querent learned --status active --json
  querent learned show LRN-001
  querent learned revoke LRN-001 --note \"we moved to Postgres\"",
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Args {
    /// Only those of this status
    #[arg(long, value_parser = one_of(LearnedStatus::ALL, LearnedStatus::as_str))]
    status: Option<LearnedStatus>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    Show(learned_show::Args),
    Revoke(learned_revoke::Args),
}

#[derive(Serialize)]
struct Reply<'a> {
    learned: Vec<LearnedView<'a>>,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    match args.command {
        Some(Command::Show(show)) => return learned_show::run(&show, context),
        Some(Command::Revoke(revoke)) => return learned_revoke::run(revoke, context),
        None => {}
    }
    let knowledge = context.reader()?.knowledge()?;
    let mut found: Vec<&Learned> = knowledge.learned.values().collect();
    found.retain(|it| args.status.is_none_or(|status| it.status == status));
    found.sort_by_key(|it| (it.status, it.id));
    context.reply(&Reply { learned: found.iter().copied().map(LearnedView).collect() }, |page| {
        if found.is_empty() {
            return match args.status {
                None => page.line("Nothing was learned yet."),
                Some(status) => page.line(format!("No learned answer is {status}.")),
            };
        }
        let mut table = Table::new(["ID", "STATUS", "CONFIDENCE", "USES", "ANSWER", "QUESTION"]);
        for it in &found {
            table.row([
                Cell::painted(it.id.to_string(), Paint::Bold),
                Cell::painted(it.status.as_str(), status_paint(it.status)),
                it.confidence.to_string().into(),
                it.uses.to_string().into(),
                Cell::free(&it.answer.text),
                Cell::free(&it.prompt),
            ]);
        }
        table.write(page);
        if found.iter().any(|it| it.status == LearnedStatus::Active) {
            page.next("take one back with `querent learned revoke ID`");
        }
    })
}

/// The colour of a status.
pub(super) fn status_paint(status: LearnedStatus) -> Paint {
    match status {
        LearnedStatus::Active => Paint::Good,
        LearnedStatus::Retired => Paint::Warn,
        LearnedStatus::Revoked => Paint::Dim,
    }
}
