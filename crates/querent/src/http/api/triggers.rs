//! Triggers: something happened, and the project's files say what is asked about it.

use querent_core::{ItemId, Refusal};
use querent_hub::{Happening, Triggers};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{Call, Named};
use super::reply::Said;
use super::schema::{any_object, flag, item, list, maybe, needed, or_null, party, shape, shaped, text, words};
use super::{Route, Run, Verb};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Post,
        path: "/triggers",
        operation: "trigger",
        tag: "triggers",
        summary: "Report an event, and raise the questions that the project's triggers have for it",
        description: "A trigger whose phase or condition does not fit is skipped with the reason; so is an event that no trigger is \
for. What a question needs and the data lacks refuses the call, and then nothing is raised.",
        fields: || {
            vec![
                needed("event", words(200, "What happened")),
                item(),
                maybe("from", party("engineer", "The agent that asks; with a token, its bearer")),
                maybe("phase", words(200, "The phase in which it happened")),
                maybe("data", any_object("What is known about it")),
            ]
        },
        example: r#"{"event": "idea_created", "item": "42", "from": "engineer"}"#,
        reply: || {
            let skipped = shaped([("trigger", text("The trigger, or the event")), ("reason", text("Why"))], &[]);
            shaped([("raised", list(shape("AskReply"))), ("skipped", list(skipped))], &[])
        },
        versioned: false,
        run: Run::Now(fire),
    },
    Route {
        verb: Verb::Get,
        path: "/triggers",
        operation: "trigger_list",
        tag: "triggers",
        summary: "List the project's triggers and the shipped sets",
        description: "A file that does not read is refused (invalid_config) with its line.",
        fields: Vec::new,
        example: "",
        reply: installed,
        versioned: false,
        run: Run::Now(|call| Ok(Said::new(&Triggers::of(&call.site.project)?))),
    },
];

fn installed() -> Value {
    let trigger = shaped(
        [
            ("trigger", text("Its name")),
            ("event", text("The event")),
            ("phase", or_null(text("The phase, if only one is meant"))),
            ("when", or_null(text("The condition"))),
            ("kind", text("The kind of its question")),
            ("blocking", flag("The asker waits")),
        ],
        &[],
    );
    let file = shaped([("file", text("Where it is")), ("triggers", list(trigger))], &[]);
    let set = shaped(
        [
            ("name", text("What it is called")),
            ("installed", flag("The project has it")),
            ("edited", flag("It was changed")),
        ],
        &[],
    );
    shaped([("installed", list(file)), ("shipped", list(set))], &[])
}

fn fire(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        event: String,
        item: Option<ItemId>,
        from: Option<Named>,
        phase: Option<String>,
        #[serde(default)]
        data: Map<String, Value>,
    }
    let Args { event, item, from, phase, data } = call.read()?;
    let by = call.speaks(from)?;
    let happening = Happening { item: call.item(item)?, by, event, phase, data };
    Ok(Said::new(&call.site.hub.fire(&happening, call.operation.as_ref())?))
}
