//! `querent state`: who works and who waits.

use querent_core::SessionStatus;
use querent_core::view::{ParkedView, SessionView};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::output::Paint;
use crate::cli::table::{Cell, Table};
use crate::text::{age, clean_line};

/// Show the sessions: who works, who waits and for whom
///
/// A session is one running instance of an agent on an item. One that waits for the answer to its own blocking question is
/// `blocked-clarification`; one whose answer another session waits for is `clarifying`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent state
  querent state --json")]
pub(crate) struct Args {}

#[derive(Serialize)]
struct Reply<'a> {
    sessions: &'a [SessionView],
}

pub(crate) fn run(_: &Args, context: &Context) -> Result<u8, Failure> {
    let hub = context.reader()?;
    let sessions = hub.sessions()?;
    context.reply(&Reply { sessions: &sessions }, |page| {
        if sessions.is_empty() {
            page.line("No agent has begun to work.");
            return page.next("one begins with `querent hook start --agent … --item …`");
        }
        let mut table = Table::new(["AGENT", "SESSION", "ITEM", "STATUS", "QUESTION", "WAITS FOR", "ANSWERS", "SEEN"]);
        for it in &sessions {
            let paint = match it.status {
                SessionStatus::BlockedClarification | SessionStatus::Clarifying => Paint::Warn,
                SessionStatus::Stuck => Paint::Bad,
                SessionStatus::Done | SessionStatus::Idle => Paint::Dim,
                SessionStatus::Working | SessionStatus::Loading => Paint::Good,
            };
            let shown = |it: Option<String>| Cell::from(it.unwrap_or_default());
            table.row([
                it.agent.as_str().into(),
                it.session.as_str().into(),
                it.item.as_str().into(),
                Cell::painted(it.status.as_str(), paint),
                shown(it.clarification_id.as_ref().map(ToString::to_string)),
                shown(it.waiting_on.as_ref().map(ToString::to_string)),
                shown(it.responding_to.as_ref().map(ToString::to_string)),
                age(hub.now(), it.last_activity).into(),
            ]);
        }
        table.write(page);
        for it in sessions.iter().filter_map(|it| it.parked.as_ref()) {
            page.line(parked(it));
        }
    })
}

/// Where a session waits outside of any process, and what becomes of it.
pub(super) fn parked(it: &ParkedView) -> String {
    let next = match (it.settled, it.claimed) {
        (false, _) => "waits for the answer",
        (true, false) => "goes on with `querent resume`",
        (true, true) => "is being resumed",
    };
    let directory = clean_line(&it.directory);
    format!("Parked on {}: {} session {} in {directory}; it {next}.", it.question_id, it.program, it.handle)
}
