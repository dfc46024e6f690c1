//! What an agent is told that Querent invokes: for a turn of its own, or for an answer.
//!
//! Whatever people and agents wrote stands between our own lines; nothing of it can pass for an instruction of Querent's that is
//! not there anyway.

use std::fmt::Write;

use crate::context::{Context, news};
use crate::event::TurnOutcome;
use crate::id::{AgentName, SessionId};
use crate::item::Item;
use crate::policy::Rules;
use crate::question::{EntryKind, Question};
use crate::team::Purpose;

/// How many characters of artifacts an agent is given that is asked.
pub const ARTIFACTS: usize = 24_000;

/// What is known when an agent is told to work.
#[derive(Clone, Copy)]
pub struct Briefing<'a> {
    /// The project's files.
    pub rules: &'a Rules,
    /// The item.
    pub item: &'a Item,
    /// The agent.
    pub agent: &'a AgentName,
    /// Its session.
    pub session: &'a SessionId,
    /// What the turn is for.
    pub purpose: &'a Purpose,
    /// What it should know of the item.
    pub context: &'a Context<'a>,
    /// What was settled since it was last told.
    pub settled: &'a [Question],
    /// Whether its program goes on with a session in which it was told the rest.
    pub goes_on: bool,
    /// Whether it has Querent's own tools.
    pub has_tools: bool,
}

impl Briefing<'_> {
    /// The text. Of one that goes on, only what is new.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut part = |said: Option<String>| {
            if let Some(said) = said.filter(|said| !said.trim().is_empty()) {
                let _ = write!(text, "{}\n\n", said.trim_end());
            }
        };
        if self.goes_on {
            part(news(&self.item.id, self.settled, &[]));
        } else {
            part(self.rules.agent(self.agent).ok().and_then(|it| it.instructions.clone()));
            part(Some(self.context.markdown()));
        }
        part(self.task());
        part(self.last());
        part(self.messages());
        if !self.goes_on {
            part(Some(speech(self.has_tools)));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    fn task(&self) -> Option<String> {
        let id = &self.item.id;
        match self.purpose {
            Purpose::Step(name) => {
                let workflow = self.rules.workflow(&self.item.workflow).ok()?;
                let step = workflow.step(name)?;
                let what = step.instructions.as_deref().unwrap_or("Do this step, and this step only.");
                let mut text = format!("# Your step: {name}\n\nYou are {}, at work on item {id}. {what}", self.agent);
                if !step.artifacts.is_empty() {
                    let _ = write!(text, "\nWhat must come of it: {}.", step.artifacts.join(", "));
                }
                if !step.gates.is_empty() {
                    let _ = write!(text, "\nIt is done when these succeed: {}.", step.gates.join("; "));
                }
                Some(if self.goes_on { format!("Go on with the step `{name}` of item {id}.") } else { text })
            }
            Purpose::Happening(number) => {
                let it = self.item.team.happenings.get(number)?;
                let data = if it.data.is_null() { String::new() } else { format!("\n\n```json\n{}\n```", it.data) };
                let by = &it.by;
                Some(format!(
                    "# Event: {}\n\nYou are {}. On item {id} this happened, by {by}.{data}",
                    it.event, self.agent
                ))
            }
        }
    }

    /// Why the last turn did not do.
    fn last(&self) -> Option<String> {
        let turns = self.item.team.turns.get(self.session).filter(|it| it.purpose == *self.purpose)?;
        let said = turns.said.as_deref()?;
        match turns.outcome? {
            TurnOutcome::Rejected => Some(format!("# Your last turn was not accepted\n\n{said}")),
            TurnOutcome::Failed => Some(format!("# Your last turn came to nothing\n\n{said}")),
            _ => None,
        }
    }

    fn messages(&self) -> Option<String> {
        let said = self.item.team.unheard(self.agent, self.session);
        let lines: Vec<String> =
            said.map(|it| format!("- {} says: {}", it.by, it.text.replace('\n', "\n  "))).collect();
        (!lines.is_empty()).then(|| format!("# Messages\n\n{}", lines.join("\n")))
    }
}

