//! A project in a folder of its own, and the binary that is run in it. Every reply is held to the contract of `--json`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use querent_core::Code;
use serde_json::Value;
use tempfile::TempDir;

use super::clock;

/// A project that is deleted when the case is over.
pub(super) struct Project {
    binary: PathBuf,
    folder: PathBuf,
    /// How much later it is for the binary.
    later: Option<String>,
    _owned: Option<TempDir>,
}

impl Project {
    /// A new project with the shipped workflows and one item, `42`.
    pub(super) fn new(binary: &Path) -> Result<Self, String> {
        let project = Self::empty(binary)?;
        project.begin()?;
        Ok(project)
    }

    /// A folder in which nothing is initialised.
    pub(super) fn empty(binary: &Path) -> Result<Self, String> {
        let owned = TempDir::with_prefix("querent-e2e-").map_err(|error| format!("no temporary folder: {error}"))?;
        Ok(Self { binary: binary.to_owned(), folder: owned.path().to_owned(), later: None, _owned: Some(owned) })
    }

    /// A folder that somebody else looks after.
    pub(super) fn at(binary: &Path, folder: &Path) -> Self {
        Self { binary: binary.to_owned(), folder: folder.to_owned(), later: None, _owned: None }
    }

    /// The same project, for calls that are made so much later.
    pub(super) fn later(&self, span: &str) -> Self {
        Self { later: Some(format!("+{span}")), ..Self::at(&self.binary, &self.folder) }
    }

    /// Initialises the folder and adds the item `42`.
    pub(super) fn begin(&self) -> Result<(), String> {
        self.ok(&["init"])?;
        let data = self.ok(&["item", "add", "42", "--title", "Login page", "--workflow", "feature"])?;
        same(&data, "/item/stage", "requirements")
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The binary with these arguments, ready to run. The caller's own item and agent do not reach it.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(&self.folder).args(arguments).env_remove("QUERENT_ITEM").env_remove("QUERENT_AGENT");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let (Some(later), Ok(library)) = (&self.later, clock::library()) {
            command.env("LD_PRELOAD", library).env("FAKETIME", later).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        command
    }

    /// What the binary does with these arguments, as a person sees it.
    pub(super) fn plain(&self, arguments: &[&str]) -> Result<Output, String> {
        self.command(arguments).output().map_err(|error| format!("{}: {error}", self.binary.display()))
    }

    /// The reply with `--json`.
    pub(super) fn reply(&self, arguments: &[&str]) -> Result<Reply, String> {
        Reply::of(&with_json(arguments), &self.plain(&with_json(arguments))?)
    }

    /// Begins a call with `--json` and does not wait for it.
    pub(super) fn begin_reply(&self, arguments: &[&str]) -> Result<Running, String> {
        let arguments = with_json(arguments);
        let child = self.command(&arguments).spawn().map_err(|error| format!("{}: {error}", self.binary.display()))?;
        Ok(Running { what: arguments.iter().map(ToString::to_string).collect(), child })
    }

    /// The data of a call that must succeed.
    pub(super) fn ok(&self, arguments: &[&str]) -> Result<Value, String> {
        self.reply(arguments)?.data()
    }

    /// The error of a call that must be refused with `code`.
    pub(super) fn refused(&self, arguments: &[&str], code: Code) -> Result<Value, String> {
        let error = self.reply(arguments)?.error()?;
        same(&error, "/code", code.as_str()).map_err(|why| format!("{}: {why}", arguments.join(" ")))?;
        Ok(error)
    }
}

fn with_json<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    arguments.iter().copied().chain(["--json"]).collect()
}

/// A call under way.
pub(super) struct Running {
    what: Vec<String>,
    child: Child,
}

impl Running {
    /// Whether it still runs.
    pub(super) fn is_waiting(&mut self) -> Result<bool, String> {
        self.child.try_wait().map(|status| status.is_none()).map_err(|error| error.to_string())
    }

    /// Ends it as a crash does.
    pub(super) fn kill(mut self) -> Result<(), String> {
        self.child.kill().and_then(|()| self.child.wait()).map(drop).map_err(|error| error.to_string())
    }

    /// Its reply, when it has ended.
    pub(super) fn reply(self) -> Result<Reply, String> {
        let output = self.child.wait_with_output().map_err(|error| error.to_string())?;
        Reply::of(&self.what.iter().map(String::as_str).collect::<Vec<_>>(), &output)
    }
}

/// An envelope that keeps the contract: one JSON object on the output, and an exit status that fits it.
#[derive(Debug)]
pub(super) struct Reply {
    what: String,
    envelope: Value,
    /// The output as it was, byte for byte.
    pub(super) text: String,
}

