//! VS Code: `servers.querent` in `.vscode/mcp.json`, or in the `mcp.json` of the user's profile.

use std::path::PathBuf;

use super::json::Dialect;
use super::tree::{Edited, Tree};
use super::{Home, NAME, Part, Registration, Scope, either};

pub(super) const PARTS: &[Part] = &[Part { paths, connect, disconnect }];

fn paths(scope: &Scope) -> Vec<PathBuf> {
    vec![either(scope, ".vscode/mcp.json", |home| profile(home).join("Code/User/mcp.json"))]
}

/// Where the system keeps the settings of programs like it.
fn profile(home: &Home) -> PathBuf {
    if cfg!(target_os = "macos") {
        home.dir.join("Library/Application Support")
    } else if cfg!(windows) {
        home.named("APPDATA", "AppData/Roaming")
    } else {
        home.named("XDG_CONFIG_HOME", ".config")
    }
}

fn connect(text: Option<&str>, registration: &Registration, scope: &Scope) -> Edited {
    // A server of the user's own settings does not start in the folder that is open.
    let folder = matches!(scope, Scope::User(_)).then(|| ("cwd", Tree::text("${workspaceFolder}")));
    let entry = [
        ("type", Tree::text("stdio")),
        ("command", Tree::text(&registration.program)),
        ("args", Tree::texts(registration.arguments())),
    ];
    let entry = Tree::table(entry.into_iter().chain(folder));
    super::json_entry(text, Dialect::Loose, &["servers", NAME], &entry, &["url"])
}

fn disconnect(text: Option<&str>) -> Edited {
    super::json_without(text, Dialect::Loose, &["servers", NAME])
}
