//! `querent trigger list`: the triggers of the project, and the sets that can be had.

use querent_hub::{Shipped, TriggerView, Triggers};

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::output::{Page, Paint};
use crate::cli::table::{Cell, Table};

/// List the project's triggers and the shipped sets
///
/// A file that does not read is refused (`invalid_config`) with its line.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent trigger list
  querent trigger list --json")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, context: &Context) -> Result<u8, Failure> {
    let triggers = Triggers::of(&context.project()?)?;
    context.reply(&triggers, |page| show(page, &triggers))
}

fn show(page: &mut Page, triggers: &Triggers) {
    let installed: Vec<&TriggerView> = triggers.installed.iter().flat_map(|file| &file.triggers).collect();
    if installed.is_empty() {
        page.line("No triggers are installed.");
    } else {
        let mut table = Table::new(["TRIGGER", "KIND", "BLOCKS", "PHASE", "WHEN"]);
        for trigger in installed {
            table.row([
                Cell::painted(trigger.trigger.as_str(), Paint::Bold),
                trigger.kind.as_str().into(),
                Cell::painted(if trigger.blocking { "yes" } else { "" }, Paint::Warn),
                trigger.phase.as_deref().unwrap_or_default().into(),
                Cell::free(trigger.when.as_deref().unwrap_or_default()),
            ]);
        }
        table.write(page);
    }
    page.paint(Paint::Bold, "\nShipped sets:\n");
    for set in &triggers.shipped {
        page.line(format!("  {:<14} {}", set.name, status(set)).trim_end());
    }
    if triggers.shipped.iter().any(|set| !set.installed) {
        page.next("add one with `querent trigger install NAME`");
    }
}

fn status(set: &Shipped) -> &'static str {
    match (set.installed, set.edited) {
        (true, true) => "installed, edited",
        (true, false) => "installed",
        (false, _) => "",
    }
}
