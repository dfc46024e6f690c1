//! Codex: `[mcp_servers.querent]` in `.codex/config.toml`.

use std::path::PathBuf;

use super::tree::{Edited, Tree, Unfit};
use super::{NAME, PATIENCE_SECONDS, Part, Registration, Scope, either, toml};

pub(super) const PARTS: &[Part] = &[Part { paths, connect, disconnect }];

const PARENT: &str = "mcp_servers";

fn paths(scope: &Scope) -> Vec<PathBuf> {
    vec![either(scope, ".codex/config.toml", |home| home.named("CODEX_HOME", ".codex").join("config.toml"))]
}

fn connect(text: Option<&str>, registration: &Registration, _: &Scope) -> Edited {
    if toml::has(text, PARENT, NAME, &["url"])? {
        let cure = "remove it with `codex mcp remove querent` and try again; nothing was changed";
        return Err(Unfit::taken(format!("`{PARENT}.{NAME}` is there and is a server with a `url`"), cure));
    }
    let members = [
        ("command", Tree::text(&registration.program)),
        ("args", Tree::texts(registration.arguments())),
        // Without it, `codex exec` refuses the tools.
        ("default_tools_approval_mode", Tree::text("approve")),
        ("tool_timeout_sec", Tree::Number(PATIENCE_SECONDS)),
    ];
    toml::put(text, PARENT, NAME, &members)
}

fn disconnect(text: Option<&str>) -> Edited {
    toml::remove(text, PARENT, NAME)
}
