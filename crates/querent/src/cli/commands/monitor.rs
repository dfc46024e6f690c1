//! `querent monitor`: what is wrong with all that is open, and what follows.

use querent_core::monitor::{Deed, Finding, Severity};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::output::{Page, Paint};

/// Look for work that does not get on, and do what follows
///
/// Finds agents that let their time pass (`stale`), threads that go in circles (`stuck`), agents that wait for each other
/// (`deadlock`), sessions that do not get on (`stuck_task`), and sessions and components that show no sign of life
/// (`component_down`). Stale questions are called again and then escalated; stuck ones are escalated; of a deadlock the
/// most downstream question goes to a human, or the lowest priority gives up its files; a session that does not get on
/// is put to a human after 20 minutes and given up after 30. The same happens with `hook start`, `hook finish`, `ready`
/// and `questions`; no background service is needed. Any number of monitors may run at once: what follows, happens once.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent monitor
  querent monitor --dry-run
  querent monitor --json")]
pub(crate) struct Args {
    /// Only say what is wrong and what would follow
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Reply<'a> {
    findings: &'a [Finding],
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let findings = context.reader()?.monitor(args.dry_run)?;
    context.reply(&Reply { findings: &findings }, |page| {
        if findings.is_empty() {
            return page.line("All is well: nothing that is open is stale, stuck, deadlocked or down.");
        }
        for finding in &findings {
            show(page, finding, args.dry_run);
        }
    })
}

fn show(page: &mut Page, finding: &Finding, dry_run: bool) {
    let about = finding.question_id.as_ref().map(ToString::to_string).or_else(|| finding.source.clone());
    let about = about.or_else(|| finding.item.as_ref().map(ToString::to_string)).unwrap_or_default();
    page.paint(paint(finding.severity), finding.kind.as_str());
    match &finding.cycle {
        Some(cycle) => {
            let names: Vec<&str> = cycle.iter().map(querent_core::AgentName::as_str).collect();
            page.line(format!("  {about}  {}", names.join(" → ")));
        }
        None => page.line(format!("  {about}")),
    }
    for evidence in &finding.evidence {
        page.line(format!("  {evidence}"));
    }
    for deed in &finding.actions {
        let (would, done) = deed_words(deed);
        page.paint(Paint::Dim, if dry_run { "  would: " } else { "  done: " });
        page.line(if dry_run { would } else { done });
    }
}

fn deed_words(deed: &Deed) -> (String, String) {
    let (action, on) = deed.words();
    let both = |would: &str, done: &str| (would.replace("{}", &on), done.replace("{}", &on));
    match action {
        "retry" => both("call the agent of {} again", "the agent of {} is called again"),
        "escalate" => both("escalate {} to a human", "{} went to a human"),
        "preempt" => both("take files from {}", "{} gave up files"),
        "ask_human" => both("ask a human about {}", "a human was asked about {}"),
        "give_up" => both("give {} up", "{} was given up"),
        "alert" => both("raise an alert about {}", "an alert was raised about {}"),
        _ => both("act on {}", "acted on {}"),
    }
}

/// The colour of a severity.
pub(super) fn paint(severity: Severity) -> Paint {
    match severity {
        Severity::Info => Paint::Dim,
        Severity::Warning => Paint::Warn,
        Severity::Error | Severity::Critical => Paint::Bad,
    }
}
