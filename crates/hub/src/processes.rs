//! Whether a process still runs. One with the same number is not taken for it.

use std::fs;

use querent_core::{Code, Process, Refusal};

/// The running process with this number.
pub fn process(pid: u32) -> Result<Process, Refusal> {
    let (Some(start), Some(host)) = (start_of(pid), host()) else {
        let message = format!("there is no process {pid} that can be seen from here");
        return Err(Refusal::new(Code::InvalidInput, message, "give the number of the agent's own process, or none")
            .with(serde_json::json!({ "field": "pid" })));
    };
    Ok(Process { pid, start, host })
}

/// Whether it runs; none if that cannot be seen from here.
pub(crate) fn runs(process: &Process) -> Option<bool> {
    (host()? == process.host).then(|| start_of(process.pid).is_some_and(|start| start == process.start))
}

/// Ends a process and its group, if it is still the one that is meant.
pub(crate) fn kill_group(process: &Process) {
    if runs(process) == Some(true) {
        end_group(process.pid);
    }
}

/// Ends all processes of the group that a child of ours leads or led.
pub(crate) fn end_group(leader: u32) {
    if let Some(pid) = i32::try_from(leader).ok().and_then(rustix::process::Pid::from_raw) {
        // A group that is gone needs no end.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
}

/// When the process started, in a boot of the machine. A process that has ended and waits to be fetched runs no more.
fn start_of(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything but is the last thing in parentheses; the state is the first field after it.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    (!matches!(state, "Z" | "X")).then(|| format!("{started} in {}", boot.trim()))
}

fn host() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_runs_until_it_has_ended_and_another_with_its_number_is_not_it() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let known = process(child.id()).unwrap();
        let other = Process { start: "1 in another boot".to_owned(), ..known.clone() };
        let elsewhere = Process { host: "elsewhere".to_owned(), ..known.clone() };

        assert_eq!(runs(&known), Some(true));
        assert_eq!(runs(&other), Some(false));
        assert_eq!(runs(&elsewhere), None);
        child.kill().unwrap();
        child.wait().unwrap();

        assert_eq!(runs(&known), Some(false));
        assert_eq!(process(child.id()).unwrap_err().code, Code::InvalidInput);
    }
}
