//! A project's own files: what people edit is read again, and a mistake in it is named exactly.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use querent_core::view::Filter;
use querent_core::{Code, Event, Refusal};
use querent_hub::{Handle, Project, doctor};

use crate::support::{Scene, accepted, answers, id, on_both_engines, opens, refused, to_human};

/// The refusal of a project whose file was edited, and what was left of it.
fn refusal(file: &str, edit: impl FnOnce(String) -> String) -> Refusal {
    let scene = Scene::in_files();
    scene.edit(file, edit);
    let refusal = Handle::open(&scene.project, "test").err().unwrap();
    assert_eq!(refusal.code, Code::InvalidConfig, "{refusal}");
    assert!(!scene.project.dir().join("journal").exists(), "a mistake has no side effects");
    assert_eq!(doctor(&scene.project, true).unwrap().findings[0].what, refusal.message);
    refusal
}

#[track_caller]
fn is_at(refusal: &Refusal, file: &str, line: u64, column: u64) {
    assert!(refusal.message.contains(&format!("{file}:{line}:{column}: ")), "{}", refusal.message);
    assert_eq!((&refusal.details["line"], &refusal.details["column"]), (&line.into(), &column.into()), "{refusal}");
    assert!(refusal.details["file"].as_str().unwrap().ends_with(file), "{}", refusal.details);
}

fn line_of(text: &str, word: &str) -> u64 {
    1 + text.lines().position(|line| line.contains(word)).unwrap() as u64
}

#[test]
fn malformed_toml_is_refused_with_file_line_and_column() {
    let refusal = refusal("config.toml", |_| "[project]\nname = shop\n".to_owned());

    is_at(&refusal, "config.toml", 2, 8);
}

#[test]
fn a_value_of_the_wrong_kind_is_refused_where_it_stands() {
    let refusal =
        refusal("config.toml", |_| "[project]\nname = \"shop\"\n[human_input]\ntimeout = \"soon\"\n".to_owned());

    is_at(&refusal, "config.toml", 4, 11);
    assert!(refusal.message.contains("soon"), "{}", refusal.message);
}

#[test]
fn a_value_of_the_wrong_type_is_refused_with_the_type_that_is_expected() {
    let refusal = refusal("config.toml", |_| "[project]\nname = \"shop\"\n[human_input]\nenabled = 1\n".to_owned());

    is_at(&refusal, "config.toml", 4, 11);
    assert!(refusal.message.ends_with("expected a boolean"), "{}", refusal.message);
}

#[test]
fn a_file_that_is_no_utf_8_is_refused_without_advice_to_make_it_anew() {
    let scene = Scene::in_files();
    fs::write(scene.project.dir().join("config.toml"), b"[project]\nname = \"caf\xe9\"\n").unwrap();

    let refusal = Handle::open(&scene.project, "test").err().unwrap();

    assert_eq!((refusal.code, refusal.hint.as_str()), (Code::InvalidConfig, "save it as UTF-8"));
}

