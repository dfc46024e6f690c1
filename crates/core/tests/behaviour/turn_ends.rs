//! What comes of a turn: the step is over, or a question is open, or it is tried again, or somebody must look.

use querent_core::event::TurnOutcome::{self, Asked, Done, Failed, Rejected, Stopped};
use querent_core::{Code, Event, Outcome, Purpose, SessionStatus, Span, Status, Via, Work};
use serde_json::json;

use crate::scenario::Scenario;
use crate::speech::{Q1, Q2, architect, engineer, human, name, product_manager};
use crate::team::{ends, ends_saying, given_listener, given_team, reply, step};

impl Scenario {
    /// Whoever is next works for so long, and says so.
    fn and_worked(self, outcome: TurnOutcome, said: &str, worked: &str) -> Self {
        let it = self.and_turn();
        let (agent, claim) = it.driven();
        it.when(ends_saying(&agent, claim, outcome, said, worked.parse().unwrap())).then_accepted()
    }

    fn reason(&self) -> Option<&str> {
        self.the_item().status_reason.as_deref()
    }
}

#[test]
fn a_step_that_is_done_is_followed_by_the_next() {
    given_team()
        .and_turn()
        .later("2m")
        .when_ended(Done)
        .then_events(["turn_ended", "session_finished", "item_moved"])
        .then_stage("review")
        .then(|it| {
            let turns = it.turns("engineer");
            assert_eq!(
                (turns.outcome, turns.said.as_deref(), turns.claim.clone()),
                (Some(Done), Some("all well"), None)
            );
            assert_eq!(it.session("engineer@42").status, SessionStatus::Done);
        })
        .then_next("reviewer", step("review"))
        .and_ended(Done)
        .then_stage("ready_to_merge")
        .then_work(&Work::Over);
}

#[test]
fn what_a_session_asked_and_went_on_from_is_resolved_and_nothing_else() {
    given_team()
        .and(engineer().asks("architect", "Which auth?"))
        .and(architect().replies(Q1, 1, reply("JWT")))
        .and(product_manager().asks("human", "Which users?").without_blocking())
        .and(engineer().asks("architect", "Which mode?").session("another").without_blocking())
        .and(architect().answers("CLR-42-003", "gcm"))
        .and_turn()
        .when_ended(Done)
        .then_events(["turn_ended", "question_resolved", "session_finished", "item_moved"])
        .then_status(Q1, Status::Resolved)
        .then_status(Q2, Status::Open)
        .then_status("CLR-42-003", Status::Answered)
        .then(|it| {
            let last = it.question(Q1).thread.last().unwrap();
            assert_eq!((last.body.as_str(), last.via), ("engineer went on with it", Via::Team));
            assert_eq!(it.question(Q1).answer.as_ref().unwrap().text, "JWT");
        });
}

#[test]
fn a_turn_that_did_not_go_on_resolves_nothing() {
    for outcome in [Asked, Failed, Rejected, Stopped] {
        given_team()
            .and(engineer().asks("architect", "Which auth?"))
            .and(architect().replies(Q1, 1, reply("JWT")))
            .and_turn()
            .when_ended(outcome)
            .then_events(["turn_ended"])
            .then_status(Q1, Status::Answered)
            .then_stage("implement")
            .then_next("engineer", step("implement"));
    }
}

#[test]
fn the_end_of_a_step_is_an_event_only_if_somebody_listens_or_waits_for_it() {
    let events = ["turn_ended", "session_finished", "item_moved", "event_emitted"];

    given_listener(&["implement.completed"]).and_turn().when_ended(Done).then_events(events).then(|it| {
        let happening = it.happening(1).unwrap();
        assert_eq!(happening.event.as_str(), "implement.completed");
        assert_eq!(happening.data, json!({ "step": "implement", "summary": "all well", "artifacts": ["docs/adr.md"] }));
        assert_eq!((happening.pending.iter().collect::<Vec<_>>(), happening.hops), (vec![&name("bystander")], 0));
    });
    given_team().waits_for(3, "implement.completed").and_turn().when_ended(Done).then_events(events).then(|it| {
        assert_eq!(it.happening(1), None, "nobody has to hear of it");
        assert_eq!(it.the_item().team.happened.len(), 1);
    });
    given_listener(&["review.completed"]).and_turn().when_ended(Done).then_events([
        "turn_ended",
        "session_finished",
        "item_moved",
    ]);
}

#[test]
fn of_a_question_and_a_result_in_one_turn_the_question_wins() {
    for to in ["human", "architect"] {
        given_team()
            .and_turn()
            .and(engineer().asks(to, "Which auth?"))
            .when_ended(Done)
            .then_events(["turn_ended"])
            .then(|it| {
                assert_eq!(it.turns("engineer").outcome, Some(Asked));
                assert_eq!(it.session("engineer@42").status, SessionStatus::BlockedClarification);
                assert_eq!(it.the_item().step(), Some("implement"));
            })
            .then_work(&Work::Waits(Q1.parse().unwrap()))
            .and(human().answers(Q1, "JWT"))
            .then_next("engineer", step("implement"))
            .and_ended(Done)
            .then_stage("review");
    }
}

