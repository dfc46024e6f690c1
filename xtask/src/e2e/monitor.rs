//! A team that would stop without anybody knowing: the shipped binary notices, as time passes and processes are killed.

use std::path::Path;
use std::process::Command;

use querent_core::Code;
use serde_json::Value;

use super::project::{Project, hold, list, same, words};
use super::{Case, Suite, clock};

pub(super) const SUITE: Suite = Suite {
    name: "monitor",
    about: "stale, stuck, deadlocked, silent: as time passes and processes are killed",
    needs: clock::SUITE.needs,
    cases: &[
        Case { name: "an overdue question is retried, then escalated, and that stays", run: overdue },
        Case {
            name: "three agents in a circle, one of them over a file: one escalation by three monitors",
            run: circle,
        },
        Case { name: "a waiter that is killed is nobody's reason ten seconds later", run: killed_waiter },
        Case { name: "a waiter has the file when the lock of another expires", run: expired },
        Case { name: "a session that does not get on: alert, a human's choice, given up", run: no_progress },
        Case { name: "the process of a session is killed: another session goes on with its work", run: killed_session },
        Case { name: "a component that stops beating is told once in half an hour", run: silent },
    ],
};

fn asks(project: &Project, item: &str, from: &str, to: &str) -> Result<Value, String> {
    project.ok(&["ask", "--item", item, "--from", from, "--to", to, "--topic", item, "--question", "What now?"])
}

fn kinds(findings: &Value) -> Result<Vec<&str>, String> {
    list(findings, "/findings")?.iter().map(|finding| words(finding, "/type")).collect()
}

fn count(project: &Project, kind: &str) -> Result<usize, String> {
    let events = project.plain(&["events"])?.stdout;
    Ok(String::from_utf8_lossy(&events).matches(&format!("\"type\":\"{kind}\"")).count())
}

/// A project whose items 42, 43 and 44 stand in the step of engineer, architect and product manager; the last may ask the first.
fn team(binary: &Path) -> Result<Project, String> {
    let project = Project::new(binary)?;
    let file = project.folder().join(".querent/workflows/feature.toml");
    let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    let own = "agent = \"product-manager\"";
    std::fs::write(&file, text.replace(own, &format!("{own}\ncan_clarify = [\"engineer\"]")))
        .map_err(|it| it.to_string())?;
    for item in ["43", "44"] {
        project.ok(&["item", "add", item, "--title", "More"])?;
    }
    for (item, stage) in [("42", "implement"), ("43", "architecture")] {
        project.ok(&["item", "move", item, "--to", stage])?;
    }
    Ok(project)
}

fn overdue(binary: &Path) -> Result<(), String> {
    let project = team(binary)?;
    asks(&project, "42", "engineer", "architect")?;
    let early = project.later("29m").ok(&["monitor"])?;
    hold(kinds(&early)?.is_empty(), || format!("stale too soon: {early}"))?;
    let late = project.later("31m").ok(&["monitor"])?;
    same(&late, "/findings/0/type", "stale")?;
    same(&late, "/findings/0/actions/0/action", "retry")?;
    let later = project.later("62m").ok(&["monitor"])?;
    same(&later, "/findings/0/actions/0/action", "escalate")?;
    same(&project.ok(&["show", "CLR-42-001"])?, "/question/status", "escalated")?;
    same(&project.ok(&["item", "show", "42"])?, "/item/stage", "awaiting_input")
}

/// The engineer waits for the architect's file, the architect for the product manager, who waits for the engineer.
fn circle(binary: &Path) -> Result<(), String> {
    let project = team(binary)?;
    project.ok(&["hook", "start", "--agent", "engineer", "--item", "42"])?;
    project.ok(&["hook", "start", "--agent", "architect", "--item", "43"])?;
    project.ok(&["lock", "src/auth", "--session", "architect@43"])?;
    let mut waiter = waits(&project, "src/**/*.rs", "engineer@42")?;
    asks(&project, "43", "architect", "product-manager")?;
    let free = project.ok(&["monitor", "--dry-run"])?;
    hold(kinds(&free)?.is_empty(), || format!("no circle yet: {free}"))?;
    asks(&project, "44", "product-manager", "engineer")?;
    let monitors: Vec<_> = (0..3).map(|_| project.begin_reply(&["monitor"])).collect::<Result<_, _>>()?;
    for monitor in monitors {
        monitor.reply()?.data()?;
    }
    hold(count(&project, "question_escalated")? == 1, || "not one escalation".to_owned())?;
    same(&project.ok(&["show", "CLR-43-001"])?, "/question/status", "escalated")?;
    let thread = project.plain(&["show", "CLR-43-001"])?;
    let text = String::from_utf8_lossy(&thread.stdout).into_owned();
    hold(text.contains("architect → product-manager → engineer → architect"), || text.clone())?;
    hold(waiter.is_waiting()?, || "the waiter did not wait".to_owned())?;
    project.ok(&["unlock", "--session", "architect@43"])?;
    same(&waiter.reply()?.data()?, "/granted/0", "src/**/*.rs")
}

