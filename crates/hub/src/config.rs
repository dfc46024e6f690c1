//! Reading the files that people edit, and saying exactly what is wrong with them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use querent_core::{AgentName, Code, Config, Refusal, Rules, Stage, Workflow, nearest};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::notify;
use crate::team;

/// Reads `config.toml` and `workflows/*.toml` under `.querent/`.
pub(crate) fn load(dir: &Path) -> Result<Rules, Refusal> {
    let config = config(dir)?;
    let mut workflows = BTreeMap::new();
    for path in workflow_files(dir)? {
        let (workflow, text): (Workflow, String) = read(&path)?;
        check_workflow(&File { path: &path, text: &text }, &workflow, &config)?;
        let name = workflow.name.clone();
        if workflows.insert(name.clone(), workflow).is_some() {
            return Err(wrong(
                &path,
                &format!("the workflow `{name}` is there twice"),
                "give each file's workflow a name of its own",
            ));
        }
    }
    check_default(dir, &config, &workflows)?;
    Ok(Rules { config, workflows })
}

/// Reads `config.toml` alone.
pub(crate) fn config(dir: &Path) -> Result<Config, Refusal> {
    let path = dir.join("config.toml");
    let (config, text): (Config, String) = read(&path)?;
    let file = File { path: &path, text: &text };
    notify::check::check(&file, &config)?;
    team::check::check(&file, &config)?;
    Ok(config)
}

/// The workflow files, in the order of their names.
pub(crate) fn workflow_files(dir: &Path) -> Result<Vec<PathBuf>, Refusal> {
    files(&dir.join("workflows"), "toml")
}

/// The files of a directory whose names end so, in the order of their names; none where there is no directory.
pub(crate) fn files(dir: &Path, extension: &str) -> Result<Vec<PathBuf>, Refusal> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(wrong(dir, &error.to_string(), "make the directory readable")),
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == extension));
    paths.sort_unstable();
    Ok(paths)
}

/// The text of a file that people edit.
pub(crate) fn text(path: &Path) -> Result<String, Refusal> {
    fs::read_to_string(path).map_err(|error| {
        let hint = match error.kind() {
            ErrorKind::NotFound => "make it with: querent init",
            ErrorKind::InvalidData => "save it as UTF-8",
            _ => "make it readable for you",
        };
        wrong(path, &error.to_string(), hint)
    })
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<(T, String), Refusal> {
    let text = text(path)?;
    let read = toml::from_str(&text).map_err(|error| explain(&File { path, text: &text }, &error))?;
    Ok((read, text))
}

/// A file that people edit, as it was read.
#[derive(Clone, Copy)]
pub(crate) struct File<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
}

impl File<'_> {
    /// The refusal that names the line and the column of what stands at `start`.
    pub(crate) fn wrong(&self, start: usize, message: &str, hint: impl Into<String>, near: Option<&str>) -> Refusal {
        let before = self.text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |it| it.chars().count()) + 1;
        let message = format!("{}:{line}:{column}: {message}", self.path.display());
        Refusal::new(Code::InvalidConfig, message, hint)
            .with(json!({ "file": self.path, "line": line, "column": column, "nearest": near }))
    }

    /// Where the step of this number says `word`; where it begins, if it is written in a way that is not found.
    fn in_step(&self, number: usize, word: &str) -> usize {
        let step = self.text.match_indices("[[steps]]").nth(number).map_or(0, |(start, _)| start);
        self.text[step..].find(&format!("\"{word}\"")).map_or(step, |found| step + found)
    }
}

fn explain(file: &File<'_>, error: &toml::de::Error) -> Refusal {
    let start = error.span().map_or(0, |span| span.start.min(file.text.len()));
    unread(file, start, error.message(), "docs/reference/config.md")
}

/// The refusal with the line, the column and the nearest name that would be accepted. `page` explains the file.
pub(crate) fn unread(file: &File<'_>, start: usize, message: &str, page: &str) -> Refusal {
    let message = message.lines().next().unwrap_or_default().to_owned();
    let named: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let near = match named.as_slice() {
        [given, known @ ..] if message.starts_with("unknown ") => nearest::of(given, known.iter().copied()),
        _ => None,
    };
    let hint = match (near, named.as_slice()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, [_, known @ ..]) if message.starts_with("unknown ") && !known.is_empty() => {
            format!("known here: {}", known.join(", "))
        }
        _ => format!("correct the line; see {page}"),
    };
    // What is expected stands in the hint where it is a name, and nowhere else where it is a type.
    let short = match near {
        Some(_) => message.split(", expected").next().unwrap_or(&message),
        None => message.strip_prefix("invalid_input: ").unwrap_or(&message),
    };
    file.wrong(start, short, hint, near)
}

fn check_workflow(file: &File<'_>, workflow: &Workflow, config: &Config) -> Result<(), Refusal> {
    if workflow.steps.is_empty() {
        return Err(wrong(file.path, "the workflow has no steps", "add a [[steps]] table with a name and an agent"));
    }
    let mut names = BTreeSet::new();
    for (number, step) in workflow.steps.iter().enumerate() {
        let name = step.name.as_str();
        let wrong = |message: &str, hint: &str| file.wrong(file.in_step(number, name), message, hint, None);
        if Stage::FIXED.contains(&name)
            || name.trim().is_empty()
            || name.chars().any(|c| c.is_control() || c.is_whitespace())
        {
            let message = format!("a step cannot be called `{name}`");
            return Err(wrong(&message, "use a word that is not the name of a fixed stage, like `implement`"));
        }
        if !names.insert(name) {
            return Err(wrong(&format!("the step `{name}` is there twice"), "give each step a name of its own"));
        }
        if step.clarify_max_rounds == Some(0) || step.clarify_sla_minutes == 0 {
            let message = format!("step `{name}`: rounds and minutes are at least 1");
            return Err(wrong(&message, "leave the key out for its default"));
        }
        for agent in [&step.agent].into_iter().chain(&step.can_clarify) {
            check_agent(file, (number, name), agent, config)?;
        }
    }
    Ok(())
}

fn check_agent(file: &File<'_>, step: (usize, &str), agent: &AgentName, config: &Config) -> Result<(), Refusal> {
    if config.agents.contains_key(agent) {
        return Ok(());
    }
    let near = nearest::of(agent.as_str(), config.agents.keys().map(AgentName::as_str));
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("declare it in .querent/config.toml: [agents.{agent}]"),
    };
    let (number, name) = step;
    let message = format!("step `{name}` names the agent `{agent}`, which is not declared");
    Err(file.wrong(file.in_step(number, agent.as_str()), &message, hint, near))
}

fn check_default(dir: &Path, config: &Config, workflows: &BTreeMap<String, Workflow>) -> Result<(), Refusal> {
    match &config.project.workflow {
        Some(name) if !workflows.contains_key(name) => {
            let hint = match nearest::of(name, workflows.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("add .querent/workflows/{name}.toml, or bring the shipped ones back: querent init"),
            };
            Err(wrong(
                &dir.join("config.toml"),
                &format!("project.workflow is `{name}`, and there is no such workflow"),
                &hint,
            ))
        }
        _ => Ok(()),
    }
}

fn wrong(path: &Path, message: &str, hint: &str) -> Refusal {
    Refusal::new(Code::InvalidConfig, format!("{}: {message}", path.display()), hint).with(json!({ "file": path }))
}
