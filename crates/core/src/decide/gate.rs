//! Why an ask is refused: the checks after the bounds, in their order.
//!
//! An answer that is known is given before this gate; the strict conditions are its last check.

use serde_json::json;

use super::{Now, autonomy, strict};
use crate::command::Ask;
use crate::id::AgentName;
use crate::party::Party;
use crate::question::{Category, Kind, Question};
use crate::refusal::{Code, Refusal};
use crate::workflow::Step;

/// What is asked of whom, before it is judged.
pub(super) struct Aim<'a> {
    pub to: Party,
    pub kind: Kind,
    pub category: Category,
    pub blocking: bool,
    step: Option<&'a Step>,
}

impl Aim<'_> {
    /// The last round that may be opened.
    pub(super) fn max_rounds(&self) -> u32 {
        self.step.map_or(1, |step| step.max_rounds(self.blocking))
    }

    /// How long an agent has.
    pub(super) fn sla(&self) -> crate::Span {
        self.step.map_or(crate::Span::minutes(30), Step::sla)
    }
}

pub(super) fn aim<'a>(now: &Now<'a>, agent: &AgentName, ask: &Ask) -> Result<Aim<'a>, Refusal> {
    let category = ask.category.unwrap_or(Category::Clarification);
    let kind = ask.kind.unwrap_or(if ask.blocking == Some(false) { Kind::Clarifying } else { Kind::Blocking });
    let blocking = ask.blocking.unwrap_or(kind == Kind::Blocking);
    let step = now.rules.workflow(&now.item.workflow)?.step_of(agent, now.item);
    let to = addressee(now, ask, category, step)?;
    Ok(Aim { to, kind, category, blocking, step })
}

/// Judges it; says how many rounds it has, and whether it is a strict question.
pub(super) fn pass(now: &Now<'_>, question: &Question, ask: &Ask, aim: &Aim<'_>) -> Result<(u32, bool), Refusal> {
    let (to, blocking) = (&aim.to, aim.blocking);
    enabled(now, to)?;
    let step = scope(&question.from.agent, to, aim.step, &now.item.workflow)?;
    blocking_allowed(step, blocking)?;
    one_at_a_time(now, to, blocking)?;
    // Where nobody is asked, nobody need be spared.
    let strict = !autonomy::asks_nobody(now, question) && strict::pass(now, &question.from, ask, to)?;
    let max_rounds = rounds(ask, if strict { 1 } else { step.max_rounds(blocking) })?;
    Ok((max_rounds, strict))
}

fn addressee(now: &Now<'_>, ask: &Ask, category: Category, step: Option<&Step>) -> Result<Party, Refusal> {
    let human_only = category != Category::Clarification;
    match &ask.to {
        Some(Party::Agent(to)) => {
            now.rules.agent(to)?;
            if human_only {
                let message = format!("a {category} goes to a human, not to {to}");
                return Err(Refusal::invalid("to", message, "leave --to out, or name `human`"));
            }
            Ok(Party::Agent(to.clone()))
        }
        Some(Party::Human(_)) => Ok(Party::HUMAN),
        Some(Party::Querent) => Err(Refusal::invalid("to", "nobody asks `querent`", "name an agent or `human`")),
        None => {
            let first = step.and_then(|step| step.can_clarify.first()).filter(|_| !human_only);
            Ok(first.map_or(Party::HUMAN, |agent| Party::Agent(agent.clone())))
        }
    }
}

fn enabled(now: &Now<'_>, to: &Party) -> Result<(), Refusal> {
    if !to.is_human() || now.rules.config.human_input.enabled {
        return Ok(());
    }
    let hint = "ask an agent, or set enabled = true under [human_input] in .querent/config.toml";
    Err(Refusal::new(Code::UnsupportedOperation, "questions to humans are switched off in this project", hint))
}

fn scope<'a>(agent: &AgentName, to: &Party, step: Option<&'a Step>, workflow: &str) -> Result<&'a Step, Refusal> {
    let Some(step) = step else {
        let message = format!("{agent} has no step in workflow `{workflow}` and may ask nobody there");
        let hint = format!("give {agent} a step in .querent/workflows/{workflow}.toml, or let the agent of a step ask");
        return Err(Refusal::new(Code::ScopeViolation, message, hint).with(json!({ "agent": agent, "allowed": [] })));
    };
    let allowed = match to {
        Party::Agent(to) => step.can_clarify.contains(to),
        Party::Human(_) | Party::Querent => step.can_ask_human,
    };
    if allowed {
        return Ok(step);
    }
    let mut may: Vec<String> = step.can_clarify.iter().map(ToString::to_string).collect();
    may.extend(step.can_ask_human.then(|| "human".to_owned()));
    let message = format!("{agent} may not ask {to} in step `{}`", step.name);
    let hint = match may.as_slice() {
        [] => format!("nobody may be asked in this step; see can_clarify in .querent/workflows/{workflow}.toml"),
        may => format!("allowed are: {}", may.join(", ")),
    };
    Err(Refusal::new(Code::ScopeViolation, message, hint)
        .with(json!({ "agent": agent, "to": to, "step": step.name, "allowed": may })))
}

fn blocking_allowed(step: &Step, blocking: bool) -> Result<(), Refusal> {
    if !blocking || step.clarify_blocking_allowed {
        return Ok(());
    }
    let message = format!("the step `{}` allows no blocking questions", step.name);
    Err(Refusal::new(Code::BlockingNotAllowed, message, "ask with --no-blocking and go on working")
        .with(json!({ "step": step.name })))
}

fn one_at_a_time(now: &Now<'_>, to: &Party, blocking: bool) -> Result<(), Refusal> {
    if !(blocking && to.is_human()) {
        return Ok(());
    }
    let open: Vec<String> = now.item.blocking_human().map(|(id, _)| id.to_string()).collect();
    let most = now.rules.config.human_input.max_open_blocking.max(1) as usize;
    match open.first() {
        Some(first) if open.len() >= most => {
            let message = format!("{first} already waits for a human on item `{}`", now.item.id);
            let hint = format!("wait for it (querent await {first}), or ask with --no-blocking");
            Err(Refusal::new(Code::QuestionConflictOpen, message, hint)
                .with(json!({ "question_id": first, "open": open })))
        }
        _ => Ok(()),
    }
}

fn rounds(ask: &Ask, most: u32) -> Result<u32, Refusal> {
    match ask.max_rounds {
        None => Ok(most),
        Some(wanted) if (1..=most).contains(&wanted) => Ok(wanted),
        Some(wanted) => {
            let message = format!("max_rounds is {wanted}; this step allows 1 to {most}");
            Err(Refusal::invalid("max_rounds", message, format!("ask for at most {most} rounds"))
                .with(json!({ "field": "max_rounds", "limit": { "least": 1, "most": most } })))
        }
    }
}
