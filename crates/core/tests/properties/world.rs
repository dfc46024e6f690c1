//! A hub without a disk: it carries out deeds and keeps what was recorded.

use querent_core::monitor::{self, Scene, Signs, survey};
use querent_core::wire::{Line, decode, encode};
use querent_core::{
    Action, AlertId, Batch, ChannelName, Command, Envelope, Event, Gate, Item, ItemId, LearnedId, Moment, Needs,
    Operation, OperationId, Party, Question, QuestionId, Record, Rules, Shared, SharedAction, SharedCommand, Span,
    State, Status, Ticket, TokenId, Via, act, apply, apply_shared, due, needs, needs_of_tick, tick,
};

use crate::couriers;
use crate::deeds::{Deed, Wish};
use crate::project;
use crate::teams;

pub(crate) struct World {
    pub(crate) item: ItemId,
    pub(crate) rules: Rules,
    pub(crate) state: State,
    pub(crate) now: Moment,
    pub(crate) records: Vec<Record>,
    /// What was accepted, with what is remembered of it.
    pub(crate) operations: Vec<(Command, Operation)>,
}

/// The usual project, with a team and two channels, where the product manager asks people only under strict conditions.
fn strict_rules() -> Rules {
    let mut rules = teams::rules();
    rules.config.notify = couriers::channels();
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
            Deed::Owns { path, agent } => {
                let (path, agent) = (path.parse().unwrap(), agent.map(|agent| agent.parse().unwrap()));
                self.share(SharedAction::Own { path, agent });
            }
            Deed::Contend { by, path, minutes, patient } => {
                let lock = |wait| Wish::Lock { path: *path, minutes: *minutes, wait };
                let wishes =
                    [(0, Wish::Start), (1, Wish::Start), (0, lock(false)), (1, lock(true)), (1, Wish::EndWait)];
                for (who, wish) in wishes.iter().take(if *patient { 4 } else { 5 }) {
                    if let Some(command) = wish.command(&self.item, by[*who], None) {
                        self.run(&command);
                    }
                }
            }
            Deed::Parks { by, question, steps } => {
                let id = self.question(*question);
                let asker = id.as_ref().and_then(|id| self.state.questions.get(id)).map(|it| it.from.agent.clone());
                let human =
                    |wish: &Wish| matches!(wish, Wish::Answer { .. } | Wish::Claim { .. } | Wish::EndResume { .. });
                for wish in steps {
                    if let Some(command) = wish.command(&self.item, *by, id.clone()) {
                        let asker = asker.clone().map_or(Party::HUMAN, Party::Agent);
                        self.run(&Command { by: if human(wish) { Party::HUMAN } else { asker }, ..command });
                    }
                }
            }
            Deed::Notifies { steps } => steps.iter().for_each(|step| couriers::take(self, *step)),
            Deed::Runs { steps } => steps.iter().for_each(|step| teams::take(self, step)),
            Deed::Acknowledges(number) => self.share(SharedAction::Acknowledge { alert: AlertId(*number) }),
            Deed::LetsIn { role, minutes, steps } => {
                let hash = |digit: &str| digit.repeat(64).parse().unwrap();
                let (role, expires_in) = (role.parse().unwrap(), Some(Span::minutes(*minutes)));
                self.share(SharedAction::CreateToken { name: None, role, hash: hash("a"), expires_in });
                let token = TokenId(self.state.access.made);
                let steps = [
                    SharedAction::OfferLogin { token, hash: hash("c") },
                    SharedAction::UseLogin { hash: hash("c") },
                    SharedAction::RevokeToken { token },
                ]
                .into_iter()
                .take(*steps as usize);
                steps.for_each(|step| self.share(step));
            }
            Deed::Watches => self.watch(),
            Deed::EditsWorkflow(order) => {
                let steps = project::rules().workflows["feature"].steps.clone();
                let feature = self.rules.workflows.get_mut("feature").unwrap();
                feature.steps = order.iter().map(|place| steps[*place].clone()).collect();
                teams::waits(&mut self.rules);
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

    pub(crate) fn item(&self) -> &Item {
        self.state.item.as_ref().unwrap()
    }

    /// Querent invokes an agent.
    pub(crate) fn run_team(&mut self, action: Action) {
        self.run(&Command { item: self.item.clone(), by: Party::Querent, via: Via::Team, action });
    }

    pub(crate) fn run(&mut self, command: &Command) {
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
        self.share(SharedAction::Revoke { learned, note: None });
    }

    fn share(&mut self, action: SharedAction) {
        let wish = SharedCommand { by: Party::HUMAN, via: Via::Library, action };
        let ticket = Ticket::shared(format!("shared-{}", self.records.len()).parse().unwrap(), &wish);
        let applied = apply_shared(&mut self.state, &wish, Some(&ticket), &self.rules, self.now);
        self.keep(None, &applied.batches);
    }

    pub(crate) fn tell(&mut self, alert: AlertId, channel: ChannelName) {
        let wish =
            SharedCommand { by: Party::Querent, via: Via::Querent, action: SharedAction::Tell { alert, channel } };
        let applied = apply_shared(&mut self.state, &wish, None, &self.rules, self.now);
        self.keep(None, &applied.batches);
    }

    /// The monitor looks and acts. It has nothing left to do when it looks again.
    fn watch(&mut self) {
        self.look();
        for deed in self.deeds() {
            let batches = match deed {
                monitor::Deed::Item(command) => {
                    let needed = self.state.item.as_ref().map(|item| needs(&command, item, self.now));
                    let mut lean = self.lean(&needed.unwrap_or_default());
                    let leanly = act(&mut lean, &command, &self.rules, self.now);
                    let batches = act(&mut self.state, &command, &self.rules, self.now);
                    assert_eq!(leanly, batches, "what `needs` names is enough");
                    self.knows_what_it_changed(&lean, &batches);
                    batches
                }
                monitor::Deed::Shared(command) => {
                    apply_shared(&mut self.state, &command, None, &self.rules, self.now).batches
                }
            };
            self.keep(None, &batches);
        }
        assert_eq!(self.deeds(), [], "what the monitor found is dealt with");
    }

    fn deeds(&self) -> Vec<monitor::Deed> {
        let items: Vec<Item> = self.state.item.iter().filter(|item| item.is_active()).cloned().collect();
        let active = |question: &&Question| question.status.is_open() || question.status == Status::Answered;
        let questions: Vec<Question> = self.state.questions.values().filter(active).cloned().collect();
        let waits = self.state.resources.waits.keys().map(|session| (session.clone(), self.now)).collect();
        let signs = Signs { waits, ..Signs::default() };
        let (resources, alerts) = (&self.state.resources, &self.state.alerts);
        let scene = Scene { items: &items, questions: &questions, resources, alerts, signs: &signs };
        survey(&scene, &self.rules, self.now).into_iter().flat_map(|finding| finding.actions).collect()
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
