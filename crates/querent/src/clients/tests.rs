use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn registration() -> Registration {
    let agent = "engineer".parse().unwrap();
    Registration { program: "querent".to_owned(), agent, item: None, hooks: true }
}

fn scope() -> Scope {
    Scope::Project(PathBuf::from("shop"))
}

fn connected(part: &Part, text: Option<&str>) -> Edited {
    (part.connect)(text, &registration(), &scope())
}

/// The part of a client with its only file, or with its first.
fn part(client: Client) -> &'static Part {
    &client.parts()[0]
}

const SETTINGS: &Part = &claude::PARTS[1];

/// Connects, again, and disconnects; returns what the file says in between.
fn round(part: &Part, text: &str) -> String {
    let once = connected(part, Some(text)).unwrap().unwrap();
    assert_eq!(connected(part, Some(&once)).unwrap().as_deref(), Some(once.as_str()), "a second time changes nothing");
    assert_eq!((part.disconnect)(Some(&once)).unwrap().as_deref(), Some(text), "it is taken back to the byte: {once}");
    once
}

#[test]
fn a_file_that_connect_made_is_gone_after_disconnect() {
    for client in Client::ALL {
        for part in client.parts() {
            let made = connected(part, None).unwrap().unwrap();

            assert!(made.ends_with('\n') && made.contains("querent"), "{made}");
            assert_eq!(connected(part, Some(&made)).unwrap().as_deref(), Some(made.as_str()));
            assert_eq!((part.disconnect)(Some(&made)).unwrap(), None);
            assert_eq!((part.disconnect)(None).unwrap(), None);
        }
    }
}

#[test]
fn every_client_gets_its_own_form() {
    let read = |client| serde_json::from_str::<Value>(&connected(part(client), None).unwrap().unwrap()).unwrap();
    let args = json!(["mcp", "--agent", "engineer"]);

    let claude = json!({ "command": "querent", "args": args, "alwaysLoad": true });
    assert_eq!(read(Client::Claude), json!({ "mcpServers": { "querent": claude } }));
    let gemini = json!({ "command": "querent", "args": args, "timeout": 120_000, "trust": true });
    assert_eq!(read(Client::Gemini), json!({ "mcpServers": { "querent": gemini } }));
    let vscode = json!({ "type": "stdio", "command": "querent", "args": args });
    assert_eq!(read(Client::Vscode), json!({ "servers": { "querent": vscode } }));
    let command = json!(["querent", "mcp", "--agent", "engineer"]);
    let opencode = json!({ "type": "local", "command": command, "enabled": true, "timeout": 120_000 });
    assert_eq!(read(Client::Opencode), json!({ "mcp": { "querent": opencode } }));
    assert_eq!(
        connected(part(Client::Codex), None).unwrap().unwrap(),
        "[mcp_servers.querent]\ncommand = \"querent\"\nargs = [\"mcp\", \"--agent\", \"engineer\"]\n\
         default_tools_approval_mode = \"approve\"\ntool_timeout_sec = 120\n"
    );
}

#[test]
fn json_keeps_its_looks() {
    let gemini = part(Client::Gemini);
    let four = "{\n    // mine\n    \"theme\": \"dark\", // really\n    \"mcpServers\": {\n        \"a\": {\"command\": \"b\"} // c\n    }\n}\n";

    let seen = round(gemini, four);

    assert!(seen.starts_with(&four[..four.find(" // c").unwrap()]), "{seen}");
    assert!(
        seen.contains("{\"command\": \"b\"}, // c\n        \"querent\": {\n            \"command\": \"querent\",\n"),
        "{seen}"
    );
    for text in [
        "{}",
        "{}\n",
        "{ }",
        "{\n}",
        "{\n\n}\n",
        "{\r\n}\r\n",
        "",
        "\n",
        "  \n\n",
        "// nothing yet\n",
        "{/* c */}",
        "{ // c  \n}",
        "{\"a\":1}",
        "{ \"a\": 1 }",
        "{\"mcpServers\":{}}",
        "{\"mcpServers\": { }, \"a\": []}",
        "{\"a\": {\n}}",
        "{\n\t\"mcpServers\": {\n\t},\n\t\"a\": 1\n}",
        "{\r\n  \"a\": 1\r\n}\r\n",
        "{\n  \"a\": 1 /* c */}",
        "{\n  \"mcpServers\": { \"a\": {} }\n}\n",
        "{\"mcpServers\": {\"a\": 1}, \"mcpServers\": {}}",
    ] {
        round(gemini, text);
    }
    for text in [
        "{\"a\": 1,}",
        "{\n  \"a\": 1, // c\n}\n",
        "{\n  \"mcp\": {\n    \"a\": {},\n  },\n}\n",
        "{\"mcp\": {\"a\": {},},}",
    ] {
        round(part(Client::Opencode), text);
    }
}

