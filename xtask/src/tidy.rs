//! The rules that no compiler checks. Each is a function over contents, so that its failing case is a test.

mod commands;
mod files;
mod links;
mod pages;
mod source;
mod text;

use std::fmt;
use std::path::{Path, PathBuf};

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: PathBuf,
    line: usize,
    what: String,
}

impl Finding {
    fn new(path: &Path, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.what)
    }
}

/// A file of the project: its path from the root, and its text if it is one.
struct File {
    path: PathBuf,
    text: String,
}

/// Checks the whole tree, printing every finding.
pub(crate) fn check() -> Result<(), String> {
    let files = files::all(&crate::root())?;
    let mut findings = survey(&files);
    findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy: {} files keep the rules", files.len());
            Ok(())
        }
        1 => Err("one thing is not tidy".to_owned()),
        many => Err(format!("{many} things are not tidy")),
    }
}

fn survey(files: &[File]) -> Vec<Finding> {
    let paths: Vec<&Path> = files.iter().map(|file| file.path.as_path()).collect();
    let mut findings = Vec::new();
    for File { path, text } in files {
        findings.extend(text::check(path, text));
        match path.extension().and_then(|it| it.to_str()) {
            Some("rs") => findings.extend(source::check(path, text)),
            Some("md") => findings.extend(links::check(path, text, &paths)),
            _ => {}
        }
    }
    findings.extend(pages::check(files));
    findings.extend(commands::check(files));
    findings
}
