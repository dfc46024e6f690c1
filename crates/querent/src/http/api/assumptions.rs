//! Assumptions: what was decided without asking, and what people say of it.

use querent_core::{
    Action, Assume, AssumptionFilter, AssumptionId, Blocker, Confidence, ItemId, QuestionId, Refusal, Risk,
    RiskIfWrong, Source, Verdict,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::{Call, Named};
use super::reply::Said;
use super::schema::{
    Field, assumption_id, by, item, item_id, list, maybe, needed, next_cursor, or_null, paged, question_id, shape,
    shaped, word, words, worker,
};
use super::{Route, Run, Verb};
use crate::paging::{self, foreign};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Post,
        path: "/assumptions",
        operation: "assume",
        tag: "assumptions",
        summary: "Record a decision that was taken without asking",
        description: "What was decided, why, how sure the agent is and what it costs if it is wrong. People confirm or overturn it.",
        fields,
        example: r#"{"item": "42", "agent": "engineer", "decision": "Tokens live for an hour",
            "reasoning": "so do all in src/auth.rs", "confidence": "high", "risk_if_wrong": {"level": "low"}}"#,
        reply: one,
        versioned: false,
        run: Run::Now(assume),
    },
    Route {
        verb: Verb::Get,
        path: "/assumptions",
        operation: "assumptions",
        tag: "assumptions",
        summary: "List what was decided without asking",
        description: "What nobody judged yet comes first, the riskiest and least certain of it at the top.",
        fields: || {
            let mut fields = vec![
                maybe("item", item_id("Only those of this item")),
                maybe(
                    "status",
                    word(AssumptionFilter::ALL, AssumptionFilter::as_str, "Only those of this status; all without it"),
                ),
            ];
            fields.extend(paged(CURSOR, "0.0.0.1767225600000.ASM-42-001"));
            fields
        },
        example: "",
        reply: || shaped([("assumptions", list(shape("Assumption"))), ("next_cursor", next_cursor())], &[]),
        versioned: false,
        run: Run::Now(listed),
    },
    Route {
        verb: Verb::Post,
        path: "/assumptions/{id}/review",
        operation: "assumptions_review",
        tag: "assumptions",
        summary: "Confirm or overturn an assumption",
        description: "Overturning marks the item for rework, and its agents find it first in their context.",
        fields: || {
            vec![
                needed("id", assumption_id()),
                needed("verdict", word(Verdict::ALL, Verdict::as_str, "What it is found to be")),
                maybe("note", words(2_000, "Why, or what holds instead")),
                by(),
            ]
        },
        example: r#"{"verdict": "overturn", "note": "a day, for customers", "by": "human:alice"}"#,
        reply: one,
        versioned: false,
        run: Run::Now(review),
    },
];

const CURSOR: &str =
    "^[01]\\.[0-2]\\.[0-2]\\.[0-9]{1,15}\\.ASM-[a-z0-9][a-z0-9-]{0,63}-(00[1-9]|0[1-9][0-9]|[1-9][0-9]{2,8})$";

fn one() -> Value {
    shaped([("assumption", shape("Assumption"))], &[])
}

fn fields() -> Vec<Field> {
    let mut risk = shaped(
        [
            ("level", word(Risk::ALL, Risk::as_str, "How bad")),
            ("note", or_null(words(500, "What would have to be done then"))),
        ],
        &["note"],
    );
    risk["additionalProperties"] = json!(false);
    vec![
        item(),
        worker(),
        needed("decision", words(500, "What was decided")),
        needed("reasoning", words(2_000, "Why it is likely to be right")),
        needed("confidence", word(Confidence::ALL, Confidence::as_str, "How sure the agent is")),
        needed("risk_if_wrong", risk),
        maybe("source", word(Source::ALL, Source::as_str, "Where it comes from; inferred_from_codebase without it")),
        maybe("blocker", word(Blocker::ALL, Blocker::as_str, "What stood in the way of knowing; none without it")),
        maybe("question_id", question_id("The question that it answers")),
    ]
}

fn assume(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        item: Option<ItemId>,
        agent: Option<Named>,
        decision: String,
        reasoning: String,
        confidence: Confidence,
        risk_if_wrong: RiskIfWrong,
        source: Option<Source>,
        blocker: Option<Blocker>,
        question_id: Option<QuestionId>,
    }
    let args: Args = call.read()?;
    let by = call.speaks(args.agent)?;
    let assume = Assume {
        decision: args.decision,
        reasoning: args.reasoning,
        confidence: args.confidence,
        risk_if_wrong: args.risk_if_wrong,
        source: args.source.unwrap_or_default(),
        blocker: Some(args.blocker.unwrap_or(Blocker::None)),
        question: args.question_id,
    };
    Ok(call.execute(call.item(args.item)?, by, Action::Assume(Box::new(assume))))
}

/// Where an assumption stands in the list that people review.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place(bool, std::cmp::Reverse<Risk>, std::cmp::Reverse<Confidence>, i64, AssumptionId);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let risk = Risk::ALL.iter().position(|it| *it == self.1.0).unwrap_or_default();
        let confidence = Confidence::ALL.iter().position(|it| *it == self.2.0).unwrap_or_default();
        write!(f, "{}.{risk}.{confidence}.{}.{}", u8::from(self.0), self.3, self.4)
    }
}

impl std::str::FromStr for Place {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let parse = || {
            let mut parts = text.splitn(5, '.');
            let judged = parts.next()? == "1";
            let risk = *Risk::ALL.get(parts.next()?.parse::<usize>().ok()?)?;
            let confidence = *Confidence::ALL.get(parts.next()?.parse::<usize>().ok()?)?;
            let at = parts.next()?.parse().ok()?;
            Some(Self(judged, std::cmp::Reverse(risk), std::cmp::Reverse(confidence), at, parts.next()?.parse().ok()?))
        };
        parse().ok_or_else(foreign)
    }
}

fn listed(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        item: Option<ItemId>,
        #[serde(default)]
        status: AssumptionFilter,
        limit: Option<usize>,
        cursor: Option<String>,
    }
    #[derive(Serialize)]
    struct Reply<T> {
        assumptions: Vec<T>,
        next_cursor: Option<String>,
    }
    let Args { item, status, limit, cursor } = call.read()?;
    let found = call.site.hub.assumptions(item.as_ref(), status)?;
    let place = |it: &querent_core::Assumption| {
        let judged = it.status != querent_core::AssumptionStatus::Standing;
        let (risk, confidence) = (std::cmp::Reverse(it.risk_if_wrong.level), std::cmp::Reverse(it.confidence));
        Place(judged, risk, confidence, it.created_at.millis(), it.id.clone())
    };
    let page = paging::sorted(found, place, cursor.as_deref(), paging::limit(limit))?;
    Ok(Said::new(&Reply { assumptions: page.entries, next_cursor: page.next }))
}

fn review(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: AssumptionId,
        verdict: Verdict,
        note: Option<String>,
        by: Option<Named>,
    }
    let Args { id: assumption, verdict, note, by } = call.read()?;
    Ok(call.execute(assumption.item.clone(), call.speaks(by)?, Action::Review { assumption, verdict, note }))
}
