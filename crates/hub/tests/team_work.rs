//! What a team makes of its agents' work: gates, patches, answers between agents, messages, events, locks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;
mod workshop;

use std::process::Command as Program;

use querent_core::event::{SaidKind, TurnOutcome};
use querent_hub::{Team, TeamEnd};
use tokio::sync::watch;

use crate::support::{accepted, answers, id};
use crate::workshop::{Workshop, in_time, only, patient};

/// Whoever is invoked is done.
const DONE: &str = "- emit: [{type: RESULT, result: {status: done, summary: '{agent} is done'}}]\n";
const ASKS_ONCE: &str =
    r#"[ $n -gt 1 ] || echo '{"type":"REQUEST","request":{"action":"ask_user_input","prompt":"REST or RPC?"}}'"#;

fn first(emit: &str) -> String {
    format!("- when: {{agent: builder, turn: 1}}\n  emit: [{emit}]\n{DONE}")
}

/// The builder asks the planner, who has these replies.
fn asks_planner(replies: &str) -> Workshop {
    let asks =
        "{type: REQUEST, request: {action: ask, to: planner, topic: API, prompt: 'REST or RPC?', max_rounds: 2}}";
    let script = format!("{replies}\n{}", first(asks));
    Workshop::small(&script).with_items(&["1"])
}

fn outcomes(shop: &Workshop, item: &str) -> Vec<TurnOutcome> {
    shop.ends(item).into_iter().map(|(_, outcome)| outcome).collect()
}

fn gated(gate: &str) -> String {
    format!("[[steps]]\nname = \"build\"\nagent = \"builder\"\ngates = [\"{gate}\"]\n")
}

#[tokio::test]
async fn a_gate_that_fails_sends_the_agent_back_with_what_it_printed() {
    let shop = Workshop::steps(&gated("test -e ok || { echo ok is missing; exit 3; }"), "");
    let shop = shop.program("builder", "[ $n -lt 2 ] || touch ok").with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Rejected, TurnOutcome::Done]);
    assert!(!shop.prompt(1).contains("Your last turn"), "{}", shop.prompt(1));
    let prompt = shop.prompt(2);
    assert!(prompt.contains("Your last turn was not accepted") && prompt.contains("\nok is missing"), "{prompt}");
    assert_eq!(shop.stage("1"), "ready_to_merge");
}

#[tokio::test]
async fn work_that_fails_its_gates_three_times_blocks_the_item() {
    let shop = Workshop::steps(&gated("echo never; false"), DONE).with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Rejected; 3]);
    let item = shop.hub.item(&id("1")).unwrap();
    assert_eq!(item.stage.as_str(), "blocked");
    assert!(item.status_reason.is_some_and(|it| it.contains("did not pass its gates")));
    assert_eq!(shop.count("alert_raised"), 1);
}

#[tokio::test]
async fn a_team_that_is_stopped_does_not_wait_for_a_gate() {
    let shop = Workshop::steps(&gated("test -e ok || { echo begun > meet; sleep 600; }"), DONE).with_items(&["1"]);
    assert!(Program::new("mkfifo").arg(shop.path("meet")).status().unwrap().success());
    let (team, meet) = (Team::open(&shop.hub, patient()).unwrap(), shop.path("meet"));
    let (end_it, stopped) = watch::channel(false);

    let (end, ()) = in_time(async {
        tokio::join!(team.run(stopped), async {
            let begun = tokio::task::spawn_blocking(move || std::fs::read_to_string(meet));
            assert_eq!(begun.await.unwrap().unwrap(), "begun\n");
            end_it.send(true).unwrap();
        })
    })
    .await;

    assert_eq!(end.unwrap(), TeamEnd::Stopped);
    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Stopped]);
    std::fs::write(shop.path("ok"), "").unwrap();
    assert_eq!(shop.works().await, TeamEnd::Done);
}

