//! `querent digest`: the metrics of the last days.

use querent_core::view::{Digest, nothing_settled, rate, report, times};
use querent_core::{ItemId, Span};

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::output::{Page, Paint};
use crate::cli::table::{Cell, Table};

/// How many rows a table shows to people; `--json` has them all.
const ROWS: usize = 10;

/// Show how the last days went: how many questions, who answered them, how fast
///
/// Rates are over the questions that were settled in the period: resolved, expired or withdrawn. A question is
/// auto-resolved if an agent, or something learned, answered it; a fallback is no answer. Pairs, categories and topics are
/// those of the questions that were asked in the period; one that was escalated counts for whom it was first asked.
/// The time to answer runs from the moment at which whoever answered was asked.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent digest
  querent digest --since 24h
  querent digest --since 30d --format md > digest.md
  querent digest --since 30d --item 42 --json")]
pub(crate) struct Args {
    /// How far to look back, like 12h or 7d
    #[arg(long, value_name = "DURATION", default_value = "7d")]
    since: Span,
    /// Only the questions of this item
    #[arg(long, value_name = "ID")]
    item: Option<String>,
    /// Markdown to paste somewhere, or the same as `--json`; without it, a page for the terminal
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    Md,
    Json,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let item: Option<ItemId> = args.item.as_deref().map(str::parse).transpose()?;
    let digest = context.reader()?.digest(args.since, item.as_ref())?;
    let of = item.map_or_else(|| "all items".to_owned(), |id| format!("item {id}"));
    match args.format {
        Some(Format::Json) => return context.as_json().reply(&digest, |_| {}),
        Some(Format::Md) if !context.json => return context.tell(|page| page.text(&report(&digest, &of))),
        _ => {}
    }
    context.reply(&digest, |page| {
        page.paint(Paint::Bold, &format!("The last {}", args.since));
        page.line(format!(" of {of}"));
        summary(page, &digest);
        pairs(page, &digest);
        categories(page, &digest);
        topics(page, &digest);
    })
}

/// What can be said in a few lines.
pub(super) fn summary(page: &mut Page, it: &Digest) {
    page.line(format!("  questions      {} asked, {} settled, {} open", it.total, it.settled, it.open));
    page.line(format!("  auto-resolved  {}", rate(it.auto_resolution_rate)));
    page.line(format!("  escalated      {}", rate(it.escalation_rate)));
    let rounds = it.average_rounds.map_or_else(nothing_settled, |rounds| format!("{rounds:.1} a question"));
    page.line(format!("  rounds         {rounds}"));
    page.line(format!("  agents answer  {}", times(&it.time_to_answer.agent)));
    page.line(format!("  humans answer  {}", times(&it.time_to_answer.human)));
    page.line(format!("  trouble        {} stale, {} stuck, {} deadlocks", it.stale, it.stuck, it.deadlocks));
    page.line(format!("  instead        {} learned answers, {} fallbacks", it.learned_used, it.fallbacks_used));
    page.line(format!("  overturned     {} assumptions", it.assumptions_overturned));
}

fn pairs(page: &mut Page, digest: &Digest) {
    let mut table = Table::new(["FROM", "TO", "QUESTIONS"]);
    for it in digest.by_pair.iter().take(ROWS) {
        table.row([it.from.as_str().into(), it.to.to_string().into(), it.count.to_string().into()]);
    }
    write(page, table, digest.by_pair.len());
}

fn categories(page: &mut Page, digest: &Digest) {
    let mut table = Table::new(["QUESTIONS", "CATEGORY"]);
    for it in digest.by_category.iter().take(ROWS) {
        table.row([it.count.to_string().into(), it.category.as_str().into()]);
    }
    write(page, table, digest.by_category.len());
}

fn topics(page: &mut Page, digest: &Digest) {
    let mut table = Table::new(["QUESTIONS", "TOPIC"]);
    for it in digest.topics.iter().take(ROWS) {
        table.row([it.count.to_string().into(), Cell::free(&it.topic)]);
    }
    write(page, table, digest.topics.len());
}

/// A table under what is there, if it has rows, and how many it leaves out.
fn write(page: &mut Page, table: Table, rows: usize) {
    if rows == 0 {
        return;
    }
    page.text("\n");
    table.write(page);
    if rows > ROWS {
        page.line(format!("and {} more", rows - ROWS));
    }
}
