//! `querent locks`: who holds which files.

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::output::Paint;
use crate::cli::table::{Cell, Table};
use crate::text::age;

/// List the files that sessions hold, who waits for them, and whose files are whose
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent locks
  querent locks --json")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, context: &Context) -> Result<u8, Failure> {
    let hub = context.reader()?;
    let view = hub.locks()?;
    context.reply(&view, |page| {
        if view.locks.is_empty() {
            page.line("No file is locked.");
        } else {
            let now = hub.now();
            let mut table = Table::new(["PATH", "SESSION", "AGENT", "ITEM", "FOR", "ENDS IN", "WAITING"]);
            for lock in &view.locks {
                let waiting: Vec<&str> = lock.waiting.iter().map(querent_core::SessionId::as_str).collect();
                table.row([
                    Cell::painted(lock.path.as_str(), Paint::Bold),
                    lock.session.as_str().into(),
                    lock.agent.as_str().into(),
                    lock.item.as_str().into(),
                    age(now, lock.since).into(),
                    lock.expires_at.since(now).rough().into(),
                    Cell::free(if waiting.is_empty() { "-".to_owned() } else { waiting.join(", ") }.as_str()),
                ]);
            }
            table.write(page);
        }
        for owner in &view.owners {
            page.line(format!("{} belongs to {}.", owner.path, owner.agent));
        }
    })
}
