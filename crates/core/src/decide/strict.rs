//! The strict gate: an agent that decides for itself asks a human only where it cannot.

use serde_json::json;

use super::Now;
use crate::advice::questions_in;
use crate::answer::{self, Expected};
use crate::command::Ask;
use crate::id::SessionId;
use crate::item::Stage;
use crate::moment::Span;
use crate::party::{Party, Via};
use crate::policy::Gate;
use crate::question::{Asker, Blocker};
use crate::refusal::{Code, Refusal};

/// How long a human has for a strict question.
pub(super) const TIMEOUT: Span = Span::minutes(5);

/// What an agent shows to have tried.
const EVIDENCE: [&str; 3] = ["codebase_search", "similar_features", "attempted_inference"];
/// And this too, where the matter is complex.
const INVESTIGATION: &str = "investigation";

/// One of the conditions; `needs` says what would meet it.
struct Condition {
    name: &'static str,
    needs: Option<String>,
}

/// Whether this is a strict question. If it is, every condition is met.
pub(super) fn pass(now: &Now<'_>, Asker { agent, session }: &Asker, ask: &Ask, to: &Party) -> Result<bool, Refusal> {
    let strict = now.rules.agent(agent)?.gate == Gate::Strict;
    if !strict || !to.is_human() || now.command.via == Via::Trigger {
        return Ok(false);
    }
    let conditions = [
        Condition { name: "blocker", needs: blocker(ask) },
        Condition { name: "evidence", needs: evidence(ask) },
        Condition { name: "quota", needs: quota(now, session) },
        Condition { name: "planning", needs: planning(now) },
        Condition { name: "question", needs: one_question(ask) },
        Condition { name: "options", needs: options(ask) },
        Condition { name: "fallback", needs: fallback(ask) },
    ];
    let unmet: Vec<&str> = conditions.iter().filter(|it| it.needs.is_some()).map(|it| it.name).collect();
    if unmet.is_empty() {
        return Ok(true);
    }
    let listed: Vec<_> = conditions
        .iter()
        .map(|it| json!({ "condition": it.name, "met": it.needs.is_none(), "needs": it.needs }))
        .collect();
    let needs: Vec<&str> = conditions.iter().filter_map(|it| it.needs.as_deref()).collect();
    let message =
        format!("{agent} asks a human only under strict conditions, and not all are met: {}", unmet.join(", "));
    let hint = format!(
        "{}. Or decide, and record it: querent assume --item {} --agent {agent} --decision … --reasoning … \
         --confidence medium --risk low",
        needs.join("; "),
        now.item.id
    );
    Err(Refusal::new(Code::ConditionsNotMet, message, hint).with(json!({ "conditions": listed })))
}

fn blocker(ask: &Ask) -> Option<String> {
    let named = ask.blocker.is_some_and(|it| it != Blocker::None);
    let kinds = Blocker::ALL.iter().filter(|it| **it != Blocker::None).map(|it| it.as_str());
    (!named).then(|| format!("name what stands in the way with --blocker: {}", kinds.collect::<Vec<_>>().join(", ")))
}

fn evidence(ask: &Ask) -> Option<String> {
    let given = |name: &str| ask.evidence.as_ref().is_some_and(|it| it.contains_key(name));
    let wanted = EVIDENCE.iter().chain(ask.complex.then_some(&INVESTIGATION));
    let missing: Vec<String> = wanted.filter(|name| !given(name)).map(|name| format!("--evidence {name}=…")).collect();
    (!missing.is_empty()).then(|| format!("say what was tried first: {}", missing.join(" ")))
}

fn quota(now: &Now<'_>, session: &SessionId) -> Option<String> {
    let asked = now.item.sessions.get(session).and_then(|it| it.strict).map(|number| now.item.question_id(number));
    let asked =
        asked.map(|id| format!("session `{session}` has asked its one question, {id}; decide the rest yourself"));
    let active = || {
        let id = now.state.quota.active.as_ref()?;
        Some(format!("{id} is open, and only one may be in the whole project; wait for it: querent await {id}"))
    };
    asked.or_else(active)
}

/// The item itself must stand in planning: whose step that is does not matter.
fn planning(now: &Now<'_>) -> Option<String> {
    let workflow = now.rules.workflow(&now.item.workflow).ok();
    let step = now.item.step().and_then(|name| workflow?.step(name));
    let planning = step.is_some_and(|step| step.planning);
    let stands = match (&now.item.stage, step) {
        (Stage::AwaitingInput, Some(step)) => step.name.clone(),
        (stage, _) => stage.to_string(),
    };
    (!planning).then(|| format!("ask while the item is planned; it stands in `{stands}`, which is no planning step"))
}

fn one_question(ask: &Ask) -> Option<String> {
    let asked = questions_in(&ask.prompt);
    (asked > 1).then(|| format!("ask one question; there are {asked} in this one"))
}

fn options(ask: &Ask) -> Option<String> {
    (ask.options.len() < 2).then(|| "offer two or more options with --option".to_owned())
}

fn fallback(ask: &Ask) -> Option<String> {
    let expected = ask.expected.clone().unwrap_or(Expected::SingleChoice);
    let meaning = |given| answer::read(given, &expected, &ask.options, false).ok();
    let names_one = ask
        .fallback
        .as_ref()
        .and_then(|it| meaning(&it.answer))
        .is_some_and(|it| ask.options.iter().any(|option| it.value == option.id || it.value == json!([option.id])));
    (!names_one).then(|| "say with --fallback and --because which option is taken if nobody answers".to_owned())
}
