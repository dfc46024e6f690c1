//! The stage on which a test plays: a project, a clock that only the test moves, and what happened so far.

use std::collections::BTreeMap;

use querent_core::monitor::{Deed, Finding, Scene, Signs, survey};
use querent_core::view::{self, ItemView, SessionView};
use querent_core::{
    Applied, Code, Command, Envelope, Item, ItemId, Moment, OnTimeout, Operation, Party, Question, Record, Refusal,
    Rules, Shared, SharedAction, SharedCommand, Span, Stage, State, Status, Ticket, Via, Workflow, act, apply,
    apply_shared, fold, tick,
};
use serde_json::Value;

use crate::project;
use crate::speech::human;

/// An empty project with the shipped `feature` workflow, at 10:00.
pub(crate) fn given() -> Scenario {
    Scenario {
        rules: project::rules(),
        state: State::default(),
        others: BTreeMap::new(),
        now: "2026-01-31T10:00:00.000Z".parse().unwrap(),
        records: Vec::new(),
        operations: Vec::new(),
        outcome: Applied { batches: Vec::new(), reply: Envelope::ok(&Value::Null) },
        signs: Signs::default(),
        findings: Vec::new(),
    }
}

/// The same with item `42` in the engineer's step.
pub(crate) fn given_implementing() -> Scenario {
    given().item("42").and(human().moves_to("implement"))
}

/// What has happened, and what came of the last thing.
pub(crate) struct Scenario {
    pub(crate) rules: Rules,
    pub(crate) state: State,
    /// The items that nobody speaks of at the moment.
    others: BTreeMap<ItemId, State>,
    pub(crate) now: Moment,
    pub(crate) records: Vec<Record>,
    pub(crate) operations: Vec<Operation>,
    outcome: Applied,
    /// Who was alive when.
    pub(crate) signs: Signs,
    /// What the monitor found last.
    pub(crate) findings: Vec<Finding>,
}

/// Given.
impl Scenario {
    pub(crate) fn rules(mut self, edit: impl FnOnce(&mut Rules)) -> Self {
        edit(&mut self.rules);
        self
    }

    pub(crate) fn on_timeout(self, policy: OnTimeout) -> Self {
        self.rules(|rules| rules.config.human_input.on_timeout = policy)
    }

    /// A workflow file is edited.
    pub(crate) fn workflow(self, edit: impl FnOnce(&mut Workflow)) -> Self {
        self.rules(|rules| edit(rules.workflows.get_mut("feature").unwrap()))
    }

    /// An item that was just added.
    pub(crate) fn item(self, id: &str) -> Self {
        let command = Command { item: id.parse().unwrap(), ..human().opens("Log in with a bank account") };
        self.and(command)
    }

    /// Something that happened before, and was accepted.
    pub(crate) fn and(self, command: impl Into<Command>) -> Self {
        self.when(command).then_accepted()
    }

    /// Signs of life were seen.
    pub(crate) fn with_signs(mut self, edit: impl FnOnce(&mut Signs)) -> Self {
        edit(&mut self.signs);
        self
    }

    /// A session that waits for files said so then.
    pub(crate) fn with_wait(self, session: &str, at: Moment) -> Self {
        self.with_signs(|signs| signs.waits.extend([(session.parse().unwrap(), at)]))
    }

    /// Time passes; nobody looks.
    pub(crate) fn later(mut self, span: &str) -> Self {
        self.now = self.now.plus(span.parse::<Span>().unwrap());
        self
    }
}

/// When.
impl Scenario {
    pub(crate) fn when(mut self, command: impl Into<Command>) -> Self {
        let command = command.into();
        self.turn_to(&command.item);
        let ticket = Ticket::new(format!("op-{}", self.operations.len() + 1).parse().unwrap(), &command);
        self.outcome = apply(&mut self.state, &command, &ticket, &self.rules, self.now);
        self.keep()
    }

    /// Somebody lists the project: deadlines fire, nothing else happens.
    pub(crate) fn when_looked_at(mut self) -> Self {
        let batches = tick(&mut self.state, &self.rules, self.now);
        self.outcome = Applied { batches, reply: Envelope::ok(&Value::Null) };
        self.keep()
    }

