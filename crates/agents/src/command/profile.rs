//! How a program is called and what its output means: what every profile has, and which one a program has.

use std::path::Path;

use querent_core::{Profile, ProgramHandle};
use serde_json::Value;

use super::{claude, codex, gemini, generic, opencode};
use crate::order::Order;
use crate::run::{Failure, FailureKind};
use crate::signal::Signal;

/// How a program is called. It is told its prompt on standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// What stands behind the program.
    pub(super) arguments: Vec<String>,
    /// Variables that it needs for this.
    pub(super) env: Vec<(String, String)>,
}

/// Understands what a program prints.
pub(super) trait Reader: Send {
    /// What a line means.
    fn line(&mut self, line: &str) -> Vec<Signal>;

    /// What its end means, after all that was said.
    fn finish(self: Box<Self>, exit: &Exit) -> Result<Vec<Signal>, Failure>;
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exit {
    /// The program.
    pub(super) program: String,
    /// Its status; none if a signal ended it.
    pub(super) code: Option<i32>,
    /// The signal that ended it.
    pub(super) signal: Option<i32>,
    /// The last that it complained about, without secrets.
    pub(super) complaints: String,
}

impl Exit {
    /// Nothing, if it ended well.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.code == Some(0) { Ok(()) } else { Err(self.failure(None)) }
    }

    /// Why the turn failed, with what the program said about it on its output, if it did.
    pub(super) fn failure(&self, said: Option<&str>) -> Failure {
        let said = said.map(str::trim).filter(|said| !said.is_empty()).unwrap_or(&self.complaints);
        let why = if said.is_empty() { String::new() } else { format!(": {said}") };
        let program = &self.program;
        // A shell in between tells of a signal by a status above 128. Others mean something else by most of these.
        let told = self.code.filter(|code| [130, 134, 137, 139, 143].contains(code)).map(|code| code - 128);
        let signal = self.signal.or(told);
        match (signal, self.code) {
            (Some(signal), _) => {
                Failure::new(FailureKind::Killed, format!("{program} was killed by signal {signal}{why}"))
            }
            (None, Some(0)) => Failure::new(FailureKind::Exited, format!("{program} failed{why}")),
            (None, Some(code)) => Failure::new(FailureKind::Exited, format!("{program} ended with status {code}{why}")),
            (None, None) => Failure::new(FailureKind::Broken, format!("{program} was lost{why}")),
        }
    }
}

/// The profile of a program that names none: by its file's name.
pub(super) fn of(program: &Path) -> Profile {
    let name = program.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    Profile::ALL.iter().copied().find(|profile| profile.as_str() == name).unwrap_or(Profile::Generic)
}

/// How a program of this profile is called, beside the arguments that the config gives it.
pub(super) fn call(profile: Profile, given: &[String], order: &Order, resume: Option<&ProgramHandle>) -> Call {
    match profile {
        Profile::Claude => claude::call(given, order, resume),
        Profile::Codex => codex::call(given, order, resume),
        Profile::Opencode => opencode::call(given, order, resume),
        Profile::Gemini => gemini::call(given, order, resume),
        Profile::Generic => generic::call(given),
    }
}

/// What understands a program of this profile.
pub(super) fn reader(profile: Profile) -> Box<dyn Reader> {
    match profile {
        Profile::Claude => Box::<claude::Claude>::default(),
        Profile::Codex => Box::<codex::Codex>::default(),
        Profile::Opencode => Box::<opencode::Opencode>::default(),
        Profile::Gemini => Box::<gemini::Gemini>::default(),
        Profile::Generic => Box::<generic::Generic>::default(),
    }
}

/// Whether these arguments have an option already, in one word or with its value behind `=`.
pub(super) fn has(given: &[String], names: &[&str]) -> bool {
    let is = |argument: &String, name: &str| {
        argument == name
            || argument.strip_prefix(name).is_some_and(|rest| name.starts_with("--") && rest.starts_with('='))
    };
    given.iter().any(|argument| names.iter().any(|name| is(argument, name)))
}

/// The session that a program names, if that is new.
pub(super) fn handle(known: &mut Option<ProgramHandle>, named: &Value) -> Option<Signal> {
    let named: ProgramHandle = named.as_str()?.parse().ok()?;
    let is_new = known.as_ref() != Some(&named);
    *known = Some(named.clone());
    is_new.then_some(Signal::Handle(named))
}

/// The sum of these numbers.
pub(super) fn tokens(usage: &Value, names: &[&str]) -> u64 {
    names.iter().filter_map(|name| usage[*name].as_u64()).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(code: Option<i32>, signal: Option<i32>, complaints: &str) -> Exit {
        Exit { program: "agent".to_owned(), code, signal, complaints: complaints.to_owned() }
    }

    #[test]
    fn a_program_is_known_by_its_name() {
        for (program, profile) in [
            ("claude", Profile::Claude),
            ("bin/codex", Profile::Codex),
            ("opencode.exe", Profile::Opencode),
            ("gemini", Profile::Gemini),
            ("my-claude", Profile::Generic),
            ("", Profile::Generic),
        ] {
            assert_eq!(of(Path::new(program)), profile, "{program}");
        }
    }

    #[test]
    fn an_end_says_what_went_wrong() {
        assert_eq!(exit(Some(0), None, "warning").check(), Ok(()));
        for (exit, said, kind, message) in [
            (exit(Some(2), None, "no key"), None, FailureKind::Exited, "agent ended with status 2: no key"),
            (exit(Some(2), None, "no key"), Some("quota"), FailureKind::Exited, "agent ended with status 2: quota"),
            (exit(Some(0), None, ""), Some("quota"), FailureKind::Exited, "agent failed: quota"),
            (exit(None, Some(9), ""), None, FailureKind::Killed, "agent was killed by signal 9"),
            (exit(Some(137), None, ""), None, FailureKind::Killed, "agent was killed by signal 9"),
            (exit(None, None, ""), None, FailureKind::Broken, "agent was lost"),
        ] {
            assert_eq!(exit.failure(said), Failure::new(kind, message));
        }
    }

    #[test]
    fn an_option_that_is_there_is_found_in_both_spellings() {
        let given = ["--output-format=json".to_owned(), "-p".to_owned()];
        assert!(has(&given, &["--output-format"]) && has(&given, &["--print", "-p"]));
        assert!(!has(&given, &["--output"]) && !has(&given, &["--verbose"]));
    }
}
