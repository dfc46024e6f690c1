//! opencode: `mcp.querent` in `opencode.json`, or in `opencode.jsonc` where that is there.

use std::path::PathBuf;

use super::json::Dialect;
use super::tree::{Edited, Tree};
use super::{NAME, PATIENCE_SECONDS, Part, Registration, Scope};

pub(super) const PARTS: &[Part] = &[Part { paths, connect, disconnect }];

fn paths(scope: &Scope) -> Vec<PathBuf> {
    let dir = match scope {
        Scope::Project(root) => root.clone(),
        Scope::User(home) => home.named("XDG_CONFIG_HOME", ".config").join("opencode"),
    };
    let (plain, commented) = (dir.join("opencode.json"), dir.join("opencode.jsonc"));
    if commented.exists() { vec![commented, plain] } else { vec![plain, commented] }
}

fn connect(text: Option<&str>, registration: &Registration, _: &Scope) -> Edited {
    let entry = Tree::table([
        ("type", Tree::text("local")),
        ("command", Tree::texts([registration.program.clone()].into_iter().chain(registration.arguments()))),
        ("enabled", Tree::Flag(true)),
        // In milliseconds; opencode's own limit is below a wait.
        ("timeout", Tree::Number(PATIENCE_SECONDS * 1000)),
    ]);
    super::json_entry(text, Dialect::Loose, &["mcp", NAME], &entry, &["url"])
}

fn disconnect(text: Option<&str>) -> Edited {
    super::json_without(text, Dialect::Loose, &["mcp", NAME])
}
