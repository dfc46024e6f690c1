//! Agents that let their time pass.

use super::{Deed, Finding, FindingKind, Scene, Severity};
use crate::command::Action;
use crate::due::due_on;
use crate::moment::Moment;
use crate::question::{Question, Status};

/// What is overdue, with what is due on it, and what was called again.
pub(super) fn find(scene: &Scene<'_>, at: Moment) -> Vec<Finding> {
    let open = scene.questions.iter().filter(|question| question.status.is_open());
    open.filter_map(|question| finding(question, at)).collect()
}

fn finding(question: &Question, at: Moment) -> Option<Finding> {
    let due = due_on(question, at);
    let overdue = matches!(due, Some(Action::Retry { .. } | Action::Escalate { .. }));
    if !overdue && question.status != Status::Stale {
        return None;
    }
    let (asker, to) = (&question.from.agent, &question.to);
    let waits = at.since(question.created_at).rough();
    let again = match (&due, question.status) {
        (Some(Action::Escalate { .. }), _) => ", for the second time",
        (_, Status::Stale) => "; it was called again",
        _ => "",
    };
    let deed = due.filter(|_| overdue).map(|action| Deed::item(&question.item, action));
    Some(Finding {
        kind: FindingKind::Stale,
        severity: Severity::Warning,
        item: Some(question.item.clone()),
        question_id: Some(question.id.clone()),
        source: None,
        cycle: None,
        evidence: vec![format!("{asker} has waited for {to} for {waits}{again}")],
        actions: deed.into_iter().collect(),
    })
}
