//! What happens when nobody answers: the asker's own fallback first, then the policy. And the reminders before that.

use querent_core::{Blocker, Category, Code, Guarded, OnTimeout, Party, Provenance, Status};
use serde_json::json;

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Asking, Q1, Q2, architect, engineer, human};

fn to_human() -> Asking {
    engineer().asks("human", "Which auth?").options([("jwt", "JSON Web Tokens"), ("cookie", "Cookie")])
}

fn with_fallback() -> Asking {
    to_human().else_takes("jwt", "it is stateless")
}

/// The same policy decides every ask below.
fn given_on_timeout(policy: OnTimeout) -> Scenario {
    given_implementing().on_timeout(policy)
}

#[test]
fn when_a_question_expires_is_ruled_by_what_it_has_and_by_the_policy() {
    let cases: [(&str, OnTimeout, Asking, Option<&str>); 10] = [
        ("its own time", OnTimeout::Wait, to_human().expires_in("2h"), Some("2h")),
        ("its own time before the policy's", OnTimeout::Block, with_fallback().expires_in("1m"), Some("1m")),
        ("a fallback", OnTimeout::Wait, with_fallback(), Some("15m")),
        ("a fallback that does not block", OnTimeout::Wait, with_fallback().without_blocking(), Some("15m")),
        ("blocking under block", OnTimeout::Block, to_human(), Some("15m")),
        ("blocking under fail", OnTimeout::Fail, to_human(), Some("15m")),
        ("blocking under wait", OnTimeout::Wait, to_human(), None),
        ("not blocking, no fallback", OnTimeout::Fail, to_human().without_blocking(), None),
        ("to an agent", OnTimeout::Fail, engineer().asks("architect", "Which auth?"), None),
        ("to an agent, its own time", OnTimeout::Wait, engineer().asks("architect", "?").expires_in("1m"), Some("1m")),
    ];
    for (case, policy, asking, expected) in cases {
        given_on_timeout(policy).and(asking).then(|it| {
            assert_eq!(it.question(Q1).expires_at, expected.map(|span| it.at(span)), "{case}");
        });
    }
}

#[test]
fn the_declared_fallback_is_applied_and_the_item_goes_on() {
    given_implementing()
        .and(with_fallback())
        .later("15m")
        .when_looked_at()
        .then_events(["question_expired", "assumption_recorded", "item_resumed"])
        .then_status(Q1, Status::Expired)
        .then_stage("implement")
        .then(|it| {
            let question = it.question(Q1);
            let answer = question.answer.as_ref().unwrap();
            assert_eq!((&answer.value, answer.provenance), (&json!("jwt"), Provenance::Fallback));
            assert_eq!((&answer.by, answer.at), (&Party::Querent, it.now));
            let entry = question.thread.last().unwrap();
            assert_eq!(entry.body, "nobody answered; taking JSON Web Tokens because it is stateless");
            assert_eq!((entry.kind.as_str(), &entry.value), ("expiry", &Some(json!("jwt"))));
        });
}

#[test]
fn the_fallback_comes_before_the_policy() {
    for policy in [OnTimeout::Wait, OnTimeout::Block, OnTimeout::Fail] {
        given_on_timeout(policy).and(with_fallback()).later("15m").when_looked_at().then_stage("implement");
    }
}

#[test]
fn without_a_fallback_block_stops_the_item_with_the_reason() {
    given_on_timeout(OnTimeout::Block)
        .and(to_human())
        .later("15m")
        .when_looked_at()
        .then_events(["question_expired", "item_moved"])
        .then_status(Q1, Status::Expired)
        .then_stage("blocked")
        .then_resumes_in("implement")
        .then(|it| {
            assert_eq!(it.item_view().status_reason.as_deref(), Some("CLR-42-001 expired without an answer"));
            assert_eq!((it.item_view().awaiting_since, it.item_view().open_question_count), (None, 0));
        })
        .when(engineer().starts())
        .then_refused(Code::ItemNotRunnable)
        .then_details(&json!({ "item_stage": "blocked" }));
}

