//! `question_resolve`: the asker has what it needs.

use querent_core::Action;

use super::{Nature, Tool, settle};

pub(super) const TOOL: Tool = Tool {
    name: "question_resolve",
    title: "Settle a question",
    description: "\
Say that an answered question of yours is settled: you have what you need. Asking on is question_follow_up.",
    nature: Nature::Adds,
    waited: None,
    input: || settle::input("note", "What came of it"),
    output: settle::output,
    run: |arguments, call| {
        Box::pin(settle::run(arguments, call, "note", |question, note| Action::Resolve { question, note }))
    },
};
