use crate::common::Project;

#[test]
fn items_are_listed_by_id_and_an_empty_list_says_what_to_do() {
    let project = Project::empty();
    assert!(project.run(&["item", "list"]).stdout.contains("querent item add"));
    for id in ["b", "a", "10"] {
        project.ok(&["item", "add", id, "--title", &format!("Title {id}")]);
    }

    let table = project.run(&["item", "list"]).stdout;

    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "ID  STAGE         WORKFLOW  TITLE");
    assert_eq!(
        lines[1..],
        [
            "10  requirements  feature   Title 10",
            "a   requirements  feature   Title a",
            "b   requirements  feature   Title b"
        ]
    );
    assert_eq!(project.ok(&["item", "list"])["items"][2]["id"], "b");
}