#[test]
fn a_person_moves_a_blocked_item_on() {
    given_on_timeout(OnTimeout::Block)
        .and(to_human())
        .later("15m")
        .and(human().moves_to("implement"))
        .then_stage("implement")
        .then(|it| assert_eq!((it.item_view().resume_stage, it.item_view().status_reason), (None, None)))
        .when(engineer().starts())
        .then_accepted();
}

#[test]
fn without_a_fallback_fail_ends_the_item_and_withdraws_the_rest() {
    given_on_timeout(OnTimeout::Fail)
        .and(to_human())
        .and(architect().asks("product-manager", "Which budget?"))
        .later("15m")
        .when_looked_at()
        .then_events(["question_expired", "question_withdrawn", "item_ended"])
        .then_stage("failed")
        .then_status(Q1, Status::Expired)
        .then_status(Q2, Status::Withdrawn)
        .then(|it| assert_eq!(it.item_view().status_reason.as_deref(), Some("CLR-42-001 expired without an answer")));
}

#[test]
fn without_a_fallback_wait_leaves_it_open_and_reminds() {
    given_on_timeout(OnTimeout::Wait)
        .and(to_human().expires_in("10m"))
        .later("10m")
        .when_looked_at()
        .then_events(["question_reminded"])
        .then_status(Q1, Status::Open)
        .then_stage("awaiting_input")
        .then(|it| {
            assert_eq!(it.question(Q1).expires_at, None, "it waits for ever now");
            assert_eq!(it.question(Q1).remind_at, Some(it.at("20m")));
        });
}

#[test]
fn a_question_that_does_not_block_just_ends() {
    for policy in [OnTimeout::Wait, OnTimeout::Block, OnTimeout::Fail] {
        given_on_timeout(policy)
            .and(to_human().without_blocking().expires_in("5m"))
            .later("5m")
            .when_looked_at()
            .then_events(["question_expired"])
            .then_status(Q1, Status::Expired)
            .then_stage("implement")
            .then(|it| assert_eq!(it.question(Q1).answer, None));
    }
}

#[test]
fn a_question_to_an_agent_expires_too_and_takes_its_fallback() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?").else_takes("JWT", "it is safe").expires_in("10m"))
        .later("10m")
        .when_looked_at()
        .then_events(["question_expired", "assumption_recorded"])
        .then(|it| assert_eq!(it.question(Q1).answer.as_ref().unwrap().provenance, Provenance::Fallback));
}

#[test]
fn a_question_to_an_agent_that_waits_past_its_end_keeps_its_sla() {
    given_on_timeout(OnTimeout::Wait)
        .and(engineer().asks("architect", "Which auth?").expires_in("10m"))
        .later("10m")
        .when_looked_at()
        .then_events(["question_reminded"])
        .then(|it| {
            assert_eq!(it.question(Q1).thread.last().unwrap().body, "no answer from architect for 10m");
            assert_eq!(it.question(Q1).remind_at, None, "an agent has its SLA");
        })
        .later("20m")
        .when_looked_at()
        .then_events(["question_stale", "question_retried"]);
}

#[test]
fn an_escalated_question_takes_its_fallback_after_the_humans_time() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?").else_takes("JWT", "it is safe"))
        .and(engineer().escalates(Q1))
        .later("15m")
        .when_looked_at()
        .then_events(["question_expired", "assumption_recorded", "item_resumed"])
        .then_stage("implement");
}

#[test]
fn security_permission_and_risk_never_expire_and_their_fallback_is_never_taken() {
    let guarded = [
        with_fallback().expires_in("1m").blocker(Blocker::SecurityDecision),
        with_fallback().expires_in("1m").category(Category::PermissionOverride),
        with_fallback().expires_in("1m").category(Category::RiskAck),
    ];
    for asking in guarded {
        given_on_timeout(OnTimeout::Fail)
            .and(asking)
            .then(|it| assert_eq!(it.question(Q1).expires_at, None))
            .later("7d")
            .when_looked_at()
            .then_events(["question_reminded"])
            .then_status(Q1, Status::Open);
    }
}