impl Reply {
    fn of(arguments: &[&str], output: &Output) -> Result<Self, String> {
        let what = arguments.join(" ");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr);
        let envelope: Value = serde_json::from_str(&text).map_err(|error| {
            format!("`querent {what}` ended with {} and no JSON ({error}): {text}{said}", output.status)
        })?;
        if !said.is_empty() {
            return Err(format!("`querent {what}` is not silent on stderr beside --json: {said}"));
        }
        let wanted = match (envelope["ok"].as_bool(), envelope["error"]["code"].as_str().and_then(Code::parse)) {
            // `doctor` reports damage as data and ends with 3.
            (Some(true), None) if envelope["data"]["healthy"] == false => 3,
            (Some(true), None) => 0,
            (Some(false), Some(code)) => i32::from(code.exit_status()),
            _ => return Err(format!("`querent {what}` did not print an envelope: {text}")),
        };
        if envelope["ok"] == false {
            let error = &envelope["error"];
            let has_words = |name: &str| error[name].as_str().is_some_and(|words| !words.trim().is_empty());
            if !(has_words("message") && has_words("hint") && error["details"].is_object()) {
                return Err(format!("`querent {what}`: the error lacks message, hint or details: {text}"));
            }
        }
        match output.status.code() {
            Some(status) if status == wanted => Ok(Self { what, envelope, text }),
            status => Err(format!("`querent {what}` ended with {status:?} and not with {wanted}: {text}")),
        }
    }

    /// The data of a success.
    pub(super) fn data(&self) -> Result<Value, String> {
        match self.envelope["ok"].as_bool() {
            Some(true) => Ok(self.envelope["data"].clone()),
            _ => Err(format!("`querent {}` was refused: {}", self.what, self.envelope["error"])),
        }
    }

    /// The error of a refusal.
    pub(super) fn error(&self) -> Result<Value, String> {
        match self.envelope["ok"].as_bool() {
            Some(false) => Ok(self.envelope["error"].clone()),
            _ => Err(format!("`querent {}` was not refused: {}", self.what, self.envelope["data"])),
        }
    }
}

/// The value at `pointer` is `wanted`.
pub(super) fn same(value: &Value, pointer: &str, wanted: impl Into<Value>) -> Result<(), String> {
    let wanted = wanted.into();
    match value.pointer(pointer) {
        Some(found) if *found == wanted => Ok(()),
        found => Err(format!(
            "{pointer} is {} and not {wanted} in {value}",
            found.map_or("absent".to_owned(), Value::to_string)
        )),
    }
}

/// The string at `pointer`.
pub(super) fn words<'a>(value: &'a Value, pointer: &str) -> Result<&'a str, String> {
    value.pointer(pointer).and_then(Value::as_str).ok_or_else(|| format!("{pointer} is no string in {value}"))
}

/// The list at `pointer`.
pub(super) fn list<'a>(value: &'a Value, pointer: &str) -> Result<&'a [Value], String> {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.map(Vec::as_slice).ok_or_else(|| format!("{pointer} is no list in {value}"))
}

/// A condition that a case depends on.
pub(super) fn hold(condition: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(otherwise()) }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn reply(status: i32, stdout: &str, stderr: &str) -> Result<Reply, String> {
        let status = ExitStatus::from_raw(status << 8);
        Reply::of(&["show"], &Output { status, stdout: stdout.into(), stderr: stderr.into() })
    }

    const REFUSED: &str = r#"{"ok":false,"error":{"code":"usage","message":"m","hint":"h","details":{}}}"#;

    #[test]
    fn an_envelope_that_fits_its_exit_status_is_taken() {
        assert_eq!(reply(0, r#"{"ok":true,"data":{"a":1}}"#, "").unwrap().data().unwrap()["a"], 1);
        assert_eq!(reply(2, REFUSED, "").unwrap().error().unwrap()["code"], "usage");
        assert!(reply(3, r#"{"ok":true,"data":{"healthy":false}}"#, "").is_ok());
    }

    #[test]
    fn an_envelope_that_breaks_the_contract_is_not_taken() {
        assert!(reply(1, REFUSED, "").is_err());
        assert!(reply(0, REFUSED, "").is_err());
        assert!(reply(2, REFUSED, "noise").is_err());
        assert!(reply(0, "fine", "").is_err());
        assert!(reply(0, r#"{"data":1}"#, "").is_err());
        assert!(
            reply(1, r#"{"ok":false,"error":{"code":"mystery","message":"m","hint":"h","details":{}}}"#, "").is_err()
        );
        assert!(reply(2, r#"{"ok":false,"error":{"code":"usage","message":"m","hint":"","details":{}}}"#, "").is_err());
    }
}
