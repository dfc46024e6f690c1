//! `question_escalate`: a human is to decide.

use querent_core::{Action, Cause};

use super::{Nature, Tool, settle};

pub(super) const TOOL: Tool = Tool {
    name: "question_escalate",
    title: "Hand a question to a human",
    description: "\
Hand a question that an agent cannot settle to a human. Say in the summary what was tried and what is still unclear.",
    nature: Nature::Adds,
    waited: None,
    input: || settle::input("summary", "What the human should know"),
    output: settle::output,
    run: |arguments, call| {
        Box::pin(settle::run(arguments, call, "summary", |question, summary| Action::Escalate {
            question,
            summary,
            cause: Cause::Requested,
        }))
    },
};
