//! The loop of a team: who is invoked when, what they are told, and what comes of what they say.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;
mod workshop;

use std::process::Command as Program;

use querent_core::event::{SaidKind, TurnOutcome};
use querent_core::{Event, Record};
use querent_hub::{Team, TeamEnd, TeamOptions};
use tokio::sync::watch;

use crate::support::{accepted, answers, id};
use crate::workshop::{Workshop, in_time, next, only, patient};

/// Whoever is invoked is done.
const DONE: &str = "- emit: [{type: RESULT, result: {status: done, summary: '{agent} is done'}}]\n";
const ASKS_HUMAN: &str = "{type: REQUEST, request: {action: ask_user_input, prompt: 'REST or RPC?'}}";
/// What a program prints that asks a human in its first turn.
const ASKS_ONCE: &str =
    r#"[ $n -gt 1 ] || echo '{"type":"REQUEST","request":{"action":"ask_user_input","prompt":"REST or RPC?"}}'"#;

/// The builder says this in its first turn; all else is done.
fn first(emit: &str) -> String {
    format!("- when: {{agent: builder, turn: 1}}\n  emit: [{emit}]\n{DONE}")
}

fn outcomes(shop: &Workshop, item: &str) -> Vec<TurnOutcome> {
    shop.ends(item).into_iter().map(|(_, outcome)| outcome).collect()
}

#[tokio::test]
async fn waves_run_as_they_are_shipped() {
    let shop = Workshop::new("waves", DONE).with_items(&["1", "2"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    for item in ["1", "2"] {
        let done = ["planner", "builder", "qa"].map(|agent| (agent.to_owned(), TurnOutcome::Done));
        assert_eq!(shop.ends(item), done);
        assert_eq!(shop.stage(item), "ready_to_merge");
    }
}

#[tokio::test]
async fn a_feature_runs_as_it_is_shipped_and_an_engineer_is_answered_by_the_architect() {
    let script = format!(
        "- when: {{agent: engineer, turn: 1}}
  emit: [{{type: REQUEST, request: {{action: ask, topic: API, prompt: 'REST or RPC?'}}}}]
- when: {{agent: architect, question: API}}
  emit: [{{type: RESULT, result: {{answer: REST, evidence: ADR-7}}}}]
{DONE}"
    );
    let shop = Workshop::new("feature", &script).with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    let agents: Vec<String> = shop.ends("1").into_iter().map(|(agent, _)| agent).collect();
    assert_eq!(agents, ["product-manager", "architect", "engineer", "engineer", "reviewer"]);
    let question = shop.question("CLR-1-001");
    assert_eq!((question.status.as_str(), question.to.to_string().as_str()), ("resolved", "architect"));
    assert_eq!(question.answer.unwrap().value, "REST");
    assert_eq!(shop.count("agent_called"), 1);
}

#[tokio::test]
async fn of_a_question_and_a_submission_in_one_turn_the_question_wins() {
    let done = "{type: RESULT, result: {status: done}}";
    for said in [format!("{ASKS_HUMAN}, {done}"), format!("{done}, {ASKS_HUMAN}")] {
        let shop = Workshop::small(&first(&said)).with_items(&["1"]);

        assert_eq!(shop.works().await, TeamEnd::Waits);

        assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Asked]);
        assert_eq!(shop.stage("1"), "awaiting_input");
    }
}

#[tokio::test]
async fn a_question_without_a_prompt_raises_a_note_and_nothing_else() {
    let shop = Workshop::small(&first("{type: REQUEST, request: {action: ask_user_input}}")).with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    let said = shop.said();
    assert!(matches!(&said[..], [(SaidKind::Note, text)] if text.contains("without a prompt")), "{said:?}");
    assert_eq!(shop.hub.item(&id("1")).unwrap().asked, 0);
}

#[tokio::test]
async fn an_unknown_request_is_logged_and_no_more() {
    let flies = r#"echo '{"type":"REQUEST","request":{"action":"fly"}}'"#;
    let shop = Workshop::small("").program("builder", flies).with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    let said = shop.said();
    assert!(matches!(&said[..], [(SaidKind::Ignored, text)] if text.contains("`fly`")), "{said:?}");
    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Done]);
}

#[tokio::test]
async fn a_refused_question_is_told_in_the_next_turn() {
    let asks = r#"[ $n -gt 1 ] || echo '{"type":"REQUEST","request":{"action":"ask","to":"qa","prompt":"Is it?"}}'"#;
    let shop = Workshop::small("").program("builder", asks).with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Rejected, TurnOutcome::Done]);
    assert!(shop.prompt(2).contains("Your question was refused (scope_violation)"), "{}", shop.prompt(2));
    assert_eq!(shop.hub.item(&id("1")).unwrap().asked, 0);
}

#[tokio::test]
async fn an_item_that_awaits_input_rests_and_resumes_in_its_step_with_the_answer() {
    let shop = Workshop::new("waves", DONE).program("builder", ASKS_ONCE).with_items(&["1"]);
    assert_eq!(shop.works().await, TeamEnd::Waits);
    let question = shop.question("CLR-1-001");
    assert_eq!(question.resume_stage.unwrap().as_str(), "building");
    let before = shop.records().len();

    assert_eq!(shop.works().await, TeamEnd::Waits);
    assert_eq!(shop.records().len(), before, "{:?}", shop.events());
    assert_eq!(shop.prompts(), 1);

    accepted(&shop.another_process(), &answers(&question.id, "RPC, of course"));
    assert_eq!(shop.works().await, TeamEnd::Done);

    assert_eq!(shop.prompts(), 2);
    assert!(shop.prompt(2).contains("RPC, of course"), "{}", shop.prompt(2));
    let agents: Vec<String> = shop.ends("1").into_iter().map(|(agent, _)| agent).collect();
    assert_eq!(agents, ["planner", "builder", "builder", "qa"]);
}

