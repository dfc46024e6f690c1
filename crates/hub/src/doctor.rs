//! Whether a project is in order, and what to do if not.

use querent_core::Refusal;
use querent_journal::Files;
use querent_journal::files::{Options, Severity};
use serde::Serialize;

use crate::config;
use crate::project::Project;
use crate::triggers;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether all is well.
    pub healthy: bool,
    /// What is not.
    pub findings: Vec<Finding>,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// `warning` for what can be made anew, `error` for the rest.
    pub severity: &'static str,
    /// What is wrong.
    pub what: String,
    /// Where.
    #[serde(rename = "where")]
    pub place: String,
    /// What to do about it.
    pub cure: String,
}

/// Examines a project's files; with `repair`, makes anew what is derived, and says what is left.
pub fn doctor(project: &Project, repair: bool) -> Result<Report, Refusal> {
    let journal = Files::open(&project.dir(), Options::new("doctor"));
    let mut findings = Vec::new();
    let rules = config::load(&project.dir()).map(drop);
    let triggers = triggers::load(&project.dir()).map(drop);
    for refusal in [rules, triggers].into_iter().filter_map(Result::err) {
        findings.push(Finding {
            severity: "error",
            what: refusal.message,
            place: refusal.details["file"].as_str().unwrap_or_default().to_owned(),
            cure: refusal.hint,
        });
    }
    let mut found = journal.examine()?;
    if repair && !found.is_empty() && found.iter().all(|it| it.severity == Severity::Warning) {
        journal.repair()?;
        found = journal.examine()?;
    }
    findings.extend(found.into_iter().map(|it| Finding {
        severity: match it.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        },
        what: it.what,
        place: it.place,
        cure: it.cure,
    }));
    Ok(Report { healthy: findings.is_empty(), findings })
}