#[test]
fn an_entry_is_brought_up_to_date_and_keeps_what_others_added() {
    let claude = part(Client::Claude);
    let old = "{\n  \"mcpServers\": {\n    \"querent\": {\n      \"command\": \"/old/querent\",\n      \"args\": [\"mcp\"],\n      \"env\": { \"A\": \"1\" }\n    }\n  }\n}\n";

    let new = connected(claude, Some(old)).unwrap().unwrap();

    assert!(new.contains("\"command\": \"querent\",\n      \"args\": [ \"mcp\", \"--agent\", \"engineer\" ],\n      \"env\": { \"A\": \"1\" },\n      \"alwaysLoad\": true\n"), "{new}");
    let codex = part(Client::Codex);
    let old = "# top\n[mcp_servers.querent] # ours\ncommand = '/old/querent' # moved\nenv = { A = \"1\" }\n\n[mcp_servers.querent.tools.x]\napproval_mode = \"prompt\"\n\n[other]\n";
    let new = connected(codex, Some(old)).unwrap().unwrap();
    assert!(new.contains("command = \"querent\" # moved\nenv = { A = \"1\" }\n"), "{new}");
    assert!(new.contains("tool_timeout_sec = 120\n") && new.contains("approval_mode = \"prompt\""), "{new}");
    assert_eq!((codex.disconnect)(Some(&new)).unwrap().as_deref(), Some("# top\n\n[other]\n"), "with what is below it");
}

#[test]
fn hooks_and_the_permission_stand_beside_those_of_others() {
    let text = r#"{
  "permissions": {
    "allow": ["Bash(ls)"],
    "deny": []
  },
  "hooks": {
    "Stop": [
      {
        "hooks": [{ "type": "command", "command": "say done" }]
      }
    ]
  }
}
"#;

    let seen: Value = serde_json::from_str(&round(SETTINGS, text)).unwrap();

    assert_eq!(seen["permissions"]["allow"], json!(["Bash(ls)", "mcp__querent"]));
    let command = "querent hook claude --agent engineer";
    assert_eq!(seen["hooks"]["Stop"][0]["hooks"][0]["command"], "say done");
    assert_eq!(seen["hooks"]["Stop"][1], json!({ "hooks": [{ "type": "command", "command": command }] }));
    assert_eq!(seen["hooks"]["Elicitation"][0]["matcher"], "querent");
    for event in ["PreToolUse", "SessionStart", "UserPromptSubmit", "Notification"] {
        assert_eq!(seen["hooks"][event][0]["hooks"][0]["command"], command, "{event}");
    }
}