#[tokio::test]
async fn a_team_rests_while_everything_waits_and_an_answer_from_elsewhere_wakes_it() {
    let shop = Workshop::small("").program("builder", ASKS_ONCE).with_items(&["1"]);
    let (mut news, other) = (shop.hub.follow(None).unwrap(), shop.another_process());

    let (end, asked) = shop
        .works_while(async {
            let asked = next(&mut news, "turn_ended").await.seq;
            accepted(&other, &answers(&id("CLR-1-001"), "REST"));
            asked
        })
        .await;

    assert_eq!(end, TeamEnd::Done);
    let first = shop.records().into_iter().find(|record| record.seq == asked + 1).unwrap();
    assert!(first.by.is_human(), "nothing happens while it waits: {first:?}");
    assert_eq!(shop.prompts(), 2);
}

#[tokio::test]
async fn only_the_items_that_are_named_are_worked_on() {
    let shop = Workshop::small(DONE).with_items(&["1", "2"]);

    assert_eq!(shop.works_with(only(&["2"])).await, TeamEnd::Done);

    assert_eq!((shop.stage("1").as_str(), shop.stage("2").as_str()), ("build", "ready_to_merge"));
}

/// How many turns were under way at most.
fn most_at_a_time(records: &[Record]) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for record in records {
        match record.event {
            Event::TurnBegun(_) => now += 1,
            Event::TurnEnded(_) => now -= 1,
            _ => {}
        }
        most = most.max(now);
    }
    most
}

#[tokio::test]
async fn as_many_work_at_a_time_as_may_and_no_more() {
    // Each of the first two comes to an end only if the other is there.
    let meet = "case $QUERENT_ITEM in 1) echo here > meet ;; 2) cat meet ;; esac";
    let shop = Workshop::small("").program("builder", meet).with_items(&["1", "2", "3", "4"]);
    assert!(Program::new("mkfifo").arg(shop.path("meet")).status().unwrap().success());

    let options = TeamOptions { parallel: Some(2), once: true, ..patient() };
    assert_eq!(shop.works_with(options).await, TeamEnd::Done);

    assert_eq!(most_at_a_time(&shop.records()), 2);
}

#[tokio::test]
async fn an_agent_alone_works_on_one_item_after_the_other() {
    let shop = Workshop::small(DONE).with_items(&["1", "2", "3"]);

    let options = TeamOptions { parallel: Some(1), once: true, ..patient() };
    assert_eq!(shop.works_with(options).await, TeamEnd::Done);

    assert_eq!(most_at_a_time(&shop.records()), 1);
}

#[tokio::test]
async fn an_agent_that_crashes_twice_blocks_its_item_and_people_are_told() {
    let script = format!("- when: {{agent: builder}}\n  fail: it fell over\n{DONE}");
    let shop = Workshop::small(&script).with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Failed, TurnOutcome::Failed]);
    let item = shop.hub.item(&id("1")).unwrap();
    assert_eq!(item.stage.as_str(), "blocked");
    assert!(item.status_reason.is_some_and(|it| it.contains("it fell over")));
    assert_eq!(shop.count("alert_raised"), 1);
}

#[tokio::test]
async fn an_agent_that_crashes_once_is_invoked_again_and_told() {
    let shop = Workshop::small("").program("builder", "[ $n -gt 1 ] || { echo fell >&2; exit 7; }").with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Failed, TurnOutcome::Done]);
    assert!(shop.prompt(2).contains("Your last turn came to nothing"), "{}", shop.prompt(2));
}

#[tokio::test]
async fn a_team_that_is_stopped_ends_its_turns_and_the_next_goes_on() {
    let script = format!("- when: {{agent: builder, turn: 1}}\n  hang: true\n{DONE}");
    let shop = Workshop::small(&script).with_items(&["1"]);
    let (team, mut news) = (Team::open(&shop.hub, patient()).unwrap(), shop.hub.follow(None).unwrap());
    let (end_it, stopped) = watch::channel(false);

    let (end, ()) = in_time(async {
        tokio::join!(team.run(stopped), async {
            next(&mut news, "turn_begun").await;
            end_it.send(true).unwrap();
        })
    })
    .await;

    assert_eq!(end.unwrap(), TeamEnd::Stopped);
    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Stopped]);
    assert_eq!(shop.stage("1"), "build");
    assert_eq!(shop.works().await, TeamEnd::Done);
    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Stopped, TurnOutcome::Done]);
}

#[tokio::test]
async fn an_agent_that_takes_too_long_has_failed() {
    let script = format!("- when: {{agent: builder, turn: 1}}\n  hang: true\n{DONE}");
    let shop = Workshop::small(&script);
    shop.edit("config.toml", |config| format!("{config}timeout = \"1s\"\n"));
    let shop = shop.with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    let first = shop.turns("1").remove(0);
    assert_eq!((first.outcome, first.said.as_deref()), (TurnOutcome::Failed, Some("it was not done within 1s")));
}
