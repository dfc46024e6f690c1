//! What users get wrong: one clear sentence and a hint each, and nothing is created as a side effect.

use crate::common::Project;

const ASK: [&str; 9] = ["ask", "--item", "42", "--from", "engineer", "--topic", "T", "--question", "Q?"];

fn ask<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ASK.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn outside_a_project_every_command_says_so_and_makes_nothing() {
    let nowhere = Project::none();
    for args in [
        &ASK[..],
        &["item", "list"],
        &["item", "add", "1", "--title", "t"],
        &["hook", "start", "--agent", "a", "--item", "1"],
        &["answer", "CLR-1-001", "--answer", "x"],
        &["questions"],
        &["show", "CLR-1-001"],
        &["await", "CLR-1-001"],
        &["state"],
        &["ready"],
        &["status"],
        &["events"],
        &["events", "--follow"],
        &["doctor", "--repair"],
    ] {
        let error = nowhere.refused(args, "no_project");
        assert!(error["hint"].as_str().unwrap().contains("querent init"), "{error}");
    }
    assert!(nowhere.files().is_empty());
}

#[test]
fn a_project_that_is_named_must_be_there_and_is_not_looked_for_above() {
    let project = Project::new();
    let before = project.files();

    project.refused(&["status", "--project", "typo"], "no_project");
    std::fs::create_dir(project.path().join("below")).unwrap();

    project.refused(&["status", "--project", "below"], "no_project");
    let from_below = project.querent(&["status"]).current_dir(project.path().join("below")).output().unwrap();
    assert!(from_below.status.success(), "without --project the nearest above is found");
    std::fs::remove_dir(project.path().join("below")).unwrap();
    assert_eq!(project.files(), before);
}

#[test]
fn a_misspelt_word_names_the_nearest() {
    let project = Project::none();
    for (args, near) in [
        (ask(&["--optoin", "a=b"]), "`--option`"),
        (vec!["queries"], "querent --help"),
        (vec!["awnser", "CLR-1-001"], "`answer`"),
        (vec!["item", "lst"], "`list`"),
        (ask(&["--kind", "blokcing"]), "`blocking`"),
        (vec!["questions", "--status", "opne"], "`open`"),
    ] {
        let error = project.refused(&args, "usage");
        assert!(error["hint"].as_str().unwrap().contains(near), "{args:?}: {error}");
    }
}