fn speech(has_tools: bool) -> String {
    let tools = if has_tools {
        "\nYou have Querent's tools: `question_create` asks, `await_answer` waits for the answer. If it takes long, end your turn; \
         you are called again with the answer.\n"
    } else {
        ""
    };
    format!(
        "# How you speak\n{tools}\n\
         Do not guess what you can ask. What others must know you print as one JSON object on a line of its own:\n\n\
         ```\n\
         {{\"type\":\"REQUEST\",\"request\":{{\"action\":\"ask\",\"topic\":\"…\",\"prompt\":\"…\",\"options\":[{{\"id\":\"a\",\"label\":\"…\"}}],\
         \"fallback\":{{\"answer\":\"a\",\"reason\":\"…\",\"risk\":\"low\"}}}}}}\n\
         {{\"type\":\"REQUEST\",\"request\":{{\"action\":\"lock\",\"paths\":[\"src/a.rs\"]}}}}\n\
         {{\"type\":\"NOTE\",\"text\":\"…\"}}\n\
         {{\"type\":\"PATCH\",\"patch\":\"<unified diff>\"}}\n\
         {{\"type\":\"RESULT\",\"result\":{{\"status\":\"done\",\"summary\":\"…\",\"artifacts\":[\"docs/adr.md\"]}}}}\n\
         ```\n\n\
         After a blocking question end your turn; you are called again with the answer. A question goes to whom your step lets \
         you ask; `\"to\":\"human\"` asks a person. Without a RESULT the step counts as done when you end well."
    )
}

/// What the agent is told that was asked: the question, all that was said, and what its own step produced.
pub fn question_briefing(
    rules: &Rules,
    question: &Question,
    agent: &AgentName,
    artifacts: &[(String, String)],
) -> String {
    let mut text = String::new();
    if let Some(own) = rules.agent(agent).ok().and_then(|it| it.instructions.as_deref()) {
        let _ = write!(text, "{}\n\n", own.trim());
    }
    let (id, from, round) = (&question.id, &question.from.agent, question.round);
    let waits = if question.blocking { " and waits for your answer" } else { "" };
    let _ = writeln!(
        text,
        "# {from} asks you\n\nYou are {agent}. {from} works on item {}{waits} ({id}, round {round}).\n",
        question.item
    );
    let _ = writeln!(text, "Topic: {}\n", question.topic);
    if let Some(context) = &question.context {
        let _ = writeln!(text, "Context: {context}\n");
    }
    for entry in &question.thread {
        let what = match entry.kind {
            EntryKind::Question => "asks",
            EntryKind::Answer | EntryKind::LateAnswer => "answers",
            _ => "says",
        };
        let _ = writeln!(text, "{} {what} (round {}): {}\n", entry.from, entry.round, entry.body);
    }
    for option in &question.options {
        let more = option.description.as_deref().map_or_else(String::new, |it| format!(": {it}"));
        let _ = writeln!(text, "- `{}` {}{more}", option.id, option.label);
    }
    if !question.options.is_empty() {
        text.push_str("\nAnswer with the id of one of them.\n\n");
    }
    for (path, body) in artifacts {
        let _ = writeln!(text, "# {path}\n\n{}\n", body.trim_end());
    }
    text.push_str(CONTRACT);
    text
}

/// The contract for an answer.
const CONTRACT: &str = "# How you answer\n\n\
Answer the question itself, from what you wrote and decided. Change no files. End with one JSON object on a line of its own:\n\n\
```\n\
{\"type\":\"RESULT\",\"result\":{\"answer\":\"what holds, directly\",\"evidence\":\"what it stands on, and what binds it\",\
\"uncertainty\":\"what is not sure about it, or none\"}}\n\
```\n";
