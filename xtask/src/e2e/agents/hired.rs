//! A team whose agents are real programs, with one model behind all of them. Nothing is set up for them but their model:
//! `querent run` hands them its tools.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::programs::Program;
use super::{Model, PACKAGES, surroundings};
use crate::cache::Cache;
use crate::e2e::project::hold;
use crate::e2e::team::{Runner, Scene};

/// The team, with an item `42` that the engineer is to work on.
pub(super) struct Hired {
    pub(super) scene: Scene,
    pub(super) model: Model,
    environment: Vec<(String, OsString)>,
    _home: TempDir,
}

impl Hired {
    /// Both may be the same program.
    pub(super) fn new(binary: &Path, model: Model, engineer: &Program, architect: &Program) -> Result<Self, String> {
        let cache = Cache::of_user()?;
        let home = TempDir::with_prefix("querent-home-").map_err(|error| error.to_string())?;
        let path = PACKAGES.path(&cache, binary.parent().unwrap_or(binary).to_owned())?;
        let mut environment = surroundings(home.path(), &path, &model.url());
        for program in [engineer, architect] {
            (program.settle)(home.path(), home.path(), &model.url())?;
            let own = (program.environment)(&model.url());
            environment.extend(own.into_iter().map(|(name, it)| (name.to_owned(), it.into())));
        }
        let names: Vec<&str> = environment.iter().map(|(name, _)| name.as_str()).collect();
        let provider = |name: &str, program: &Program| {
            let (kind, command) = program.provider;
            let (command, env) = (json!(command), json!(names));
            format!("[providers.{name}]\nkind = \"{kind}\"\ncommand = {command}\nenv = {env}\n\n")
        };
        let scene = Scene::new(binary, |_| provider("engineer", engineer) + &provider("architect", architect))?;
        scene.add("42", "build")?;
        Ok(Self { scene, model, environment, _home: home })
    }

    /// A run to its end; says how it saw it.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = self.scene.project.command(&[&["run", "--json"], arguments].concat());
        command.env_clear().envs(self.environment.clone());
        Ok(Runner::of(command)?.finish()?.0)
    }

    /// Plays it; a failure also says what happened, and what the model saw. The programs reach nobody else, and leave no file.
    pub(super) fn play(self, act: impl FnOnce(&Self) -> Result<(), String>) -> Result<(), String> {
        let before = files(self.scene.project.folder());
        act(&self).map_err(|why| {
            let records = self.scene.records().unwrap_or_default();
            format!("{why}\nthe journal: {}\nthe model saw: {}", Value::from(records), self.model.seen().join("\n"))
        })?;
        let strangers = self.model.strangers();
        hold(strangers.is_empty(), || format!("they wanted more than their model: {strangers:?}"))?;
        let after = files(self.scene.project.folder());
        hold(before == after, || format!("the repository has other files now: {after}"))
    }
}

/// The names of what is in the project's folder, but for what is Querent's or git's own.
fn files(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names.iter().fold(String::new(), |mut all, name| {
        let _ = writeln!(all, "{name}");
        all
    })
}