#[test]
fn hooks_follow_the_agent_and_can_be_left_out_later() {
    let first = connected(SETTINGS, None).unwrap().unwrap();
    let with_timeout = first.replacen("\"type\": \"command\",", "\"type\": \"command\", \"timeout\": 5,", 1);
    let program = "/opt/my tools/querent".to_owned();
    let other = Registration { program, agent: "architect".parse().unwrap(), ..registration() };

    let moved = (SETTINGS.connect)(Some(&with_timeout), &other, &scope()).unwrap().unwrap();

    let quoted = "'/opt/my tools/querent' hook claude --agent architect";
    assert_eq!(moved.matches(quoted).count(), 7);
    assert!(moved.contains("\"timeout\": 5") && !moved.contains("engineer"), "{moved}");
    let without = (SETTINGS.connect)(Some(&moved), &Registration { hooks: false, ..other }, &scope()).unwrap().unwrap();
    let without: Value = serde_json::from_str(&without).unwrap();
    assert_eq!(without, json!({ "permissions": { "allow": ["mcp__querent"] } }));
    assert_eq!((SETTINGS.disconnect)(Some(&moved)).unwrap(), None);
}

#[test]
fn a_file_that_does_not_fit_is_refused_with_a_cure() {
    let claude = part(Client::Claude);
    for (part, text, what) in [
        (claude, "{", "not valid JSON"),
        (claude, "{ // c\n}", "not valid JSON"),
        (claude, "{\"a\": 1,}", "not valid JSON"),
        (claude, "[]", "no object"),
        (claude, "{\"mcpServers\": []}", "`mcpServers` is not an object"),
        (claude, "{\"mcpServers\": {\"querent\": {\"url\": \"http://x\"}}}", "has a `url`"),
        (claude, "{\"mcpServers\": {\"querent\": 5}}", "`mcpServers.querent` is there"),
        (SETTINGS, "{\"permissions\": {\"allow\": {}}}", "`permissions.allow` is not a list"),
        (SETTINGS, "{\"hooks\": []}", "`hooks` is not an object"),
        (SETTINGS, "{\"hooks\": {\"Stop\": 1}}", "`hooks.Stop` is not a list"),
        (part(Client::Codex), "a = ", "not valid TOML"),
        (part(Client::Codex), "mcp_servers = 5", "`mcp_servers` is not written as tables"),
        (part(Client::Codex), "mcp_servers = { a = { command = \"b\" } }", "`mcp_servers` is not written as tables"),
        (part(Client::Codex), "[mcp_servers]\nquerent = { command = \"b\" }", "in another form"),
        (part(Client::Codex), "[mcp_servers.querent]\nurl = \"http://x\"", "with a `url`"),
    ] {
        let unfit = connected(part, Some(text)).unwrap_err();

        assert!(unfit.what.contains(what), "{text}: {}", unfit.what);
        assert!(unfit.cure.ends_with("nothing was changed"), "{}", unfit.cure);
    }
}

#[test]
fn toml_keeps_its_looks() {
    for text in [
        "",
        "\n",
        "a = 1",
        "a = 1\n",
        "a = 1\n\n",
        "a = 1\r\nb = 2\r\n",
        "# only a comment",
        "# only a comment\n",
        "[mcp_servers.a]\ncommand = \"b\"\n# the end\n",
        "[mcp_servers]\na = { command = \"b\" }\n",
        "mcp_servers.a.command = \"b\"\n",
        "x = \"\"\"\n[mcp_servers.querent]\n\"\"\"\n",
        "[[t]]\na = 1\n[[t]]\n",
    ] {
        round(part(Client::Codex), text);
    }
}

/// White space that may stand between two tokens; with comments where these are wanted.
fn space(comments: bool) -> BoxedStrategy<String> {
    let plain = ["", "", " ", "  ", "\n", "\n  ", "\n\n    ", "\t", "\r\n", "\n\t"];
    let commented = ["/* c */", " // c\n", "\n  // \"querent\": {\n  ", " /* , */ ", "// c  \r\n\t", "/*\n*/"];
    let all: Vec<&str> = plain.into_iter().chain(commented.into_iter().filter(|_| comments)).collect();
    proptest::sample::select(all).prop_map(str::to_owned).boxed()
}

