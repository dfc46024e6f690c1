//! The commands that must succeed before a step is done.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

use crate::processes;

/// How much of what a gate printed its agent is told, in bytes.
const TOLD: usize = 3_000;

/// Runs the gates in order; the first that fails says why.
pub(super) async fn pass(gates: &[String], directory: &Path, limit: Duration) -> Result<(), String> {
    for gate in gates {
        run(gate, directory, limit).await?;
    }
    Ok(())
}

async fn run(gate: &str, directory: &Path, limit: Duration) -> Result<(), String> {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec 2>&1\n{gate}")]).current_dir(directory);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("the gate `{gate}` does not start: {error}"))?;
    let group = Group(child.id());
    let output = child.stdout.take();
    let work = async {
        let status = async {
            let status = child.wait().await;
            // What it left running would hold its output open.
            drop(group);
            status
        };
        tokio::join!(tail(output), status)
    };
    let ended = tokio::time::timeout(limit, work).await;
    match ended {
        Ok((_, Ok(status))) if status.success() => Ok(()),
        Ok((tail, Ok(status))) => Err(format!("the gate `{gate}` failed ({status}):\n{tail}")),
        Ok((_, Err(error))) => Err(format!("the gate `{gate}` was lost: {error}")),
        Err(_) => Err(format!("the gate `{gate}` did not end within {}s", limit.as_secs())),
    }
}

/// The processes of a gate. Whatever still runs of them is of no use when it is over, or is not waited for any more.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            processes::end_group(leader);
        }
    }
}

/// The last of what is printed.
async fn tail(output: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut output) = output else { return String::new() };
    let (mut kept, mut part) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = output.read(&mut part).await {
        kept.extend_from_slice(part.get(..count).unwrap_or_default());
        if kept.len() > 2 * TOLD {
            kept.drain(..kept.len() - TOLD);
        }
    }
    let from = kept.len().saturating_sub(TOLD);
    String::from_utf8_lossy(kept.get(from..).unwrap_or_default()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(2);

    async fn fails(gates: &[&str], directory: &Path, limit: Duration) -> String {
        let gates: Vec<String> = gates.iter().map(|gate| (*gate).to_owned()).collect();
        pass(&gates, directory, limit).await.unwrap_err()
    }

    #[tokio::test]
    async fn gates_run_in_order_where_the_work_is_and_stop_at_the_first_that_fails() {
        let dir = tempfile::tempdir().unwrap();

        let why = fails(&["touch one", "test -e one && exit 4", "touch two"], dir.path(), LONG).await;

        assert!(why.contains("`test -e one && exit 4` failed (exit status: 4)"), "{why}");
        assert!(!dir.path().join("two").exists());
    }

    #[tokio::test]
    async fn what_both_outputs_said_last_is_told_and_the_rest_is_not() {
        let dir = tempfile::tempdir().unwrap();

        let why = fails(&["seq 100000; echo the cause >&2; false"], dir.path(), LONG).await;

        assert!(why.ends_with("100000\nthe cause"), "{why}");
        assert!(why.len() < TOLD + 200 && !why.contains("\n90000\n"), "{} bytes", why.len());
    }

    #[tokio::test]
    async fn what_is_no_text_is_told_as_far_as_it_is_one() {
        let dir = tempfile::tempdir().unwrap();

        let why = fails(&["printf 'caf\\351 au lait'; false"], dir.path(), LONG).await;

        assert!(why.ends_with("caf\u{fffd} au lait"), "{why}");
    }

    #[tokio::test]
    async fn a_gate_that_does_not_end_is_ended_with_all_that_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("alive");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        // Whoever reads comes to the end when the last one is gone that writes.
        let reader = tokio::task::spawn_blocking(move || std::fs::read_to_string(fifo));

        let why = fails(&["exec 3> alive; sleep 600 & sleep 600"], dir.path(), Duration::from_secs(1)).await;

        assert!(why.contains("did not end within 1s"), "{why}");
        tokio::time::timeout(LONG, reader).await.unwrap().unwrap().unwrap();
    }

    #[tokio::test]
    async fn what_a_gate_leaves_behind_does_not_hold_it_up() {
        let dir = tempfile::tempdir().unwrap();
        let gate = ["sleep 600 &".to_owned()];

        tokio::time::timeout(LONG, pass(&gate, dir.path(), 2 * LONG)).await.unwrap().unwrap();
    }
}
