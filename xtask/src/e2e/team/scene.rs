//! A project in a git repository, with agents that Querent can invoke.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::e2e::project::{Project, hold};

/// The workflows: in both there is one step, of which an agent may ask the other.
const WORKFLOWS: [(&str, &str); 2] = [
    (
        "build",
        "name = \"build\"\n\n[[steps]]\nname = \"implement\"\nagent = \"engineer\"\ncan_clarify = [\"architect\"]\n",
    ),
    ("plan", "name = \"plan\"\n\n[[steps]]\nname = \"design\"\nagent = \"architect\"\ncan_clarify = [\"engineer\"]\n"),
];

/// A project for a team: the provider of the engineer is called `engineer`, that of the architect `architect`.
pub(in crate::e2e) struct Scene {
    pub(in crate::e2e) project: Project,
}

impl Scene {
    /// A repository with one commit, and this project in it. `providers` is what the config says of them, given the folder.
    pub(in crate::e2e) fn new(binary: &Path, providers: impl FnOnce(&Path) -> String) -> Result<Self, String> {
        let scene = Self::begun(binary, "feature")?;
        for (name, text) in WORKFLOWS {
            scene.write(&format!(".querent/workflows/{name}.toml"), text)?;
        }
        // The shipped workflows name the other two.
        let agents = "[agents.product-manager]\nrank = 1\n\n[agents.reviewer]\nrank = 4\n\n[agents.architect]\nrank = 2\nprovider = \"architect\"\n\n\
                      [agents.engineer]\nrank = 3\nprovider = \"engineer\"\n";
        let providers = providers(scene.project.folder());
        let config = format!("[project]\nname = \"team\"\nworkflow = \"build\"\n\n{agents}\n{providers}");
        scene.write(".querent/config.toml", &config)?;
        Ok(scene)
    }

    /// A project with the agents and the workflow `waves` as they are shipped, who all follow this script.
    pub(super) fn waves(binary: &Path, script: &str) -> Result<Self, String> {
        let scene = Self::begun(binary, "waves")?;
        let config = fs::read_to_string(scene.place(".querent/config.toml")).map_err(|error| error.to_string())?;
        let config = config.replace("\nrank = ", "\nprovider = \"script\"\nrank = ");
        let provider = "[providers.script]\nkind = \"scripted\"\nscript = \"script.yaml\"\n";
        scene.write(".querent/config.toml", &format!("{config}\n{provider}"))?;
        scene.write("script.yaml", script)?;
        Ok(scene)
    }

    /// A repository with one commit, and a project in it as it is shipped.
    fn begun(binary: &Path, workflow: &str) -> Result<Self, String> {
        let scene = Self { project: Project::empty(binary)? };
        scene.git(&["init", "--quiet"])?;
        scene.write("README.md", "A project.\n")?;
        scene.git(&["add", "README.md"])?;
        scene.git(&["-c", "user.name=e2e", "-c", "user.email=e2e@localhost", "commit", "--quiet", "-m", "Begin"])?;
        scene.project.ok(&["init", "--workflow", workflow])?;
        Ok(scene)
    }

    /// A project whose agents both follow this script.
    pub(super) fn scripted(binary: &Path, script: &str) -> Result<Self, String> {
        let provider = |name: &str| format!("[providers.{name}]\nkind = \"scripted\"\nscript = \"script.yaml\"\n\n");
        let scene = Self::new(binary, |_| provider("engineer") + &provider("architect"))?;
        scene.write("script.yaml", script)?;
        Ok(scene)
    }

    /// A project whose engineer is this shell script, and whose architect follows that one. `settings` is what else the
    /// config says of the engineer's provider.
    pub(super) fn shell(binary: &Path, engineer: &str, settings: &str, architect: &str) -> Result<Self, String> {
        let scene = Self::new(binary, |folder| {
            // It is run in the worktree of an item.
            let file = Value::from(folder.join("engineer.sh").to_string_lossy());
            format!(
                "[providers.engineer]\nkind = \"command\"\ncommand = [\"sh\", {file}]\n{settings}\n\n\
                 [providers.architect]\nkind = \"scripted\"\nscript = \"architect.yaml\"\n"
            )
        })?;
        scene.write("architect.yaml", architect)?;
        scene.write("engineer.sh", engineer)?;
        Ok(scene)
    }

    /// Adds an item to a workflow.
    pub(in crate::e2e) fn add(&self, item: &str, workflow: &str) -> Result<(), String> {
        self.project.ok(&["item", "add", item, "--title", "Sessions", "--workflow", workflow]).map(drop)
    }

    /// The item as it stands.
    pub(in crate::e2e) fn item(&self, item: &str) -> Result<Value, String> {
        Ok(self.project.ok(&["item", "show", item])?["item"].take())
    }

    /// The journal.
    pub(in crate::e2e) fn records(&self) -> Result<Vec<Value>, String> {
        let output = self.project.plain(&["events"])?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(|line| serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))).collect()
    }

    /// The records of one type on one item.
    pub(in crate::e2e) fn of(&self, item: &str, kind: &str) -> Result<Vec<Value>, String> {
        let mut records = self.records()?;
        records.retain(|record| record["stream"] == item && record["type"] == kind);
        Ok(records)
    }

    /// Nothing is left of the work but branches: no worktree, and no process; and the journal is whole.
    pub(in crate::e2e) fn is_tidy(&self) -> Result<(), String> {
        let trees = fs::read_dir(self.place(".querent/worktrees")).into_iter().flatten().flatten();
        let trees: Vec<_> = trees.map(|entry| entry.file_name()).collect();
        hold(trees.is_empty(), || format!("worktrees are left: {trees:?}"))?;
        let known = self.git(&["worktree", "list", "--porcelain"])?;
        let known = known.lines().filter(|line| line.starts_with("worktree ")).count();
        hold(known == 1, || format!("git knows of {known} worktrees"))?;
        self.nothing_runs()?;
        let health = self.project.ok(&["doctor"])?;
        hold(health["healthy"] == true, || format!("the doctor says {health}"))
    }

    /// No process works in the folder, or on it.
    pub(in crate::e2e) fn nothing_runs(&self) -> Result<(), String> {
        let folder = self.project.folder().to_string_lossy().into_owned();
        let mut left = Vec::new();
        for entry in fs::read_dir("/proc").map_err(|error| error.to_string())?.flatten() {
            let process = entry.path();
            let line = fs::read(process.join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            let works_there = fs::read_link(process.join("cwd")).is_ok_and(|it| it.to_string_lossy().contains(&folder));
            if works_there || line.contains(&folder) {
                left.push(format!("{} {line}", process.display()));
            }
        }
        hold(left.is_empty(), || format!("still running: {left:?}"))
    }

    /// What git says.
    pub(super) fn git(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new("git");
        command.current_dir(self.project.folder()).args(arguments).stdin(Stdio::null());
        let output = command.output().map_err(|error| format!("git: {error}"))?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        hold(output.status.success(), || format!("git {} failed: {err}", arguments.join(" ")))?;
        Ok(out.into_owned())
    }

    /// Writes a file of the project.
    pub(in crate::e2e) fn write(&self, name: &str, text: &str) -> Result<(), String> {
        fs::write(self.place(name), text).map_err(|error| format!("{name}: {error}"))
    }

    fn place(&self, name: &str) -> std::path::PathBuf {
        self.project.folder().join(name)
    }
}
