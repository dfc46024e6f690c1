//! The shop that the demo works on: a small repository, its project, and what its agents say.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use querent_core::{Code, Refusal, Span};
use querent_hub::Project;

/// The files of the shop, and of the agents that work on it.
const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("shop/README.md")),
    ("src/shop.js", include_str!("shop/shop.js")),
    ("src/orders.js", include_str!("shop/orders.js")),
    ("migrations/0001_orders.sql", include_str!("shop/0001_orders.sql")),
    ("scripts/product-manager.yaml", include_str!("scripts/product-manager.yaml")),
    ("scripts/architect.yaml", include_str!("scripts/architect.yaml")),
    ("scripts/engineer.yaml", include_str!("scripts/engineer.yaml")),
    ("scripts/reviewer.yaml", include_str!("scripts/reviewer.yaml")),
    (".querent/workflows/launch.toml", include_str!("launch.toml")),
];
/// The agents that have a script.
const SCRIPTED: &[&str] = &["product-manager", "architect", "engineer", "reviewer"];
/// How git is called, whatever the user's own settings are.
const GIT: &[&str] = &[
    "-c",
    "user.name=Querent demo",
    "-c",
    "user.email=demo@querent.invalid",
    "-c",
    "init.defaultBranch=main",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "core.hooksPath=/dev/null",
];

/// The shop.
pub(super) struct Shop {
    pub(super) project: Project,
    /// Whether it is a git repository, so that each item has a branch and a worktree.
    pub(super) has_git: bool,
}

impl Shop {
    /// Makes the shop in an empty directory. A person has `patience` for what has a fallback.
    pub(super) fn make(directory: &Path, patience: Span) -> Result<Self, Refusal> {
        let has_git = git(directory, &["init", "--quiet"]);
        let (project, _) = Project::init(directory, Some("demo"), "feature")?;
        for (path, text) in FILES {
            write(&directory.join(path), &if has_git { (*text).to_owned() } else { without_patches(text) })?;
        }
        configure(&project, patience, has_git)?;
        let has_git = has_git
            && git(directory, &["add", "--all"])
            && git(directory, &["commit", "--quiet", "--no-verify", "-m", "A small shop"]);
        Ok(Self { project, has_git })
    }
}

/// Gives the agents of the config their scripts, and people little time: a demo is short.
fn configure(project: &Project, patience: Span, has_git: bool) -> Result<(), Refusal> {
    let file = project.dir().join("config.toml");
    let mut text = std::fs::read_to_string(&file).map_err(|error| unusable(&file, &error))?;
    for agent in SCRIPTED {
        let section = format!("[agents.{agent}]\n");
        text = text.replacen(&section, &format!("{section}provider = \"{agent}\"\n"), 1);
    }
    text = text.replacen("timeout = \"15m\" ", &format!("timeout = \"{patience}\" "), 1);
    text.push_str(include_str!("team.toml"));
    if !has_git {
        text.push_str("\n[run]\nworktrees = false\n");
    }
    write(&file, &text)
}

/// Patches are applied in git worktrees only.
fn without_patches(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.contains("type: PATCH")).collect()
}

fn write(file: &Path, text: &str) -> Result<(), Refusal> {
    let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(file, text)).map_err(|error| unusable(file, &error))
}

/// Calls git; says whether that went well. A machine without it has a demo without branches.
fn git(directory: &Path, args: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.args(GIT).args(args).current_dir(directory);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A directory of the user's choice. Nothing that is there is ever touched.
pub(super) fn fresh(directory: &Path) -> Result<PathBuf, Refusal> {
    let shown = directory.display();
    let hint = "name a directory that is empty or not there yet, or leave --dir out";
    let taken =
        |what: &str| Refusal::new(Code::Conflict, format!("`{shown}` {what}; the demo does not touch it"), hint);
    if directory.join(".querent").exists() {
        return Err(taken("is a Querent project"));
    }
    match directory.read_dir().map(|mut entries| entries.next().is_some()) {
        Ok(true) => return Err(taken("is not empty")),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Err(taken("is not a directory")),
        _ => {}
    }
    std::fs::create_dir_all(directory).map_err(|error| unusable(directory, &error))?;
    std::path::absolute(directory).map_err(|error| unusable(directory, &error))
}

/// A temporary directory that was not there before.
pub(super) fn temporary() -> Result<PathBuf, Refusal> {
    let place = |attempt| std::env::temp_dir().join(format!("querent-demo-{}-{attempt}", std::process::id()));
    for directory in (1..100).map(place) {
        match std::fs::create_dir(&directory) {
            Ok(()) => return Ok(directory),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unusable(&directory, &error)),
        }
    }
    Err(Refusal::new(Code::StorageError, "the temporary directory is full of demos", "delete old querent-demo-* there"))
}

fn unusable(directory: &Path, error: &io::Error) -> Refusal {
    let message = format!("`{}` cannot be made: {error}", directory.display());
    Refusal::new(Code::StorageError, message, "name another place: querent demo --dir DIR")
}
