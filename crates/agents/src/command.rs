//! Provider `command`: a program that is started for each turn.

mod claude;
mod codex;
mod gemini;
mod generic;
mod group;
mod launch;
mod opencode;
mod output;
mod profile;
#[cfg(test)]
mod profile_tests;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use querent_core::{Profile, ProgramHandle, ProviderConfig};

use crate::order::Order;
use crate::run::{Failure, FailureKind, Provider, Run};
use launch::Launch;
use output::Secrets;
use profile::Call;

/// The variables that every program gets.
const ALWAYS: [&str; 4] = ["PATH", "HOME", "LANG", "TERM"];

/// A program, and how it is called and understood.
#[derive(Debug)]
pub(crate) struct Command {
    program: PathBuf,
    arguments: Vec<String>,
    profile: Profile,
    allowed: Vec<String>,
    most: u64,
}

impl Command {
    /// The program of a config. One that names a directory is looked for from the project's.
    pub(crate) fn new(config: &ProviderConfig, root: &Path) -> Result<Self, Failure> {
        let Some((program, arguments)) = config.command.split_first().filter(|(program, _)| !program.is_empty()) else {
            let message = "the provider names no program: give it a `command`";
            return Err(Failure::new(FailureKind::Unavailable, message));
        };
        let named = Path::new(program);
        let program = if named.components().count() > 1 { root.join(named) } else { named.to_owned() };
        Ok(Self {
            profile: config.profile.unwrap_or_else(|| profile::of(&program)),
            program,
            arguments: arguments.to_vec(),
            allowed: config.env.clone(),
            most: config.max_output,
        })
    }

    fn run(&self, order: Order, resume: Option<&ProgramHandle>) -> Result<Run, Failure> {
        let call = profile::call(self.profile, &self.arguments, &order, resume);
        let mut env = self.environment();
        let Call { arguments, env: own } = call;
        env.extend(own.into_iter().chain(order.env.clone()).map(|(name, value)| (name.into(), value.into())));
        let name = self.program.file_name().unwrap_or(self.program.as_os_str()).to_string_lossy().into_owned();
        let path = env.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let program = found(&self.program, &path).ok_or_else(|| {
            let message = format!("there is no program `{}`", self.program.display());
            Failure::new(FailureKind::Unavailable, message)
        })?;
        let secrets = self.secrets(&env, &order.env);
        let hidden = hidden(&env);
        let (directory, prompt, most) = (order.directory, order.prompt, self.most);
        Launch { name, program, arguments, env, directory, prompt, most, secrets, hidden }
            .start(profile::reader(self.profile))
    }

    /// The variables that are passed on.
    fn environment(&self) -> BTreeMap<OsString, OsString> {
        let names = ALWAYS.into_iter().chain(self.allowed.iter().map(String::as_str));
        names.filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))).collect()
    }

    /// The values that must not be shown: of what the config lets pass, and of what is called a secret.
    fn secrets(&self, env: &BTreeMap<OsString, OsString>, own: &BTreeMap<String, String>) -> Secrets {
        let allowed = self.allowed.iter().filter(|name| !ALWAYS.contains(&name.as_str()));
        let allowed = allowed.filter_map(|name| env.get(OsStr::new(name))?.to_str().map(str::to_owned));
        let own = own.iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| value.clone());
        Secrets::new(allowed.chain(own))
    }
}

/// The values that must not be in anything that a program says, as they are and as JSON has them. Others that it is given may
/// be: a patch may well name the address of a server.
fn hidden(env: &BTreeMap<OsString, OsString>) -> Secrets {
    let named = env.iter().filter(|(name, _)| name.to_str().is_some_and(is_secret));
    let values = named.filter_map(|(_, value)| value.to_str().map(str::to_owned));
    Secrets::new(values.flat_map(|value| {
        let quoted = serde_json::Value::from(value.as_str()).to_string();
        [quoted.trim_matches('"').to_owned(), value]
    }))
}

/// Whether a variable of this name holds a secret.
fn is_secret(name: &str) -> bool {
    ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| name.contains(word))
}

impl Provider for Command {
    fn start(&self, order: Order) -> Result<Run, Failure> {
        self.run(order, None)
    }

    fn resume(&self, order: Order, handle: &ProgramHandle) -> Result<Run, Failure> {
        self.run(order, Some(handle))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_a_secret_is_hidden_as_it_is_and_as_json_has_it() {
        let env = [("API_KEY", "0123\n456789"), ("BASE_URL", "http://127.0.0.1")];
        let hidden = hidden(&env.map(|(name, value)| (name.into(), value.into())).into());
        assert_eq!(hidden.mask("a 0123\n456789 b 0123\\n456789 c http://127.0.0.1"), "a *** b *** c http://127.0.0.1");
    }
}
