//! `querent learned show`: where a learned answer comes from.

use querent_core::view::LearnedView;
use querent_core::{Code, Learned, LearnedId, Moment, Refusal, Why};
use serde::Serialize;
use serde_json::json;

use super::learned::status_paint;
use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::output::{Page, Paint};
use crate::text::{age, clean_line};

/// Show a learned answer: where it comes from and how often it was used
///
/// The questions that it was learned from are named; `querent show` has their threads.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent learned show LRN-001
  querent learned show LRN-001 --json")]
pub(crate) struct Args {
    /// The learned answer's id
    id: String,
}

#[derive(Serialize)]
struct Reply<'a> {
    learned: LearnedView<'a>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let id: LearnedId = args.id.parse()?;
    let hub = context.reader()?;
    let knowledge = hub.knowledge()?;
    let learned = knowledge.learned.get(&id.0).ok_or_else(|| {
        let message = format!("there is no learned answer `{id}`");
        Refusal::new(Code::InvalidInput, message, "list them: querent learned").with(json!({ "field": "learned_id" }))
    })?;
    context.reply(&Reply { learned: LearnedView(learned) }, |page| show(page, learned, hub.now()))
}

fn show(page: &mut Page, it: &Learned, now: Moment) {
    page.paint(Paint::Bold, &it.id.to_string());
    page.text(" is ");
    page.paint(status_paint(it.status), it.status.as_str());
    page.line(format!(" (confidence {})", it.confidence));
    page.line(format!("  Q: {}", clean_line(&it.prompt)));
    page.line(format!("  A: {}", clean_line(&it.answer.text)));
    let questions: Vec<String> = it.source.questions.iter().map(ToString::to_string).collect();
    let why = match it.source.why {
        Why::Preference => "a preference",
        Why::Repeated => "the same answer twice",
    };
    let learned = format!("Learned {} ago from {}, {why}", age(now, it.learned_at), questions.join(" and "));
    page.line(format!("{learned}, given by {}.", it.answer.by));
    let lately = it.used_at.map_or_else(String::new, |at| format!(", the last time {} ago", age(now, at)));
    let times = |count: u32| if count == 1 { "once".to_owned() } else { format!("{count} times") };
    page.line(match it.uses {
        0 => "It was not used yet.".to_owned(),
        uses => format!("Used {}{lately}.", times(uses)),
    });
    if it.overruled > 0 {
        page.line(format!("A human said otherwise {}.", times(it.overruled)));
    }
}
