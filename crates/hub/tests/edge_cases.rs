//! The edge cases of pausing for a human, each under its own name, and what must never come back.
//!
//! What is about the protocol goes through the hub, what is about the loop through a team.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;
mod workshop;

use std::process::Command as Program;

use querent_core::event::TurnOutcome;
use querent_core::view::Filter;
use querent_core::{Action, Code, Command, Event, Party, Process, Purpose, SessionId, TurnDeed, Via};
use querent_hub::{TeamEnd, process};

use crate::support::{Scene, accepted, answers, command, ends, id, refused, to_human};
use crate::workshop::{Workshop, next};

/// The builder asks for permission in its first turn and is done in its second.
const ASKS: &str = "
- when: {agent: builder, turn: 1}
  emit:
    - {type: REQUEST, request: {action: ask_user_input, question_type: permission_override, prompt: 'May I edit the lock file?'}}
- emit: [{type: RESULT, result: {status: done, summary: '{agent} is done'}}]
";
/// The same as a program that keeps its prompts.
const PROGRAM: &str = r#"case $n in
1) echo '{"type":"REQUEST","request":{"action":"ask_user_input","prompt":"May I edit the lock file?"}}' ;;
esac"#;
const QUESTION: &str = "CLR-42-001";

fn asks() -> Command {
    command("42", "engineer", Action::Ask(Box::new(to_human())))
}

#[test]
fn a_duplicate_create_with_the_same_operation_id_replays_the_first_reply() {
    let scene = Scene::in_files();
    scene.item("42");
    let first = scene.hub.execute(&asks(), Some(id("ask-1")));

    let again = scene.another_process().execute(&asks(), Some(id("ask-1")));

    assert_eq!(again.as_str(), first.as_str());
    assert_eq!(scene.hub.item(&id("42")).unwrap().asked, 1);
}

#[test]
fn a_question_while_a_blocking_one_is_open_is_a_conflict() {
    let scene = Scene::in_files();
    scene.item("42");
    let open = scene.asks("42", to_human());

    let refusal = refused(&scene.hub.execute(&asks(), Some(id("ask-2"))), Code::QuestionConflictOpen);

    assert!(refusal.details.to_string().contains(&open.to_string()), "{refusal}");
    assert_eq!(scene.hub.item(&id("42")).unwrap().asked, 1);
}

#[test]
fn an_answer_to_an_unknown_question_is_refused() {
    let scene = Scene::in_files();
    scene.item("42");
    scene.asks("42", to_human());

    refused(&scene.hub.execute(&answers(&id("CLR-42-099"), "yes"), None), Code::QuestionNotFound);

    assert_eq!(scene.stage("42"), "awaiting_input");
}

#[test]
fn an_answer_to_an_answered_question_succeeds_as_a_replay_only() {
    let scene = Scene::in_files();
    scene.item("42");
    let question = scene.asks("42", to_human());
    let first = scene.hub.execute(&answers(&question, "REST"), Some(id("answer-1")));

    let again = scene.another_process().execute(&answers(&question, "REST"), Some(id("answer-1")));
    let other = scene.hub.execute(&answers(&question, "REST"), Some(id("answer-2")));

    assert_eq!(again.as_str(), first.as_str());
    refused(&other, Code::QuestionAlreadyAnswered);
}

#[tokio::test]
async fn an_item_that_ends_takes_its_open_question_back_and_keeps_its_history() {
    let shop = Workshop::small(ASKS).with_items(&["42"]);
    let (mut news, other) = (shop.hub.follow(None).unwrap(), shop.another_process());

    let (end, ()) = shop
        .works_while(async {
            next(&mut news, "turn_ended").await;
            accepted(&other, &ends("42"));
        })
        .await;

    assert_eq!(end, TeamEnd::Done);
    let question = shop.question(QUESTION);
    assert_eq!(question.status.as_str(), "withdrawn");
    assert_eq!(question.thread.first().unwrap().body, "May I edit the lock file?");
    let late = shop.hub.execute(&answers(&question.id, "yes"), None);
    refused(&late, Code::QuestionAnswerNotAllowedInTerminalState);
}

#[tokio::test]
async fn an_item_whose_step_is_gone_when_it_is_answered_goes_on_in_the_first_one_and_says_why() {
    let shop = Workshop::new("waves", ASKS).with_items(&["42"]);
    assert_eq!(shop.works().await, TeamEnd::Waits);
    shop.edit("workflows/waves.toml", |text| text.replace("\"building\"", "\"making\""));
    let shop = shop.begun_anew();

    accepted(&shop.hub, &answers(&id(QUESTION), "yes"));
    let item = shop.hub.item(&id("42")).unwrap();

    assert_eq!(item.stage.as_str(), "planning");
    assert!(item.status_reason.is_some_and(|it| it.contains("`building`")));
    assert_eq!(shop.works().await, TeamEnd::Done);
    let agents: Vec<String> = shop.ends("42").into_iter().map(|(agent, _)| agent).collect();
    assert_eq!(agents, ["planner", "builder", "planner", "builder", "qa"]);
}

#[tokio::test]
async fn two_projects_keep_their_questions_apart() {
    let shops = [ASKS, ASKS].map(|script| Workshop::small(script).with_items(&["42"]));
    let [one, other] = &shops;
    assert_eq!(tokio::join!(one.works(), other.works()), (TeamEnd::Waits, TeamEnd::Waits));

    accepted(&one.hub, &answers(&id(QUESTION), "yes"));

    assert_eq!(tokio::join!(one.works(), other.works()), (TeamEnd::Done, TeamEnd::Waits));
    assert_eq!((one.stage("42").as_str(), other.stage("42").as_str()), ("ready_to_merge", "awaiting_input"));
    assert_eq!(one.hub.questions(None, &Filter::default()).unwrap().len(), 0);
    assert_eq!(other.hub.questions(None, &Filter::default()).unwrap().len(), 1);
}

