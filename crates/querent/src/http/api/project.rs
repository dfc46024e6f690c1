//! What the project tells its agents, and whether it is in order.

use querent_core::{AgentName, Context, Guide, ItemId, Refusal, guide};
use querent_hub::doctor;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::Call;
use super::reply::Said;
use super::schema::{agent, any_object, flag, item, list, maybe, shape, shaped, text, worker};
use super::{Route, Run, Verb};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/context",
        operation: "context",
        tag: "project",
        summary: "What an agent should know when it goes on with an item",
        description: "Overturned assumptions first, then the item's open questions, its last answers, the assumptions that stand, and \
what was learned from people's answers.",
        fields: || vec![item(), worker()],
        example: "",
        reply: told,
        versioned: false,
        run: Run::Now(context),
    },
    Route {
        verb: Verb::Get,
        path: "/guide",
        operation: "guide",
        tag: "project",
        summary: "How the agents of this project ask",
        description: "Made from the project's config and workflows as they are now: the facts, and the same as a text for a prompt.",
        fields: || vec![maybe("agent", agent("Speak to this agent; without it, to all of them"))],
        example: "",
        reply: || shaped([("guide", any_object("The facts")), ("text", text("The same in Markdown"))], &[]),
        versioned: false,
        run: Run::Now(guided),
    },
    Route {
        verb: Verb::Get,
        path: "/doctor",
        operation: "doctor",
        tag: "project",
        summary: "Check the project's files and stored data",
        description: "Reads the whole journal and compares everything that is derived from it; repairs nothing.",
        fields: Vec::new,
        example: "",
        reply: || {
            let finding = shaped(
                [
                    ("severity", text("warning for what can be made anew, error for the rest")),
                    ("what", text("What is wrong")),
                    ("where", text("Where")),
                    ("cure", text("What to do about it")),
                ],
                &[],
            );
            shaped([("healthy", flag("All is well")), ("findings", list(finding))], &[])
        },
        versioned: false,
        run: Run::Now(|call| Ok(Said::new(&doctor(&call.site.project, false)?))),
    },
];

fn told() -> Value {
    let answered = shaped(
        [
            ("question_id", text("The question")),
            ("topic", text("Its subject")),
            ("prompt", text("What was asked")),
            ("answer", shape("Answer")),
        ],
        &[],
    );
    shaped(
        [
            ("item", text("The item")),
            ("agent", text("The agent")),
            ("overturned", list(shape("Assumption"))),
            ("open_questions", list(shape("Question"))),
            ("answers", list(answered)),
            ("assumptions", list(shape("Assumption"))),
            ("learned", list(shape("Learned"))),
        ],
        &[],
    )
}

fn context(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        item: Option<ItemId>,
        agent: Option<AgentName>,
    }
    let Args { item, agent } = call.read()?;
    let agent = call.agent(agent)?;
    let (item, open, answered) = call.site.hub.context(&call.item(item)?, &agent)?;
    let knowledge = call.site.hub.knowledge()?;
    Ok(Said::new(&Context::new(&item, &agent, &open, &answered, &knowledge)))
}

fn guided(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        agent: Option<AgentName>,
    }
    #[derive(Serialize)]
    struct Reply<'a> {
        guide: &'a Guide,
        text: &'a str,
    }
    let Args { agent } = call.read()?;
    let guide = guide(call.site.hub.rules()?.as_ref(), agent.as_ref())?;
    Ok(Said::new(&Reply { guide: &guide, text: &guide.markdown() }))
}
