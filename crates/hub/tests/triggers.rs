//! Triggers on a real hub: every shipped one as a person reads it, and what a call raises or does not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use querent_core::view::{Filter, StatusFilter};
use querent_core::{Code, OperationId, Question, Refusal};
use querent_hub::{Clock, Fired, Handle, Happening, ManualClock, Project, Triggers};
use querent_journal::Memory;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{accepted, id, opens, ten};

/// A project of the incubator, at ten in the morning, with one item.
struct Incubator {
    dir: TempDir,
    project: Project,
    clock: Arc<ManualClock>,
    hub: Handle,
}

impl Incubator {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (project, _) = Project::init(dir.path(), Some("shop"), "incubator").unwrap();
        let clock = Arc::new(ManualClock::new(ten()));
        let hub = Handle::with_clock(Box::new(Memory::new()), &project, Arc::clone(&clock) as Arc<dyn Clock>);
        accepted(&hub, &opens("42"));
        Self { dir, project, clock, hub }
    }

    /// The same with one file of triggers, and no other.
    fn with(text: &str) -> Self {
        let it = Self::new();
        let questions = it.dir.path().join(".querent/questions");
        fs::remove_dir_all(&questions).unwrap();
        fs::create_dir(&questions).unwrap();
        fs::write(questions.join("own.yaml"), text).unwrap();
        it
    }

    fn fire(&self, event: &str, data: &Value) -> Result<Fired, Refusal> {
        self.hub.fire(&happening(event, data), None)
    }

    fn questions(&self) -> Vec<Question> {
        self.hub.questions(None, &Filter { to: None, status: StatusFilter::All }).unwrap()
    }
}

fn happening(event: &str, data: &Value) -> Happening {
    let data = data.as_object().unwrap().clone();
    let phase = Some("EXPLORING".to_owned());
    Happening { item: id("42"), by: id("builder"), event: event.to_owned(), phase, data }
}

/// A question as a person reads it.
fn shown(question: &Question) -> String {
    let mut text = format!("== {} ==\n", question.topic);
    let waits = if question.blocking { "blocks" } else { "does not block" };
    write!(text, "[{}, {}, {waits}, to {}]\n\n{}\n", question.kind, question.category, question.to, question.prompt)
        .unwrap();
    if let Some(context) = &question.context {
        write!(text, "\n({context})\n").unwrap();
    }
    for option in &question.options {
        let star = if option.recommended { "*" } else { " " };
        write!(text, "\n{star} {}) {}", option.id, option.label).unwrap();
        for more in [&option.description, &option.implications].into_iter().flatten() {
            write!(text, "\n      {more}").unwrap();
        }
    }
    if question.allow_free_text {
        text.push_str("\n  or in your own words");
    }
    if let Some(fallback) = &question.fallback {
        write!(text, "\nby default: {} ({})", fallback.answer, fallback.reason).unwrap();
    }
    if let Some(ends) = question.expires_at {
        write!(text, "\nends after {}", ends.since(ten()).rough()).unwrap();
    }
    text.trim_end().to_owned() + "\n\n"
}

/// Fires every trigger of a set and shows what was asked. Everything that a trigger needs is in `data`.
fn set(name: &str, data: &[(&str, Value)]) -> String {
    let installed = Triggers::of(&Incubator::new().project).unwrap().installed;
    let file = installed.iter().find(|it| it.file.file_stem().unwrap() == name).unwrap();
    let events: Vec<&str> = file.triggers.iter().map(|trigger| trigger.event.as_str()).collect();
    assert_eq!(events, data.iter().map(|(event, _)| *event).collect::<Vec<_>>(), "each trigger has its data here");
    let mut text = String::new();
    for (event, data) in data {
        let it = Incubator::new();
        let fired = it.fire(event, data).unwrap();
        assert_eq!((fired.raised.len(), fired.skipped.len()), (1, 0), "{event}: {fired:?}");
        let question = it.questions().remove(0);
        assert!(question.topic.chars().count() <= 200 && question.prompt.chars().count() <= 2_000, "{event}");
        text.push_str(&shown(&question));
    }
    assert!(!text.contains(['{', '}']), "{text}");
    text
}

#[test]
fn the_ideation_set_reads_well() {
    let text = set(
        "ideation",
        &[
            ("idea_created", json!({})),
            (
                "problem_statement_vague",
                json!({
                    "problem_description": "Invoices get lost.",
                    "problem_snippet": "Invoices get lost.",
                }),
            ),
            ("phase_complete", json!({})),
            ("idea_complexity_high", json!({ "complexity_score": 8 })),
            ("before_research", json!({})),
        ],
    );

    insta::assert_snapshot!(text);
}

