use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Output, Project, keys};

/// Every client, and the files that it has in a project.
pub(crate) const CLIENTS: [(&str, &[&str]); 5] = [
    ("claude", &[".mcp.json", ".claude/settings.local.json"]),
    ("codex", &[".codex/config.toml"]),
    ("opencode", &["opencode.json"]),
    ("gemini", &[".gemini/settings.json"]),
    ("vscode", &[".vscode/mcp.json"]),
];

pub(crate) fn json_of(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Runs it as a user whose home is the project's `home`; returns the data.
pub(crate) fn at_home(project: &Project, args: &[&str]) -> Value {
    let mut command = project.querent(args);
    for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "GEMINI_CLI_HOME"] {
        command.env_remove(name);
    }
    let output = Output::of(command.arg("--json").env("HOME", project.path().join("home")).output().unwrap());
    assert_eq!(output.code, 0, "{}", output.stdout);
    output.json()["data"].clone()
}

#[test]
fn every_client_is_connected_once() {
    for (client, files) in CLIENTS {
        let project = Project::empty();

        let first = project.ok(&["connect", client, "--agent", "engineer"]);
        let before: Vec<_> = files.iter().map(|file| fs::read(project.path().join(file)).unwrap()).collect();
        let second = project.ok(&["connect", client, "--agent", "engineer"]);
        let told = project.run(&["connect", client, "--agent", "engineer"]).stdout;

        assert_eq!(keys(&first), ["agent", "client", "files", "next"]);
        assert_eq!((&first["client"], &first["agent"]), (&json!(client), &json!("engineer")));
        let change =
            |change| json!(files.iter().map(|path| json!({ "path": path, "change": change })).collect::<Vec<_>>());
        assert_eq!((&first["files"], &second["files"]), (&change("created"), &change("unchanged")));
        assert!(!first["next"].as_array().unwrap().is_empty());
        assert!(told.contains("connected as engineer already; nothing was changed."), "{told}");
        let after: Vec<_> = files.iter().map(|file| fs::read(project.path().join(file)).unwrap()).collect();
        assert_eq!(before, after);
    }
}

#[test]
fn the_registration_starts_this_very_program() {
    let project = Project::empty();
    let own = env!("CARGO_BIN_EXE_querent");
    let server = || json_of(&project.path().join(".mcp.json"))["mcpServers"]["querent"].clone();

    let reply = project.ok(&["connect", "claude", "--agent", "engineer"]);
    assert_eq!(server()["command"], own);
    assert!(reply["next"].to_string().contains("is not this program"), "{reply}");
    let mut command = project.querent(&["connect", "claude", "--agent", "engineer", "--json"]);
    let output = command.env("PATH", Path::new(own).parent().unwrap()).output().unwrap();

    assert_eq!(Output::of(output).json()["data"]["files"][0]["change"], "changed");
    assert_eq!(server(), json!({ "command": "querent", "args": ["mcp", "--agent", "engineer"], "alwaysLoad": true }));
}

#[cfg(unix)]
#[test]
fn a_path_with_spaces_works_in_the_hooks() {
    let project = Project::new();
    let program = project.path().join("my tools/it's querent");
    fs::create_dir(program.parent().unwrap()).unwrap();
    // By another process: one that this one has open for writing cannot be started while a third is forked.
    let copied = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_querent")).arg(&program).status().unwrap();
    assert!(copied.success());
    let call = ["connect", "claude", "--agent", "engineer", "--item", "42"];
    let status = std::process::Command::new(&program).args(call).current_dir(project.path()).output().unwrap().status;

    let hooks = json_of(&project.path().join(".claude/settings.local.json"))["hooks"].clone();

    assert!(status.success());
    let command = hooks["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.ends_with(" hook claude --agent engineer --item 42"), "{command}");
    let version = command.replace(" hook claude --agent engineer --item 42", " --version");
    let output = std::process::Command::new("sh").args(["-c", &version]).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("querent "), "{version}");
    let server = json_of(&project.path().join(".mcp.json"))["mcpServers"]["querent"].clone();
    assert_eq!(server["command"].as_str(), program.to_str());
    assert_eq!(server["args"], json!(["mcp", "--agent", "engineer", "--item", "42"]));
}

#[test]
fn hooks_are_left_out_on_demand_and_the_permission_stays() {
    let project = Project::empty();
    let settings = || json_of(&project.path().join(".claude/settings.local.json"));

    project.ok(&["connect", "claude", "--agent", "engineer"]);
    let with = settings();
    project.ok(&["connect", "claude", "--agent", "engineer", "--no-hooks"]);

    assert_eq!(keys(&with["hooks"]).len(), 6, "{with}");
    assert_eq!(settings(), json!({ "permissions": { "allow": ["mcp__querent"] } }));
}

#[test]
fn the_agent_is_named_or_the_only_one() {
    let project = Project::empty();

    let several = project.refused(&["connect", "codex"], "invalid_input");
    let typo = project.refused(&["connect", "codex", "--agent", "enginer"], "unknown_agent");
    project.refused(&["connect", "codex", "--agent", "engineer", "--item", "42"], "item_not_found");
    let mut command = project.querent(&["connect", "codex", "--json"]);
    let from_environment = Output::of(command.env("QUERENT_AGENT", "architect").output().unwrap()).json();

    assert!(several["hint"].as_str().unwrap().contains("architect, engineer, product-manager, reviewer"), "{several}");
    assert_eq!(typo["details"]["nearest"], "engineer");
    assert_eq!(from_environment["data"]["agent"], "architect");

    let small = Project::empty();
    fs::write(small.path().join(".querent/config.toml"), "[project]\nname = \"s\"\n[agents.solo]\n").unwrap();
    fs::remove_dir_all(small.path().join(".querent/workflows")).unwrap();
    fs::create_dir(small.path().join(".querent/workflows")).unwrap();
    let flow = "name = \"feature\"\n[[steps]]\nname = \"do\"\nagent = \"solo\"\n";
    fs::write(small.path().join(".querent/workflows/feature.toml"), flow).unwrap();
    assert_eq!(small.ok(&["connect", "codex"])["agent"], "solo");
}

