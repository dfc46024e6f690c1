//! What happens as time passes, to the shipped binary: a library between it and the system tells it a later time.

use std::path::Path;
use std::process::Command;

use querent_core::Code;
use serde_json::Value;

use super::project::{Project, hold, list, same, words};
use super::{Case, Need, Suite};
use crate::cache::Cache;

const LIBRARY: &str = "faketime/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

pub(super) const SUITE: Suite = Suite {
    name: "clock",
    about: "an agent that decides for itself, as time passes",
    needs: &[Need {
        what: "libfaketime (Debian's package, on x86-64)",
        is_met: |cache| cache.path().join(LIBRARY).exists(),
        install: Some(install),
        cure: "run it on Debian or Ubuntu, where `apt-get download libfaketime` works",
    }],
    cases: &[
        Case { name: "all is clear: the agent decides and nobody is asked", run: clear },
        Case { name: "a person answers in time: the agent documents it and goes on", run: answered },
        Case { name: "nobody answers in five minutes: the fallback is taken and recorded", run: timeout },
        Case { name: "a technical detail: the conditions are not met", run: detail },
        Case { name: "a second question: it is over the quota", run: quota },
        Case { name: "Stripe: work goes on in test mode, and a late answer overturns it", run: stripe },
        Case { name: "the same question has its answer for a day", run: cooldown },
    ],
};

fn install(cache: &Cache) -> Command {
    let mut command = Command::new("sh");
    let script = "mkdir -p \"$0\" && cd \"$0\" || exit 1; apt-get update -qq; \
                  apt-get download -qq libfaketime && dpkg -x libfaketime_*.deb faketime";
    command.args(["-c", script]).arg(cache.path());
    command
}

/// A project whose product manager asks people only under strict conditions, and whose item 42 is planned.
fn strict(binary: &Path) -> Result<Project, String> {
    let project = Project::new(binary)?;
    let file = project.folder().join(".querent/config.toml");
    let config = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    let strict = config.replacen("[agents.product-manager]\n", "[agents.product-manager]\ngate = \"strict\"\n", 1);
    hold(strict != config, || format!("no product manager in {config}"))?;
    std::fs::write(&file, strict).map_err(|error| error.to_string())?;
    Ok(project)
}

fn ask<'a>(question: &'a str, blocker: &'a str) -> Vec<&'a str> {
    let who = ["ask", "--item", "42", "--from", "product-manager", "--to", "human", "--topic", "Open point"];
    let tried = ["--evidence", "codebase_search=none", "--evidence", "similar_features=none"];
    let inferred = ["--evidence", "attempted_inference=nothing says so", "--blocker", blocker];
    let options = ["--option", "a=Test mode", "--option", "b=Production mode", "--option", "c=Both"];
    let fallback = ["--fallback", "a", "--because", "test mode charges nobody", "--fallback-risk", "low"];
    let parts = [&who[..], &["--question", question], &tried, &inferred, &options, &fallback];
    parts.concat()
}

fn assume(source: &str) -> Vec<&str> {
    let who = ["assume", "--item", "42", "--agent", "product-manager", "--decision", "JWT for the sessions"];
    [&who[..], &["--reasoning", "it is there", "--confidence", "high", "--risk", "medium", "--source", source]].concat()
}

fn standing(project: &Project) -> Result<Value, String> {
    project.ok(&["assumptions", "--status", "standing"])
}

fn clear(binary: &Path) -> Result<(), String> {
    let project = strict(binary)?;
    project.ok(&assume("inferred_from_codebase"))?;
    same(&project.ok(&["questions", "--status", "all"])?, "/count", 0)?;
    same(&standing(&project)?, "/assumptions/0/source", "inferred_from_codebase")?;
    same(&project.ok(&["item", "show", "42"])?, "/item/stage", "requirements")
}

fn answered(binary: &Path) -> Result<(), String> {
    let project = strict(binary)?;
    let asked = project.ok(&ask("Which way to sign in?", "mutually_exclusive_requirements"))?;
    same(&asked, "/item_stage", "awaiting_input")?;
    let later = project.later("4m");
    let answer = later.ok(&["answer", "CLR-42-001", "--answer", "c", "--by", "human:alice"])?;
    same(&answer, "/resumed", true)?;
    later.ok(&assume("user_confirmed"))?;
    let much_later = project.later("10m").ok(&["show", "CLR-42-001"])?;
    same(&much_later, "/question/answer/provenance", "human")?;
    same(&standing(&project)?, "/assumptions/0/source", "user_confirmed")
}

