use crate::common::Project;

#[test]
fn what_waits_for_its_hour_is_queued_and_says_when() {
    let config = "[[notify]]\nchannel = \"desktop\"\ndigest = \"7d\"\n";
    let project = Project::new().with_config(config);
    project.ok(&[
        "ask",
        "--item",
        "42",
        "--from",
        "engineer",
        "--to",
        "human",
        "--no-blocking",
        "--topic",
        "T",
        "--question",
        "Q",
    ]);

    let listed = project.ok(&["deliveries", "--item", "42", "--status", "queued"]);

    let first = &listed["deliveries"][0];
    assert_eq!(first["effect"], "notify:CLR-42-001:1:asked:desktop", "{listed}");
    assert!(first["due"].is_string() && first["attempts"] == 0, "{listed}");
    assert!(project.run(&["deliveries"]).stdout.contains("queued"));
    assert!(project.run(&["deliveries", "--status", "failed"]).stdout.contains("There are no notifications here."));
}

#[test]
fn a_config_whose_channel_cannot_work_is_refused_with_the_line() {
    let cases = [
        ("channel = \"pigeon\"", "unknown variant `pigeon`"),
        ("channel = \"ntfy\"", "the channel `ntfy` has no url"),
        ("channel = \"ntfy\"\nurl = \"https://ntfy.sh\"", "has a url without a topic"),
        ("channel = \"webhook\"\nurl = \"http://127.0.0.1:9/hook\"", "has neither secret_env nor secret_file"),
        ("channel = \"telegram\"\nsecret_env = \"T\"", "has no chat"),
        ("channel = \"slack\"", "has neither url nor url_env"),
        ("channel = \"desktop\"\nquiet_hours = \"late\"", "write them like 22:00-07:00"),
        ("channel = \"desktop\"\nsecret = \"hush\"", "unknown field `secret`"),
    ];
    for (lines, said) in cases {
        let project = Project::empty().with_config(&format!("[[notify]]\n{lines}\n"));

        let output = project.run(&["status"]);

        assert_eq!(output.code, 3, "{lines}");
        assert!(output.stderr.contains(said) && output.stderr.contains("config.toml:"), "{}", output.stderr);
    }
}
