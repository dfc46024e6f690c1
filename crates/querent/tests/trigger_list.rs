use crate::common::{Project, keys};

#[test]
fn a_list_has_what_is_installed_and_what_is_shipped() {
    let project = Project::empty();
    project.ok(&["trigger", "install", "ideation"]);

    let reply = project.ok(&["trigger", "list"]);

    assert_eq!(keys(&reply), ["installed", "shipped"]);
    assert_eq!(reply["installed"][0]["file"], ".querent/questions/ideation.yaml");
    let trigger = &reply["installed"][0]["triggers"][1];
    assert_eq!(trigger["trigger"], "ideation/problem_statement_vague");
    assert_eq!(trigger["when"], "size(problem_description) < 50");
    assert_eq!((&trigger["kind"], &trigger["blocking"]), (&"blocking".into(), &true.into()));
    let shipped = reply["shipped"].as_array().unwrap();
    assert_eq!(shipped.len(), 6);
    assert_eq!(shipped.iter().filter(|set| set["installed"] == true).count(), 1);
}

#[test]
fn people_see_a_table_and_the_sets() {
    let project = Project::empty();
    assert!(project.run(&["trigger", "list"]).stdout.starts_with("No triggers are installed.\n"));
    project.ok(&["trigger", "install", "learning"]);

    let shown = project.run(&["trigger", "list"]).stdout;

    assert!(shown.contains("learning/claude_md_promotion"), "{shown}");
    assert!(shown.contains("  learning       installed\n"), "{shown}");
}

#[test]
fn the_incubator_begins_with_all_of_them() {
    let project = Project::none();
    project.ok(&["init", "--workflow", "incubator"]);

    let shipped = project.ok(&["trigger", "list"])["shipped"].clone();

    assert!(shipped.as_array().unwrap().iter().all(|set| set["installed"] == true && set["edited"] == false));
}