    /// The monitor looks at all items and does what follows.
    pub(crate) fn when_monitored(mut self) -> Self {
        self.findings = self.surveyed();
        let mut batches = Vec::new();
        for deed in self.findings.clone().into_iter().flat_map(|finding| finding.actions) {
            let done = match deed {
                Deed::Item(command) => {
                    self.turn_to(&command.item);
                    act(&mut self.state, &command, &self.rules, self.now)
                }
                Deed::Shared(command) => apply_shared(&mut self.state, &command, None, &self.rules, self.now).batches,
            };
            self.outcome = Applied { batches: done.clone(), reply: Envelope::ok(&Value::Null) };
            self = self.keep();
            batches.extend(done);
        }
        self.outcome.batches = batches;
        self
    }

    /// What the monitor would find.
    fn surveyed(&self) -> Vec<Finding> {
        let states = || self.others.values().chain([&self.state]);
        let items: Vec<Item> = states().filter_map(|it| it.item.clone()).filter(Item::is_active).collect();
        let active = |it: &&Question| it.status.is_open() || it.status == Status::Answered;
        let questions: Vec<Question> = states().flat_map(|it| it.questions.values()).filter(active).cloned().collect();
        let (resources, alerts) = (&self.state.resources, &self.state.alerts);
        let scene = Scene { items: &items, questions: &questions, resources, alerts, signs: &self.signs };
        survey(&scene, &self.rules, self.now)
    }

    /// A person wants something of what all items share.
    pub(crate) fn when_shared(mut self, action: SharedAction) -> Self {
        let command = SharedCommand { by: Party::HUMAN, via: Via::Cli, action };
        let ticket = Ticket::shared(format!("op-{}", self.operations.len() + 1).parse().unwrap(), &command);
        self.outcome = apply_shared(&mut self.state, &command, Some(&ticket), &self.rules, self.now);
        self.keep()
    }

    /// What is spoken of from now on. What all items share stays.
    fn turn_to(&mut self, id: &ItemId) {
        let Some(here) = self.state.item.as_ref().map(|item| item.id.clone()).filter(|here| here != id) else { return };
        let mut there = self.others.remove(id).unwrap_or_default();
        for which in Shared::ALL {
            there.swap(which, &mut self.state);
        }
        self.others.insert(here, std::mem::replace(&mut self.state, there));
    }

    fn keep(mut self) -> Self {
        self.records.extend(self.outcome.batches.iter().flat_map(|batch| batch.records.clone()));
        self.operations.extend(self.outcome.batches.iter().filter_map(|batch| batch.operation.clone()));
        let item = self.state.item.as_ref().map(|item| item.id.clone());
        let here = |record: &&Record| record.stream.item().is_none_or(|id| Some(id) == item.as_ref());
        assert_eq!(fold(self.records.iter().filter(here)), self.state, "the state is what the records say");
        self
    }
}

/// Then.
impl Scenario {
    pub(crate) fn then_accepted(self) -> Self {
        if let Err(refusal) = self.outcome.reply.read::<Value>() {
            panic!("refused: {refusal}");
        }
        self
    }

    #[track_caller]
    pub(crate) fn then_refused(self, code: Code) -> Self {
        assert_eq!(self.refusal().code, code, "{}", self.refusal());
        self
    }

    /// The refusal's sentence has these words.
    #[track_caller]
    pub(crate) fn then_message(self, words: &str) -> Self {
        let message = self.refusal().message;
        assert!(message.contains(words), "{message:?} lacks {words:?}");
        self
    }

    /// The refusal's advice has these words.
    #[track_caller]
    pub(crate) fn then_hint(self, words: &str) -> Self {
        let hint = self.refusal().hint;
        assert!(hint.contains(words), "{hint:?} lacks {words:?}");
        self
    }

    /// The refusal's facts hold at least these.
    #[track_caller]
    pub(crate) fn then_details(self, facts: &Value) -> Self {
        holds(&self.refusal().details, facts);
        self
    }