/// A process that ran once.
fn gone() -> Process {
    let mut child = Program::new("sleep").arg("600").spawn().unwrap();
    let known = process(child.id()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    known
}

#[tokio::test]
async fn what_a_dead_process_left_is_taken_over_and_its_question_can_be_answered() {
    let shop = Workshop::small("").program("builder", "").with_items(&["42"]);
    let begin = TurnDeed::Begin { purpose: Purpose::Step("build".to_owned()), process: Some(gone()), over: None };
    let action = Action::Turn { session: id("builder@42"), deed: Box::new(begin) };
    accepted(&shop.hub, &Command { item: id("42"), by: Party::Querent, via: Via::Team, action });
    let mut ask = to_human();
    ask.session = Some(id("builder@42"));
    accepted(&shop.hub, &command("42", "builder", Action::Ask(Box::new(ask))));
    assert_eq!(shop.works().await, TeamEnd::Waits);
    assert_eq!(shop.prompts(), 0);

    accepted(&shop.another_process(), &answers(&id(QUESTION), "REST"));

    assert_eq!(shop.works().await, TeamEnd::Done);
    let beginnings = shop.records().into_iter().filter_map(|record| match record.event {
        Event::TurnBegun(it) => Some((it.number, it.attempt)),
        _ => None,
    });
    assert_eq!(beginnings.collect::<Vec<_>>(), [(1, 1), (1, 2)]);
    assert!(shop.prompt(1).contains("REST"), "{}", shop.prompt(1));
}

#[tokio::test]
async fn a_message_while_an_answer_is_awaited_is_kept_and_answers_nothing() {
    let shop = Workshop::small("").program("builder", PROGRAM).with_items(&["42"]);
    assert_eq!(shop.works().await, TeamEnd::Waits);

    shop.sends("42", "Yes, go ahead");

    assert_eq!(shop.works().await, TeamEnd::Waits);
    assert_eq!((shop.question(QUESTION).status.as_str(), shop.prompts()), ("open", 1));
    accepted(&shop.hub, &answers(&id(QUESTION), "Not today"));
    assert_eq!(shop.works().await, TeamEnd::Done);
    let prompt = shop.prompt(2);
    assert!(prompt.contains("Yes, go ahead") && prompt.contains("Not today"), "{prompt}");
}

#[tokio::test]
async fn an_answer_without_any_session_is_kept_and_the_next_team_makes_one() {
    let shop = Workshop::small("").program("builder", "").with_items(&["42"]);
    let question = {
        let mut ask = to_human();
        ask.session = Some(id("another"));
        accepted(&shop.hub, &command("42", "builder", Action::Ask(Box::new(ask))));
        id(QUESTION)
    };

    accepted(&shop.another_process(), &answers(&question, "REST"));

    assert_eq!(shop.stage("42"), "build");
    assert_eq!(shop.works().await, TeamEnd::Done);
    assert!(shop.hub.item(&id("42")).unwrap().sessions.contains_key(&id::<SessionId>("builder@42")));
    assert!(shop.prompt(1).contains("REST"), "{}", shop.prompt(1));
}

#[tokio::test]
async fn a_builder_that_asks_for_permission_does_nothing_more_until_it_is_answered() {
    let steps = "[[steps]]\nname = \"build\"\nagent = \"builder\"\ngates = [\"touch gated\"]\n";
    let patch = "{\"type\":\"PATCH\",\"patch\":\"x\"}";
    let asks = r#"{"type":"REQUEST","request":{"action":"ask_user_input","prompt":"May I edit the lock file?"}}"#;
    let shop = Workshop::steps(steps, "").program("builder", &format!("echo '{asks}'\necho '{patch}'"));
    let shop = shop.with_items(&["42"]);

    assert_eq!(shop.works().await, TeamEnd::Waits);
    let before = shop.records().len();
    assert_eq!(shop.works().await, TeamEnd::Waits);

    assert_eq!(shop.records().len(), before, "{:?}", shop.events());
    assert_eq!((shop.stage("42").as_str(), shop.prompts()), ("awaiting_input", 1));
    assert_eq!(shop.ends("42"), [("builder".to_owned(), TurnOutcome::Asked)]);
    assert!(!shop.path("gated").exists());
}

#[tokio::test]
async fn when_the_answer_is_there_the_builder_resumes_and_goes_on_to_its_gates() {
    let steps = "[[steps]]\nname = \"build\"\nagent = \"builder\"\ngates = [\"cat mended\"]\n";
    let shop = Workshop::steps(steps, "").program("builder", &format!("{PROGRAM}\n[ $n -lt 3 ] || touch mended"));
    let shop = shop.with_items(&["42"]);
    assert_eq!(shop.works().await, TeamEnd::Waits);

    accepted(&shop.another_process(), &answers(&id(QUESTION), "approve"));

    assert_eq!(shop.works().await, TeamEnd::Done);
    let outcomes: Vec<TurnOutcome> = shop.ends("42").into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(outcomes, [TurnOutcome::Asked, TurnOutcome::Rejected, TurnOutcome::Done]);
    assert!(shop.prompt(2).contains("approve"), "{}", shop.prompt(2));
    assert!(shop.prompt(3).contains("Your last turn was not accepted"), "{}", shop.prompt(3));
    assert_eq!(shop.stage("42"), "ready_to_merge");
}
