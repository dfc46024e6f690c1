//! A hub without a disk: it carries out deeds and keeps what was recorded.

use querent_core::wire::{Line, decode, encode};
use querent_core::{
    Action, Batch, Command, Envelope, Event, Gate, ItemId, LearnedId, Moment, Needs, Operation, OperationId, Party,
    QuestionId, Record, Revoke, Rules, Shared, Span, State, Ticket, Via, apply, due, needs, needs_of_tick, revoke,
    tick,
};

use crate::deeds::Deed;
use crate::project;

pub(crate) struct World {
    pub(crate) item: ItemId,
    pub(crate) rules: Rules,
    pub(crate) state: State,
    pub(crate) now: Moment,
    pub(crate) records: Vec<Record>,
    /// What was accepted, with what is remembered of it.
    pub(crate) operations: Vec<(Command, Operation)>,
}

/// The usual project, where the product manager asks people only under strict conditions.
fn strict_rules() -> Rules {
    let mut rules = project::rules();
    rules.config.agents.get_mut(&"product-manager".parse().unwrap()).unwrap().gate = Gate::Strict;
    rules
}

impl World {
    /// A project with one item in the engineer's step.
    pub(crate) fn new() -> Self {
        let mut world = Self {
            item: "42".parse().unwrap(),
            rules: strict_rules(),
            state: State::default(),
            now: "2026-01-31T10:00:00Z".parse().unwrap(),
            records: Vec::new(),
            operations: Vec::new(),
        };
        let by_human = |action| Command { item: "42".parse().unwrap(), by: Party::HUMAN, via: Via::Library, action };
        world.run(&by_human(Action::OpenItem { title: "Log in".into(), workflow: None, autonomy: None }));
        world.run(&by_human(Action::Advance { to: "implement".into() }));
        world
    }

    pub(crate) fn take(&mut self, deed: &Deed) {
        match deed {
            Deed::Wants { by, what, question } => {
                if let Some(command) = what.command(&self.item, *by, self.question(*question)) {
                    self.run(&command);
                }
            }
            Deed::Waits(minutes) => {
                self.now = self.now.plus(Span::minutes(*minutes));
                self.look();
            }
            Deed::Revokes(number) => self.revoke(LearnedId(*number)),
            Deed::EditsWorkflow(order) => {
                let steps = project::rules().workflows["feature"].steps.clone();
                let feature = self.rules.workflows.get_mut("feature").unwrap();
                feature.steps = order.iter().map(|place| steps[*place].clone()).collect();
            }
            Deed::EditsPolicy { on_timeout, sla_minutes } => {
                self.rules.config.human_input.on_timeout = *on_timeout;
                let feature = self.rules.workflows.get_mut("feature").unwrap();
                feature.steps.iter_mut().for_each(|step| step.clarify_sla_minutes = *sla_minutes);
            }
        }
    }

    /// One that was asked, or, seldom, one that was not.
    fn question(&self, index: proptest::sample::Index) -> Option<QuestionId> {
        let asked = self.state.item.as_ref().map_or(0, |item| item.asked);
        let number = u32::try_from(index.index(asked as usize + 1)).unwrap() + 1;
        (asked > 0).then(|| QuestionId { item: self.item.clone(), number })
    }

    fn run(&mut self, command: &Command) {
        let operation = format!("op-{}", self.operations.len() + 1).parse().unwrap();
        let accepted = self.operations.len();
        let reply = self.send(&operation, command);
        if let Some((_, operation)) = self.operations.get(accepted) {
            assert_eq!(operation.reply, reply);
        }
    }

    /// Sends a command as a hub does: an operation that is known is not carried out again.
    pub(crate) fn send(&mut self, id: &OperationId, command: &Command) -> Envelope {
        if let Some((_, known)) = self.operations.iter().find(|(_, operation)| operation.id == *id) {
            return known.replay(&command.fingerprint()).unwrap_or_else(|refusal| Envelope::refused(&refusal));
        }
        // A hub loads only the questions that are needed: that must make no difference.
        let needed = self.state.item.as_ref().map(|item| needs(command, item, self.now));
        let mut lean = self.lean(&needed.unwrap_or_default());
        let ticket = Ticket::new(id.clone(), command);
        let leanly = apply(&mut lean, command, &ticket, &self.rules, self.now);

        let applied = apply(&mut self.state, command, &ticket, &self.rules, self.now);
        assert_eq!(leanly, applied, "what `needs` names is enough");
        self.knows_what_it_changed(&lean, &applied.batches);
        self.keep(Some(command), &applied.batches);
        applied.reply
    }

    fn revoke(&mut self, learned: LearnedId) {
        let wish = Revoke { learned, by: Party::HUMAN, note: None, via: Via::Library };
        let id = format!("revoke-{}", self.records.len()).parse().unwrap();
        let ticket = Ticket { id, fingerprint: wish.fingerprint(), is_fresh: false };
        let applied = revoke(&mut self.state, &wish, &ticket, self.now);
        self.keep(None, &applied.batches);
    }

    /// Deadlines fire. Nothing is due afterwards.
    fn look(&mut self) {
        let needed = self.state.item.as_ref().map(|item| needs_of_tick(item, self.now));
        let mut lean = self.lean(&needed.unwrap_or_default());
        let leanly = tick(&mut lean, &self.rules, self.now);

        let batches = tick(&mut self.state, &self.rules, self.now);
        assert_eq!(leanly, batches, "what `needs_of_tick` names is enough");
        self.knows_what_it_changed(&lean, &batches);
        assert_eq!(due(&self.state, self.now), [], "a tick leaves nothing due");
        self.keep(None, &batches);
    }

    /// The state with no more than what is needed.
    fn lean(&self, needed: &Needs) -> State {
        let mut lean = self.state.clone();
        lean.questions.retain(|id, _| needed.questions.contains(id));
        for which in Shared::ALL.into_iter().filter(|which| !needed.shared.contains(which)) {
            lean.swap(which, &mut State::default());
        }
        lean
    }

    /// Every question that an event is about was loaded, so that its ledger can be written.
    fn knows_what_it_changed(&self, lean: &State, batches: &[Batch]) {
        assert_eq!(lean.item, self.state.item);
        let events = batches.iter().flat_map(|batch| &batch.records).map(|record| &record.event);
        for id in events.filter_map(Event::question) {
            assert_eq!(lean.questions.get(id), self.state.questions.get(id), "{id}");
        }
    }

    /// Keeps what would be in the journal, as it would be read from there.
    fn keep(&mut self, command: Option<&Command>, batches: &[Batch]) {
        for batch in batches {
            assert!(!batch.records.is_empty(), "a batch says something");
            for (place, record) in batch.records.iter().enumerate() {
                let more = u32::try_from(batch.records.len() - place - 1).unwrap();
                let operation = batch.operation.clone().filter(|_| more == 0);
                let read = through_the_journal(&Line { record: record.clone(), more, operation });
                self.records.push(read.record);
                self.operations.extend(command.cloned().zip(read.operation));
            }
        }
    }
}

/// Writes a line and reads it again; nothing is lost on the way.
fn through_the_journal(line: &Line) -> Line {
    let mut bytes = Vec::new();
    encode(line, &mut bytes);
    let read = decode(bytes.strip_suffix(b"\n").unwrap()).unwrap();
    assert_eq!(read, *line);
    read
}
