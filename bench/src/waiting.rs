//! What it costs to wait: thousands in one process, woken by the answers of another.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use querent_core::QuestionId;
use querent_hub::{Handle, Project};
use serde_json::{Value, json};

use crate::Outcome;
use crate::mcp::{answer, call_with_progress, stdio};
use crate::measure::part;
use crate::process::querent;
use crate::report::Table;
use crate::rows::{Measured, Row, scratch};
use crate::seed::with_open_questions;

/// How many of those who wait are woken one by one, to see how long it takes.
const WOKEN: usize = 1_000;

pub(crate) fn measure(run: &Path, _quick: bool, progress: &mut dyn FnMut(&str)) -> Outcome<Measured> {
    let about =
        "Calls of `await_answer` in one `querent mcp`; another process answers some of their questions, one by one.";
    let head = ["waiting", "memory MB", "woken, p50 ms", "p99 ms"];
    let mut table = Table::new("Waiting", about, &head);
    let mut rows = Vec::new();
    for count in [1_000, 10_000] {
        progress(&format!("waiting: {count} calls"));
        let (megabytes, woken) = wait(run, count)?;
        let [p50, p99] = [50, 99].map(|percent| part(&woken, percent) / 1000.0);
        table.line([count.to_string(), format!("{megabytes:.1}"), format!("{p50:.2}"), format!("{p99:.2}")]);
        if count == 1_000 {
            let seen = format!("{megabytes:.1} MB; all were answered");
            rows.push(Row::at_most("MCP, 1,000 calls wait in one process, MB", megabytes, 100.0, seen));
        } else {
            rows.push(Row::at_most("10,000 wait in one process, MB", megabytes, 200.0, format!("{megabytes:.1} MB")));
            let seen = format!("p50 {p50:.2} ms, p99 {p99:.2} ms of {}", woken.len());
            rows.push(Row::at_most("woken from another process, 10,000 waiting, p99 ms", p99, 10.0, seen));
        }
    }
    Ok((rows, vec![table]).into())
}

/// The memory that so many who wait need, and how long each of some took to be woken, in microseconds.
fn wait(run: &Path, count: usize) -> Outcome<(f64, Vec<u64>)> {
    let dir = scratch(run)?;
    let ids = with_open_questions(&dir, count, 1)?;
    let mut server = stdio::Server::start(&querent()?, &["mcp", "--agent", "engineer"], &dir)?;
    for (number, id) in ids.iter().enumerate() {
        begin(&mut server, number, id)?;
    }
    // A sign of life of each shows that all wait.
    let mut alive = BTreeSet::new();
    while alive.len() < count {
        let line: Value = serde_json::from_str(&server.line()?)?;
        alive.insert(line["params"]["progressToken"].as_u64().ok_or_else(|| format!("it does not wait: {line}"))?);
    }
    let hub = Handle::stay(&Project::find(&dir)?, "bench")?;
    let mut woken = Vec::with_capacity(WOKEN);
    for id in ids.iter().step_by(count / WOKEN).take(WOKEN) {
        answer(&hub, id)?;
        let start = Instant::now();
        loop {
            let line: Value = serde_json::from_str(&server.line()?)?;
            let said = &line["result"]["structuredContent"];
            if said["question_id"] == id.to_string() && said["status"] == "answered" {
                break;
            }
            if !said.is_null() {
                return Err(format!("woken for nothing: {line}").into());
            }
        }
        woken.push(u64::try_from(start.elapsed().as_micros())?);
    }
    #[expect(clippy::cast_precision_loss, reason = "memory here is far below 2^52")]
    let megabytes = server.most_memory()? as f64 / 1e6;
    server.kill()?;
    Ok((megabytes, woken))
}

fn begin(server: &mut stdio::Server, number: usize, id: &QuestionId) -> Outcome<()> {
    let arguments = json!({ "question_id": id, "wait_seconds": 50 });
    server.send(&call_with_progress(number, "await_answer", &arguments))
}
