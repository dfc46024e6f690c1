//! The agent programs that can be connected: where each keeps its settings, and what stands there when it is.
//!
//! Everything here but `file` and `program` is a function from a text to a text, so it can be tried without a disk.

mod claude;
mod codex;
mod file;
mod gemini;
mod json;
mod json_text;
mod opencode;
mod program;
mod toml;
mod tree;
mod vscode;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use querent_core::{AgentName, ItemId, Refusal};

pub(crate) use file::{Change, Outcome, write};
use json::{Dialect, Json, Step};
pub(crate) use program::program;
use tree::{Edited, Unfit};

/// The name under which every client knows Querent's server.
const NAME: &str = "querent";
/// A call that waits for an answer takes up to 50 seconds, and many clients give up after a minute or less.
const PATIENCE_SECONDS: u32 = 120;

/// A program that runs agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    Claude,
    Codex,
    Opencode,
    Gemini,
    Vscode,
}

/// What a client is told.
#[derive(Clone, Debug)]
pub(crate) struct Registration {
    /// How Querent is started.
    pub(crate) program: String,
    /// As whom the client asks.
    pub(crate) agent: AgentName,
    /// On which item, if it is always the same.
    pub(crate) item: Option<ItemId>,
    /// Whether hooks are wanted, where the client has them.
    pub(crate) hooks: bool,
}

/// Whose settings are meant.
#[derive(Clone, Debug)]
pub(crate) enum Scope {
    /// The project's, in this directory.
    Project(PathBuf),
    /// The user's own.
    User(Home),
}

/// Where a user's settings are.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    /// The home directory.
    pub(crate) dir: PathBuf,
    /// Looks up a variable that is set and not empty.
    pub(crate) variable: fn(&str) -> Option<String>,
}

/// A file of a client.
struct Part {
    /// Where it is; the first is the one that connect writes if none is there yet.
    paths: fn(&Scope) -> Vec<PathBuf>,
    connect: fn(Option<&str>, &Registration, &Scope) -> Edited,
    disconnect: fn(Option<&str>) -> Edited,
}

impl Client {
    /// All of them.
    pub(crate) const ALL: &[Self] = &[Self::Claude, Self::Codex, Self::Opencode, Self::Gemini, Self::Vscode];

    /// The word for it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Gemini => "gemini",
            Self::Vscode => "vscode",
        }
    }

    /// Its name.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Opencode => "opencode",
            Self::Gemini => "Gemini CLI",
            Self::Vscode => "VS Code",
        }
    }

    /// What a person has to do before the client uses what was written.
    pub(crate) fn next(self, scope: &Scope) -> Vec<String> {
        let is_user = matches!(scope, Scope::User(_));
        let texts: &[&str] = match (self, is_user) {
            (Self::Claude, false) => &["start claude in this directory and approve the server querent; then see /mcp"],
            (Self::Claude, true) => &["start claude in a project of Querent; /mcp shows the server"],
            (Self::Codex, false) => {
                &["start codex in this directory and trust it, else it does not read .codex/; then see codex mcp list"]
            }
            (Self::Codex, true) => &["see the server with: codex mcp list"],
            (Self::Opencode, _) => &["see the server with: opencode mcp list"],
            (Self::Gemini, false) => {
                &["start gemini in this directory and trust it, else it starts no servers; then see gemini mcp list"]
            }
            (Self::Gemini, true) => &["see the server with: gemini mcp list"],
            (Self::Vscode, _) => &["in VS Code, run \"MCP: List Servers\" and start querent"],
        };
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    /// What connecting would change, file by file. Nothing is written yet.
    pub(crate) fn connect(self, registration: &Registration, scope: &Scope) -> Result<Vec<Change>, Refusal> {
        let change = |part: &Part| {
            let paths = (part.paths)(scope);
            let path = paths.iter().find(|path| path.exists()).or(paths.first())?;
            Some(Change::plan(path, |text| (part.connect)(text, registration, scope)))
        };
        self.parts().iter().filter_map(change).collect()
    }

    /// What connecting would write into each file if there were none.
    pub(crate) fn fragments(self, registration: &Registration, scope: &Scope) -> Vec<Option<String>> {
        self.parts().iter().map(|part| (part.connect)(None, registration, scope).ok().flatten()).collect()
    }

    /// The same for what connecting wrote, to take it back.
    pub(crate) fn disconnect(self, scope: &Scope) -> Result<Vec<Change>, Refusal> {
        let paths = |part: &'static Part| {
            let there = (part.paths)(scope).into_iter().filter(|path| path.exists());
            there.map(|path| (path, part.disconnect))
        };
        let planned = self.parts().iter().flat_map(paths);
        planned.map(|(path, disconnect)| Change::plan(&path, disconnect)).collect()
    }

    const fn parts(self) -> &'static [Part] {
        match self {
            Self::Claude => claude::PARTS,
            Self::Codex => codex::PARTS,
            Self::Opencode => opencode::PARTS,
            Self::Gemini => gemini::PARTS,
            Self::Vscode => vscode::PARTS,
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Client {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|it| it.as_str() == text).ok_or_else(|| format!("`{text}` is no client"))
    }
}

impl Registration {
    /// What follows the program to start the server.
    fn arguments(&self) -> Vec<String> {
        self.call(&["mcp"])
    }

    /// A call of Querent for this agent.
    fn call(&self, command: &[&str]) -> Vec<String> {
        let agent = ["--agent", self.agent.as_str()];
        let item = self.item.iter().flat_map(|item| ["--item", item.as_str()]);
        command.iter().copied().chain(agent).chain(item).map(str::to_owned).collect()
    }
}

impl Home {
    /// The directory that a variable names, else one in the home directory.
    fn named(&self, variable: &str, otherwise: &str) -> PathBuf {
        (self.variable)(variable).map_or_else(|| self.dir.join(otherwise), PathBuf::from)
    }
}

/// A file of the project, or the user's.
fn either(scope: &Scope, project: &str, user: impl FnOnce(&Home) -> PathBuf) -> PathBuf {
    match scope {
        Scope::Project(root) => root.join(Path::new(project)),
        Scope::User(home) => user(home),
    }
}

/// Makes an entry of a JSON file say what `entry` says. One with any of `foreign` in it is somebody else's.
fn json_entry(text: Option<&str>, dialect: Dialect, path: &[&str], entry: &tree::Tree, foreign: &[&str]) -> Edited {
    let mut json = Json::read(text, dialect)?;
    let steps: Vec<Step<'_>> = path.iter().map(|key| Step::Key(key)).collect();
    let name = path.join(".");
    let other = json.look(&steps, |it| match it.as_object() {
        Some(object) => foreign.iter().find(|key| object.get(key).is_some()).map(|key| format!("has a `{key}`")),
        None => Some("is not an object".to_owned()),
    })?;
    if let Some(what) = other.flatten() {
        let cure = format!("remove or rename `{name}` there and try again; nothing was changed");
        return Err(Unfit::taken(format!("`{name}` is there and {what}"), cure));
    }
    json.put(&steps, entry)?;
    Ok(json.into_text())
}

/// Takes an entry out of a JSON file.
fn json_without(text: Option<&str>, dialect: Dialect, path: &[&str]) -> Edited {
    let mut json = Json::read(text, dialect)?;
    let steps: Vec<Step<'_>> = path.iter().map(|key| Step::Key(key)).collect();
    json.remove(&steps)?;
    Ok(json.into_text())
}
