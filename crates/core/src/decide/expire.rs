//! A deadline: nobody answered. The asker's own fallback comes first, then the policy.

use super::{Now, assume, end_item, remind, resume};
use crate::answer::{self, Answer, Provenance};
use crate::assumption::Source;
use crate::event::{Event, ExpiryEffect, ItemMoved, QuestionExpired};
use crate::item::{Outcome, Stage};
use crate::party::{Party, Via};
use crate::policy::OnTimeout;
use crate::question::Question;
use crate::refusal::{Code, Refusal};

pub(super) fn decide(now: &Now<'_>, question: &Question) -> Result<Vec<Event>, Refusal> {
    let passed = question.expires_at.is_some_and(|expires_at| expires_at <= now.at);
    if !passed || !question.status.is_open() {
        let message = format!("{} is not due to expire", question.id);
        return Err(Refusal::new(Code::InvalidTransition, message, "leave deadlines to Querent"));
    }
    let policy = &now.rules.config.human_input;
    if !policy.may_expire(question.category, question.blocker) {
        return Ok(vec![remind::reminded(now, question, false)]);
    }
    if let Some(answer) = fallback(now, question) {
        let resumed = resume::after(now, &question.id, "settled by its fallback");
        let assumed = assume::of_fallback(now, question, &answer, Source::TimeoutAssumed);
        let expired = expired(question, ExpiryEffect::Fallback, Some(answer));
        return Ok([expired].into_iter().chain(assumed).chain(resumed).collect());
    }
    if !question.blocking {
        return Ok(vec![expired(question, ExpiryEffect::Nothing, None)]);
    }
    let why = format!("{} expired without an answer", question.id);
    match policy.on_timeout {
        OnTimeout::Wait => Ok(vec![remind::reminded(now, question, false)]),
        OnTimeout::Fail => {
            let ended = end_item::end(now, Outcome::Failed, Some(why), Some(&question.id));
            Ok([expired(question, ExpiryEffect::Fail, None)].into_iter().chain(ended).collect())
        }
        OnTimeout::Block => {
            let moved = ItemMoved {
                from: now.item.stage.clone(),
                to: Stage::Blocked,
                reason: Some(why),
                question: Some(question.id.clone()),
                resume_stage: Some(resume::stage(now)),
            };
            let moved = (now.item.stage != Stage::Blocked).then(|| moved.into());
            Ok([expired(question, ExpiryEffect::Block, None)].into_iter().chain(moved).collect())
        }
    }
}

pub(super) fn expired(question: &Question, effect: ExpiryEffect, answer: Option<Answer>) -> Event {
    QuestionExpired { question: question.id.clone(), effect, answer }.into()
}

/// The declared fallback, as the answer that it now is.
pub(super) fn fallback(now: &Now<'_>, question: &Question) -> Option<Answer> {
    let declared = &question.fallback.as_ref()?.answer;
    let meaning = answer::read(declared, &question.expected, &question.options, question.allow_free_text).ok()?;
    Some(Answer {
        value: meaning.value,
        text: meaning.text,
        free_text: meaning.free_text,
        by: Party::Querent,
        via: Via::Querent,
        at: now.at,
        provenance: Provenance::Fallback,
        learned: None,
        note: None,
    })
}
