use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use serde_json::Value;

use crate::common::{Project, keys};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_journal_is_one_json_object_a_line_in_every_mode() {
    let project = Project::new();
    project.asks_human();

    let all = project.run(&["events"]);
    let later = project.run(&["events", "--since", "2", "--json"]);

    let events = lines(&all.stdout);
    let mut fields = keys(&events[0]);
    fields.sort_unstable();
    assert_eq!(fields, ["at", "by", "data", "operation_id", "seq", "stream", "type", "version"]);
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["item_opened", "item_moved", "question_asked", "item_paused"]);
    assert!((1..).zip(&events).all(|(seq, event)| event["seq"] == seq), "dense");
    assert_eq!(lines(&later.stdout), events[2..]);
}

#[test]
fn following_goes_on_with_what_other_processes_do() {
    let project = Project::new();
    let mut following = Project::start(&mut project.querent(&["events", "--follow", "--since", "1"]));
    let mut out = BufReader::new(following.stdout.take().unwrap());
    let mut next = || {
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        lines(&line)[0]["type"].as_str().unwrap().to_owned()
    };

    assert_eq!(next(), "item_moved");
    project.asks_architect();
    assert_eq!(next(), "question_asked");

    following.kill().unwrap();
    following.wait().unwrap();
}

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    let project = Project::new();
    let mut command = project.querent(&["events"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);

    let mut child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    drop(command);

    let mut complaint = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    assert_eq!((child.wait().unwrap().code(), complaint.as_str()), (Some(0), ""));
}
