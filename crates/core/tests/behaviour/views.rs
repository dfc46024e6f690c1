//! What people see: conversations, the ready queue, sessions and items.

use querent_core::view::{Filter, QuestionView, StatusFilter, ready, sessions};
use querent_core::{OnTimeout, Outcome, Party, canonical};
use serde_json::{Value, json};

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, Q2, alice, architect, engineer, human};

#[test]
fn a_thread_reads_as_a_conversation() {
    given_implementing()
        .later("2m")
        .and(engineer().asks("architect", "Which auth?\nThe ADR says two things."))
        .later("1m")
        .and(architect().answers(Q1, "JWT"))
        .later("1m")
        .and(engineer().follows_up(Q1, "Which algorithm?"))
        .later("1m")
        .and(architect().answers(Q1, "RS256"))
        .and(engineer().resolves_saying(Q1, "JWT with RS256"))
        .then(|it| {
            insta::assert_snapshot!(it.thread(Q1), @r"
            [Round 1] engineer -> architect (10:02)
              Q: Which auth?
                 The ADR says two things.
            [Round 1] architect -> engineer (10:03)
              A: JWT
            [Round 2] engineer -> architect (10:04)
              Q: Which algorithm?
            [Round 2] architect -> engineer (10:05)
              A: RS256
            [RESOLVED] JWT with RS256 (by engineer)
            ");
        });
}

#[test]
fn a_thread_tells_what_happened_between_the_words() {
    given_implementing()
        .and(
            engineer()
                .asks("architect", "Which auth?")
                .options([("jwt", "JWT"), ("c", "Cookie")])
                .else_takes("jwt", "it is safe"),
        )
        .later("30m")
        .when_looked_at()
        .later("30m")
        .when_looked_at()
        .later("8m")
        .when_looked_at()
        .later("7m")
        .when_looked_at()
        .later("5m")
        .and(alice().answers(Q1, "cookie"))
        .then(|it| {
            insta::assert_snapshot!(it.thread(Q1), @r"
            [Round 1] engineer -> architect (10:00)
              Q: Which auth?
            [RETRY] no answer in time; architect is called again
            [ESCALATED] architect did not answer engineer in time, twice
              engineer asks: Which auth?
            [REMINDER] no answer from a human for 1h
            [EXPIRED] nobody answered; taking JWT because it is safe
            [Late] human:alice -> engineer (11:20)
              A: Cookie
            ");
        });
}

#[test]
fn a_thread_says_how_it_ended_without_an_answer() {
    let asked = |policy| given_implementing().on_timeout(policy).and(engineer().asks("human", "Which bank?"));
    let last = |scenario: Scenario| scenario.thread(Q1).lines().last().unwrap().to_owned();

    assert_eq!(last(asked(OnTimeout::Wait).and(engineer().withdraws(Q1))), "[WITHDRAWN] by engineer");
    assert_eq!(
        last(asked(OnTimeout::Wait).and(human().ends_as(Outcome::Merged))),
        "[WITHDRAWN] item `42` ended as merged (by human)"
    );
    assert_eq!(
        last(asked(OnTimeout::Block).later("15m").when_looked_at()),
        "[EXPIRED] nobody answered; the item is blocked"
    );
    assert_eq!(
        last(asked(OnTimeout::Fail).later("15m").when_looked_at()),
        "[EXPIRED] nobody answered; the item has failed"
    );
}

#[test]
fn a_question_alone_has_its_thread_and_null_fields_are_present() {
    given_implementing().and(engineer().asks("architect", "Which auth?")).then(|it| {
        let shown = serde_json::to_value(QuestionView { question: it.question(Q1), with_thread: true }).unwrap();
        insta::assert_snapshot!(serde_json::to_string_pretty(&canonical::Canonical(&shown)).unwrap(), @r#"
        {
          "allow_free_text": false,
          "answer": null,
          "asked": "architect",
          "blocker": "none",
          "blocking": true,
          "category": "clarification",
          "context": null,
          "created_at": "2026-01-31T10:00:00.000Z",
          "deliveries": [],
          "details": null,
          "evidence": null,
          "expected": {
            "kind": "text"
          },
          "expires_at": null,
          "fallback": null,
          "from": {
            "agent": "engineer",
            "session": "engineer@42"
          },
          "id": "CLR-42-001",
          "item": "42",
          "kind": "blocking",
          "max_rounds": 5,
          "options": [],
          "prompt": "Which auth?",
          "remind_at": null,
          "resume_stage": null,
          "round": 1,
          "stale_at": "2026-01-31T10:30:00.000Z",
          "status": "open",
          "tags": [],
          "thread": [
            {
              "at": "2026-01-31T10:00:00.000Z",
              "body": "Which auth?",
              "from": "engineer",
              "round": 1,
              "seq": 1,
              "type": "question",
              "value": null,
              "via": "cli"
            }
          ],
          "to": "architect",
          "topic": "Authentication"
        }
        "#);
        let listed = serde_json::to_value(QuestionView { question: it.question(Q1), with_thread: false }).unwrap();
        assert_eq!(listed.get("thread"), None);
    });
}

#[test]
fn a_list_shows_what_is_active_unless_told_otherwise() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?"))
        .and(engineer().asks("human", "Which bank?"))
        .and(human().answers(Q1, "JWT"))
        .then(|it| {
            let shown = |filter: &Filter| -> Vec<String> {
                it.state.questions.values().filter(|q| filter.shows(q)).map(|q| q.id.to_string()).collect()
            };
            assert_eq!(shown(&Filter::default()), [Q2]);
            assert_eq!(shown(&Filter { status: StatusFilter::All, to: None }), [Q1, Q2]);
            assert_eq!(shown(&Filter { status: StatusFilter::Resolved, to: None }), [Q1]);
            let to_alice = Some(Party::Human(Some("alice".into())));
            assert_eq!(shown(&Filter { status: StatusFilter::All, to: to_alice }), [Q2]);
            let to_architect = Some("architect".parse().unwrap());
            assert_eq!(shown(&Filter { status: StatusFilter::Active, to: to_architect }), [""; 0]);
        });
}

/// `stage agent blocked reason` of an item's place in the ready queue.
fn in_queue(it: &Scenario) -> Option<Value> {
    let ready = ready(it.the_item(), &it.rules)?;
    Some(json!([ready.stage, ready.agent, ready.blocked, ready.reason]))
}

#[test]
fn the_ready_queue_says_whose_turn_it_is_and_what_holds_it_up() {
    given_implementing()
        .then(|it| assert_eq!(in_queue(it), Some(json!(["implement", "engineer", false, null]))))
        .and(engineer().asks("architect", "Which auth?"))
        .then(|it| {
            let reason = "BLOCKED: clarification pending (CLR-42-001 waits for architect)";
            assert_eq!(in_queue(it), Some(json!(["implement", "engineer", true, reason])));
        })
        .and(engineer().escalates(Q1))
        .then(|it| {
            let reason = "BLOCKED: clarification pending (CLR-42-001 waits for human)";
            assert_eq!(in_queue(it), Some(json!(["awaiting_input", "engineer", true, reason])));
        })
        .and(human().answers(Q1, "JWT"))
        .and(human().moves_to("blocked"))
        .then(|it| assert_eq!(in_queue(it), Some(json!(["blocked", null, true, "BLOCKED: a person must move it on"]))))
        .and(human().moves_to("ready_to_merge"))
        .then(|it| assert_eq!(in_queue(it), None))
        .and(human().ends_as(Outcome::Merged))
        .then(|it| assert_eq!(in_queue(it), None));
}

#[test]
fn a_question_that_does_not_block_holds_nothing_up() {
    given_implementing()
        .and(engineer().asks("human", "Which colour?").without_blocking())
        .then(|it| assert_eq!(in_queue(it), Some(json!(["implement", "engineer", false, null]))));
}

#[test]
fn the_ready_queue_says_why_expiry_blocked_an_item() {
    given_implementing()
        .on_timeout(OnTimeout::Block)
        .and(engineer().asks("human", "Which bank?"))
        .later("15m")
        .when_looked_at()
        .then(|it| assert_eq!(in_queue(it).unwrap()[3], "BLOCKED: CLR-42-001 expired without an answer"));
}

#[test]
fn sessions_show_who_works_who_waits_and_for_whom() {
    given_implementing().and(engineer().starts()).later("1m").and(engineer().asks("architect", "Which auth?")).then(
        |it| {
            insta::assert_snapshot!(serde_json::to_string_pretty(&sessions(it.the_item())).unwrap(), @r#"
            [
              {
                "agent": "engineer",
                "session": "engineer@42",
                "item": "42",
                "status": "blocked-clarification",
                "clarification_id": "CLR-42-001",
                "waiting_on": "architect",
                "responding_to": null,
                "last_activity": "2026-01-31T10:01:00.000Z"
              },
              {
                "agent": "architect",
                "session": "architect@42",
                "item": "42",
                "status": "clarifying",
                "clarification_id": "CLR-42-001",
                "waiting_on": null,
                "responding_to": "engineer",
                "last_activity": "2026-01-31T10:01:00.000Z"
              }
            ]
            "#);
        },
    );
}

#[test]
fn an_item_shows_what_it_waits_for() {
    given_implementing().and(engineer().asks("human", "Which bank?")).then(|it| {
        insta::assert_snapshot!(serde_json::to_string_pretty(&it.item_view()).unwrap(), @r#"
        {
          "id": "42",
          "title": "Log in with a bank account",
          "workflow": "feature",
          "stage": "awaiting_input",
          "resume_stage": "implement",
          "open_question_id": "CLR-42-001",
          "open_question_count": 1,
          "awaiting_since": "2026-01-31T10:00:00.000Z",
          "needs_rework": false,
          "status_reason": null
        }
        "#);
    });
}
