//! Gemini CLI: `mcpServers.querent` in `.gemini/settings.json`.

use std::path::PathBuf;

use super::json::Dialect;
use super::tree::{Edited, Tree};
use super::{NAME, PATIENCE_SECONDS, Part, Registration, Scope, either};

pub(super) const PARTS: &[Part] = &[Part { paths, connect, disconnect }];

fn paths(scope: &Scope) -> Vec<PathBuf> {
    let user = |home: &super::Home| home.named("GEMINI_CLI_HOME", "").join(".gemini/settings.json");
    vec![either(scope, ".gemini/settings.json", user)]
}

fn connect(text: Option<&str>, registration: &Registration, _: &Scope) -> Edited {
    let entry = Tree::table([
        ("command", Tree::text(&registration.program)),
        ("args", Tree::texts(registration.arguments())),
        ("timeout", Tree::Number(PATIENCE_SECONDS * 1000)),
        // Without it every call of a tool asks a person, and a session without one refuses it.
        ("trust", Tree::Flag(true)),
    ]);
    super::json_entry(text, Dialect::Comments, &["mcpServers", NAME], &entry, &["url", "httpUrl"])
}

fn disconnect(text: Option<&str>) -> Edited {
    super::json_without(text, Dialect::Comments, &["mcpServers", NAME])
}