fn git(shop: &Workshop, arguments: &[&str]) -> String {
    let done = Program::new("git").args(arguments).current_dir(shop.root()).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

const PATCH: &str = r#"{type: PATCH, patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"}"#;

#[tokio::test]
async fn a_patch_is_applied_once_on_the_branch_of_its_item_and_nowhere_else() {
    let shop = Workshop::small(&first(PATCH)).in_git();
    // The second turn finds the patch of the first.
    shop.edit("workflows/waves.toml", |text| {
        format!("{text}gates = [\"grep two a.txt && test -e again || ! touch again\"]\n")
    });
    let shop = shop.with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Rejected, TurnOutcome::Done]);
    assert_eq!(git(&shop, &["show", "querent/1:a.txt"]), "two\n");
    assert_eq!(
        git(&shop, &["log", "--format=%(trailers:key=Querent-Patch,valueonly)", "querent/1"]).trim(),
        "builder@1:1:1"
    );
    assert_eq!(shop.file("a.txt"), "one\n");
    assert!(!shop.path(".querent/worktrees/1").exists(), "it is not needed any more");
}

#[tokio::test]
async fn a_patch_that_does_not_fit_changes_nothing_and_its_agent_is_told() {
    let bad = r#"{type: PATCH, patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-not\n+there\n"}"#;
    let shop = Workshop::small(&first(bad)).in_git().with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    let turns = shop.turns("1");
    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Rejected, TurnOutcome::Done]);
    assert!(turns[0].said.as_deref().is_some_and(|it| it.contains("Your patch was refused")), "{turns:?}");
    assert_eq!(git(&shop, &["show", "querent/1:a.txt"]), "one\n");
}

#[tokio::test]
async fn the_agent_that_is_asked_is_given_what_its_own_step_made() {
    let steps = "[[steps]]\nname = \"plan\"\nagent = \"planner\"\nartifacts = [\"docs/plan.md\"]\n
[[steps]]\nname = \"build\"\nagent = \"builder\"\ncan_clarify = [\"planner\"]\n";
    let plans = r#"case $n in
1) mkdir docs; echo 'Use cookies.' > docs/plan.md ;;
*) echo '{"type":"RESULT","result":{"answer":"Cookies","evidence":"docs/plan.md"}}' ;;
esac"#;
    let asks = "{type: REQUEST, request: {action: ask, prompt: 'Cookies or tokens?'}}";
    let shop = Workshop::steps(steps, &first(asks)).program("planner", plans).with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    let prompt = shop.prompt(2);
    assert!(prompt.contains("Cookies or tokens?") && prompt.contains("# docs/plan.md\n\nUse cookies."), "{prompt}");
    assert_eq!(shop.question("CLR-1-001").answer.unwrap().value, "Cookies");
}

#[tokio::test]
async fn an_answer_that_does_not_answer_is_asked_on() {
    let shop = asks_planner(
        "- when: {agent: planner, round: 1}
  emit: [{type: RESULT, result: {answer: I do not know}}]
- when: {agent: planner, round: 2}
  emit: [{type: RESULT, result: {answer: REST, evidence: the plan}}]",
    );

    assert_eq!(shop.works().await, TeamEnd::Done);

    let question = shop.question("CLR-1-001");
    assert_eq!((question.round, question.status.as_str()), (2, "resolved"));
    assert_eq!((shop.count("question_followed_up"), shop.count("agent_called")), (1, 2));
}

#[tokio::test]
async fn past_the_last_round_a_human_decides() {
    let shop = asks_planner("- when: {agent: planner}\n  emit: [{type: RESULT, result: {answer: It depends}}]");

    assert_eq!(shop.works().await, TeamEnd::Waits);

    let question = shop.question("CLR-1-001");
    assert_eq!((question.status.as_str(), question.to.to_string().as_str()), ("escalated", "human"));
    assert_eq!((shop.stage("1").as_str(), shop.count("agent_called")), ("awaiting_input", 2));
    accepted(&shop.hub, &answers(&question.id, "REST"));
    assert_eq!(shop.works().await, TeamEnd::Done);
}

#[tokio::test]
async fn an_agent_that_cannot_be_asked_is_tried_once_more_and_then_a_human_decides() {
    let shop = asks_planner("- when: {agent: planner}\n  fail: no network");

    assert_eq!(shop.works().await, TeamEnd::Waits);

    let question = shop.question("CLR-1-001");
    assert_eq!((shop.count("agent_called"), shop.count("agent_call_failed")), (2, 2));
    assert_eq!((question.status.as_str(), shop.stage("1").as_str()), ("escalated", "awaiting_input"));
    assert!(question.thread.iter().any(|entry| entry.body.contains("no network")), "{:?}", question.thread);
}

