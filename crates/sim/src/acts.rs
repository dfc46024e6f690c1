//! What people and agents do next: mostly what makes sense, sometimes what does not.

use fastrand::Rng;
use querent_core::{
    Action, AlertId, Ask, Assume, Blocker, Category, Cause, Choice, Command, Confidence, Fallback, Kind, LearnedId,
    Outcome, Party, Refusal, Risk, RiskIfWrong, Rules, SharedAction, SharedCommand, Source, Span, Verdict, Via,
};

use crate::cast::one_of;
use crate::model::{Model, Question};

/// What is sent under one operation id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    /// A command about an item.
    Command(Box<Command>),
    /// A command about what all items share.
    Shared(SharedCommand),
}

/// What somebody looks at while they act.
pub(crate) struct Scene<'a> {
    pub(crate) model: &'a Model,
    pub(crate) rules: &'a Rules,
    /// How many items people work on at once.
    pub(crate) items: usize,
    /// A number that nobody else has: for words that are found nowhere else.
    pub(crate) number: u64,
}

const PROMPTS: [&str; 6] = [
    "Which bank holds the account?",
    "May the cache be dropped?",
    "Where is the door of the cellar?",
    "Who signs the release?",
    "How long are sessions kept?",
    "What colour has the button?",
];

const PATHS: [&str; 4] = ["src", "src/a.rs", "src/b.rs", "docs/guide.md"];

