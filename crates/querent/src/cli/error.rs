//! How a command fails: what is printed, and the exit status.

use std::error::Error as _;
use std::ffi::OsString;
use std::io::{self, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use querent_core::{Code, Envelope, Refusal};

use super::output::{self, Page, Paint, Paper};
use crate::text::hanging;

/// Why a command did not do what was wanted.
pub(crate) enum Failure {
    /// It was refused.
    Refused(Refusal),
    /// It was refused, and its envelope says so.
    Answered(Envelope, Refusal),
    /// Its output could not be written.
    Unwritten(io::Error),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Failure {
    /// Prints the failure and returns the exit status.
    pub(crate) fn report(self, json: bool) -> u8 {
        match self {
            Self::Refused(refusal) => report(&Envelope::refused(&refusal), &refusal, json),
            Self::Answered(envelope, refusal) => report(&envelope, &refusal, json),
            // Whoever reads the output has enough of it.
            Self::Unwritten(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Unwritten(error) => {
                let hint = "check where standard output goes; what the command did is recorded";
                complain(&Refusal::new(Code::StorageError, format!("the output cannot be written: {error}"), hint));
                Code::StorageError.exit_status()
            }
        }
    }
}

/// A command line that does not say what is wanted.
pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal::new(Code::Usage, message, hint)
}

/// Prints why a command line does not parse, or the help that it asks for; returns the exit status.
pub(crate) fn report_unparsed(error: &clap::Error, typed: &[OsString], root: &clap::Command) -> u8 {
    let json = typed.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json");
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match error.print() {
            Err(error) => Failure::Unwritten(error).report(json),
            Ok(()) => 0,
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !json => {
            // A closed standard error leaves nobody to tell.
            let _ = error.print();
            Code::Usage.exit_status()
        }
        _ => Failure::Refused(unparsed(error, &command_in(typed, root))).report(json),
    }
}

fn report(envelope: &Envelope, refusal: &Refusal, json: bool) -> u8 {
    if json {
        if let Err(failure) = output::print_envelope(envelope) {
            return failure.report(json).max(refusal.code.exit_status());
        }
    } else {
        complain(refusal);
    }
    refusal.code.exit_status()
}

fn complain(refusal: &Refusal) {
    let mut page = Page::new(Paper::stderr());
    page.paint(Paint::Bad, "error:");
    page.line(format!(" {}", hanging(&refusal.message, 2)));
    if !refusal.hint.is_empty() {
        page.paint(Paint::Good, "hint:");
        page.line(format!(" {}", hanging(&refusal.hint, 2)));
    }
    page.paint(Paint::Dim, "code:");
    page.line(format!(" {}", refusal.code));
    // A closed standard error leaves nobody to tell.
    let _ = io::stderr().write_all(page.into_text().as_bytes());
}

/// The command that was meant, for the hint: `querent item add`.
fn command_in(typed: &[OsString], root: &clap::Command) -> String {
    let mut command = root;
    let mut name = "querent".to_owned();
    for arg in typed.iter().skip(1).filter_map(|arg| arg.to_str()) {
        if let Some(found) = command.find_subcommand(arg) {
            command = found;
            name = format!("{name} {}", found.get_name());
        }
    }
    name
}

/// One sentence and a hint for each way in which a command line can be wrong.
pub(crate) fn unparsed(error: &clap::Error, command: &str) -> Refusal {
    let arg = shown(error, ContextKind::InvalidArg).unwrap_or_default();
    let look = format!("see {command} --help");
    let near = |kind| shown(error, kind).map(|near| format!("did you mean `{near}`? Else {look}"));
    let (message, hint) = match error.kind() {
        ErrorKind::UnknownArgument => unknown_argument(&arg, near(ContextKind::SuggestedArg)),
        ErrorKind::InvalidSubcommand => {
            let given = shown(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            (format!("there is no command `{given}`"), near(ContextKind::SuggestedSubcommand))
        }
        ErrorKind::InvalidValue => invalid_value(error, &arg),
        ErrorKind::ValueValidation => {
            let number = error.source().and_then(|source| source.downcast_ref::<std::num::ParseIntError>());
            let why = match (number, error.source()) {
                (Some(_), _) => "it is not a whole number".to_owned(),
                (None, source) => source.map(ToString::to_string).unwrap_or_default(),
            };
            (format!("the value of `{arg}` does not parse: {why}"), None)
        }
        ErrorKind::MissingRequiredArgument => (format!("a required argument is missing: {arg}"), None),
        ErrorKind::ArgumentConflict => {
            let prior = shown(error, ContextKind::PriorArg).filter(|prior| *prior != arg);
            let twice = format!("`{arg}` is given twice");
            (prior.map_or(twice, |prior| format!("`{arg}` and `{prior}` exclude each other")), None)
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            ("a command is missing".to_owned(), None)
        }
        ErrorKind::InvalidUtf8 => ("an argument is not valid UTF-8".to_owned(), None),
        other => (other.to_string(), None),
    };
    usage(message, hint.unwrap_or(look))
}

fn unknown_argument(arg: &str, near: Option<String>) -> (String, Option<String>) {
    let is_option = arg.trim_start_matches('-').starts_with(|c: char| c.is_ascii_alphanumeric());
    match (arg.starts_with('-'), is_option) {
        (true, true) => (format!("there is no option `{arg}`"), near),
        (true, false) => ("an argument begins with a dash and is no option".to_owned(), Some(DASHED.to_owned())),
        (false, _) => (format!("unexpected argument `{arg}`"), Some("put a text that has spaces in quotes".to_owned())),
    }
}

fn invalid_value(error: &clap::Error, arg: &str) -> (String, Option<String>) {
    let valid = shown(error, ContextKind::ValidValue).map(|valid| format!("use one of: {valid}"));
    match shown(error, ContextKind::InvalidValue).filter(|value| !value.is_empty()) {
        Some(value) => {
            let near = shown(error, ContextKind::SuggestedValue).map(|near| format!("did you mean `{near}`?"));
            let hint: Vec<String> = [near, valid].into_iter().flatten().collect();
            (format!("`{value}` is not a value of `{arg}`"), (!hint.is_empty()).then(|| hint.join(" Else ")))
        }
        None => (format!("`{arg}` lacks its value"), valid.or_else(|| Some(DASHED.to_owned()))),
    }
}

const DASHED: &str = "write a value that begins with a dash as --option='- the value'";

/// Whether it is what somebody may have meant.
fn is_guess(kind: ContextKind) -> bool {
    matches!(kind, ContextKind::SuggestedSubcommand | ContextKind::SuggestedArg | ContextKind::SuggestedValue)
}

/// What clap found, in words: an option without the name of its value.
fn shown(error: &clap::Error, kind: ContextKind) -> Option<String> {
    let bare = |text: &str| match text.split_once(' ') {
        Some((option, _)) if option.starts_with("--") && kind != ContextKind::InvalidValue => option.to_owned(),
        _ => text.to_owned(),
    };
    match error.get(kind)? {
        ContextValue::String(text) => Some(bare(text)),
        // The nearest stands last; the others are guesses that help nobody.
        ContextValue::Strings(texts) if is_guess(kind) => texts.last().map(|text| bare(text)),
        ContextValue::Strings(texts) if !texts.is_empty() => {
            Some(texts.iter().map(|text| bare(text)).collect::<Vec<_>>().join(", "))
        }
        _ => None,
    }
}