#[test]
fn a_question_that_was_answered_within_the_turn_holds_nothing() {
    given_team()
        .and_turn()
        .and(engineer().asks("architect", "Which auth?"))
        .and(architect().replies(Q1, 1, reply("JWT")))
        .and(engineer().asks("architect", "Tabs?").without_blocking())
        .when_ended(Done)
        .then_events(["turn_ended", "question_resolved", "session_finished", "item_moved"])
        .then_status(Q2, Status::Open);
}

#[test]
fn the_question_of_another_session_keeps_the_item_in_its_step_and_its_agent_is_not_invoked_meanwhile() {
    given_team()
        .and(architect().asks("product-manager", "Which users?"))
        .then_next("engineer", step("implement"))
        .and_turn()
        .when_ended(Done)
        .then_events(["turn_ended", "session_finished"])
        .then_stage("implement")
        .then_work(&Work::Waits(Q1.parse().unwrap()))
        .and(product_manager().answers(Q1, "all"))
        .and_ended(Done)
        .then_stage("review");
}

#[test]
fn an_end_under_a_claim_that_is_not_held_changes_nothing() {
    let it = given_team().and_turn();
    let claim = it.driven().1;

    it.when(ends("architect", claim.clone(), Done))
        .then_refused(Code::Conflict)
        .when_ended(Failed)
        .when(ends("engineer", claim, Done))
        .then_refused(Code::Conflict)
        .then_events([])
        .then_stage("implement")
        .then(|it| assert_eq!(it.turns("engineer").failures, 1));
}

#[test]
fn what_fails_once_is_tried_again_and_what_fails_twice_blocks_the_item() {
    given_team()
        .and_worked(Failed, "exit status 1", "1m")
        .then_stage("implement")
        .then_next("engineer", step("implement"))
        .and_worked(Failed, "\n  \ntimed out after 10m\nand more", "1m")
        .then_events(["turn_ended", "session_finished", "item_moved"])
        .then_shared_events(["alert_raised"])
        .then_stage("blocked")
        .then_work(&Work::Over)
        .then(|it| {
            assert_eq!(it.reason(), Some("engineer failed: timed out after 10m"));
            let alarm = &it.state.alerts.recent[&1].alarm;
            assert_eq!((alarm.kind.as_str(), alarm.severity.as_str()), ("agent_error", "error"));
            assert_eq!(alarm.message, "item 42 is blocked: engineer failed: timed out after 10m");
            assert_eq!(
                alarm.context,
                json!({ "item": "42", "session": "engineer@42", "agent": "engineer", "turn": 2 })
            );
        });
}

#[test]
fn what_failed_is_forgotten_when_somebody_moves_the_item_back() {
    given_team()
        .and_ended(Failed)
        .and_ended(Failed)
        .and(human().moves_to("implement"))
        .then(|it| assert_eq!(it.reason(), None))
        .and_ended(Failed)
        .then_stage("implement")
        .and_ended(Failed)
        .then_stage("blocked");
}

#[test]
fn failures_count_in_a_row() {
    for between in [Asked, Rejected] {
        given_team().and_ended(Failed).and_ended(between).and_ended(Failed).then_stage("implement");
    }
    given_team().and_ended(Failed).and_ended(Stopped).and_ended(Failed).then_stage("blocked");
}

#[test]
fn what_its_gates_rejected_three_times_blocks_the_item() {
    given_team()
        .and_ended(Rejected)
        .and_ended(Rejected)
        .then_stage("implement")
        .and_worked(Rejected, "cargo test failed", "1m")
        .then_shared_events(["alert_raised"])
        .then_stage("blocked")
        .then(|it| assert_eq!(it.reason(), Some("engineer did not pass its gates: cargo test failed")))
        .and(human().moves_to("implement"))
        .and_ended(Rejected)
        .then_stage("implement");
}

#[test]
fn a_turn_that_was_stopped_counts_nothing() {
    (0..5).fold(given_team(), |it, _| it.and_ended(Stopped)).then_stage("implement").then(|it| {
        let turns = it.turns("engineer");
        assert_eq!((turns.number, turns.failures, turns.rejections), (5, 0, 0));
        assert_eq!(turns.said, None, "it had no last word");
    });
}

#[test]
fn the_time_of_all_turns_is_summed() {
    given_team()
        .and_worked(Failed, "no", "2m")
        .and_worked(Stopped, "no", "30s")
        .and_worked(Rejected, "no", "1m")
        .then(|it| assert_eq!(it.turns("engineer").worked, "210s".parse::<Span>().unwrap()));
}