#[tokio::test]
async fn a_message_is_in_the_next_prompt_and_in_no_other() {
    let shop = Workshop::small("").program("builder", ASKS_ONCE).with_items(&["1"]);
    shop.sends("1", "Mind the cache");
    assert_eq!(shop.works().await, TeamEnd::Waits);
    shop.sends("1", "And the tests");
    accepted(&shop.hub, &answers(&id("CLR-1-001"), "REST"));

    assert_eq!(shop.works().await, TeamEnd::Done);

    assert!(shop.prompt(1).contains("human:alice says: Mind the cache"), "{}", shop.prompt(1));
    let second = shop.prompt(2);
    assert!(second.contains("And the tests") && !second.contains("Mind the cache"), "{second}");
}

#[tokio::test]
async fn whoever_listens_to_people_is_invoked_by_their_message() {
    let shop = Workshop::small(DONE).listener("qa", "user.message").with_items(&["1"]);
    shop.sends("1", "Mind the cache");

    assert_eq!(shop.works().await, TeamEnd::Done);

    let done = ["qa", "builder"].map(|agent| (agent.to_owned(), TurnOutcome::Done));
    assert_eq!(shop.ends("1"), done);
}

#[tokio::test]
async fn a_step_that_waits_for_an_event_begins_with_it() {
    let steps = "[[steps]]\nname = \"build\"\nagent = \"builder\"\nwaits_for = [\"spec.approved\"]\n";
    let shop = Workshop::steps(steps, DONE).with_items(&["1"]);
    assert_eq!(shop.works().await, TeamEnd::Waits);
    assert_eq!(shop.count("turn_begun"), 0);

    shop.emits("1", "spec.approved");

    assert_eq!(shop.works().await, TeamEnd::Done);
    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Done]);
}

#[tokio::test]
async fn events_that_go_in_circles_come_to_an_end() {
    let emits = "- when: {agent: qa}\n  emit: [{type: REQUEST, request: {action: emit, event: ping.sent}}]\n";
    let shop = Workshop::small(&format!("{emits}{DONE}")).listener("qa", "ping.sent").with_items(&["1"]);
    shop.emits("1", "ping.sent");

    assert_eq!(shop.works().await, TeamEnd::Done);

    assert_eq!(shop.count("event_emitted"), 9);
    let said = shop.said();
    assert!(matches!(&said[..], [(SaidKind::Ignored, text)] if text.contains("circles")), "{said:?}");
}

const LOCKS: &str = "{type: REQUEST, request: {action: lock, paths: [src/a.rs]}}";

#[tokio::test]
async fn files_are_an_agents_own_in_its_turn_and_given_back_at_its_end() {
    let shop = Workshop::small(&first(LOCKS)).with_items(&["1"]);

    assert_eq!(shop.works().await, TeamEnd::Done);

    let (events, place) = (shop.events(), |name: &str| shop.events().iter().position(|it| *it == name));
    assert!(place("turn_begun") < place("lock_granted"), "{events:?}");
    assert!(place("lock_granted") < place("turn_ended"), "{events:?}");
    assert!(place("lock_released").is_some(), "{events:?}");
    assert!(shop.hub.resources().unwrap().locks.is_empty());
}

#[tokio::test]
async fn an_agent_that_cannot_have_its_files_is_told() {
    let holds = "{type: REQUEST, request: {action: ask_user_input, prompt: 'REST or RPC?'}}";
    let script = format!("- when: {{item: '2'}}\n  emit: [{LOCKS}, {holds}]\n{}", first(LOCKS));
    let shop = Workshop::small(&script).with_items(&["1", "2"]);
    assert_eq!(shop.works_with(only(&["2"])).await, TeamEnd::Waits);

    assert_eq!(shop.works_with(only(&["1"])).await, TeamEnd::Done);

    let turns = shop.turns("1");
    assert_eq!(outcomes(&shop, "1"), [TurnOutcome::Rejected, TurnOutcome::Done]);
    assert!(turns[0].said.as_deref().is_some_and(|it| it.contains("Your lock was refused (file_locked)")), "{turns:?}");
}
