//! `querent show`: a question and its conversation.

use jiff::tz::TimeZone;
use querent_core::view::{ParkedView, QuestionView, thread};
use querent_core::{Blocker, Choice, Moment, Question, QuestionId};
use serde::Serialize;

use super::state;
use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::output::{Page, Paint};
use crate::cli::pages::status_paint;
use crate::text::{age, clean_line, clock, hanging};

/// Show a question with its thread
///
/// The head says who asks whom about what, what may be answered, and what happens if nobody does; the conversation
/// follows, with local times.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent show CLR-42-001
  querent show CLR-42-001 --json")]
pub(crate) struct Args {
    /// The question's id
    id: String,
}

#[derive(Serialize)]
struct Reply<'a> {
    question: QuestionView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parked: Option<ParkedView>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let id: QuestionId = args.id.parse()?;
    let hub = context.reader()?;
    let question = hub.question(&id)?;
    let parked = ParkedView::of(&hub.item(&id.item)?, id.number);
    let reply = Reply { question: QuestionView { question: &question, with_thread: true }, parked };
    context.reply(&reply, |page| {
        write(page, &question, hub.now());
        if let Some(parked) = &reply.parked {
            page.line(format!("\n  {}", state::parked(parked)));
        }
    })
}

/// Writes the head and the conversation.
pub(super) fn write(page: &mut Page, question: &Question, now: Moment) {
    let zone = TimeZone::system();
    head(page, question, now);
    if let Some(context) = &question.context {
        page.text("\n");
        page.line(indented(context));
    }
    reasons(page, question);
    options(page, &question.options);
    announce_fallback(page, question, |at| (age(at, now), clock(&zone, now, at)));
    page.text("\n");
    page.text(&thread(question, |at| clock(&zone, now, at)));
}

fn head(page: &mut Page, question: &Question, now: Moment) {
    page.paint(Paint::Bold, &question.id.to_string());
    page.line(format!("  {}", clean_line(&question.topic)));
    page.text(&format!("  {} -> {}  ", question.from.agent, question.to));
    page.paint(status_paint(question.status), question.status.as_str());
    let waits = if question.blocking && question.status.is_open() { ", blocks its asker" } else { "" };
    let (item, round, most) = (&question.item, question.round, question.max_rounds);
    let asked = age(now, question.created_at);
    page.line(format!("  item {item}, round {round} of {most}, asked {asked} ago{waits}"));
}

/// Why it is asked, where the asker says so: what stands in the way, and what was tried.
fn reasons(page: &mut Page, question: &Question) {
    let evidence = question.evidence.iter().flatten();
    let tried: Vec<String> =
        evidence.map(|(name, found)| format!("    {}: {}", clean_line(name), clean_line(found))).collect();
    if question.blocker != Blocker::None {
        page.line(format!("\n  In the way: {}", question.blocker.as_str().replace('_', " ")));
    }
    if !tried.is_empty() {
        page.line(format!("\n  Tried:\n{}", tried.join("\n")));
    }
}

fn options(page: &mut Page, options: &[Choice]) {
    if options.is_empty() {
        return;
    }
    page.line("\n  Options:");
    for option in options {
        page.text("    ");
        page.paint(Paint::Bold, &clean_line(&option.id));
        page.text(&format!("  {}", clean_line(&option.label)));
        page.paint(Paint::Good, if option.recommended { " (recommended)" } else { "" });
        page.text("\n");
        for more in [&option.description, &option.implications].into_iter().flatten() {
            page.line(format!("       {}", hanging(more, 7)));
        }
    }
}

/// What happens without an answer is said before it happens.
fn announce_fallback(page: &mut Page, question: &Question, clock: impl Fn(Moment) -> (String, String)) {
    let Some(fallback) = question.fallback.as_ref().filter(|_| question.status.is_open()) else { return };
    let taken = fallback.answer.as_str().map_or_else(|| fallback.answer.to_string(), str::to_owned);
    let taken = clean_line(&taken);
    let announced = match question.expires_at.map(clock) {
        Some((left, at)) => format!("Without an answer: uses ({taken}) in {left}, at {at},"),
        None => format!("Would use ({taken}), but has no deadline,"),
    };
    page.paint(Paint::Warn, &format!("\n  {announced}"));
    page.line(format!(" because {} (risk: {})", hanging(&fallback.reason, 4), fallback.risk));
}

fn indented(text: &str) -> String {
    format!("  {}", hanging(text, 2))
}