#[test]
fn what_does_not_parse_is_a_usage_error_that_names_the_option() {
    let project = Project::new();
    for (args, named) in [
        (ask(&["--details", "{broken"]), "--details"),
        (ask(&["--options", "[{]"]), "--options"),
        (ask(&["--expires-in", "5"]), "--expires-in"),
        (ask(&["--wait", "soon"]), "--wait"),
        (ask(&["--max-rounds", "many"]), "--max-rounds"),
        (ask(&["--option", "jwt"]), "--option"),
        (ask(&["--evidence", "searched"]), "--evidence"),
        (ask(&["--fallback", "a"]), "--because"),
        (ask(&["--blocking", "--no-blocking"]), "--no-blocking"),
        (ask(&["--topic", "again"]), "--topic"),
        (ask(&["--context"]), "--context"),
        (vec!["ask", "--question", "Q?"], "--topic"),
        (vec!["events", "--since", "x"], "--since"),
    ] {
        let error = project.refused(&args, "usage");
        assert!(error["message"].as_str().unwrap().contains(named), "{args:?}: {error}");
        assert_eq!(error["message"].as_str().unwrap().lines().count(), 1, "{error}");
    }
    assert_eq!(project.ok(&["questions", "--status", "all"])["count"], 0);
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_its_option() {
    let project = Project::new();
    project.asks_human();
    std::fs::write(project.path().join("latin1.txt"), b"caf\xe9").unwrap();
    for (args, named) in [
        (ask(&["--details", "@none.json"]), "--details: the file `none.json`"),
        (ask(&["--options", "@none.json"]), "--options: the file `none.json`"),
        (ask(&["--expect", "json:@none.json"]), "--expect: the file `none.json`"),
        (vec!["answer", "CLR-42-001", "--answer", "@none.md"], "--answer: the file `none.md`"),
        (vec!["answer", "CLR-42-001", "--answer", "@latin1.txt"], "--answer: the file `latin1.txt`"),
    ] {
        let error = project.refused(&args, "usage");
        assert!(error["message"].as_str().unwrap().starts_with(named), "{args:?}: {error}");
        assert!(error["hint"].as_str().unwrap().starts_with("check the path"), "{args:?}: {error}");
    }
}

#[test]
fn a_text_that_begins_with_a_dash_is_told_how_to_be_written() {
    let project = Project::new();

    let error = project
        .refused(&["ask", "--item", "42", "--from", "engineer", "--topic", "T", "--question", "- why?"], "usage");

    assert!(error["hint"].as_str().unwrap().contains("='"), "{error}");
    project.ok(&["ask", "--item", "42", "--from", "engineer", "--topic", "T", "--question=- why?"]);
}

#[test]
fn a_field_out_of_bounds_is_named_with_its_limit() {
    let project = Project::new();
    let (long_topic, long_prompt) = ("é".repeat(201), "é".repeat(2001));
    let options: Vec<String> = (0..21).map(|n| format!("o{n}=Option")).collect();
    let many: Vec<&str> = options.iter().flat_map(|option| ["--option", option.as_str()]).collect();
    let asks = |topic: &'static str, prompt: &'static str| {
        vec!["ask", "--item", "42", "--from", "engineer", "--topic", topic, "--question", prompt]
    };
    let long =
        |topic, prompt| vec!["ask", "--item", "42", "--from", "engineer", "--topic", topic, "--question", prompt];

    for (args, field, limit) in [
        (asks("", "Q?"), "topic", "200"),
        (long(&long_topic, "Q?"), "topic", "200"),
        (asks("T", ""), "prompt", "2000"),
        (long("T", &long_prompt), "prompt", "2000"),
        (ask(&many), "options", "20"),
        (ask(&["--details", "[1]"]), "details", "object"),
        (vec!["show", "CLR-42"], "question_id", "CLR-<item>-<NNN>"),
        (vec!["answer", "CLR-42-1", "--answer", "x"], "question_id", "CLR-<item>-<NNN>"),
    ] {
        let error = project.refused(&args, "invalid_input");
        assert_eq!(error["details"]["field"], field, "{error}");
        assert!(error["message"].as_str().unwrap().contains(field), "{error}");
        assert!(format!("{} {}", error["message"], error["hint"]).contains(limit), "{error}");
    }
    project.ok(&long(&"é".repeat(200), &"é".repeat(2000)));
}

#[test]
fn an_unknown_agent_or_item_names_the_nearest() {
    let project = Project::new();
    project.ok(&["item", "add", "login-page", "--title", "t"]);

    let agent = project
        .refused(&["ask", "--item", "42", "--from", "enginer", "--topic", "T", "--question", "Q"], "unknown_agent");
    let to = project.refused(&ask(&["--to", "architekt"]), "unknown_agent");
    let item = project.refused(
        &["ask", "--item", "login-pag", "--from", "engineer", "--topic", "T", "--question", "Q"],
        "item_not_found",
    );

    for (error, near) in [(agent, "`engineer`"), (to, "`architect`"), (item, "`login-page`")] {
        assert!(error["hint"].as_str().unwrap().contains(near), "{error}");
    }
}

#[test]
fn a_config_that_does_not_read_names_file_line_column_and_the_nearest_key() {
    let project = Project::new();
    let path = project.path().join(".querent/config.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    let before = project.files();

    std::fs::write(&path, format!("{config}\n[agents.extra]\nrnk = 3\n")).unwrap();
    let error = project.refused(&["status"], "invalid_config");
    assert!(error["message"].as_str().unwrap().contains("config.toml:"), "{error}");
    assert!(error["details"]["line"].is_u64() && error["details"]["column"].is_u64(), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("`rank`"), "{error}");

    std::fs::write(&path, "[project\nname = 1").unwrap();
    let error = project.refused(&["item", "add", "9", "--title", "t"], "invalid_config");
    assert_eq!(error["details"]["line"], 1, "{error}");

    std::fs::write(&path, config).unwrap();
    assert_eq!(project.files(), before);
}

#[test]
fn people_read_the_error_the_hint_and_the_code_on_standard_error() {
    let project = Project::new();

    let refused = project.run(&["show", "CLR-42-001"]);
    let unparsed = project.run(&["show"]);

    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""));
    let lines: Vec<&str> = refused.stderr.lines().collect();
    assert_eq!(lines[0], "error: there is no question `CLR-42-001`");
    assert!(lines[1].starts_with("hint: ") && lines[2] == "code: question_not_found", "{lines:?}");
    assert_eq!(
        unparsed.stderr,
        "error: a required argument is missing: <ID>\nhint: see querent show --help\ncode: usage\n"
    );
}

#[test]
fn help_and_version_are_no_errors() {
    let nowhere = Project::none();

    for args in [&["--help"][..], &["-h"], &["--version"], &["ask", "--help"], &["item", "add", "-h"], &["help", "ask"]]
    {
        let shown = nowhere.run(args);
        assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{args:?}");
    }
    let bare = nowhere.run(&[]);
    assert!(bare.code == 2 && bare.stderr.contains("Usage: querent"), "{}", bare.stderr);
    nowhere.refused(&[], "usage");
}

#[test]
fn of_several_near_commands_the_nearest_is_meant() {
    let said = Project::new().run(&["assumption"]).stderr;

    assert!(said.contains("did you mean `assumptions`?"), "{said}");
}
