//! Where nobody is to be asked, the fallback is taken at once, and stands on record like any other.

use serde_json::json;

use super::{Now, assume, expire};
use crate::assumption::Source;
use crate::event::{Event, ExpiryEffect, QuestionAsked};
use crate::policy::Autonomy;
use crate::question::Question;
use crate::refusal::{Code, Refusal};

/// Whether this question goes to nobody: the item or the project says `never_ask`, and it is none that only a human may settle.
pub(super) fn asks_nobody(now: &Now<'_>, question: &Question) -> bool {
    now.autonomy() == Autonomy::NeverAsk && question.to.is_human() && !question.is_guarded()
}

/// The question is recorded with its end. Nothing waits.
pub(super) fn decide(now: &Now<'_>, mut question: Question) -> Result<Vec<Event>, Refusal> {
    let Some(answer) = expire::fallback(now, &question) else {
        let needs = "a fallback, with the reason why it is safe";
        let message = "nobody is asked here (autonomy is never_ask), and the question has no fallback";
        let hint = format!(
            "decide, and record it: querent assume --item {} --agent {} …; or ask with --fallback and --because",
            now.item.id, question.from.agent
        );
        let unmet = json!({ "conditions": [{ "condition": "fallback", "met": false, "needs": needs }] });
        return Err(Refusal::new(Code::ConditionsNotMet, message, hint).with(unmet));
    };
    // It was never open: it waits for nobody, and has no stage to go back to.
    (question.remind_at, question.resume_stage) = (None, None);
    let assumed = assume::of_fallback(now, &question, &answer, Source::Autonomy);
    let expired = expire::expired(&question, ExpiryEffect::Fallback, Some(answer));
    let via = now.command.via;
    let asked = QuestionAsked { question: Box::new(question), via, pattern: None, strict: false, about_session: false };
    Ok([asked.into(), expired].into_iter().chain(assumed).collect())
}
