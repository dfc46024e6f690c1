//! What all benchmarks of the core play through: one item, questions and answers of a usual size. A package of its own, because
//! what measures the core need not be built with all the rest.

#![expect(clippy::expect_used, clippy::missing_panics_doc, reason = "a benchmark fails by panicking")]

use querent_core::wire::{self, Line};
use querent_core::{Action, Applied, Ask, Command, Config, Moment, Party, Rules, State, Ticket, Via, Workflow, apply};
use serde_json::{Value, json};

/// An item with some settled questions and one that waits for the architect.
#[derive(Clone)]
pub struct Scene {
    state: State,
    rules: Rules,
}

impl Scene {
    /// As the journal loads it: what is settled is in the item's count alone.
    pub fn with_settled(count: u32) -> Self {
        let mut scene = Self { state: State::default(), rules: rules() };
        scene.says(Party::HUMAN, Action::OpenItem { title: "Sessions".to_owned(), workflow: None, autonomy: None });
        for _ in 0..count {
            scene.asks();
            scene.answers();
            let question = scene.last();
            scene.says(agent("engineer"), Action::Resolve { question, note: None });
            scene.state.questions.clear();
        }
        scene.asks();
        scene
    }

    /// The engineer asks the architect.
    pub fn asks(&mut self) -> Applied {
        // Every one is another question: an answer that is known would be given without asking.
        let table = self.state.item.as_ref().map_or(0, |item| item.asked);
        let prompt = format!("The ADR says Postgres, the ticket says Redis. Which of the two holds table {table}?");
        let ask = Ask { topic: "Storage of sessions".to_owned(), prompt, blocking: Some(false), ..Ask::default() };
        self.says(agent("engineer"), Action::Ask(Box::new(ask)))
    }

    /// The architect answers the last question.
    pub fn answers(&mut self) -> Applied {
        let (question, answer) = (self.last(), json!("Postgres, as in the ADR"));
        self.says(agent("architect"), Action::Answer { question, answer, note: None })
    }

    fn last(&self) -> querent_core::QuestionId {
        let item = self.state.item.as_ref().expect("the scene opens it");
        item.question_id(item.asked)
    }

    fn says(&mut self, by: Party, action: Action) -> Applied {
        let command = Command { item: "42".parse().expect("an id"), by, via: Via::Library, action };
        let ticket = Ticket::new("op-1".parse().expect("an id"), &command);
        let applied = apply(&mut self.state, &command, &ticket, &self.rules, Moment::from_millis(1_790_000_000_000));
        applied.reply.read::<Value>().expect("the scene asks for nothing that is refused");
        applied
    }
}

/// The line of a question, as it is written.
pub fn line() -> Vec<u8> {
    let batch = Scene::with_settled(0).asks().batches.pop().expect("an ask is a batch");
    let record = batch.records.into_iter().next().expect("of one event");
    let mut bytes = Vec::new();
    wire::encode(&Line { record, more: 0, operation: batch.operation }, &mut bytes);
    bytes.pop();
    bytes
}

fn agent(name: &str) -> Party {
    name.parse().expect("a name")
}

fn rules() -> Rules {
    let config: Config = serde_json::from_value(json!({
        "project": { "name": "bench" },
        "agents": { "architect": { "rank": 1 }, "engineer": { "rank": 2 } },
    }))
    .expect("a config");
    let workflow: Workflow = serde_json::from_value(json!({
        "name": "feature",
        "steps": [{ "name": "implement", "agent": "engineer", "can_clarify": ["architect"] }],
    }))
    .expect("a workflow");
    Rules { config, workflows: [(workflow.name.clone(), workflow)].into() }
}
