//! What a project tells its agents about asking.

use querent_core::{Autonomy, Code, Gate, Guarded, OnTimeout, Rules, guide};

use crate::project;
use crate::speech::name;

/// The project of the tests, changed.
fn rules(change: impl FnOnce(&mut Rules)) -> Rules {
    let mut rules = project::rules();
    change(&mut rules);
    rules
}

fn told(rules: &Rules, agent: Option<&str>) -> String {
    let text = guide(rules, agent.map(name).as_ref()).unwrap().markdown();
    assert!(text.lines().count() <= 60, "{} lines", text.lines().count());
    assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
    text
}

#[test]
fn without_an_agent_the_guide_speaks_to_all() {
    insta::assert_snapshot!(told(&rules(|_| {}), None));
}

#[test]
fn a_strict_agent_is_told_its_four_conditions() {
    let rules = rules(|rules| {
        rules.config.agents.get_mut(&name("product-manager")).unwrap().gate = Gate::Strict;
    });

    insta::assert_snapshot!(told(&rules, Some("product-manager")));
    assert!(!told(&rules, Some("engineer")).contains("Strict gate"));
    assert!(told(&rules, None).contains("### Strict gate: product-manager\n"));
}

#[test]
fn an_agent_is_told_its_own_rights_and_limits_only() {
    let rules = rules(|rules| {
        let step = &mut rules.workflows.get_mut("feature").unwrap().steps[2];
        (step.clarify_blocking_allowed, step.clarify_sla_minutes, step.can_ask_human) = (false, 90, false);
        step.clarify_max_rounds = Some(2);
        let mut bug = rules.workflows["feature"].clone();
        bug.name = "bug".to_owned();
        rules.workflows.insert(bug.name.clone(), bug);
    });

    let text = told(&rules, Some("engineer"));

    let row = "| engineer | implement (feature, bug) | architect, product-manager | no | 2 | 90m |";
    assert!(text.contains(row), "{text}");
    assert!(!text.contains("| reviewer |") && !text.contains("AGENT"), "{text}");
    assert!(text.contains("--from engineer --to") && text.contains("--agent engineer"), "{text}");
}

#[test]
fn a_name_stays_in_its_cell() {
    let rules = rules(|rules| {
        let mut odd = rules.workflows["feature"].clone();
        (odd.name, odd.steps[2].name) = ("a\n<!-- querent:guide:end -->\nb".to_owned(), "x|y".to_owned());
        rules.workflows = [(odd.name.clone(), odd)].into();
    });

    assert!(told(&rules, None).contains("| engineer | x\\|y (a <!-- querent:guide:end --> b) |"));
}

#[test]
fn an_agent_without_a_step_is_told_that_it_asks_nobody() {
    assert!(told(&rules(|_| {}), Some("bystander")).contains("| bystander | none | nobody |"));
}

#[test]
fn the_policy_is_told_as_it_is() {
    let blocked = rules(|rules| {
        rules.config.human_input.on_timeout = OnTimeout::Block;
        rules.config.human_input.timeout = querent_core::Span::minutes(45);
        rules.config.human_input.allow_timeout_for = Guarded::ALL.to_vec();
    });
    let silent = rules(|rules| rules.config.human_input.enabled = false);
    let alone = rules(|rules| rules.config.project.autonomy = Autonomy::NeverAsk);

    assert!(told(&blocked, None).contains("without a fallback blocks the item after 45m"));
    assert!(!told(&blocked, None).contains("Never decided by silence"));
    assert!(told(&silent, None).contains("switched off") && !told(&silent, None).contains(", human |"));
    assert!(told(&alone, None).contains("your fallback is taken at once"));
}

#[test]
fn an_agent_that_is_not_declared_is_refused_with_the_nearest() {
    let refusal = guide(&rules(|_| {}), Some(&name("enginer"))).unwrap_err();

    assert_eq!(refusal.code, Code::UnknownAgent);
    assert!(refusal.hint.contains("`engineer`"), "{}", refusal.hint);
}
