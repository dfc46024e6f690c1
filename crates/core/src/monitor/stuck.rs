//! Threads that go in circles.

use std::collections::{BTreeMap, BTreeSet};

use super::{Deed, Finding, FindingKind, Scene, Severity};
use crate::command::Cause;
use crate::id::QuestionId;
use crate::party::Party;
use crate::pattern::{Pattern, is_repeat};
use crate::policy::Rules;
use crate::question::{EntryKind, Question, Status};

pub(super) fn find(scene: &Scene<'_>, rules: &Rules, leaving: &BTreeSet<QuestionId>) -> Vec<Finding> {
    let mut stuck: BTreeMap<&QuestionId, (&Question, Vec<String>)> = BTreeMap::new();
    let active = scene.questions.iter().filter(|it| it.to.agent().is_some() && !it.status.is_final());
    let active: Vec<&Question> = active.collect();
    for question in active.iter().copied().filter(|question| question.round > 1) {
        if let Some(why) = repetition(question) {
            stuck.entry(&question.id).or_insert((question, Vec::new())).1.push(why);
        }
    }
    for (question, why) in flips(&active, rules) {
        stuck.entry(&question.id).or_insert((question, Vec::new())).1.push(why);
    }
    stuck.into_iter().map(|(id, (question, evidence))| finding(question, evidence, leaving.contains(id))).collect()
}

fn finding(question: &Question, evidence: Vec<String>, leaving: bool) -> Finding {
    let deed = (!leaving).then(|| Deed::escalate(&question.id, Cause::Stuck, evidence.join("; ")));
    Finding {
        kind: FindingKind::Stuck,
        severity: Severity::Warning,
        item: Some(question.item.clone()),
        question_id: Some(question.id.clone()),
        source: None,
        cycle: None,
        evidence,
        actions: deed.into_iter().collect(),
    }
}

/// The first round that says what an earlier one said. One word said twice is no circle: two questions may both have it for
/// their answer.
fn repetition(question: &Question) -> Option<String> {
    [(EntryKind::Question, "asks"), (EntryKind::Answer, "answers")].into_iter().find_map(|(kind, does)| {
        // What Querent asks on with is the same for everybody.
        let said = question.thread.iter().filter(|entry| entry.kind == kind && entry.from != Party::Querent);
        let said: Vec<(u32, Pattern)> =
            said.map(|entry| (entry.round, Pattern::of(&entry.body, &[], question.category))).collect();
        let counts = |pattern: &Pattern| kind == EntryKind::Question || pattern.as_str().split(' ').count() > 2;
        said.iter().enumerate().find_map(|(place, (round, pattern))| {
            let earlier = said[..place].iter().find(|(before, it)| before < round && is_repeat(it, pattern))?;
            counts(pattern).then(|| format!("round {round} {does} what round {} {does}", earlier.0))
        })
    })
}

/// Pairs of open questions on one item in which two agents ask each other about the same. The more downstream of the two is
/// stuck; of equal ones, the younger.
fn flips<'a>(questions: &[&'a Question], rules: &Rules) -> Vec<(&'a Question, String)> {
    let open: Vec<&Question> = questions.iter().copied().filter(|it| it.status != Status::Answered).collect();
    let topic = |it: &Question| Pattern::of(&it.topic, &[], it.category);
    let mut flips = Vec::new();
    for of_item in open.chunk_by(|a, b| a.item == b.item) {
        for (place, one) in of_item.iter().enumerate() {
            let back = of_item[place + 1..].iter().filter(|other| is_other_way(one, other));
            for other in back.filter(|other| is_repeat(&topic(one), &topic(other))) {
                let key = |it: &Question| (rules.rank(&it.from.agent), it.created_at, it.id.number);
                let (yields, stays) = if key(one) > key(other) { (*one, *other) } else { (*other, *one) };
                flips.push((yields, format!("{} is about the same, the other way round", stays.id)));
            }
        }
    }
    flips
}

fn is_other_way(one: &Question, other: &Question) -> bool {
    one.to.agent() == Some(&other.from.agent) && other.to.agent() == Some(&one.from.agent)
}