#[test]
fn init_brings_back_the_workflows_that_are_gone() {
    let scene = Scene::in_files();
    fs::remove_dir_all(scene.project.dir().join("workflows")).unwrap();
    assert!(Handle::open(&scene.project, "test").err().unwrap().hint.contains("querent init"));

    let (_, created) = Project::init(scene.project.root(), None, "feature").unwrap();

    assert!(created.contains(&".querent/workflows/feature.toml".into()), "{created:?}");
    assert!(Handle::open(&scene.project, "test").is_ok());
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_known_one() {
    let refusal = refusal("config.toml", |_| "[project]\nname = \"shop\"\nautonmy = \"smart\"\n".to_owned());

    is_at(&refusal, "config.toml", 3, 1);
    assert!(refusal.message.contains("autonmy"), "{}", refusal.message);
    assert!(refusal.hint.contains("`autonomy`"), "{}", refusal.hint);
    assert_eq!(refusal.details["nearest"], "autonomy");
}

#[test]
fn an_unknown_key_in_a_step_is_refused_with_the_nearest_known_one() {
    let mut line = 0;
    let refusal = refusal("workflows/feature.toml", |text| {
        let text = text.replacen("can_clarify", "can_clarfy", 1);
        line = line_of(&text, "can_clarfy");
        text
    });

    is_at(&refusal, "feature.toml", line, 1);
    assert_eq!(refusal.details["nearest"], "can_clarify");
}

#[test]
fn an_unknown_agent_in_a_step_is_refused_with_the_nearest_known_one() {
    let mut line = 0;
    let refusal = refusal("workflows/feature.toml", |text| {
        let text = text.replace("agent = \"engineer\"", "agent = \"enginer\"");
        line = line_of(&text, "enginer");
        text
    });

    is_at(&refusal, "feature.toml", line, 9);
    assert!(refusal.message.contains("`implement`") && refusal.message.contains("`enginer`"), "{}", refusal.message);
    assert!(refusal.hint.contains("`engineer`"), "{}", refusal.hint);
}

#[test]
fn a_step_that_is_there_twice_is_refused_where_it_is_there_again() {
    let mut line = 0;
    let refusal = refusal("workflows/feature.toml", |text| {
        let text = text.replace("name = \"review\"", "name = \"implement\"");
        line = text.lines().count() as u64
            - text.lines().rev().position(|it| it.contains("\"implement\"")).unwrap() as u64;
        text
    });

    is_at(&refusal, "feature.toml", line, 8);
    assert!(refusal.message.contains("`implement`"), "{}", refusal.message);
}

#[test]
fn a_step_with_the_name_of_a_fixed_stage_is_refused() {
    for name in ["awaiting_input", "blocked", "ready_to_merge", "merged", "failed", "two words", ""] {
        let mut line = 0;
        let refusal = refusal("workflows/feature.toml", |text| {
            let text = text.replace("name = \"review\"", &format!("name = \"{name}\""));
            line = line_of(&text, &format!("\"{name}\""));
            text
        });

        is_at(&refusal, "feature.toml", line, 8);
        assert!(refusal.message.contains(&format!("`{name}`")), "{}", refusal.message);
    }
}

#[test]
fn a_default_workflow_that_does_not_exist_is_refused_with_the_nearest() {
    let refusal = refusal("config.toml", |text| text.replace("workflow = \"feature\"", "workflow = \"featur\""));

    assert!(refusal.hint.contains("`feature`"), "{}", refusal.hint);
}

#[test]
fn outside_a_project_there_is_none_and_none_is_made() {
    let dir = tempfile::tempdir().unwrap();

    let refusal = Project::find(dir.path()).unwrap_err();

    assert_eq!(refusal.code, Code::NoProject);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn an_item_whose_step_was_edited_away_goes_on_in_the_first_step() {
    let scene = Scene::in_files();
    scene.item("42");
    let question = scene.asks("42", to_human());
    scene.edit("workflows/feature.toml", |text| text.replace("\"implement\"", "\"build\""));
    let hub = scene.another_process();

    accepted(&hub, &answers(&question, "REST"));

    let item = hub.item(&id("42")).unwrap();
    assert_eq!(item.stage.as_str(), "requirements");
    assert!(item.status_reason.as_deref().is_some_and(|it| it.contains("`implement`")), "{:?}", item.status_reason);
    let resumed = scene.records().into_iter().find_map(|record| match record.event {
        Event::ItemResumed(resumed) => Some(resumed.reason),
        _ => None,
    });
    assert_eq!(resumed, item.status_reason);
}

#[test]
fn an_item_that_does_not_exist_is_refused_with_the_nearest() {
    on_both_engines(|scene| {
        let alone = scene.hub.item(&id("logn-page")).unwrap_err();
        assert!(alone.details.get("nearest").is_none(), "{}", alone.details);
        scene.item("login-page");
        scene.item("checkout");
        let near = |refusal: Refusal| {
            assert_eq!(refusal.code, Code::ItemNotFound);
            assert_eq!(refusal.details["nearest"], "login-page");
            assert!(refusal.hint.contains("`login-page`"), "{}", refusal.hint);
        };
        near(scene.hub.item(&id("logn-page")).unwrap_err());
        near(scene.hub.question(&id("CLR-logn-page-001")).unwrap_err());
        near(scene.hub.questions(Some(&id("logn-page")), &Filter::default()).unwrap_err());
        near(refused(&scene.hub.execute(&answers(&id("CLR-logn-page-001"), "x"), None), Code::ItemNotFound));
    });
}

#[test]
fn a_doctor_says_what_is_wrong_and_repairs_what_can_be() {
    let scene = Scene::in_files();
    scene.item("42");
    scene.asks("42", to_human());
    assert!(doctor(&scene.project, false).unwrap().healthy);
    fs::write(scene.project.dir().join("items/42/item.json"), "{").unwrap();

    let report = doctor(&scene.project, false).unwrap();

    assert!(!report.healthy);
    assert!(report.findings.iter().any(|it| it.severity == "warning" && it.place.ends_with("item.json")), "{report:?}");
    assert!(doctor(&scene.project, true).unwrap().healthy);
    assert!(doctor(&scene.project, false).unwrap().healthy);
}

#[test]
fn a_doctor_of_an_untouched_project_finds_nothing() {
    let scene = Scene::in_files();

    assert!(doctor(&scene.project, false).unwrap().healthy);
    accepted(&scene.hub, &opens("42"));
    assert!(doctor(&scene.project, false).unwrap().healthy);
}
