//! The shapes that replies are made of.

use querent_core::monitor::{FindingKind, Severity};
use querent_core::{
    AssumptionStatus, Blocker, Category, ChannelKind, Confidence, DeliveryStatus, EntryKind, Kind, LearnedStatus,
    Provenance, Risk, SessionStatus, Source, Status, Why,
};
use serde_json::{Value, json};

use super::{any_object, flag, list, or_null, shaped, text, texts, word};

/// A shape by its name.
pub(in super::super) fn shape(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

type Shape = fn() -> Value;

/// Every shape there is.
pub(in super::super) const SHAPES: &[(&str, Shape)] = &[
    ("Alert", alert),
    ("Answer", answer),
    ("AnswerReply", answer_reply),
    ("AskReply", ask_reply),
    ("Assumption", assumption),
    ("Choice", choice),
    ("Delivery", delivery),
    ("Entry", entry),
    ("Event", event),
    ("Finding", finding),
    ("Item", item),
    ("Learned", learned),
    ("Lock", lock),
    ("Parked", parked),
    ("Question", question),
    ("Ready", ready),
    ("Refusal", refusal),
    ("Session", session),
    ("StatusReply", status_reply),
];

/// What may be null, of a shape.
pub(in super::super) fn shape_or_null(name: &str) -> Value {
    json!({ "anyOf": [shape(name), { "type": "null" }] })
}

fn time(description: &str) -> Value {
    json!({ "type": "string", "format": "date-time", "description": description })
}

fn count(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": description })
}

fn status() -> Value {
    word(Status::ALL, Status::as_str, "Where it is in its life")
}

fn stage() -> Value {
    or_null(text(
        "Where the item is: a step of its workflow, or awaiting_input, blocked, ready_to_merge, merged, failed",
    ))
}

fn via() -> Value {
    text("Through which surface: cli, http, web, tui, mcp, elicitation, a channel, trigger, library or querent")
}

fn refusal() -> Value {
    let codes: Vec<&str> = querent_core::Code::ALL.iter().map(|code| code.as_str()).collect();
    let error = shaped(
        [
            ("code", json!({ "type": "string", "enum": codes, "description": "What went wrong, for programs" })),
            ("message", text("What went wrong, in a sentence")),
            ("hint", text("What to do next")),
            ("details", any_object("The facts, for programs")),
        ],
        &[],
    );
    shaped([("ok", json!({ "const": false })), ("error", error)], &[])
}

fn answer() -> Value {
    shaped(
        [
            (
                "value",
                json!({ "description": "For programs: an option's id, a list of ids, a boolean, a number, JSON or text" }),
            ),
            ("text", text("For people")),
            ("free_text", flag("It leaves the options that the question offered")),
            ("by", text("Who gave it")),
            ("via", via()),
            ("at", time("When")),
            ("provenance", word(Provenance::ALL, Provenance::as_str, "How it came about")),
            (
                "learned",
                shaped([("id", text("What it is learned as")), ("question_id", text("From which question"))], &[]),
            ),
            ("note", text("What whoever gave it added")),
        ],
        &["learned", "note"],
    )
}

fn choice() -> Value {
    shaped(
        [
            ("id", text("What a program answers")),
            ("label", text("What a person reads")),
            ("description", or_null(text("More about it"))),
            ("recommended", flag("The asker would take it")),
            ("implications", or_null(text("What follows from it"))),
        ],
        &[],
    )
}

fn entry() -> Value {
    shaped(
        [
            ("seq", count("Its place in the thread")),
            ("round", count("The round that it belongs to")),
            ("from", text("Who")),
            ("type", word(EntryKind::ALL, EntryKind::as_str, "What it is")),
            ("body", text("What was said")),
            ("value", json!({ "description": "The answer's value, for a program; else null" })),
            ("via", via()),
            ("at", time("When")),
        ],
        &[],
    )
}

fn question() -> Value {
    let from = shaped([("agent", text("The agent")), ("session", text("Its session"))], &[]);
    let fallback = shaped(
        [
            ("answer", json!({ "description": "The answer that is taken" })),
            ("reason", text("Why it is safe")),
            ("risk", word(Risk::ALL, Risk::as_str, "How bad it is if it is wrong")),
        ],
        &[],
    );
    shaped(
        [
            ("id", text("Its id")),
            ("item", text("The item")),
            ("from", from),
            ("to", text("Whose turn it is to answer")),
            ("asked", text("Who was asked at first")),
            ("kind", word(Kind::ALL, Kind::as_str, "Why it is asked")),
            ("category", word(Category::ALL, Category::as_str, "What sort of decision is wanted")),
            ("blocker", word(Blocker::ALL, Blocker::as_str, "What stands in the way without an answer")),
            ("topic", text("The subject")),
            ("prompt", text("The question itself")),
            ("context", or_null(text("What the reader must know"))),
            ("details", or_null(any_object("The same for programs"))),
            ("options", list(shape("Choice"))),
            ("expected", shaped([("kind", text("What an answer must look like")), ("schema", json!({}))], &["schema"])),
            ("allow_free_text", flag("An answer may leave the options")),
            ("blocking", flag("The asker waits")),
            ("fallback", or_null(fallback)),
            ("evidence", or_null(any_object("What was tried before asking"))),
            ("tags", texts("Words to find it by")),
            ("round", count("The round that it is in")),
            ("max_rounds", count("The last round")),
            ("status", status()),
            ("created_at", time("When it was asked")),
            ("stale_at", or_null(time("When an agent has waited too long"))),
            ("remind_at", or_null(time("When the human is reminded"))),
            ("expires_at", or_null(time("When it ends without an answer"))),
            ("resume_stage", stage()),
            ("answer", shape_or_null("Answer")),
            ("deliveries", list(shape("Delivery"))),
            ("thread", list(shape("Entry"))),
        ],
        &["thread"],
    )
}

fn delivery() -> Value {
    shaped(
        [
            ("question_id", text("The question; left out where it stands in its question")),
            ("effect", text("What makes it the same notification")),
            ("kind", word(ChannelKind::ALL, ChannelKind::as_str, "What sort of channel it is")),
            ("channel", text("The channel")),
            ("state", text("What people are told: asked, escalated or reminded-1")),
            ("round", count("The round that the question was in")),
            ("status", word(DeliveryStatus::ALL, DeliveryStatus::as_str, "How far it has come")),
            ("attempts", count("How often it was attempted")),
            ("at", time("When its status last changed")),
            ("due", or_null(time("When it is sent, if it waits for its hour"))),
            ("error", or_null(text("Why the last attempt failed"))),
        ],
        &["question_id", "effect", "due"],
    )
}

fn parked() -> Value {
    shaped(
        [
            ("question_id", text("The question that the session is parked on")),
            ("settled", flag("It can be resumed")),
            ("claimed", flag("Somebody resumes it at the moment")),
            ("program", text("The program that it runs in")),
            ("handle", text("What the program calls the session")),
            ("directory", text("Where the program is started")),
            ("since", time("Since when")),
        ],
        &[],
    )
}

fn item() -> Value {
    shaped(
        [
            ("id", text("Its id")),
            ("title", text("What it is about")),
            ("workflow", text("The workflow that it follows")),
            ("stage", text("Where it is")),
            ("resume_stage", or_null(text("Where it goes on after its pause"))),
            ("open_question_id", or_null(text("The oldest blocking question to a human"))),
            ("open_question_count", count("How many of them are open")),
            ("awaiting_since", or_null(time("Since when it waits for a human"))),
            ("needs_rework", flag("Something that it was built on turned out to be wrong")),
            ("status_reason", or_null(text("Why it stands where it stands"))),
        ],
        &[],
    )
}

fn ready() -> Value {
    shaped(
        [
            ("id", text("Its id")),
            ("title", text("What it is about")),
            ("stage", text("Where it is")),
            ("agent", or_null(text("Whose turn it is"))),
            ("blocked", flag("Nothing can be done on it now")),
            ("reason", or_null(text("Why not"))),
        ],
        &[],
    )
}

fn session() -> Value {
    shaped(
        [
            ("agent", text("The agent in it")),
            ("session", text("Its id")),
            ("item", text("The item that it works on")),
            ("status", word(SessionStatus::ALL, SessionStatus::as_str, "What it is doing")),
            ("clarification_id", or_null(text("The question that it waits for, or is to answer"))),
            ("waiting_on", or_null(text("Whose answer it waits for"))),
            ("responding_to", or_null(text("Who waits for its answer"))),
            ("last_activity", time("When it was last heard of")),
            ("parked", shape("Parked")),
        ],
        &["parked"],
    )
}

fn assumption() -> Value {
    let risk = shaped(
        [
            ("level", word(Risk::ALL, Risk::as_str, "How bad")),
            ("note", or_null(text("What would have to be done then"))),
        ],
        &[],
    );
    let reviewed = shaped([("by", text("Who")), ("at", time("When")), ("note", or_null(text("In words")))], &[]);
    shaped(
        [
            ("id", text("Its id")),
            ("item", text("The item that was built on it")),
            ("by", text("Who decided")),
            ("decision", text("What was decided")),
            ("blocker", word(Blocker::ALL, Blocker::as_str, "What stood in the way of knowing")),
            ("source", word(Source::ALL, Source::as_str, "Where it comes from")),
            ("reasoning", text("Why it is likely to be right")),
            ("confidence", word(Confidence::ALL, Confidence::as_str, "How sure whoever decided is")),
            ("risk_if_wrong", risk),
            ("question_id", or_null(text("The question that it answers"))),
            ("status", word(AssumptionStatus::ALL, AssumptionStatus::as_str, "What people say of it")),
            ("created_at", time("When")),
            ("reviewed", or_null(reviewed)),
        ],
        &[],
    )
}

fn learned() -> Value {
    let source =
        shaped([("why", word(Why::ALL, Why::as_str, "Why it was learned")), ("questions", texts("From these"))], &[]);
    shaped(
        [
            ("id", text("Its id")),
            ("pattern", text("What it answers")),
            ("prompt", text("The same as somebody asked it")),
            ("category", word(Category::ALL, Category::as_str, "What sort of decision it is")),
            ("tags", texts("The question's tags")),
            ("answer", shape("Answer")),
            ("confidence", json!({ "type": "number", "description": "How sure it is, from 0 to 1" })),
            ("uses", count("How often it was given")),
            ("overruled", count("How often a human said otherwise")),
            ("source", source),
            ("status", word(LearnedStatus::ALL, LearnedStatus::as_str, "Whether it is given")),
            ("learned_at", time("When it was learned")),
            ("used_at", or_null(time("When it was last given"))),
        ],
        &[],
    )
}

fn alert() -> Value {
    shaped(
        [
            ("id", text("Its id")),
            ("type", word(FindingKind::ALL, FindingKind::as_str, "What was found")),
            ("severity", word(Severity::ALL, Severity::as_str, "How bad it is")),
            ("source", text("Whom or what it is about")),
            ("message", text("In a sentence")),
            ("context", json!({ "description": "The facts, for a program" })),
            ("created_at", time("When it was raised")),
            ("acknowledged", flag("Somebody has seen it")),
            ("acknowledged_by", or_null(text("Who has"))),
            ("acknowledged_at", or_null(time("When"))),
        ],
        &[],
    )
}

fn finding() -> Value {
    let deed = shaped([("action", text("What is done")), ("on", text("To what"))], &[]);
    shaped(
        [
            ("type", word(FindingKind::ALL, FindingKind::as_str, "What")),
            ("severity", word(Severity::ALL, Severity::as_str, "How bad it is")),
            ("item", or_null(text("The item"))),
            ("question_id", or_null(text("The question"))),
            ("source", or_null(text("The session or component"))),
            ("cycle", or_null(texts("Who waits for whom"))),
            ("evidence", texts("What was seen")),
            ("actions", list(deed)),
        ],
        &[],
    )
}

fn lock() -> Value {
    shaped(
        [
            ("path", text("The file, directory or glob")),
            ("session", text("The session that holds it")),
            ("agent", text("The agent in it")),
            ("item", text("The item that it works on")),
            ("since", time("Since when")),
            ("expires_at", time("Until when, if it is not renewed")),
            ("waiting", texts("Who waits for it")),
        ],
        &[],
    )
}

fn event() -> Value {
    shaped(
        [
            ("seq", count("Its place in the journal; dense")),
            ("stream", text("The item, or what all items share")),
            ("version", count("Its place in its stream")),
            ("at", time("When")),
            ("by", text("Who")),
            ("operation_id", or_null(text("The operation"))),
            ("type", text("What happened")),
            ("data", json!({ "description": "The facts" })),
        ],
        &[],
    )
}

fn ask_reply() -> Value {
    shaped(
        [
            ("question_id", text("The question")),
            ("status", status()),
            ("to", text("Who is to answer")),
            ("round", count("The round that it is in")),
            ("max_rounds", count("The last round")),
            ("item_stage", stage()),
            ("resume_stage", stage()),
            ("answer", shape_or_null("Answer")),
            ("reused", flag("The answer was there already, so nothing was asked")),
            ("advice", texts("How to ask better next time")),
        ],
        &[],
    )
}

fn answer_reply() -> Value {
    shaped(
        [
            ("question_id", text("The question")),
            ("status", status()),
            ("item_stage", stage()),
            ("resumed", flag("The item goes on because of it")),
            ("answer", shape_or_null("Answer")),
        ],
        &[],
    )
}

fn status_reply() -> Value {
    shaped([("question_id", text("The question")), ("status", status()), ("item_stage", stage())], &[])
}