/// JSON in every shape that people and programs give it.
fn any_json(comments: bool) -> BoxedStrategy<String> {
    let scalars =
        ["1", "-2.5e3", "true", "null", "\"s\"", "\"// \\\" , } ]\"", "[]", "{}", "{ }", "{\n}", "\"mcp__querent__x\""];
    let leaf = proptest::sample::select(scalars.to_vec()).prop_map(str::to_owned);
    let value =
        leaf.prop_recursive(3, 24, 4, move |inner| prop_oneof![object(inner.clone(), comments), list(inner, comments)]);
    (space(comments), object(value.boxed(), comments), space(comments)).prop_map(|(a, b, c)| a + &b + &c).boxed()
}

fn object(value: BoxedStrategy<String>, comments: bool) -> BoxedStrategy<String> {
    let keys = ["mcpServers", "mcp", "permissions", "allow", "hooks", "Stop", "PreToolUse", "a", "b"];
    let key = proptest::sample::select(keys.to_vec());
    let space = || space(comments);
    let member = (space(), key, space(), space(), value, space())
        .prop_map(|(a, key, b, c, value, d)| format!("{a}\"{key}\"{b}:{c}{value}{d}"));
    bracketed("{", "}", member.boxed(), comments)
}

fn list(value: BoxedStrategy<String>, comments: bool) -> BoxedStrategy<String> {
    let element = (space(comments), value, space(comments)).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
    bracketed("[", "]", element.boxed(), comments)
}

fn bracketed(
    open: &'static str,
    close: &'static str,
    child: BoxedStrategy<String>,
    loose: bool,
) -> BoxedStrategy<String> {
    let children = proptest::collection::vec(child, 0..4);
    (children, space(loose), any::<bool>())
        .prop_map(move |(children, space, trailing)| {
            let comma = if loose && trailing && !children.is_empty() { "," } else { "" };
            let space = if children.is_empty() || !comma.is_empty() { space } else { String::new() };
            format!("{open}{}{comma}{space}{close}", children.join(","))
        })
        .boxed()
}

fn any_toml() -> BoxedStrategy<String> {
    let lines = [
        "",
        "# c",
        "  # c  ",
        "a = 1",
        "b = [\n  1, # one\n]",
        "c = \"\"\"\n[mcp_servers.querent]\n\"\"\"",
        "[t]",
        "d.e = 1 # c",
        "[mcp_servers.other]",
        "command = 'x'",
        "[mcp_servers.other.env]",
        "[[list]]",
        "[ mcp_servers ]",
        "[mcp_servers.\"q r\"]",
    ];
    let lines = proptest::collection::vec(proptest::sample::select(lines.to_vec()), 0..9);
    let ends = proptest::sample::select(vec!["\n", "\r\n"]);
    (lines, ends, any::<bool>())
        .prop_map(|(lines, end, last)| {
            let text = lines.join("\n").replace('\n', end);
            if last && !text.is_empty() { text + end } else { text }
        })
        .boxed()
}

proptest! {
    #[test]
    fn whatever_a_json_file_says_it_says_again_after_disconnect(text in any_json(true)) {
        if connected(part(Client::Opencode), Some(&text)).is_ok() {
            round(part(Client::Opencode), &text);
        }
    }

    #[test]
    fn whatever_the_settings_say_they_say_again_after_disconnect(text in any_json(false)) {
        for part in claude::PARTS {
            if connected(part, Some(&text)).is_ok() {
                let seen = round(part, &text);
                serde_json::from_str::<Value>(&seen).unwrap();
            }
        }
    }

    #[test]
    fn whatever_a_toml_file_says_it_says_again_after_disconnect(text in any_toml()) {
        if connected(part(Client::Codex), Some(&text)).is_ok() {
            round(part(Client::Codex), &text);
        }
    }

    #[test]
    fn no_text_makes_connect_fail_otherwise_than_by_refusing(text in "[\\[\\]{}\",:a1 /*\n#=.]{0,40}") {
        for client in Client::ALL {
            for part in client.parts() {
                if let Ok(Some(seen)) = connected(part, Some(&text)) {
                    prop_assert_eq!((part.disconnect)(Some(&seen)).unwrap(), Some(text.clone()));
                }
                let _ = (part.disconnect)(Some(&text));
            }
        }
    }
}