#[test]
fn the_specification_set_reads_well() {
    let text = set(
        "specification",
        &[
            (
                "requirement_ambiguous",
                json!({
                    "requirement": "The search must be fast.",
                    "ambiguous_term": "fast",
                }),
            ),
            (
                "multiple_architectures",
                json!({
                    "feature": "the search",
                    "approach_a": "PostgreSQL full text",
                    "pros_a": ["no new service", "one backup"],
                    "cons_a": "weak ranking",
                    "effort_a": "2 days",
                    "approach_b": "a search engine",
                    "pros_b": "good ranking",
                    "cons_b": ["one more service to run"],
                    "effort_b": "6 days",
                }),
            ),
            (
                "before_finalize_spec",
                json!({
                    "in_scope_list": ["search by name", "search by tag"],
                    "out_scope_list": ["search in attachments"],
                }),
            ),
            ("external_dependencies", json!({ "dependency_list": ["Stripe, API 2026-01", "libvips 8.16"] })),
            (
                "spec_complete",
                json!({
                    "task_count": 14,
                    "complexity": "medium",
                    "risks": ["migration of old invoices", "rate limits"],
                }),
            ),
        ],
    );

    insta::assert_snapshot!(text);
}

#[test]
fn the_build_set_reads_well() {
    let text = set(
        "build",
        &[
            (
                "multiple_implementations",
                json!({
                    "task_id": "T-7",
                    "approach_1": "a queue",
                    "description_1": "jobs survive a restart",
                    "approach_2": "a thread",
                    "description_2": "fewer parts",
                    "recommendation": 1,
                }),
            ),
            ("missing_context", json!({ "task_id": "T-8", "missing_info": "the region of the bucket" })),
            (
                "task_complexity_exceeded",
                json!({
                    "task_id": "T-9",
                    "actual_time": 95,
                    "estimated_time": 30.5,
                    "estimate": "30 minutes",
                    "actual": "95 minutes",
                    "remaining": "the error paths",
                    "common_reason": "an API that does not do what it says",
                }),
            ),
            (
                "milestone_reached",
                json!({
                    "completed_tasks": 7,
                    "total_tasks": 14,
                    "completed_count": 7,
                    "total_count": 14,
                    "time": "3 hours",
                    "test_status": "112 of 112 pass",
                    "encouragement_message": "The hard half is behind us.",
                }),
            ),
            (
                "task_failed_repeatedly",
                json!({
                    "task_id": "T-11",
                    "attempts": 3,
                    "error_message": "connection refused",
                    "attempts_list": ["another port", "a longer timeout", "a fresh container"],
                }),
            ),
        ],
    );

    insta::assert_snapshot!(text);
}

#[test]
fn the_validation_set_reads_well() {
    let text = set(
        "validation",
        &[
            ("validation_level_needed", json!({ "recommendation": "Standard" })),
            (
                "multiple_failures",
                json!({
                    "count": 3,
                    "critical_count": 1,
                    "critical_list": ["the login page does not load"],
                    "warning_count": 2,
                    "warning_list": ["an unused import", "a slow test"],
                }),
            ),
            (
                "security_vulnerability",
                json!({
                    "vuln_type": "SQL injection",
                    "severity": "high",
                    "file": "src/search.rs",
                    "line": 42,
                    "description": "The search term reaches the query as it is typed.",
                    "risk_description": "strangers read the whole database",
                }),
            ),
            (
                "coverage_below_threshold",
                json!({
                    "coverage": 71.5,
                    "threshold": 80,
                    "uncovered_list": ["src/export.rs", "src/retry.rs"],
                }),
            ),
            (
                "validation_passed",
                json!({
                    "test_count": 112,
                    "coverage": 84,
                    "lint_status": "clean",
                    "security_status": "nothing found",
                }),
            ),
        ],
    );

    insta::assert_snapshot!(text);
}

#[test]
fn the_ux_set_reads_well() {
    let text = set(
        "ux",
        &[
            ("before_ux_testing", json!({})),
            (
                "usability_concern",
                json!({
                    "action": "Changing the address",
                    "task_time": 70,
                    "expected_time": 30,
                    "actual_time": 70,
                    "friction_list": ["the button is below the fold", "the form forgets the country"],
                }),
            ),
            (
                "accessibility_violation",
                json!({
                    "violation": "too little contrast",
                    "level": "AA",
                    "impact": "serious",
                    "element": "the price on a product card",
                    "affected_users": ["people with low vision", "anybody in the sun"],
                }),
            ),
            (
                "ux_testing_complete",
                json!({
                    "score": 82,
                    "highlight_1": "sign-in takes ten seconds",
                    "highlight_2": "the keyboard reaches everything",
                    "improvement_1": "the search needs a clear button",
                    "improvement_2": "errors should say what to do",
                }),
            ),
        ],
    );

    insta::assert_snapshot!(text);
}