impl Scene<'_> {
    /// The next act; nothing if what was thought of cannot be done yet.
    pub(crate) fn next(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        if self.model.items.is_empty() {
            return self.open(dice);
        }
        match dice.u8(0..100) {
            0..8 => self.open(dice),
            8..16 => self.session(dice),
            16..48 => self.ask(dice),
            48..70 => self.answer(dice),
            70..76 => self.follow_up(dice),
            76..82 => self.resolve(dice),
            82..85 => self.escalate(dice),
            85..88 => self.withdraw(dice),
            88..92 => self.assume(dice),
            92..94 => self.review(dice),
            94..95 => Ok(Some(self.share(dice)?)),
            95..97 => self.lock(dice),
            97..99 => self.advance(dice),
            _ => self.end(dice),
        }
    }

    /// A human answers this question as it wants to be answered.
    pub(crate) fn human_answers(&self, question: &Question, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        self.answered(question, self.human(dice), dice)
    }

    fn command(item: &str, by: Party, action: Action) -> Result<Option<Act>, Refusal> {
        let command = Command { item: item.parse()?, by, via: Via::Library, action };
        Ok(Some(Act::Command(Box::new(command))))
    }

    #[expect(clippy::unused_self, reason = "who there is belongs to the scene")]
    fn human(&self, dice: &mut Rng) -> Party {
        let name = *one_of(dice, &[None, Some("alice"), Some("bob")]);
        Party::Human(name.map(str::to_owned))
    }

    fn agent(&self, dice: &mut Rng) -> Party {
        let agents: Vec<_> = self.rules.config.agents.keys().collect();
        Party::Agent((*one_of(dice, &agents)).clone())
    }

    fn item(&self, dice: &mut Rng) -> String {
        let ids: Vec<&String> = self.model.items.keys().collect();
        let running: Vec<&String> = ids.iter().copied().filter(|id| !self.model.items[*id].ended).collect();
        let from = if running.is_empty() || dice.u8(0..20) == 0 { ids } else { running };
        (*one_of(dice, &from)).clone()
    }

    fn question(&self, dice: &mut Rng, which: impl Fn(&Question) -> bool) -> Option<&Question> {
        let fitting: Vec<&Question> = self.model.questions().filter(|it| which(it)).collect();
        let all: Vec<&Question> = self.model.questions().collect();
        let from = if dice.u8(0..8) == 0 { all } else { fitting };
        (!from.is_empty()).then(|| *one_of(dice, &from))
    }

    fn open(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let known = self.model.items.len();
        let running = self.model.items.values().filter(|item| !item.ended).count();
        let number = if running >= self.items { dice.usize(0..known) } else { known };
        let title = format!("Work on {number}");
        let action = Action::OpenItem { title, workflow: None, autonomy: None };
        Self::command(&format!("item-{number}"), self.human(dice), action)
    }

    fn session(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let session = if dice.u8(0..3) == 0 { Some(one_of(dice, &["s-1", "s-2"]).parse()?) } else { None };
        let action = if dice.bool() {
            Action::StartSession { session, process: None }
        } else {
            Action::FinishSession { session, keep: dice.bool() }
        };
        Self::command(&self.item(dice), self.agent(dice), action)
    }

    fn ask(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let asked = |it: &&Question| it.is_open() && it.blocking && !it.to_human();
        let mut waiting: Vec<&Question> = self.model.questions().filter(asked).collect();
        dice.shuffle(&mut waiting);
        // Whoever is asked may well ask back, or ask on: so agents come to wait for each other in rings.
        let back = waiting.first().filter(|_| dice.u8(0..3) == 0);
        let by = back.map_or_else(|| Ok(self.agent(dice)), |it| it.to.parse())?;
        let to = match dice.u8(0..10) {
            0..6 if back.is_some() => back.map(|it| it.from.parse()).transpose()?,
            0..4 => Some(Party::HUMAN),
            4..8 => by.agent().and_then(|agent| self.may_ask(agent)).map(Party::Agent),
            8 => Some(self.agent(dice)),
            _ => None,
        };
        let prompt = if dice.bool() {
            (*one_of(dice, &PROMPTS)).to_owned()
        } else {
            format!("{} ({})", one_of(dice, &PROMPTS), self.number)
        };
        let options = if dice.bool() { vec![choice("left"), choice("right")] } else { Vec::new() };
        let answer = if options.is_empty() { format!("whatever {}", self.number) } else { "left".to_owned() };
        let fallback = Fallback { answer: answer.into(), reason: "it is safe".to_owned(), risk: Risk::Low };
        let tried = ["codebase_search", "similar_features", "attempted_inference"];
        let ask = Ask {
            to,
            kind: (dice.u8(0..8) == 0).then_some(Kind::Preference),
            category: (dice.u8(0..20) == 0).then_some(Category::RiskAck),
            blocker: dice.bool().then_some(Blocker::MissingExternalData),
            topic: "storage".to_owned(),
            prompt,
            allow_free_text: dice.bool(),
            options,
            blocking: if dice.u8(0..4) == 0 { Some(dice.bool()) } else { None },
            fallback: dice.bool().then_some(fallback),
            evidence: dice.bool().then(|| tried.map(|name| (name.to_owned(), "nothing".to_owned())).into()),
            expires_in: (dice.u8(0..6) == 0).then(|| Span::minutes(dice.u64(1..200))),
            ..Ask::default()
        };
        Self::command(&self.item(dice), by, Action::Ask(Box::new(ask)))
    }

    /// Whom an agent may ask first.
    fn may_ask(&self, agent: &querent_core::AgentName) -> Option<querent_core::AgentName> {
        let steps = self.rules.workflows.values().flat_map(|workflow| &workflow.steps);
        steps.filter(|step| step.agent == *agent).find_map(|step| step.can_clarify.first().cloned())
    }

    fn answer(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let Some(question) = self.question(dice, Question::is_open) else { return Ok(None) };
        let by = match (question.to_human(), dice.u8(0..10)) {
            (_, 0) => self.agent(dice),
            (false, 1..8) => question.to.parse()?,
            _ => self.human(dice),
        };
        self.answered(question, by, dice)
    }

    fn answered(&self, question: &Question, by: Party, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let answer = if question.options.is_empty() {
            format!("answer {}", self.number)
        } else {
            one_of(dice, &question.options).clone()
        };
        let action = Action::Answer { question: question.id.parse()?, answer: answer.into(), note: None };
        Self::command(question.item(), by, action)
    }

    fn follow_up(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let Some(question) = self.question(dice, |it| it.status == "answered") else { return Ok(None) };
        let prompt = format!("And what then, {}?", self.number);
        Self::command(
            question.item(),
            question.from.parse()?,
            Action::FollowUp { question: question.id.parse()?, prompt },
        )
    }

    fn resolve(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let which = |it: &Question| it.status == "answered" || it.status == "escalated";
        let Some(question) = self.question(dice, which) else { return Ok(None) };
        let by = if question.status == "escalated" { self.human(dice) } else { question.from.parse()? };
        // A note on what was escalated is an answer, and so one that fits.
        let note = question.options.first().cloned().unwrap_or_else(|| format!("note {}", self.number));
        Self::command(question.item(), by, Action::Resolve { question: question.id.parse()?, note: Some(note) })
    }

    fn escalate(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let which = |it: &Question| it.is_open() && !it.to_human();
        let Some(question) = self.question(dice, which) else { return Ok(None) };
        let action = Action::Escalate { question: question.id.parse()?, summary: None, cause: Cause::Requested };
        Self::command(question.item(), question.from.parse()?, action)
    }

    fn withdraw(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let Some(question) = self.question(dice, Question::is_open) else { return Ok(None) };
        let action = Action::Withdraw { question: question.id.parse()?, reason: None };
        Self::command(question.item(), question.from.parse()?, action)
    }

    fn assume(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let assume = Assume {
            decision: format!("decision {}", self.number),
            reasoning: "it is so elsewhere".to_owned(),
            confidence: Confidence::Medium,
            risk_if_wrong: RiskIfWrong { level: Risk::Low, note: None },
            source: Source::default(),
            blocker: None,
            question: None,
        };
        Self::command(&self.item(dice), self.agent(dice), Action::Assume(Box::new(assume)))
    }

    fn review(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let item = self.item(dice);
        let most = self.model.items[&item].assumptions;
        let assumption = format!("ASM-{item}-{:03}", dice.u64(1..=most.max(1))).parse()?;
        let verdict = *one_of(dice, &[Verdict::Confirm, Verdict::Overturn]);
        Self::command(&item, self.human(dice), Action::Review { assumption, verdict, note: None })
    }

    /// A person takes back what was learned, says whose some files are, or has seen an alert.
    fn share(&self, dice: &mut Rng) -> Result<Act, Refusal> {
        let one_up_to = |dice: &mut Rng, most: u64| dice.u32(1..=u32::try_from(most.max(1)).unwrap_or(1));
        let action = match dice.u8(0..3) {
            0 => SharedAction::Revoke { learned: LearnedId(one_up_to(dice, self.model.learned)), note: None },
            1 => {
                let agent = self.agent(dice).agent().filter(|_| dice.bool()).cloned();
                SharedAction::Own { path: one_of(dice, &PATHS).parse()?, agent }
            }
            _ => SharedAction::Acknowledge { alert: AlertId(one_up_to(dice, self.model.alerts)) },
        };
        Ok(Act::Shared(SharedCommand { by: self.human(dice), via: Via::Library, action }))
    }

    fn lock(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let item = self.item(dice);
        let sessions: Vec<_> = self.model.items[&item].sessions.iter().collect();
        if sessions.is_empty() {
            return Ok(None);
        }
        let (session, agent) = *one_of(dice, &sessions);
        let session = session.parse()?;
        let paths = [one_of(dice, &PATHS).parse()?].into();
        let action = if dice.u8(0..3) > 0 {
            Action::Lock { session, paths, ttl: Span::minutes(dice.u64(1..60)), wait: false }
        } else {
            Action::Unlock { session, paths }
        };
        Self::command(&item, agent.parse()?, action)
    }

    fn advance(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let steps = self.rules.config.agents.len();
        let to = match dice.u8(0..6) {
            0 => "blocked".to_owned(),
            1 => "ready_to_merge".to_owned(),
            _ => format!("step-{}", dice.usize(0..steps)),
        };
        Self::command(&self.item(dice), self.human(dice), Action::Advance { to })
    }

    fn end(&self, dice: &mut Rng) -> Result<Option<Act>, Refusal> {
        let outcome = *one_of(dice, &[Outcome::Merged, Outcome::Failed]);
        Self::command(&self.item(dice), self.human(dice), Action::EndItem { outcome })
    }
}

fn choice(id: &str) -> Choice {
    Choice { id: id.to_owned(), label: id.to_owned(), description: None, recommended: false, implications: None }
}
