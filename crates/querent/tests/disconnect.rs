use std::fs;

use serde_json::json;

use crate::common::Project;
use crate::connect::{CLIENTS, at_home};

#[test]
fn what_connect_made_is_gone() {
    for (client, files) in CLIENTS {
        let project = Project::empty();
        let before = project.files();
        project.ok(&["connect", client, "--agent", "engineer"]);

        let reply = project.ok(&["disconnect", client]);

        let removed: Vec<_> = files.iter().map(|path| json!({ "path": path, "change": "removed" })).collect();
        assert_eq!(reply, json!({ "client": client, "agent": null, "files": removed, "next": [] }));
        assert_eq!(project.files(), before, "directories too");
    }
}

#[test]
fn what_others_wrote_is_as_it_was_to_the_byte() {
    let foreign = "{\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"}\n\t},\n\t\"mcp\": {},\n\t\"servers\": { },\n\t\"hooks\": {\"Stop\": []}\n}";
    for (client, files) in CLIENTS {
        let project = Project::empty();
        for file in files {
            let file = project.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let is_toml = file.extension().unwrap() == "toml";
            fs::write(file, if is_toml { "# mine\r\n[mcp_servers.other]\r\ncommand = \"x\"" } else { foreign })
                .unwrap();
        }
        let texts = || files.iter().map(|file| fs::read(project.path().join(file)).unwrap()).collect::<Vec<_>>();
        let before = texts();

        let connected = project.ok(&["connect", client, "--agent", "engineer"]);
        let disconnected = project.ok(&["disconnect", client]);

        for reply in [connected, disconnected] {
            assert!(reply["files"].as_array().unwrap().iter().all(|file| file["change"] == "changed"), "{reply}");
        }
        assert_eq!(texts(), before, "{client}");
    }
}

#[test]
fn a_client_that_is_not_connected_is_left_alone() {
    let project = Project::empty();
    fs::write(project.path().join(".mcp.json"), "{}").unwrap();

    let told = project.run(&["disconnect", "claude"]);

    assert_eq!(told.stdout, "Claude Code was not connected here; nothing was changed.\n  unchanged  .mcp.json\n");
    assert_eq!(project.ok(&["disconnect", "codex"])["files"], json!([]));
    assert_eq!(fs::read_to_string(project.path().join(".mcp.json")).unwrap(), "{}");
}

#[test]
fn the_users_own_settings_are_taken_back_also_outside_of_a_project() {
    let project = Project::empty();
    fs::create_dir(project.path().join("home")).unwrap();
    fs::write(project.path().join("home/.claude.json"), "{\n  \"numStartups\": 3\n}").unwrap();
    at_home(&project, &["connect", "claude", "--agent", "engineer", "--user"]);
    fs::remove_dir_all(project.path().join(".querent")).unwrap();

    let reply = at_home(&project, &["disconnect", "claude", "--user"]);

    assert_eq!((&reply["files"][0]["change"], &reply["files"][1]["change"]), (&json!("changed"), &json!("removed")));
    let text = fs::read_to_string(project.path().join("home/.claude.json")).unwrap();
    assert_eq!(text, "{\n  \"numStartups\": 3\n}");
    project.refused(&["disconnect", "claude"], "no_project");
}

#[test]
fn a_file_that_does_not_read_is_refused() {
    let project = Project::empty();
    project.ok(&["connect", "claude", "--agent", "engineer"]);
    fs::write(project.path().join(".mcp.json"), "{").unwrap();
    let before = project.files();

    let error = project.refused(&["disconnect", "claude"], "invalid_config");

    assert!(error["message"].as_str().unwrap().contains(".mcp.json: it is not valid JSON"), "{error}");
    assert_eq!(project.files(), before);
}
