use crate::common::Project;

#[test]
fn the_end_of_an_agents_work_is_the_end_of_its_step() {
    let project = Project::new();
    project.ok(&["hook", "start", "--agent", "engineer"]);

    let reply = project.ok(&["hook", "finish", "--agent", "engineer"]);

    assert_eq!((&reply["session"]["status"], &reply["item"]["stage"]), (&"done".into(), &"review".into()));
    assert_eq!(project.ok(&["hook", "finish", "--agent", "reviewer"])["item"]["stage"], "ready_to_merge");
}

#[test]
fn the_step_goes_on_if_asked_to_keep_it_or_if_a_question_is_open() {
    let project = Project::new();

    assert_eq!(project.ok(&["hook", "finish", "--agent", "engineer", "--keep"])["item"]["stage"], "implement");

    project.asks_architect();
    assert_eq!(project.ok(&["hook", "finish", "--agent", "engineer"])["item"]["stage"], "implement");
}