/// A call that waits for a file; it is on record when this returns.
fn waits(project: &Project, path: &str, session: &str) -> Result<super::project::Running, String> {
    let mut waiter = project.begin_reply(&["lock", path, "--session", session, "--wait", "1m"])?;
    while !list(&project.ok(&["locks"])?, "/locks/0/waiting")?.iter().any(|it| it == session) {
        hold(waiter.is_waiting()?, || "the waiter did not wait".to_owned())?;
    }
    Ok(waiter)
}

fn killed_waiter(binary: &Path) -> Result<(), String> {
    let project = team(binary)?;
    for agent in ["engineer", "architect"] {
        project.ok(&["hook", "start", "--agent", agent, "--item", "42"])?;
    }
    project.ok(&["lock", "src", "--session", "engineer@42"])?;
    let waiter = waits(&project, "src/a.rs", "architect@42")?;
    asks(&project, "42", "engineer", "architect")?;
    let alive = project.ok(&["monitor", "--dry-run"])?;
    hold(kinds(&alive)? == ["deadlock"], || format!("no deadlock: {alive}"))?;
    waiter.kill()?;
    let gone = project.later("12s").ok(&["monitor", "--dry-run"])?;
    hold(kinds(&gone)?.is_empty(), || format!("a ghost waits: {gone}"))
}

fn expired(binary: &Path) -> Result<(), String> {
    let project = team(binary)?;
    for agent in ["engineer", "architect"] {
        project.ok(&["hook", "start", "--agent", agent, "--item", "42"])?;
    }
    project.ok(&["lock", "src", "--session", "engineer@42", "--ttl", "1s"])?;
    let waited = project.ok(&["lock", "src", "--session", "architect@42", "--wait", "1m"])?;
    same(&waited, "/granted/0", "src")?;
    project.refused(&["unlock", "src", "--session", "engineer@42"], Code::NotOwner).map(drop)
}

fn no_progress(binary: &Path) -> Result<(), String> {
    let project = team(binary)?;
    project.ok(&["hook", "start", "--agent", "engineer", "--item", "42"])?;
    project.later("11m").ok(&["ready"])?;
    let alerts = project.ok(&["alerts"])?;
    let sources: Vec<&str> = list(&alerts, "/alerts")?.iter().filter_map(|it| it["type"].as_str()).collect();
    hold(sources == ["component_down", "stuck_task"], || format!("alerts: {alerts}"))?;
    let asked = project.later("21m").ok(&["questions", "--to", "human"])?;
    same(&asked, "/questions/0/options/2/id", "retry")?;
    project.later("22m").ok(&["answer", "CLR-42-001", "--answer", "wait"])?;
    let waits = project.later("31m").ok(&["monitor"])?;
    hold(!kinds(&waits)?.contains(&"stuck_task"), || format!("it was to wait: {waits}"))?;
    project.later("53m").ok(&["monitor"])?;
    same(&project.ok(&["state"])?, "/sessions/0/status", "stuck")?;
    project.ok(&["hook", "start", "--agent", "engineer", "--item", "42"]).map(drop)
}

fn killed_session(binary: &Path) -> Result<(), String> {
    let project = team(binary)?;
    let mut agent = Command::new("sleep").arg("600").spawn().map_err(|error| error.to_string())?;
    let pid = agent.id().to_string();
    let start = ["hook", "start", "--agent", "engineer", "--item", "42", "--session", "first", "--pid", &pid];
    project.ok(&start)?;
    project.ok(&["hook", "start", "--agent", "engineer", "--item", "43", "--session", "second"])?;
    project.ok(&["lock", "src", "--session", "first"])?;
    agent.kill().and_then(|()| agent.wait()).map_err(|error| error.to_string())?;
    project.ok(&["ready"])?;
    let events = String::from_utf8_lossy(&project.plain(&["events"])?.stdout).into_owned();
    let lost = events.lines().find(|line| line.contains("\"type\":\"session_lost\"")).unwrap_or_default();
    hold(lost.contains("\"moved_to\":\"second\""), || format!("nobody goes on: {lost}"))?;
    hold(list(&project.ok(&["locks"])?, "/locks")?.is_empty(), || "its files are still locked".to_owned())
}

fn silent(binary: &Path) -> Result<(), String> {
    let project = team(binary)?;
    project.ok(&["beat", "runner"])?;
    for (span, alerts) in [("4m", 0), ("6m", 1), ("34m", 1), ("37m", 2)] {
        project.later(span).ok(&["monitor"])?;
        let raised = list(&project.ok(&["alerts", "--all"])?, "/alerts")?.len();
        hold(raised == alerts, || format!("{raised} alerts after {span}"))?;
    }
    project.ok(&["beat", "runner", "--stop"])?;
    hold(kinds(&project.later("90m").ok(&["monitor"])?)?.is_empty(), || "it is still expected".to_owned())
}
