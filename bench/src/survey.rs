//! A project full of open questions and waits, for the monitor to look at.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use querent_core::monitor::{Scene, Signs, survey};
use querent_core::{
    Action, Alerts, Ask, Command, Item, Lock, Moment, Party, Question, Resources, Rules, SessionId, Span, State,
    Ticket, Via, Wait, apply,
};
use serde_json::json;

use crate::Outcome;

/// How many agents, or sessions, wait for each other in a circle.
const CIRCLE: u32 = 10;

/// What a survey looks at.
pub(crate) struct Place {
    rules: Rules,
    items: Vec<Item>,
    questions: Vec<Question>,
    resources: Resources,
    signs: Signs,
    now: Moment,
}

impl Place {
    /// Items with a session at work on each; the first of them have a question each, in circles of ten agents; and sessions
    /// that wait for each other's files, in circles of ten.
    pub(crate) fn new(items: u32, questions: u32, waits: u32) -> Outcome<Self> {
        let now = Moment::from_millis(1_769_853_600_000);
        let mut place = Self {
            rules: rules(questions)?,
            items: Vec::new(),
            questions: Vec::new(),
            resources: Resources::default(),
            signs: Signs::default(),
            now,
        };
        for number in 1..=items {
            place.item(number, questions)?;
        }
        for number in 1..=waits {
            place.wait(number)?;
        }
        Ok(place)
    }

    fn item(&mut self, number: u32, questions: u32) -> Outcome<()> {
        let mut state = State::default();
        let id = format!("{number}");
        let asks = number <= questions;
        let who = if asks { format!("agent-{number}") } else { "worker".to_owned() };
        let mut wishes = vec![
            ("human".to_owned(), Action::OpenItem { title: id.clone(), workflow: None, autonomy: None }),
            (who.clone(), Action::StartSession { session: None, process: None }),
        ];
        if asks {
            let next = if number.is_multiple_of(CIRCLE) { number + 1 - CIRCLE } else { number + 1 };
            let ask = Ask {
                to: Some(format!("agent-{}", next.min(questions)).parse()?),
                topic: format!("Storage of {number}"),
                prompt: "The ADR says Postgres, the ticket says Redis. Which?".to_owned(),
                ..Ask::default()
            };
            wishes.push((who, Action::Ask(Box::new(ask))));
        }
        for (place, (by, action)) in wishes.into_iter().enumerate() {
            let command = Command { item: id.parse()?, by: by.parse::<Party>()?, via: Via::Library, action };
            let ticket = Ticket::fresh(format!("op-{id}-{place}").parse()?, &command);
            apply(&mut state, &command, &ticket, &self.rules, self.now).reply.read::<serde_json::Value>()?;
        }
        self.items.extend(state.item);
        self.questions.extend(state.questions.into_values());
        Ok(())
    }

    /// A session has a file and waits for the next one's.
    fn wait(&mut self, number: u32) -> Outcome<()> {
        let next = if number.is_multiple_of(CIRCLE) { number + 1 - CIRCLE } else { number + 1 };
        let session: SessionId = format!("waiter-{number}").parse()?;
        let path = |number: u32| format!("src/part-{}/file-{number}.rs", number / 100).parse();
        let (agent, item): (querent_core::AgentName, querent_core::ItemId) = ("worker".parse()?, "1".parse()?);
        let (since, expires_at) = (self.now, self.now.plus(Span::minutes(30)));
        let lock = Lock { session: session.clone(), agent: agent.clone(), item: item.clone(), since, expires_at };
        self.resources.locks.insert(path(number)?, lock);
        self.resources.waits.insert(session.clone(), Wait { paths: [path(next)?].into(), agent, item, since });
        self.signs.waits.insert(session, self.now);
        Ok(())
    }

    /// How long one survey takes, in seconds, and how much it finds.
    pub(crate) fn survey(&self) -> (f64, usize) {
        let alerts = Alerts::default();
        let (items, questions) = (&self.items, &self.questions);
        let scene = Scene { items, questions, resources: &self.resources, alerts: &alerts, signs: &self.signs };
        let start = Instant::now();
        let findings = black_box(survey(black_box(&scene), &self.rules, self.now));
        (start.elapsed().as_secs_f64(), findings.len())
    }
}

fn rules(questions: u32) -> Outcome<Rules> {
    let names: Vec<String> = (1..=questions).map(|number| format!("agent-{number}")).collect();
    let agents: BTreeMap<&str, _> = names
        .iter()
        .map(String::as_str)
        .chain(["worker"])
        .zip(1..)
        .map(|(name, rank)| (name, json!({ "rank": rank })))
        .collect();
    // Each may ask the next one and the first of its circle.
    let step = |(name, number): (&String, u32)| {
        let next = format!("agent-{}", (number + 1).min(questions));
        let first = format!("agent-{}", (number.saturating_sub(1) / CIRCLE) * CIRCLE + 1);
        json!({ "name": format!("of-{name}"), "agent": name, "can_clarify": [next, first] })
    };
    let steps: Vec<_> = names.iter().zip(1..).map(step).collect();
    let workflow = serde_json::from_value(json!({ "name": "feature", "steps": steps }))?;
    let config = serde_json::from_value(json!({ "project": { "name": "bench" }, "agents": agents }))?;
    Ok(Rules { config, workflows: [("feature".to_owned(), workflow)].into() })
}