#[test]
fn an_agent_that_used_up_its_time_blocks_the_item_unless_it_is_done() {
    let budget = || {
        let span = Some("5m".parse().unwrap());
        given_team().rules(|rules| rules.config.agents.get_mut(&name("engineer")).unwrap().budget = span)
    };
    for outcome in [Asked, Failed, Rejected, Stopped] {
        budget()
            .and_worked(Stopped, "", "5m")
            .then_stage("implement")
            .and_worked(outcome, "more", "1s")
            .then_events(["turn_ended", "session_finished", "item_moved"])
            .then_shared_events(["alert_raised"])
            .then_stage("blocked")
            .then(|it| assert_eq!(it.reason(), Some("engineer used up its 5m on this item")));
    }
    budget().and_worked(Done, "well", "9m").then_stage("review");
    budget()
        .and_ended(Failed)
        .and_worked(Failed, "no", "9m")
        .then_events(["turn_ended", "session_finished", "item_moved"])
        .then(|it| assert_eq!(it.reason(), Some("engineer failed: no"), "it is blocked once"));
}

#[test]
fn while_a_human_is_to_answer_the_end_of_a_turn_moves_nothing() {
    for outcome in [Done, Asked, Failed, Rejected, Stopped] {
        given_team()
            .and_ended(Failed)
            .and_turn()
            .and(engineer().asks("human", "Which bank?"))
            .when_ended(outcome)
            .then_events(["turn_ended"])
            .then_shared_events([])
            .then_stage("awaiting_input")
            .then_resumes_in("implement");
    }
}

#[test]
fn the_end_of_a_turn_moves_no_item_that_was_moved_or_ended_meanwhile() {
    let span = Some(Span::minutes(0));
    let moved = || {
        given_team()
            .rules(|rules| rules.config.agents.get_mut(&name("engineer")).unwrap().budget = span)
            .and_turn()
            .and(human().moves_to("architecture"))
    };

    moved().when_ended(Done).then_events(["turn_ended", "session_finished"]).then_stage("architecture");
    moved().when_ended(Failed).then_events(["turn_ended"]).then_stage("architecture");
    given_team()
        .and_turn()
        .and(human().ends_as(Outcome::Merged))
        .when_ended(Done)
        .then_events(["turn_ended", "session_finished"])
        .then_stage("merged")
        .then_work(&Work::Over);
}

#[test]
fn the_files_of_a_session_are_given_back_when_it_is_done_or_blocked() {
    let locked = || given_team().and_turn().and(engineer().locks(&["src"]));

    locked().when_ended(Done).then_shared_events(["lock_released"]);
    locked()
        .when_ended(Failed)
        .then_shared_events([])
        .and_ended(Failed)
        .then_shared_events(["alert_raised", "lock_released"])
        .then_stage("blocked");
}

#[test]
fn a_step_is_left_for_the_one_that_follows_it_now() {
    given_team().and_turn().workflow(|it| drop(it.steps.remove(3))).when_ended(Done).then_stage("ready_to_merge");
}

#[test]
fn the_last_word_of_a_turn_is_kept_and_not_without_end() {
    given_team().and_worked(Failed, &"x".repeat(9_000), "1m").then(|it| {
        assert_eq!(it.turns("engineer").said.as_ref().unwrap().len(), 4_000);
        let Event::TurnEnded(ended) = &it.records.last().unwrap().event else { panic!("{:?}", it.records.last()) };
        assert_eq!((ended.number, ended.artifacts.as_slice()), (1, &["docs/adr.md".to_owned()][..]));
    });
}

#[test]
fn an_agent_whose_turn_came_to_nothing_on_an_event_is_tried_again_and_then_given_up() {
    let failed = given_listener(&["alert.*"])
        .and(human().emits("alert.build_failed"))
        .and_ended(Failed)
        .then_stage("implement")
        .then_next("bystander", Purpose::Happening(1))
        .and_ended(Failed)
        .then_shared_events(["alert_raised"])
        .then_stage("blocked")
        .then_work(&Work::Over);
    failed
        .then(|it| assert_eq!(it.reason(), Some("bystander failed: all well")))
        .and(human().moves_to("implement"))
        .then_next("bystander", Purpose::Happening(1));
}

#[test]
fn an_event_that_nobody_takes_up_is_given_up_also_where_the_item_stands_in_no_step() {
    for stage in ["blocked", "ready_to_merge"] {
        given_listener(&["alert.*"])
            .and(human().moves_to(stage))
            .and(human().emits("alert.build_failed"))
            .and(human().emits("alert.stuck_task"))
            .and_ended(Failed)
            .and_ended(Failed)
            .then_events(["turn_ended", "session_finished"])
            .then_shared_events(["alert_raised"])
            .then_stage(stage)
            .then_next("bystander", Purpose::Happening(2))
            .and_ended(Rejected)
            .and_ended(Rejected)
            .then_work(&Work::Over)
            .and(human().moves_to("review"))
            .then_next("bystander", Purpose::Happening(1));
    }
}
