//! What happens beside the team: three agents that wait for each other, and an answer that comes late.

use std::time::Duration;

use querent_core::{Action, AgentName, Ask, Command, Item, ItemId, Party, QuestionId, Refusal, Via};
use querent_hub::Handle;
use serde_json::{Value, json};

use super::person;
use crate::cli::commands::serve;
use crate::cli::context::{self, Context};
use crate::cli::error::Failure;
use crate::cli::narrator::Narrator;
use crate::cli::output::Paint;

/// The asking of the three: who asks whom, about what, and what.
const RING: [[&str; 4]; 3] = [
    ["writer", "designer", "Headline", "How many characters has the headline?"],
    ["designer", "tester", "Screens", "On which screens is it checked?"],
    ["tester", "writer", "Text", "With which text shall I check the screens?"],
];

/// A stage on which things are done one after the other, and told.
pub(super) struct Stage<'a> {
    hub: &'a Handle,
    pub(super) context: &'a Context,
    pause: Duration,
    narrator: Narrator,
    told: u64,
}

impl<'a> Stage<'a> {
    pub(super) fn new(hub: &'a Handle, context: &'a Context, pause: Duration) -> Result<Self, Refusal> {
        let (narrator, told) = (Narrator::new(hub.clone()), hub.head()?);
        Ok(Self { hub, context, pause, narrator, told })
    }

    /// Three agents ask each other in a ring, and the monitor breaks it.
    pub(super) fn deadlock(&mut self) -> Result<(), Failure> {
        let launch: ItemId = "launch".parse()?;
        let title = "Announce the new shop".to_owned();
        let open = Action::OpenItem { title, workflow: Some("launch".to_owned()), autonomy: None };
        self.act(&launch, Party::HUMAN, open)?;
        for [from, to, topic, prompt] in RING {
            let (to, topic, prompt) = (Some(to.parse()?), topic.to_owned(), prompt.to_owned());
            let ask = Ask { to, topic, prompt, blocking: Some(true), ..Ask::default() };
            self.act(&launch, agent(from)?, Action::Ask(Box::new(ask)))?;
        }
        self.say("Each waits for the next, and nobody can go on. The monitor sees the ring, and breaks it:")?;
        self.hub.monitor(false)?;
        self.tell()?;
        self.say("The question of the most downstream agent is a person's now. The demo answers it for you:")?;
        let ring = |number| QuestionId { item: launch.clone(), number };
        self.answer(&ring(3), person::stand_in(), "Forty characters: \"The shop is open, come in and look round\"")?;
        self.answer(&ring(2), agent("tester")?, "On a phone: forty characters are two lines there.")?;
        self.answer(&ring(1), agent("designer")?, "Forty.")?;
        for (number, [from, ..]) in (1..).zip(RING) {
            let resolve = Action::Resolve { question: ring(number), note: Some("that is all I need".to_owned()) };
            // What a person answered is settled already.
            if number != 3 {
                self.act(&launch, agent(from)?, resolve)?;
            }
            self.act(&launch, agent(from)?, Action::FinishSession { session: None, keep: false })?;
        }
        Ok(())
    }

    /// Somebody answers what was assumed meanwhile, and differs.
    pub(super) fn late_answer(&mut self, question: &QuestionId) -> Result<Item, Failure> {
        self.answer(question, person::stand_in(), "semicolon")?;
        Ok(self.hub.item(&question.item)?)
    }

    /// Opens the items of the team, each where its work stands.
    pub(super) fn open(&mut self, items: &[[&str; 3]]) -> Result<(), Failure> {
        for [id, title, stage] in items {
            let id: ItemId = id.parse()?;
            let open = Action::OpenItem { title: (*title).to_owned(), workflow: None, autonomy: None };
            self.execute(&id, Party::HUMAN, open)?;
            if self.hub.item(&id)?.stage.to_string() != *stage {
                self.execute(&id, Party::HUMAN, Action::Advance { to: (*stage).to_owned() })?;
            }
        }
        Ok(())
    }

    pub(super) fn say(&self, text: &str) -> Result<(), Failure> {
        self.context.tell(|page| page.paint(Paint::Bold, &format!("\n{text}\n"))).map(drop)
    }

    fn answer(&mut self, id: &QuestionId, by: Party, answer: &str) -> Result<(), Failure> {
        self.act(&id.item, by, Action::Answer { question: id.clone(), answer: json!(answer), note: None })
    }

    /// Does something, and tells what came of it.
    fn act(&mut self, item: &ItemId, by: Party, action: Action) -> Result<(), Failure> {
        self.execute(item, by, action)?;
        self.tell()
    }

    fn execute(&self, item: &ItemId, by: Party, action: Action) -> Result<(), Refusal> {
        let command = Command { item: item.clone(), by, via: Via::Cli, action };
        self.hub.execute(&command, None).read::<Value>().map(drop)
    }

    /// Tells what happened since the last time, and gives people time to read it.
    fn tell(&mut self) -> Result<(), Failure> {
        let mut news = Vec::new();
        self.hub.records(self.told, &mut |record| {
            news.push(record);
            true
        })?;
        self.told = news.last().map_or(self.told, |record| record.seq);
        let narrator = &mut self.narrator;
        self.context.tell(|page| news.iter().for_each(|record| narrator.tell(page, record)))?;
        self.rest()
    }

    fn rest(&mut self) -> Result<(), Failure> {
        if self.pause.is_zero() {
            return Ok(());
        }
        let rest = async {
            tokio::select! {
                () = tokio::time::sleep(self.pause) => Ok(false),
                () = serve::stopped() => Ok(true),
            }
        };
        if context::wait(rest)? {
            // Whoever has enough of it gets the end at once.
            self.pause = Duration::ZERO;
        }
        Ok(())
    }
}

fn agent(name: &str) -> Result<Party, Refusal> {
    name.parse::<AgentName>().map(Party::Agent)
}
