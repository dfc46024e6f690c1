//! A program that is invoked, whatever it speaks: found by its name, given the variables that it may see, and started behind a
//! gate in a group of its own.

mod group;
mod output;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

pub(crate) use group::{Ended, Group};
pub(crate) use output::{Complaints, Line, Lines, Said, Secrets};

use crate::run::{Failure, FailureKind};

/// What opens the gate.
pub(crate) const GO: &str = "go";

/// Becomes the program once it is told to. If whoever starts it dies before, it never does. What follows on its standard
/// input is the program's: the shell reads not a byte beyond the line.
const GATE: &str = "read -r go || exit 125; exec \"$@\"";

/// The variables that every program gets.
const ALWAYS: [&str; 4] = ["PATH", "HOME", "LANG", "TERM"];

/// The program of a config and its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Its name, or its file if it was named by a path.
    pub(crate) file: PathBuf,
    /// The arguments that the config gives it.
    pub(crate) arguments: Vec<String>,
    /// The names of the variables that are passed on.
    allowed: Vec<String>,
}

impl Program {
    /// The program that this command line names. One that names a directory is looked for from the project's.
    pub(crate) fn new(command: &[String], allowed: &[String], root: &Path) -> Result<Self, Failure> {
        let Some((program, arguments)) = command.split_first().filter(|(program, _)| !program.is_empty()) else {
            let message = "the provider names no program: give it a `command`";
            return Err(Failure::new(FailureKind::Unavailable, message));
        };
        let named = Path::new(program);
        let file = if named.components().count() > 1 { root.join(named) } else { named.to_owned() };
        Ok(Self { file, arguments: arguments.to_vec(), allowed: allowed.to_vec() })
    }

    /// What it is called in messages.
    pub(crate) fn name(&self) -> String {
        self.file.file_name().unwrap_or(self.file.as_os_str()).to_string_lossy().into_owned()
    }

    /// The variables that are passed on.
    pub(crate) fn environment(&self) -> BTreeMap<OsString, OsString> {
        let names = ALWAYS.into_iter().chain(self.allowed.iter().map(String::as_str));
        names.filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))).collect()
    }

    /// The values that the config lets pass in this environment.
    pub(crate) fn let_pass(&self, env: &BTreeMap<OsString, OsString>) -> impl Iterator<Item = String> {
        let allowed = self.allowed.iter().filter(|name| !ALWAYS.contains(&name.as_str()));
        allowed.filter_map(|name| env.get(OsStr::new(name))?.to_str().map(str::to_owned))
    }

    /// The file that is meant, for one who has this environment.
    pub(crate) fn found(&self, env: &BTreeMap<OsString, OsString>) -> Result<PathBuf, Failure> {
        let path = env.get(OsStr::new("PATH")).map(OsString::as_os_str).unwrap_or_default();
        found(&self.file, path).ok_or_else(|| {
            let message = format!("there is no program `{}`", self.file.display());
            Failure::new(FailureKind::Unavailable, message)
        })
    }
}

/// A program that is to be started.
#[derive(Debug)]
pub(crate) struct Start {
    /// What it is called in messages.
    pub(crate) name: String,
    /// Its file.
    pub(crate) program: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// All of its variables.
    pub(crate) env: BTreeMap<OsString, OsString>,
    /// Where it works.
    pub(crate) directory: PathBuf,
}

/// A program that was started, and waits behind its gate for a line that says [`GO`].
#[derive(Debug)]
pub(crate) struct Started {
    /// Its number, which is that of its group.
    pub(crate) process: u32,
    /// It and all that it starts.
    pub(crate) group: Group,
    /// Its end.
    pub(crate) ended: Ended,
    /// Our ends of its pipes.
    pub(crate) pipes: Pipes,
}

impl Start {
    /// Starts it.
    pub(crate) fn start(&self) -> Result<Started, Failure> {
        let lost =
            |error: io::Error| Failure::new(FailureKind::Unavailable, format!("{} does not start: {error}", self.name));
        if !self.directory.is_dir() {
            let message = format!("{} does not start: there is no directory {}", self.name, self.directory.display());
            return Err(Failure::new(FailureKind::Unavailable, message));
        }
        let mut child = self.spawn().map_err(lost)?;
        let process = child.id();
        let pipes = Pipes::of(&mut child);
        let (group, ended) = Group::watch(child).map_err(lost)?;
        let pipes = pipes.map_err(lost)?;
        Ok(Started { process, group, ended, pipes })
    }

    fn spawn(&self) -> io::Result<Child> {
        let mut command = Command::new("sh");
        command.args(["-c", GATE, "querent"]).arg(&self.program).args(&self.arguments);
        command.env_clear().envs(&self.env).current_dir(&self.directory).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    }
}

/// The three ends of a program that we hold.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl Pipes {
    fn of(child: &mut Child) -> io::Result<Self> {
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("it has no pipes"));
        };
        Ok(Self {
            stdin: ChildStdin::from_std(stdin)?,
            stdout: ChildStdout::from_std(stdout)?,
            stderr: ChildStderr::from_std(stderr)?,
        })
    }
}

/// The file that is meant: as it is if it names a directory, else the first on the path that can be run.
fn found(program: &Path, path: &OsStr) -> Option<PathBuf> {
    let can_run =
        |file: &Path| file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    if program.components().count() > 1 {
        return can_run(program).then(|| program.to_owned());
    }
    std::env::split_paths(path).map(|dir| dir.join(program)).find(|file| can_run(file))
}
