//! How a session of Claude Code is resumed: the program, its arguments, and what it says.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use querent_core::{Code, Parked, Question, QuestionId, Refusal};
use serde_json::json;

use super::RESUMED_FOR;

/// The variable that names the program.
const PROGRAM: &str = "QUERENT_CLAUDE";
/// How much of what the program says is kept for a reply.
const MOST_OUTPUT: usize = 1 << 20;

/// Becomes the program once it is told to. If whoever starts it dies before, it never does.
const GATE: &str = "read -r go && exec \"$@\" </dev/null";

/// The program, and what is handed on to it.
pub(crate) struct Launcher {
    program: PathBuf,
    extra: Vec<String>,
    /// Whether what it says is kept instead of being passed through.
    keep: bool,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Launched {
    /// Its exit status; none if it was killed or did not start.
    pub(crate) exit_code: Option<i32>,
    /// What it said, or why it did not start.
    pub(crate) output: String,
}

impl Launcher {
    /// Finds the program: that of `QUERENT_CLAUDE`, else `claude` on the path.
    pub(crate) fn find(extra: &[String], keep: bool) -> Result<Self, Refusal> {
        let named = std::env::var_os(PROGRAM).filter(|name| !name.is_empty());
        let wanted = PathBuf::from(named.unwrap_or_else(|| OsString::from("claude")));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = found(&wanted, &path).ok_or_else(|| {
            let message = format!("the program `{}` is not there, so no session is resumed", wanted.display());
            let hint = format!("install Claude Code, or name it: {PROGRAM}=/path/to/claude querent resume");
            Refusal::new(Code::AgentError, message, hint).with(json!({ "program": wanted.display().to_string() }))
        })?;
        Ok(Self { program, extra: extra.to_vec(), keep })
    }

    /// Runs the program until it ends. `starts` is told its process before it begins, and may forbid it.
    pub(crate) fn run(
        &self,
        question: &Question,
        parked: &Parked,
        prompt: Option<&str>,
        starts: impl FnOnce(u32) -> Result<(), Refusal>,
    ) -> Result<Launched, Refusal> {
        let mut command = behind_gate(&self.program);
        command.args(arguments(parked.handle.as_str(), &self.extra, prompt)).current_dir(&parked.directory);
        // Whoever started the session may have told its agent and item through these, and its hooks and tools need them.
        let id: &QuestionId = &question.id;
        command.env("QUERENT_AGENT", parked.agent.as_str()).env("QUERENT_ITEM", id.item.as_str());
        command.env(RESUMED_FOR, id.to_string());
        if self.keep {
            command.stdout(Stdio::piped()).stderr(Stdio::null());
        }
        match command.spawn() {
            Ok(child) => until_it_ends(child, starts),
            Err(error) => {
                let output = format!("{} does not start in {}: {error}", self.program.display(), parked.directory);
                Ok(Launched { exit_code: None, output })
            }
        }
    }
}

/// A process that becomes the program when it is told to.
fn behind_gate(program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", GATE, "querent"]).arg(program).stdin(Stdio::piped());
    command
}

/// Opens the gate, unless `starts` forbids it, and waits for the end.
fn until_it_ends(mut child: Child, starts: impl FnOnce(u32) -> Result<(), Refusal>) -> Result<Launched, Refusal> {
    let broken = |error: io::Error| {
        Refusal::new(Code::AgentError, format!("the program was lost: {error}"), "resume it again: querent resume")
    };
    let gate = child.stdin.take();
    let started = starts(child.id()).and_then(|()| match gate {
        Some(mut gate) => gate.write_all(b"go\n").map_err(broken),
        None => Ok(()),
    });
    let output = child.stdout.take().map(kept).transpose();
    let ended = child.wait();
    started?;
    let status = ended.map_err(broken)?;
    Ok(Launched { exit_code: status.code(), output: output.map_err(broken)?.unwrap_or_default() })
}

/// What the program is called with. A call that was kept back is made by itself; a prompt beside it would be a second turn.
fn arguments(handle: &str, extra: &[String], prompt: Option<&str>) -> Vec<String> {
    let mut arguments: Vec<String> = ["-p", "--resume", handle].map(str::to_owned).to_vec();
    arguments.extend_from_slice(extra);
    if let Some(prompt) = prompt {
        arguments.extend(["--".to_owned(), prompt.to_owned()]);
    }
    arguments
}

/// What a session is told that ended its turn, or whose call was lost.
pub(crate) fn prompt(question: &Question) -> String {
    let id = &question.id;
    match &question.answer {
        Some(answer) => {
            format!("{id} was answered by {}: {}. Go on with your work on item {}.", answer.by, answer.text, id.item)
        }
        None => format!("{id} is {} and has no answer. Go on with your work on item {}.", question.status, id.item),
    }
}

/// The program file that is meant: as it is if it names a directory, else the first on the path.
fn found(wanted: &Path, path: &std::ffi::OsStr) -> Option<PathBuf> {
    if wanted.components().count() > 1 {
        return wanted.is_file().then(|| wanted.to_owned());
    }
    std::env::split_paths(path).map(|dir| dir.join(wanted)).find(|file| file.is_file())
}

/// All that a program says, of which the last part is kept.
fn kept(mut from: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut part = [0; 8192];
    loop {
        match from.read(&mut part)? {
            0 => break,
            count => bytes.extend_from_slice(part.get(..count).unwrap_or_default()),
        }
        if bytes.len() > 2 * MOST_OUTPUT {
            bytes.drain(..bytes.len() - MOST_OUTPUT);
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_was_kept_back_is_resumed_without_a_prompt() {
        let extra = ["--output-format".to_owned(), "json".to_owned()];

        assert_eq!(arguments("c-1", &extra, None), ["-p", "--resume", "c-1", "--output-format", "json"]);
        assert_eq!(arguments("c-1", &[], Some("-x")), ["-p", "--resume", "c-1", "--", "-x"]);
    }

    #[test]
    fn a_program_begins_after_its_process_is_known_and_never_if_that_fails() {
        let said = |starts: fn(u32) -> Result<(), Refusal>| {
            let mut command = behind_gate(Path::new("echo"));
            until_it_ends(command.args(["a b", "$c"]).stdout(Stdio::piped()).spawn().unwrap(), starts)
        };

        let allowed = said(|_| Ok(())).unwrap();
        let forbidden = said(|_| Err(Refusal::new(Code::Conflict, "somebody else has it", "wait"))).unwrap_err();

        assert_eq!((allowed.exit_code, allowed.output.as_str()), (Some(0), "a b $c\n"));
        assert_eq!(forbidden.code, Code::Conflict);
    }

    #[test]
    fn a_gate_that_nobody_opens_ends_without_the_program() {
        let mut command = behind_gate(Path::new("echo"));
        let mut child = command.arg("begun").stdout(Stdio::piped()).spawn().unwrap();

        drop(child.stdin.take());
        let ended = child.wait_with_output().unwrap();

        assert_eq!((ended.status.success(), ended.stdout), (false, Vec::new()));
    }

    #[test]
    fn a_program_is_looked_for_on_the_path_unless_it_names_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("claude");
        std::fs::write(&file, "").unwrap();

        assert_eq!(found(Path::new("claude"), dir.path().as_os_str()), Some(file.clone()));
        assert_eq!(found(&file, std::ffi::OsStr::new("")), Some(file));
        assert_eq!(found(Path::new("claude"), std::ffi::OsStr::new("")), None);
        assert_eq!(found(&dir.path().join("other"), dir.path().as_os_str()), None);
    }
}
