//! `querent doctor`: is everything that is stored as it should be?

use querent_core::Code;
use querent_hub::doctor;

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::output::Paint;

/// Check the project's files and stored data; with `--repair`, repair them
///
/// Reads the whole journal and compares everything that is derived from it. Reports and changes nothing unless
/// `--repair` is given; a repair never overwrites a line of the journal. Exit status 0 if all is well, 3 if not.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent doctor
  querent doctor --repair --json")]
pub(crate) struct Args {
    /// Repair what can be repaired
    #[arg(long)]
    repair: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let project = context.project()?;
    let report = doctor(&project, args.repair)?;
    let done = context.reply(&report, |page| {
        if report.findings.is_empty() {
            page.line("All is well.");
        }
        for finding in &report.findings {
            page.paint(Paint::Bad, finding.severity);
            let place = if finding.what.contains(&finding.place) { "" } else { &format!(" ({})", finding.place) };
            page.line(format!(": {}{place}", finding.what));
            page.line(format!("  {}", finding.cure));
        }
        if !args.repair && report.findings.iter().any(|finding| finding.severity == "warning") {
            page.next("repair what can be repaired with `querent doctor --repair`");
        }
    })?;
    Ok(if report.healthy { done } else { Code::StorageError.exit_status() })
}
