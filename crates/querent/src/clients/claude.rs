//! Claude Code: the server in `.mcp.json`, hooks and the permission in `.claude/settings.local.json`. It reads neither with
//! comments, and permissions of a folder that it does not trust only from the local file.

use std::path::PathBuf;

use super::json::{Dialect, Json, Step};
use super::program::in_shell;
use super::tree::{Edited, Tree, Unfit};
use super::{NAME, Part, Registration, Scope, either};

pub(super) const PARTS: &[Part] = &[
    Part { paths: server_paths, connect: connect_server, disconnect: disconnect_server },
    Part { paths: settings_paths, connect: connect_settings, disconnect: disconnect_settings },
];

/// The rule that lets every tool of the server run without a question.
const PERMISSION: &str = "mcp__querent";

/// When the hook runs, and for which tools or servers: a question is parked, and files are locked before they are changed.
const EVENTS: &[(&str, Option<&str>)] = &[
    ("PreToolUse", Some("mcp__querent__question_create|Edit|Write|MultiEdit|NotebookEdit|Bash")),
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("Stop", None),
    ("Notification", None),
    ("Elicitation", Some(NAME)),
];

const ALLOW: &[Step<'_>] = &[Step::Key("permissions"), Step::Key("allow")];

fn server_paths(scope: &Scope) -> Vec<PathBuf> {
    vec![either(scope, ".mcp.json", |home| home.named("CLAUDE_CONFIG_DIR", "").join(".claude.json"))]
}

fn settings_paths(scope: &Scope) -> Vec<PathBuf> {
    let user = |home: &super::Home| home.named("CLAUDE_CONFIG_DIR", ".claude").join("settings.json");
    vec![either(scope, ".claude/settings.local.json", user)]
}

fn connect_server(text: Option<&str>, registration: &Registration, _: &Scope) -> Edited {
    let entry = Tree::table([
        ("command", Tree::text(&registration.program)),
        ("args", Tree::texts(registration.arguments())),
        // Its tools are not hidden behind a search for tools: an agent should not have to look for how to ask.
        ("alwaysLoad", Tree::Flag(true)),
    ]);
    super::json_entry(text, Dialect::Strict, &["mcpServers", NAME], &entry, &["url"])
}

fn disconnect_server(text: Option<&str>) -> Edited {
    super::json_without(text, Dialect::Strict, &["mcpServers", NAME])
}

fn connect_settings(text: Option<&str>, registration: &Registration, _: &Scope) -> Edited {
    let mut json = Json::read(text, Dialect::Strict)?;
    if json.look(ALLOW, |list| permission(list).is_none())?.unwrap_or(true) {
        json.push(ALLOW, Tree::text(PERMISSION))?;
    }
    let words: Vec<String> = registration.call(&["hook", "claude"]);
    let words = std::iter::once(&registration.program).chain(&words);
    let command = words.map(|word| in_shell(word)).collect::<Vec<_>>().join(" ");
    for (event, matcher) in EVENTS {
        if registration.hooks {
            keep_hook(&mut json, event, *matcher, &command)?;
        } else {
            remove_hooks(&mut json, event, 0)?;
        }
    }
    Ok(json.into_text())
}

fn disconnect_settings(text: Option<&str>) -> Edited {
    let mut json = Json::read(text, Dialect::Strict)?;
    for (event, _) in EVENTS.iter().rev() {
        remove_hooks(&mut json, event, 0)?;
    }
    while let Some(index) = json.look(ALLOW, permission)?.flatten() {
        json.remove(&[ALLOW, &[Step::At(index)]].concat())?;
    }
    Ok(json.into_text())
}

fn permission(list: &jsonc_parser::ast::Value<'_>) -> Option<usize> {
    list.as_array()?.elements.iter().position(|it| it.as_string_lit().is_some_and(|it| it.value == PERMISSION))
}

/// One hook of ours for an event: the first there is, brought up to date, or a new one.
fn keep_hook(json: &mut Json, event: &str, matcher: Option<&str>, command: &str) -> Result<(), Unfit> {
    let list = [Step::Key("hooks"), Step::Key(event)];
    let Some(ours) = hooks(json, event)?.into_iter().next() else {
        let hook = Tree::table([("type", Tree::text("command")), ("command", Tree::text(command))]);
        let matcher = matcher.map(|matcher| ("matcher", Tree::text(matcher)));
        let group = matcher.into_iter().chain([("hooks", Tree::List(vec![hook]))]);
        return json.push(&list, Tree::table(group));
    };
    let group = [&list[..], &[Step::At(ours.group)]].concat();
    let hook = [&group[..], &[Step::Key("hooks"), Step::At(ours.hook), Step::Key("command")]].concat();
    json.put(&hook, &Tree::text(command))?;
    if let Some(matcher) = matcher.filter(|_| ours.is_alone) {
        json.put(&[&group[..], &[Step::Key("matcher")]].concat(), &Tree::text(matcher))?;
    }
    remove_hooks(json, event, 1)
}

/// Takes all hooks of ours for an event away but the first few.
fn remove_hooks(json: &mut Json, event: &str, but: usize) -> Result<(), Unfit> {
    for ours in hooks(json, event)?.into_iter().skip(but).rev() {
        let group = [Step::Key("hooks"), Step::Key(event), Step::At(ours.group)];
        let hook = [Step::Key("hooks"), Step::At(ours.hook)];
        json.remove(&if ours.is_alone { group.to_vec() } else { [&group[..], &hook].concat() })?;
    }
    Ok(())
}

/// Where a hook of ours stands.
struct Ours {
    group: usize,
    hook: usize,
    /// Whether its group has no other.
    is_alone: bool,
}

fn hooks(json: &Json, event: &str) -> Result<Vec<Ours>, Unfit> {
    let found = json.look(&[Step::Key("hooks"), Step::Key(event)], |list| {
        let groups = list.as_array().map(|list| list.elements.as_slice()).unwrap_or_default();
        let inner = groups.iter().map(|group| {
            let hooks = group.as_object().and_then(|group| group.get_array("hooks"));
            hooks.map(|hooks| hooks.elements.as_slice()).unwrap_or_default()
        });
        let mut found = Vec::new();
        for (group, hooks) in inner.enumerate() {
            let ours = hooks.iter().enumerate().filter(|(_, hook)| {
                hook.as_object().and_then(|hook| hook.get_string("command")).is_some_and(|it| is_ours(&it.value))
            });
            found.extend(ours.map(|(hook, _)| Ours { group, hook, is_alone: hooks.len() == 1 }));
        }
        found
    })?;
    Ok(found.unwrap_or_default())
}

/// Whether a command is the hook, however the program is called.
fn is_ours(command: &str) -> bool {
    let command = command.trim_end();
    command.contains(" hook claude --agent ") || command.ends_with("querent hook claude")
}