#[test]
fn printing_changes_nothing() {
    for (client, files) in CLIENTS {
        let project = Project::empty();
        let before = project.files();

        let reply = project.ok(&["connect", client, "--agent", "engineer", "--print"]);
        let told = project.run(&["connect", client, "--agent", "engineer", "--print"]).stdout;

        assert_eq!(project.files(), before);
        for (file, path) in reply["files"].as_array().unwrap().iter().zip(files) {
            assert_eq!((&file["path"], &file["change"]), (&json!(path), &json!("created")));
            assert!(
                told.contains(&format!("{path} would be created with:\n{}", file["text"].as_str().unwrap())),
                "{told}"
            );
        }
    }
}

#[test]
fn a_file_that_does_not_fit_leaves_every_file_as_it_was() {
    for (file, text, code) in [
        (".claude/settings.local.json", "{ \"hooks\": ", "invalid_config"),
        (".claude/settings.local.json", "{\"permissions\": []}", "invalid_config"),
        (".mcp.json", "{\"mcpServers\": []}", "invalid_config"),
        (".mcp.json", "{\"mcpServers\": {\"querent\": {\"type\": \"http\", \"url\": \"http://x\"}}}", "conflict"),
    ] {
        let project = Project::empty();
        fs::create_dir(project.path().join(".claude")).unwrap();
        fs::write(project.path().join(file), text).unwrap();
        let before = project.files();

        let error = project.refused(&["connect", "claude", "--agent", "engineer"], code);

        assert!(error["message"].as_str().unwrap().contains(file), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("nothing was changed"), "{error}");
        assert_eq!(
            (project.files(), fs::read_to_string(project.path().join(file)).unwrap()),
            (before, text.to_owned())
        );
    }
}

#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_written_leaves_every_file_as_it_was() {
    use std::os::unix::fs::PermissionsExt;
    for prepare in [
        |at: &Path| fs::create_dir_all(at.join(".claude/settings.local.json")).unwrap(),
        |at: &Path| fs::write(at.join(".claude"), "a file").unwrap(),
        |at: &Path| {
            let file = at.join(".claude/settings.local.json");
            fs::create_dir(at.join(".claude")).unwrap();
            fs::write(&file, "{}").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        },
    ] {
        let project = Project::empty();
        prepare(project.path());
        let before = project.files();

        let error = project.refused(&["connect", "claude", "--agent", "engineer"], "storage_error");

        assert!(error["message"].as_str().unwrap().contains("settings.local.json"), "{error}");
        assert_eq!(project.files(), before);
    }
}

#[cfg(unix)]
#[test]
fn a_link_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let project = Project::empty();
    let (link, target) = (project.path().join("opencode.json"), project.path().join("shared.json"));
    fs::write(&target, "\u{feff}{\n  \"theme\": \"dark\" // mine\n}\n").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    symlink("shared.json", &link).unwrap();

    let reply = project.ok(&["connect", "opencode", "--agent", "engineer"]);

    assert_eq!(reply["files"], json!([{ "path": "opencode.json", "change": "changed" }]));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&target).unwrap();
    assert!(text.starts_with("\u{feff}{\n  \"theme\": \"dark\", // mine\n  \"mcp\": {\n"), "{text}");
}

#[test]
fn the_users_own_settings_are_where_each_program_looks_for_them() {
    let project = Project::empty();
    fs::create_dir(project.path().join("home")).unwrap();
    let before = project.files();

    for (client, _) in CLIENTS {
        at_home(&project, &["connect", client, "--agent", "engineer", "--user"]);
    }

    let mut made: Vec<String> = project.files().into_iter().filter(|file| !before.contains(file)).collect();
    made.retain(|file| project.path().join(file).is_file());
    let code = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    let mut expected = [
        ".claude.json",
        ".claude/settings.json",
        ".codex/config.toml",
        ".config/opencode/opencode.json",
        ".gemini/settings.json",
        &format!("{code}/Code/User/mcp.json"),
    ]
    .map(|file| format!("home/{file}"));
    expected.sort();
    assert_eq!(made, expected);
    let mut command = project.querent(&["connect", "codex", "--agent", "engineer", "--user"]);
    assert!(command.env("CODEX_HOME", project.path().join("elsewhere")).output().unwrap().status.success());
    assert!(project.path().join("elsewhere/config.toml").exists());
}

#[test]
fn the_file_with_comments_is_used_where_it_is_there() {
    let project = Project::empty();
    let file = project.path().join("opencode.jsonc");
    fs::write(&file, "{\n  // ours\n}\n").unwrap();

    project.ok(&["connect", "opencode", "--agent", "engineer"]);

    let text = fs::read_to_string(file).unwrap();
    assert!(text.starts_with("{\n  // ours\n  \"mcp\": {\n    \"querent\": {\n"), "{text}");
    assert!(!project.path().join("opencode.json").exists());
}
