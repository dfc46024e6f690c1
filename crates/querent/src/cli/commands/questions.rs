//! `querent questions`: the list, and so the inbox.

use querent_core::view::{Filter, QuestionView, StatusFilter};
use querent_core::{ItemId, Question};
use serde::Serialize;

use super::alerts;
use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::input::one_of;
use crate::cli::output::{Page, Paint};
use crate::cli::pages::status_cell;
use crate::cli::table::{Cell, Table};
use crate::text::age;

/// List questions, the oldest first
///
/// Without options: what still concerns somebody in the whole project. `--to human` is a person's inbox, `--to architect`
/// an agent's.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent questions
  querent questions --to human
  querent questions --item 42 --status all --json")]
pub(crate) struct Args {
    /// Only those of this item
    #[arg(long, value_name = "ID")]
    item: Option<String>,
    /// Only those that this agent, or `human`, is to answer
    #[arg(long, value_name = "WHO")]
    to: Option<String>,
    /// Only those of this status; `active` is open, answered, stale and escalated
    #[arg(long, default_value = "active", value_parser = one_of(StatusFilter::ALL, StatusFilter::as_str))]
    status: StatusFilter,
}

#[derive(Serialize)]
struct Reply<'a> {
    questions: Vec<QuestionView<'a>>,
    count: usize,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let item: Option<ItemId> = args.item.as_deref().map(str::parse).transpose()?;
    let filter = Filter { to: args.to.as_deref().map(str::parse).transpose()?, status: args.status };
    let hub = context.reader()?;
    if let Some(agent) = filter.to.as_ref().and_then(|to| to.agent()) {
        hub.rules()?.agent(agent)?;
    }
    let found = hub.questions(item.as_ref(), &filter)?;
    let views: Vec<QuestionView<'_>> =
        found.iter().map(|question| QuestionView { question, with_thread: false }).collect();
    let reply = Reply { count: views.len(), questions: views };
    context.reply(&reply, |page| {
        if found.is_empty() {
            none(page, args.status);
            return alerts::mention(page, &hub);
        }
        let mut table = Table::new(["ID", "STATUS", "FROM", "TO", "AGE", "BLOCKS", "TOPIC"]);
        for question in &found {
            table.row([
                Cell::painted(question.id.to_string(), Paint::Bold),
                status_cell(question),
                question.from.agent.as_str().into(),
                question.to.to_string().into(),
                age(hub.now(), question.created_at).into(),
                waits(question),
                Cell::free(&question.topic),
            ]);
        }
        table.write(page);
        page.next("read one with `querent show ID`, answer it with `querent answer ID --answer …`");
        alerts::mention(page, &hub);
    })
}

/// Whether somebody waits for the answer.
fn waits(question: &Question) -> Cell {
    let waits = question.blocking && question.status.is_open();
    Cell::painted(if waits { "yes" } else { "" }, Paint::Warn)
}

fn none(page: &mut Page, status: StatusFilter) {
    match status {
        StatusFilter::Active => {
            page.line("Nothing is open.");
            page.next("see what was asked before with `querent questions --status all`");
        }
        StatusFilter::All => page.line("Nothing was asked yet."),
        _ => page.line(format!("No question is {status}.")),
    }
}