#[test]
fn an_external_decision_expires_like_any_other() {
    given_implementing()
        .and(with_fallback().category(Category::ExternalDecision))
        .later("15m")
        .when_looked_at()
        .then_status(Q1, Status::Expired);
}

#[test]
fn the_policy_may_let_a_guarded_question_expire() {
    given_implementing()
        .rules(|rules| rules.config.human_input.allow_timeout_for = vec![Guarded::SecurityDecision])
        .and(with_fallback().blocker(Blocker::SecurityDecision))
        .later("15m")
        .when_looked_at()
        .then_status(Q1, Status::Expired);
}

#[test]
fn a_guarded_question_needs_leave_for_each_of_its_guards() {
    given_implementing()
        .rules(|rules| rules.config.human_input.allow_timeout_for = vec![Guarded::SecurityDecision])
        .and(with_fallback().blocker(Blocker::SecurityDecision).category(Category::RiskAck))
        .then(|it| assert_eq!(it.question(Q1).expires_at, None));
}

#[test]
fn leave_that_was_taken_back_holds_for_questions_that_are_open_already() {
    given_implementing()
        .rules(|rules| rules.config.human_input.allow_timeout_for = vec![Guarded::RiskAck])
        .and(with_fallback().category(Category::RiskAck))
        .rules(|rules| rules.config.human_input.allow_timeout_for.clear())
        .later("15m")
        .when_looked_at()
        .then_events(["question_reminded"])
        .then_status(Q1, Status::Open);
}

#[test]
fn a_human_is_reminded_once_at_half_of_the_time_that_is_left() {
    given_implementing()
        .and(with_fallback())
        .then(|it| assert_eq!(it.question(Q1).remind_at, Some(it.at("450s"))))
        .later("449s")
        .when_looked_at()
        .then_events([])
        .later("1s")
        .when_looked_at()
        .then_events(["question_reminded"])
        .then(|it| {
            assert_eq!(it.question(Q1).thread.last().unwrap().body, "no answer from a human for 7m");
            assert_eq!(it.question(Q1).remind_at, None);
            assert_eq!(it.question(Q1).expires_at, Some(it.at("15m")), "a reminder moves no end");
        });
}

#[test]
fn a_blocking_question_that_waits_for_ever_is_brought_up_ever_more_rarely() {
    let reminders = given_implementing().and(to_human());
    let expected = ["450s", "15m", "30m", "1h", "2h"];
    expected.into_iter().fold(reminders, |scenario, at| {
        let due = scenario.at(at);
        let scenario = scenario.then(|it| assert_eq!(it.question(Q1).remind_at, Some(due)));
        let wait = due.since(scenario.now).to_string();
        scenario.later(&wait).when_looked_at().then_events(["question_reminded"])
    });
}

#[test]
fn the_end_comes_before_the_reminder_when_both_have_passed() {
    given_implementing().and(with_fallback()).later("1h").when_looked_at().then_events([
        "question_expired",
        "assumption_recorded",
        "item_resumed",
    ]);
}

#[test]
fn an_answer_at_the_last_moment_finds_the_question_expired() {
    given_implementing().and(with_fallback()).later("15m").when(human().answers(Q1, "jwt")).then_events([
        "question_expired",
        "assumption_recorded",
        "item_resumed",
        "late_answer_recorded",
        "assumption_confirmed",
    ]);
}

#[test]
fn two_questions_that_expire_together_block_the_item_once() {
    given_on_timeout(OnTimeout::Block)
        .and(to_human())
        .and(architect().asks("product-manager", "Which budget?"))
        .and(architect().escalates(Q2))
        .later("15m")
        .when_looked_at()
        .then_events(["question_expired", "item_moved", "question_expired"])
        .then_stage("blocked")
        .then(|it| assert_eq!(it.item_view().status_reason.as_deref(), Some("CLR-42-001 expired without an answer")));
}
