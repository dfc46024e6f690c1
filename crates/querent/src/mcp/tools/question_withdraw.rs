//! `question_withdraw`: a question no longer matters.

use querent_core::Action;

use super::{Nature, Tool, settle};

pub(super) const TOOL: Tool = Tool {
    name: "question_withdraw",
    title: "Take a question back",
    description: "\
Take a question of yours back that no longer matters, so that nobody spends time on it. The item goes on.",
    nature: Nature::Adds,
    waited: None,
    input: || settle::input("reason", "Why"),
    output: settle::output,
    run: |arguments, call| {
        Box::pin(settle::run(arguments, call, "reason", |question, reason| Action::Withdraw { question, reason }))
    },
};
