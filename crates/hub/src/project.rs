//! Where a project lives, and how one is made.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use querent_core::{Code, Refusal};
use serde_json::json;

use crate::triggers;

/// A directory with a `.querent/` in it.
#[derive(Clone, Debug)]
pub struct Project {
    root: PathBuf,
}

/// A shipped set: its name, its agents (upstream first), its workflow files and its trigger files.
struct Set {
    name: &'static str,
    agents: &'static [&'static str],
    /// What the agents listen to.
    listens: &'static [(&'static str, &'static str)],
    workflows: &'static [(&'static str, &'static str)],
    triggers: &'static [(&'static str, &'static str)],
}

const CONFIG: &str = include_str!("templates/config.toml");

const SHIPPED: &[Set] = &[
    Set {
        name: "feature",
        agents: &["product-manager", "architect", "engineer", "reviewer"],
        listens: &[],
        workflows: &[
            ("feature.toml", include_str!("templates/feature.toml")),
            ("story.toml", include_str!("templates/story.toml")),
            ("bug.toml", include_str!("templates/bug.toml")),
            ("epic.toml", include_str!("templates/epic.toml")),
        ],
        triggers: &[],
    },
    Set {
        name: "waves",
        agents: &["planner", "builder", "qa"],
        listens: &[],
        workflows: &[("waves.toml", include_str!("templates/waves.toml"))],
        triggers: &[],
    },
    Set {
        name: "incubator",
        agents: &["ideator", "specifier", "builder", "learner"],
        listens: &[
            ("ideator", r#"["user.message"]"#),
            ("specifier", r#"["spec.revision_requested"]"#),
            ("builder", r#"["build.resume", "task.retry"]"#),
            ("learner", r#"["task.failed"]"#),
        ],
        workflows: &[("incubator.toml", include_str!("templates/incubator.toml"))],
        triggers: triggers::SHIPPED,
    },
];

/// Where the server that was started last says how it is reached.
const SERVED: &str = "run/serve.url";

/// What git need not know: everything that is not edited by people.
const IGNORED: &[&str] = &[
    ".querent/journal/",
    ".querent/journal.lock",
    ".querent/ledgers.lock",
    ".querent/items/",
    ".querent/open/",
    ".querent/shared/",
    ".querent/operations/",
    ".querent/run/",
    ".querent/worktrees/",
];

impl Project {
    /// The shipped sets that [`init`](Project::init) knows.
    pub const SETS: &[&str] = &["feature", "waves", "incubator"];

    /// The nearest project at or above `start`. In the worktree of an item that is the project that the worktree belongs to, not
    /// the copy of its files.
    pub fn find(start: &Path) -> Result<Self, Refusal> {
        let start = std::path::absolute(start).unwrap_or_else(|_| start.to_owned());
        let root = start.ancestors().find(|dir| dir.join(".querent").is_dir());
        root.map(|root| Self { root: home_of(root).to_owned() }).ok_or_else(|| {
            let message = format!("there is no Querent project in {} or above it", start.display());
            Refusal::new(Code::NoProject, message, "make one here with: querent init").with(json!({ "start": start }))
        })
    }

    /// The directory that holds `.querent/`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `.querent/` itself.
    pub fn dir(&self) -> PathBuf {
        self.root.join(".querent")
    }

    /// Where the server that was started last is reached; if there was none, where one listens that nobody told otherwise.
    pub fn served_at(&self) -> String {
        let said = fs::read_to_string(self.dir().join(SERVED)).unwrap_or_default();
        if said.trim().is_empty() { "http://127.0.0.1:7711".to_owned() } else { said.trim().to_owned() }
    }

    /// A server is reached there. It helps those who make links and no more, so nobody fails without it.
    pub fn serves_at(&self, url: &str) {
        let _ = fs::create_dir_all(self.dir().join("run"));
        let _ = fs::write(self.dir().join(SERVED), format!("{url}\n"));
    }

    /// Makes a project in `root`, or adds what is missing. Overwrites nothing. Returns what was created, relative to `root`.
    pub fn init(root: &Path, name: Option<&str>, workflow: &str) -> Result<(Self, Vec<PathBuf>), Refusal> {
        let Some(set) = SHIPPED.iter().find(|set| set.name == workflow) else {
            let message = format!("there is no shipped workflow `{workflow}`");
            return Err(Refusal::invalid("workflow", message, format!("use one of: {}", Self::SETS.join(", "))));
        };
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let directory = root.file_name().map_or("project".into(), |it| it.to_string_lossy());
        let name = name.unwrap_or(&directory);
        if name.trim().is_empty() || name.chars().count() > 200 {
            return Err(Refusal::invalid(
                "name",
                "the project's name is empty or too long",
                "give it 1 to 200 characters",
            ));
        }
        check_agents(&root, set)?;
        let mut files = vec![(PathBuf::from(".querent/config.toml"), config(name, set))];
        files.extend(
            set.workflows.iter().map(|(file, text)| (Path::new(".querent/workflows").join(file), (*text).to_owned())),
        );
        files.extend(set.triggers.iter().map(|(name, text)| (triggers::path(name), (*text).to_owned())));
        let mut created = Vec::new();
        for (path, text) in files {
            let full = root.join(&path);
            if !full.exists() {
                write(&full, &text)?;
                created.push(path);
            }
        }
        if ignore(&root)? {
            created.push(".gitignore".into());
        }
        Ok((Self { root }, created))
    }
}

fn config(name: &str, set: &Set) -> String {
    let listens = |agent: &str| {
        let on = set.listens.iter().find(|(name, _)| *name == agent);
        on.map_or_else(String::new, |(_, events)| format!("on = {events}\n"))
    };
    let agents: Vec<String> = (1..)
        .zip(set.agents)
        .map(|(rank, agent)| format!("[agents.{agent}]\nrank = {rank}\n{}", listens(agent)))
        .collect();
    let name = json!(name).to_string();
    let text = CONFIG.replace("{name}", &name).replace("{workflow}", set.name);
    text.replace("{agents}\n", &agents.join("\n"))
}

/// The project whose item is worked on in `root`; that itself, if it is no worktree of one.
fn home_of(root: &Path) -> &Path {
    let trees = root.ancestors().find(|dir| dir.ends_with(".querent/worktrees"));
    trees.and_then(|trees| trees.parent()?.parent()).unwrap_or(root)
}

/// A project that is there already must declare the agents of the set: its config is its owner's, and stays as it is.
fn check_agents(root: &Path, set: &Set) -> Result<(), Refusal> {
    let dir = root.join(".querent");
    if !dir.join("config.toml").exists() {
        return Ok(());
    }
    let declared = crate::config::config(&dir)?.agents;
    let missing: Vec<&str> =
        set.agents.iter().copied().filter(|agent| !declared.keys().any(|it| it.as_str() == *agent)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message =
        format!("there is a project here already, without the agents of `{}`: {}", set.name, missing.join(", "));
    let hint = "declare them in .querent/config.toml ([agents.NAME]) and run this again; nothing was changed";
    Err(Refusal::new(Code::Conflict, message, hint).with(json!({ "missing": missing })))
}

/// Adds the lines that `.gitignore` lacks; says whether it lacked some. What is there stays, whatever its encoding.
fn ignore(root: &Path) -> Result<bool, Refusal> {
    let path = root.join(".gitignore");
    let old = match fs::read(&path) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(unwritable(&path, &error)),
    };
    let lines: Vec<&[u8]> = old.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect();
    let missing: Vec<&str> = IGNORED.iter().copied().filter(|line| !lines.contains(&line.as_bytes())).collect();
    if missing.is_empty() {
        return Ok(false);
    }
    let gap = if old.is_empty() || old.ends_with(b"\n") { "" } else { "\n" };
    let added = format!("{gap}{}\n", missing.join("\n"));
    let file = fs::OpenOptions::new().append(true).create(true).open(&path);
    file.and_then(|mut file| file.write_all(added.as_bytes())).map_err(|error| unwritable(&path, &error))?;
    Ok(true)
}

/// Writes a file, and the directories above it where they are missing.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Refusal> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
    made.map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> Refusal {
    let message = format!("cannot write {}: {error}", path.display());
    Refusal::new(Code::StorageError, message, "make the directory writable for you").with(json!({ "path": path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_set_loads_as_it_is_written() {
        for set in Project::SETS {
            let dir = tempfile::tempdir().unwrap();

            let (project, created) = Project::init(dir.path(), Some("a \"shop\""), set).unwrap();

            let rules = crate::config::load(&project.dir()).unwrap();
            assert_eq!(rules.config.project.name, "a \"shop\"");
            assert_eq!(rules.default_workflow(), *set);
            assert!(created.contains(&".querent/config.toml".into()), "{created:?}");
        }
    }

    #[test]
    fn a_second_init_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".gitignore"), "target").unwrap();
        Project::init(dir.path(), None, "feature").unwrap();
        let config = fs::read(dir.path().join(".querent/config.toml")).unwrap();
        let ignored = fs::read_to_string(dir.path().join(".gitignore")).unwrap();

        let (_, created) = Project::init(dir.path(), Some("other"), "feature").unwrap();

        assert!(created.is_empty(), "{created:?}");
        assert_eq!(fs::read(dir.path().join(".querent/config.toml")).unwrap(), config);
        assert!(ignored.starts_with("target\n.querent/journal/\n"), "{ignored}");
    }

    #[test]
    fn in_the_worktree_of_an_item_the_project_is_the_one_that_it_belongs_to() {
        let dir = tempfile::tempdir().unwrap();
        Project::init(dir.path(), None, "feature").unwrap();
        let inside = dir.path().join(".querent/worktrees/42/src");
        std::fs::create_dir_all(inside.join("../.querent")).unwrap();
        std::fs::create_dir_all(&inside).unwrap();

        assert_eq!(Project::find(&inside).unwrap().root(), dir.path());
    }

    #[test]
    fn another_set_needs_its_agents_first_and_changes_nothing_without_them() {
        let dir = tempfile::tempdir().unwrap();
        Project::init(dir.path(), None, "feature").unwrap();

        let refusal = Project::init(dir.path(), None, "waves").unwrap_err();

        assert_eq!(refusal.code, Code::Conflict);
        assert!(refusal.message.contains("planner, builder, qa"), "{}", refusal.message);
        assert!(!dir.path().join(".querent/workflows/waves.toml").exists());
    }

    #[test]
    fn a_gitignore_that_is_no_utf_8_is_kept_to_the_byte() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".gitignore"), b"caf\xe9\n").unwrap();

        Project::init(dir.path(), None, "feature").unwrap();

        assert!(fs::read(dir.path().join(".gitignore")).unwrap().starts_with(b"caf\xe9\n.querent/journal/\n"));
    }
}
