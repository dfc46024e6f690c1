//! Provider `command`: a program that is started for each turn.

mod claude;
mod codex;
mod gemini;
mod generic;
mod launch;
mod opencode;
mod profile;
#[cfg(test)]
mod profile_tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use querent_core::{Profile, ProgramHandle, ProviderConfig};

use crate::order::Order;
use crate::program::{Program, Secrets, Start};
use crate::run::{Failure, Provider, Run};
use launch::Launch;
use profile::Call;

/// A program, and how it is called and understood.
#[derive(Debug)]
pub(crate) struct Command {
    program: Program,
    profile: Profile,
    most: u64,
}

impl Command {
    /// The program of a config.
    pub(crate) fn new(config: &ProviderConfig, root: &Path) -> Result<Self, Failure> {
        let program = Program::new(&config.command, &config.env, root)?;
        let profile = config.profile.unwrap_or_else(|| profile::of(&program.file));
        Ok(Self { program, profile, most: config.max_output })
    }

    fn run(&self, order: Order, resume: Option<&ProgramHandle>) -> Result<Run, Failure> {
        let call = profile::call(self.profile, &self.program.arguments, &order, resume);
        let mut env = self.program.environment();
        let Call { arguments, env: own } = call;
        env.extend(own.into_iter().chain(order.env.clone()).map(|(name, value)| (name.into(), value.into())));
        let program = self.program.found(&env)?;
        let secrets = self.secrets(&env, &order.env);
        let hidden = hidden(&env);
        let start = Start { name: self.program.name(), program, arguments, env, directory: order.directory };
        Launch { start, prompt: order.prompt, most: self.most, secrets, hidden }.start(profile::reader(self.profile))
    }

    /// The values that must not be shown: of what the config lets pass, and of what is called a secret.
    fn secrets(&self, env: &BTreeMap<OsString, OsString>, own: &BTreeMap<String, String>) -> Secrets {
        let own = own.iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| value.clone());
        Secrets::new(self.program.let_pass(env).chain(own))
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