    /// The reply's data hold at least these.
    #[track_caller]
    pub(crate) fn then_reply(self, facts: &Value) -> Self {
        holds(&self.outcome.reply.read().unwrap(), facts);
        self
    }

    /// What was recorded of the item, deadlines first, by type.
    #[track_caller]
    pub(crate) fn then_events<const N: usize>(self, types: [&str; N]) -> Self {
        assert_eq!(self.recorded(|record| record.stream.item().is_some()), types);
        self
    }

    /// What was recorded of all that items share, by type.
    #[track_caller]
    pub(crate) fn then_shared_events<const N: usize>(self, types: [&str; N]) -> Self {
        assert_eq!(self.recorded(|record| record.stream.item().is_none()), types);
        self
    }

    fn recorded(&self, of: impl Fn(&Record) -> bool) -> Vec<&'static str> {
        let records = self.outcome.batches.iter().flat_map(|batch| &batch.records);
        records.filter(|record| of(record)).map(|record| record.event.type_name()).collect()
    }

    #[track_caller]
    pub(crate) fn then_stage(self, stage: &str) -> Self {
        assert_eq!(self.the_item().stage.as_str(), stage);
        self
    }

    #[track_caller]
    pub(crate) fn then_resumes_in(self, stage: &str) -> Self {
        assert_eq!(self.the_item().resume_stage.as_ref().map(Stage::as_str), Some(stage));
        self
    }

    #[track_caller]
    pub(crate) fn then_status(self, id: &str, status: Status) -> Self {
        assert_eq!(self.question(id).status, status);
        self
    }

    /// What the monitor found, by type and by what it is about.
    #[track_caller]
    pub(crate) fn then_findings<const N: usize>(self, expected: [(&str, &str); N]) -> Self {
        let about = |it: &Finding| it.question_id.as_ref().map(ToString::to_string).or_else(|| it.source.clone());
        let found: Vec<(&str, String)> =
            self.findings.iter().map(|it| (it.kind.as_str(), about(it).unwrap_or_default())).collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(kind, about)| (*kind, about.as_str())).collect();
        assert_eq!(found, expected);
        self
    }

    /// Anything that has no word of its own.
    pub(crate) fn then(self, check: impl FnOnce(&Self)) -> Self {
        check(&self);
        self
    }
}

/// What there is to look at.
impl Scenario {
    pub(crate) fn item_view(&self) -> ItemView {
        ItemView::of(self.the_item())
    }

    pub(crate) fn the_item(&self) -> &Item {
        self.state.item.as_ref().unwrap()
    }

    pub(crate) fn question(&self, id: &str) -> &Question {
        &self.state.questions[&id.parse().unwrap()]
    }

    pub(crate) fn session(&self, session: &str) -> SessionView {
        let sessions = view::sessions(self.the_item());
        sessions.into_iter().find(|it| it.session.as_str() == session).unwrap()
    }

    pub(crate) fn thread(&self, id: &str) -> String {
        view::thread(self.question(id), |at| at.to_string()[11..16].to_owned())
    }

    /// How the last reply was sent.
    pub(crate) fn reply(&self) -> &Envelope {
        &self.outcome.reply
    }

    /// So long after 10:00.
    pub(crate) fn at(&self, span: &str) -> Moment {
        self.records[0].at.plus(span.parse().unwrap())
    }

    #[track_caller]
    fn refusal(&self) -> Refusal {
        match self.outcome.reply.read::<Value>() {
            Ok(data) => panic!("accepted: {data}"),
            Err(refusal) => refusal,
        }
    }
}

/// `actual` has all that `facts` has; it may have more.
#[track_caller]
fn holds(actual: &Value, facts: &Value) {
    match facts {
        Value::Object(fields) => fields.iter().for_each(|(key, fact)| match actual.get(key) {
            Some(actual) => holds(actual, fact),
            None => panic!("no field {key:?} in {actual}"),
        }),
        fact => assert_eq!(actual, fact),
    }
}