fn timeout(binary: &Path) -> Result<(), String> {
    let project = strict(binary)?;
    project.ok(&ask("Which way to sign in?", "mutually_exclusive_requirements"))?;
    let early = project.later("280s").ok(&["show", "CLR-42-001"])?;
    same(&early, "/question/status", "open")?;
    let late = project.later("5m").ok(&["show", "CLR-42-001"])?;
    same(&late, "/question/status", "expired")?;
    same(&late, "/question/answer/provenance", "fallback")?;
    let assumed = standing(&project)?;
    same(&assumed, "/assumptions/0/source", "timeout_assumed")?;
    same(&assumed, "/assumptions/0/blocker", "mutually_exclusive_requirements")?;
    same(&project.ok(&["item", "show", "42"])?, "/item/stage", "requirements")
}

fn detail(binary: &Path) -> Result<(), String> {
    let project = strict(binary)?;
    let refusal = project.refused(&ask("Which test framework?", "none"), Code::ConditionsNotMet)?;
    let conditions = list(&refusal, "/details/conditions")?;
    let unmet: Vec<&Value> = conditions.iter().filter(|it| it["met"] == false).collect();
    hold(unmet.len() == 1 && unmet[0]["condition"] == "blocker", || format!("unmet: {unmet:?}"))?;
    hold(words(&refusal, "/hint")?.contains("querent assume"), || format!("no way out: {refusal}"))
}

fn quota(binary: &Path) -> Result<(), String> {
    let project = strict(binary)?;
    project.ok(&ask("Which mode?", "missing_external_data"))?;
    project.ok(&["answer", "CLR-42-001", "--answer", "b"])?;
    project.ok(&["hook", "finish", "--item", "42", "--agent", "product-manager", "--keep"])?;
    project.ok(&["hook", "start", "--item", "42", "--agent", "product-manager"])?;
    let day = project.later("1d");
    let refusal = day.refused(&ask("Which currency?", "missing_external_data"), Code::ConditionsNotMet)?;
    hold(words(&refusal, "/hint")?.contains("has asked its one question"), || format!("no reason: {refusal}"))
}

fn stripe(binary: &Path) -> Result<(), String> {
    let project = strict(binary)?;
    project.ok(&ask("Which Stripe environment is configured?", "missing_external_data"))?;
    let page = String::from_utf8_lossy(&project.plain(&["show", "CLR-42-001"])?.stdout).into_owned();
    hold(page.contains("uses (a) in 4m"), || format!("the fallback is not announced: {page}"))?;
    same(&project.later("5m").ok(&["questions", "--status", "all"])?, "/questions/0/status", "expired")?;
    let assumed = standing(&project)?;
    same(&assumed, "/assumptions/0/decision", "Open point: Test mode")?;
    same(&assumed, "/assumptions/0/risk_if_wrong/level", "low")?;
    project.later("1d").ok(&["answer", "CLR-42-001", "--answer", "b", "--by", "human:alice"])?;
    same(&project.ok(&["item", "show", "42"])?, "/item/needs_rework", true)?;
    let told = project.ok(&["context", "--item", "42", "--agent", "product-manager"])?;
    same(&told, "/overturned/0/decision", "Open point: Test mode")
}

fn cooldown(binary: &Path) -> Result<(), String> {
    let project = Project::new(binary)?;
    project.ok(&["item", "move", "42", "--to", "implement"])?;
    let ask = ["ask", "--item", "42", "--from", "engineer", "--to", "human", "--topic", "Tea"];
    let ask = [&ask[..], &["--question", "Which tea is served?"]].concat();
    project.ok(&ask)?;
    project.ok(&["answer", "CLR-42-001", "--answer", "green"])?;
    let again = project.later("23h").ok(&ask)?;
    same(&again, "/reused", true)?;
    same(&again, "/question_id", "CLR-42-001")?;
    let anew = project.later("25h").ok(&ask)?;
    same(&anew, "/reused", false)?;
    same(&anew, "/question_id", "CLR-42-002")
}

/// The library, for [`Project::later`].
pub(super) fn library() -> Result<std::path::PathBuf, String> {
    Ok(Cache::of_user()?.path().join(LIBRARY))
}