#[test]
fn the_learning_set_reads_well() {
    let text = set(
        "learning",
        &[
            (
                "pattern_detected",
                json!({
                    "pattern": { "confidence": 0.85 },
                    "pattern_description": "Retries need a limit.",
                    "count": 4,
                    "contexts": ["uploads", "webhooks"],
                }),
            ),
            (
                "gotcha_candidate",
                json!({
                    "gotcha": "SQLite locks the whole file on write.",
                    "context": "jobs that run side by side",
                    "impact": "they fail at random",
                }),
            ),
            (
                "claude_md_promotion",
                json!({
                    "pattern": { "name": "Retries have a limit", "confidence": 0.95, "occurrences": 5 },
                    "count": 5,
                    "proposed_addition": "Give every retry a limit of 5.",
                }),
            ),
            (
                "weekly_summary",
                json!({
                    "pattern_count": 3,
                    "gotcha_count": 2,
                    "total_entries": 41,
                    "claude_updates": 1,
                    "top_learning": "Retries need a limit.",
                }),
            ),
        ],
    );

    insta::assert_snapshot!(text);
}

const TWO: &str = "\
- event: built
  ask: {kind: confirming, text: Is it right?}
- event: built
  ask: {kind: clarifying, text: 'How about {part}?', options: [Good, Bad], default: '{verdict}'}
";

#[test]
fn a_mistake_in_the_data_of_one_question_raises_none() {
    let it = Incubator::with(TWO);

    for (data, says) in [
        (json!({ "verdict": "Good" }), "`own/built/2` needs `part`"),
        (json!({ "part": "this", "verdict": "Fine" }), "`own/built/2`: the fallback does not answer"),
        (json!({ "part": "x".repeat(2_000), "verdict": "Good" }), "`own/built/2`: prompt has"),
    ] {
        let refusal = it.fire("built", &data).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidInput);
        assert!(refusal.message.starts_with(says), "{}", refusal.message);
        assert!(it.questions().is_empty());
    }
}

#[test]
fn an_operation_that_is_sent_again_raises_nothing_new() {
    let it = Incubator::with(TWO);
    let operation: OperationId = id("op");
    let built = happening("built", &json!({ "part": "this", "verdict": "Good" }));

    let first = it.hub.fire(&built, Some(&operation)).unwrap();
    let again = it.hub.fire(&built, Some(&operation)).unwrap();

    assert_eq!((first.raised.len(), it.questions().len()), (2, 2));
    assert_eq!(first, again);
    let other = happening("built", &json!({ "part": "that", "verdict": "Good" }));
    let mixed = it.hub.fire(&other, Some(&operation)).unwrap();
    assert!(mixed.skipped[0].reason.contains("op.2"), "{mixed:?}");
}

#[test]
fn a_second_blocking_question_is_skipped_and_a_first_one_is_refused() {
    let it = Incubator::with(
        "- event: stuck\n  ask: {kind: blocking, text: How?}\n- event: stuck\n  ask: {kind: blocking, text: Why?}\n",
    );

    let fired = it.fire("stuck", &json!({})).unwrap();

    assert_eq!(fired.raised.len(), 1);
    assert_eq!(fired.skipped[0].trigger, "own/stuck/2");
    assert!(fired.skipped[0].reason.contains("CLR-42-001"), "{fired:?}");
    assert_eq!(it.fire("stuck", &json!({})).unwrap_err().code, Code::QuestionConflictOpen);
}

#[test]
fn what_nobody_must_answer_is_gone_the_next_day() {
    let it = Incubator::new();
    it.fire("phase_complete", &json!({})).unwrap();

    it.clock.pass("24h".parse().unwrap());

    assert_eq!(it.questions()[0].status.as_str(), "expired");
    assert_eq!(it.hub.item(&id("42")).unwrap().stage.to_string(), "ideation");
}

#[test]
fn an_item_or_an_agent_that_is_not_known_is_refused_also_for_an_unknown_event() {
    let it = Incubator::new();
    let nothing = happening("nothing", &json!({}));

    let item = it.hub.fire(&Happening { item: id("43"), ..nothing.clone() }, None).unwrap_err();
    let agent = it.hub.fire(&Happening { by: id("bilder"), ..nothing.clone() }, None).unwrap_err();

    assert_eq!((item.code, agent.code), (Code::ItemNotFound, Code::UnknownAgent));
    assert_eq!(it.hub.fire(&nothing, None).unwrap().skipped[0].trigger, "nothing");
}

#[test]
fn an_edited_file_is_never_written_over() {
    let it = Incubator::new();
    let file = it.dir.path().join(".querent/questions/ux.yaml");
    assert_eq!(Triggers::install(&it.project, "ux").unwrap(), None);
    fs::write(&file, "[]\n").unwrap();

    let refusal = Triggers::install(&it.project, "ux").unwrap_err();

    assert_eq!(refusal.code, Code::Conflict);
    assert_eq!(fs::read_to_string(&file).unwrap(), "[]\n");
    fs::remove_file(&file).unwrap();
    assert_eq!(Triggers::install(&it.project, "ux").unwrap(), Some(".querent/questions/ux.yaml".into()));
}

#[test]
fn a_file_of_triggers_that_does_not_read_is_what_the_doctor_finds() {
    let it = Incubator::with("- event: built\n");

    let refusal = it.fire("built", &json!({})).unwrap_err();
    let report = querent_hub::doctor(&it.project, false).unwrap();

    assert_eq!(refusal.code, Code::InvalidConfig);
    assert_eq!(report.findings[0].what, refusal.message);
}
