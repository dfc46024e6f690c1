//! The way in for every surface: commands and queries.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use querent_core::view::{Filter, ItemView, ReadyView, SessionView, StatusFilter, ready, sessions};
use querent_core::{
    Action, AgentName, Assumption, AssumptionFilter, Code, Command, Envelope, Gate, Item, ItemId, Knowledge, Moment,
    OperationId, Question, QuestionId, Record, Refusal, Rules, Shared, SharedCommand, State, Ticket, nearest,
    needs_of_tick,
};
use querent_journal::files::{Ledgers, Options};
use querent_journal::{Files, Journal, Snapshot, Update, Which};
use serde_json::json;
use tokio::task::spawn_blocking;

use crate::clock::{Clock, SystemClock};
use crate::follow::Feed;
use crate::gather::Gathering;
use crate::jobs::{Carry, CarryShared, Tick};
use crate::listing::Listing;
use crate::project::Project;
use crate::rules::Source;

/// The hub. Cheap to clone; every clone is the same hub.
#[derive(Clone)]
pub struct Handle {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) journal: Box<dyn Journal>,
    pub(crate) rules: Source,
    pub(crate) clock: Arc<dyn Clock>,
    /// When a monitor last had nothing to do, and what the last record was.
    pub(crate) calm: Mutex<Option<(Moment, u64)>>,
    /// Held while a query lets the monitor look.
    pub(crate) looking: Mutex<()>,
    /// Whether this process carries out deadlines and lets the monitor look by the clock.
    pub(crate) keeps_time: AtomicBool,
    /// The one reader for all who follow the log.
    pub(crate) feed: Mutex<Weak<Feed>>,
    /// How many questions the last monitor looked at.
    pub(crate) surveyed: AtomicU64,
    /// The order of the questions, for lists in pages.
    pub(crate) listing: Mutex<Listing>,
    /// How many commands are underway for which no thread waits.
    underway: AtomicUsize,
    /// Those of them that wait to be committed.
    pub(crate) gathering: Gathering,
}

/// A command that is underway.
struct Underway<'a>(&'a AtomicUsize);

impl<'a> Underway<'a> {
    fn begin(all: &'a AtomicUsize) -> Self {
        all.fetch_add(1, Ordering::Relaxed);
        Self(all)
    }
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Handle {
    /// Opens a project for a process that does one thing and ends. `holder` is what those who wait for its lock are told.
    pub fn open(project: &Project, holder: &str) -> Result<Self, Refusal> {
        Self::on_files(project, Options::new(holder))
    }

    /// Opens a project for a process that stays: its ledgers follow the log a little later.
    pub fn stay(project: &Project, holder: &str) -> Result<Self, Refusal> {
        Self::on_files(project, Options { ledgers: Ledgers::Deferred, ..Options::new(holder) })
    }

    fn on_files(project: &Project, options: Options) -> Result<Self, Refusal> {
        let source = Source::files(project.dir());
        source.rules()?;
        let journal = Box::new(Files::open(&project.dir(), options));
        Ok(Self::on(journal, source, Arc::new(SystemClock)))
    }

    /// A hub on any engine, with fixed rules and any clock.
    pub fn new(journal: Box<dyn Journal>, rules: Rules, clock: Arc<dyn Clock>) -> Self {
        Self::on(journal, Source::Fixed(Arc::new(rules)), clock)
    }

    /// A hub on any engine with any clock, with the rules of a project's files.
    pub fn with_clock(journal: Box<dyn Journal>, project: &Project, clock: Arc<dyn Clock>) -> Self {
        Self::on(journal, Source::files(project.dir()), clock)
    }

    fn on(journal: Box<dyn Journal>, rules: Source, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner: Arc::new(Inner {
                journal,
                rules,
                clock,
                calm: Mutex::default(),
                looking: Mutex::default(),
                keeps_time: AtomicBool::new(false),
                feed: Mutex::default(),
                surveyed: AtomicU64::new(0),
                listing: Mutex::default(),
                underway: AtomicUsize::new(0),
                gathering: Gathering::default(),
            }),
        }
    }

    /// The rules as they are now.
    pub fn rules(&self) -> Result<Arc<Rules>, Refusal> {
        self.inner.rules.rules()
    }

    /// Whether a command is underway for which no thread waits.
    pub fn is_busy(&self) -> bool {
        self.inner.underway.load(Ordering::Relaxed) > 0
    }

    /// Whether several commands for which no thread waits were committed together just now: it is to be expected that those who gave
    /// them are told together, too.
    pub fn is_crowded(&self) -> bool {
        self.inner.gathering.is_crowded.load(Ordering::Relaxed)
    }

    /// The time as the hub sees it.
    pub fn now(&self) -> Moment {
        self.inner.clock.now()
    }

    /// Carries out a command, once for each operation id; without one, a fresh one is made. Durable when this returns.
    pub fn execute(&self, command: &Command, operation: Option<OperationId>) -> Envelope {
        self.execute_at(command, None, operation)
    }

    /// The same if the item still has this version; else a `conflict` whose details name both. A replay replies as it did.
    pub fn execute_at(&self, command: &Command, version: Option<u64>, operation: Option<OperationId>) -> Envelope {
        let update = self.free_quota(command).and_then(|()| self.carry(command.clone(), version, operation));
        let reply = self.passed_on(update.and_then(|update| Ok(self.inner.journal.update(update)?)));
        if matches!(command.action, Action::StartSession { .. } | Action::FinishSession { .. }) {
            // What the monitor cannot do now it does next time; the command is done.
            let _ = self.monitor(false);
        }
        reply
    }

    /// The same, without a thread that waits for the disk, or with one that has nothing else to do. Needs a tokio runtime.
    pub async fn execute_later(
        &self,
        command: Command,
        version: Option<u64>,
        operation: Option<OperationId>,
    ) -> Envelope {
        let broken_off = |()| {
            let refusal = Refusal::new(Code::StorageError, "the command broke off", "run querent doctor");
            Envelope::refused(&refusal)
        };
        let looks_around = matches!(command.action, Action::StartSession { .. } | Action::FinishSession { .. });
        if looks_around || self.may_be_strict(&command) {
            let hub = self.clone();
            let executed = spawn_blocking(move || hub.execute_at(&command, version, operation));
            return executed.await.map_err(drop).unwrap_or_else(broken_off);
        }
        let update = match self.carry(command, version, operation) {
            Ok(update) => update,
            Err(refusal) => return self.passed_on(Err(refusal)),
        };
        let _underway = Underway::begin(&self.inner.underway);
        let reply = self.gathered(update).await;
        reply.ok_or(()).map_or_else(broken_off, |reply| self.passed_on(reply.map_err(Refusal::from)))
    }

    fn carry(&self, command: Command, version: Option<u64>, operation: Option<OperationId>) -> Result<Update, Refusal> {
        let ticket = match operation {
            Some(id) => Ticket::new(id, &command),
            None => Ticket::fresh(random_operation()?, &command),
        };
        let (rules, clock) = (self.rules()?, Arc::clone(&self.inner.clock));
        let stream = command.item.clone().into();
        let carry = Carry { command, ticket: ticket.clone(), version, rules, clock };
        Ok(Update { stream, ticket: Some(ticket), job: Box::new(carry) })
    }

    /// Only a refusal is looked into, to say which item was probably meant. Everything else is passed on as it is.
    fn passed_on(&self, reply: Result<Envelope, Refusal>) -> Envelope {
        let refusal = match reply {
            Ok(reply) if reply.is_ok() => return reply,
            Ok(reply) => match reply.read::<()>() {
                Err(refusal) if refusal.code == Code::ItemNotFound => refusal,
                _ => return reply,
            },
            Err(refusal) => refusal,
        };
        Envelope::refused(&self.with_nearest(refusal))
    }

    /// Whether the question of another item may have to be looked at first.
    fn may_be_strict(&self, command: &Command) -> bool {
        let (Action::Ask(_), Some(agent)) = (&command.action, command.by.agent()) else { return false };
        // Rules that cannot be read are refused where the command is carried out.
        self.rules().is_ok_and(|rules| rules.agent(agent).is_ok_and(|agent| agent.gate == Gate::Strict))
    }

    /// The one strict question that may be active may be over, on an item that nobody has touched since.
    fn free_quota(&self, command: &Command) -> Result<(), Refusal> {
        if self.may_be_strict(command) {
            let active = self.inner.journal.read()?.shared(Shared::Quota)?.quota.active.clone();
            if let Some(question) = active.filter(|question| question.item != command.item) {
                self.item(&question.item)?;
            }
        }
        Ok(())
    }

    /// Carries out a command that is about what all items share, once for each operation id. Durable when this returns.
    pub fn execute_shared(&self, command: &SharedCommand, operation: Option<OperationId>) -> Envelope {
        self.try_shared(command, operation).unwrap_or_else(|refusal| Envelope::refused(&refusal))
    }

    fn try_shared(&self, command: &SharedCommand, operation: Option<OperationId>) -> Result<Envelope, Refusal> {
        let is_fresh = operation.is_none();
        let id = operation.map_or_else(random_operation, Ok)?;
        let ticket = Some(Ticket { is_fresh, ..Ticket::shared(id, command) });
        let (rules, clock) = (self.rules()?, Arc::clone(&self.inner.clock));
        let job = CarryShared { command: command.clone(), ticket: ticket.clone(), rules, clock };
        Ok(self.inner.journal.update(Update { stream: command.stream().into(), ticket, job: Box::new(job) })?)
    }

    /// What was learned.
    pub fn knowledge(&self) -> Result<Knowledge, Refusal> {
        Ok(self.inner.journal.read()?.shared(Shared::Knowledge)?.knowledge.clone())
    }

    /// An item, after what is due on it.
    pub fn item(&self, id: &ItemId) -> Result<Item, Refusal> {
        self.item_and_snapshot(id)
            .map(|(item, _)| Arc::unwrap_or_clone(item))
            .map_err(|refusal| self.with_nearest(refusal))
    }

    /// All items, sorted by id, after what is due.
    pub fn items(&self) -> Result<Vec<Item>, Refusal> {
        self.current(Which::All).map(|(items, _)| items)
    }

    /// The same, as they are shown. Only one of them is in memory as a whole.
    pub fn item_views(&self) -> Result<Vec<ItemView>, Refusal> {
        let look = || {
            let snapshot = self.inner.journal.read()?;
            let (mut views, mut settled) = (Vec::new(), false);
            for id in snapshot.items(Which::All)? {
                if let Some(item) = snapshot.item(&id)? {
                    settled |= self.settle(&item)?;
                    views.push(ItemView::of(&item));
                }
            }
            Ok((views, settled))
        };
        match look()? {
            (views, false) => Ok(views),
            (_, true) => look().map(|(views, _)| views),
        }
    }

    /// The only item that has not ended; a refusal that names them if there are several.
    pub fn only_item(&self) -> Result<ItemId, Refusal> {
        let running: Vec<Item> = self.items()?.into_iter().filter(|item| !item.has_ended()).collect();
        match running.as_slice() {
            [only] => Ok(only.id.clone()),
            [] => Err(Refusal::invalid(
                "item",
                "no item is named and there is none",
                "add one: querent item add 42 --title …",
            )),
            several => {
                let ids: Vec<&str> = several.iter().take(8).map(|item| item.id.as_str()).collect();
                let message = format!("no item is named and {} have not ended", several.len());
                let hint = format!("name it with --item or QUERENT_ITEM: {}", ids.join(", "));
                Err(Refusal::invalid("item", message, hint))
            }
        }
    }

    /// A question with its thread, after what is due on its item.
    pub fn question(&self, id: &QuestionId) -> Result<Question, Refusal> {
        self.question_and_item(id).map(|(question, _)| Arc::unwrap_or_clone(question))
    }

    /// The same, with its item.
    pub fn question_and_item(&self, id: &QuestionId) -> Result<(Arc<Question>, Arc<Item>), Refusal> {
        let (item, snapshot) = self.item_and_snapshot(&id.item).map_err(|refusal| self.with_nearest(refusal))?;
        match snapshot.question(id)? {
            Some(question) => Ok((question, item)),
            None => State::default().question(id).map(|question| (Arc::new(question.clone()), item)),
        }
    }

    /// The same for one who follows the item, and so hears of what is newer. After what is due, if anything is.
    pub(crate) fn question_lately(&self, id: &QuestionId) -> Result<(Arc<Question>, Arc<Item>), Refusal> {
        let snapshot = self.inner.journal.read_lately()?;
        match (snapshot.item(&id.item)?, snapshot.question(id)?) {
            (Some(item), Some(question)) if needs_of_tick(&item, self.now()).questions.is_empty() => {
                Ok((question, item))
            }
            _ => self.question_and_item(id),
        }
    }

    /// Questions, sorted by when they were asked, after what the monitor found. Active ones cost what is active, not what
    /// there is.
    pub fn questions(&self, item: Option<&ItemId>, filter: &Filter) -> Result<Vec<Question>, Refusal> {
        self.monitor_unless_calm()?;
        let (items, snapshot) = match item {
            Some(id) => self.item(id).and_then(|item| Ok((vec![item], self.inner.journal.read()?)))?,
            None if filter.status.only_active() => self.current(Which::Active)?,
            None => self.current(Which::All)?,
        };
        let mut questions = Vec::new();
        for item in &items {
            for number in numbers(item, filter.status) {
                let question = snapshot.question(&item.question_id(number))?.filter(|question| filter.shows(question));
                questions.extend(question.map(Arc::unwrap_or_clone));
            }
        }
        questions.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        Ok(questions)
    }

    /// Assumptions, after what is due: what people should look at first comes first.
    pub fn assumptions(&self, item: Option<&ItemId>, filter: AssumptionFilter) -> Result<Vec<Assumption>, Refusal> {
        let items = match item {
            Some(id) => vec![self.item(id)?],
            None => self.items()?,
        };
        let all = items.into_iter().flat_map(|item| item.assumptions.into_values());
        let mut shown: Vec<Assumption> = all.filter(|it| filter.shows(it.status)).collect();
        shown.sort_by_key(|it| (it.urgency(), it.id.clone()));
        Ok(shown)
    }

    /// What an agent needs to go on with an item, after what is due: the item, its open questions, and the last that have an
    /// answer, newest first. Costs what is open and what is shown.
    pub fn context(&self, item: &ItemId, agent: &AgentName) -> Result<(Item, Vec<Question>, Vec<Question>), Refusal> {
        let rules = self.rules()?;
        rules.agent(agent)?;
        let most = rules.config.human_input.answer_history as usize;
        let (item, snapshot) = self.item_and_snapshot(item).map_err(|refusal| self.with_nearest(refusal))?;
        let mut open = Vec::new();
        for number in item.open.keys() {
            open.extend(snapshot.question(&item.question_id(*number))?.map(Arc::unwrap_or_clone));
        }
        let mut answered: Vec<Question> = Vec::new();
        for number in (1..=item.asked).rev().filter(|number| !item.open.contains_key(number)) {
            if answered.len() == most {
                break;
            }
            let question = snapshot.question(&item.question_id(number))?;
            answered.extend(question.filter(|question| question.answer.is_some()).map(Arc::unwrap_or_clone));
        }
        Ok((Arc::unwrap_or_clone(item), open, answered))
    }

    /// The sessions of all items, after what is due.
    pub fn sessions(&self) -> Result<Vec<SessionView>, Refusal> {
        Ok(self.items()?.iter().flat_map(sessions).collect())
    }

    /// The ready queue, after what the monitor found.
    pub fn ready(&self) -> Result<Vec<ReadyView>, Refusal> {
        self.monitor_unless_calm()?;
        let rules = self.rules()?;
        Ok(self.items()?.iter().filter_map(|item| ready(item, &rules)).collect())
    }

    /// Runs what is due on every item that has something open.
    pub fn run_due(&self) -> Result<(), Refusal> {
        self.current(Which::Active).map(drop)
    }

    /// The same; says whether anything was.
    pub(crate) fn settle_all(&self) -> Result<bool, Refusal> {
        let items = all(&*self.inner.journal.read()?, Which::Active)?;
        items.iter().try_fold(false, |settled, item| Ok(self.settle(item)? || settled))
    }

    /// Hands the records after `since` to `each`, in order, until it returns false. Memory does not grow with them.
    pub fn records(&self, since: u64, each: &mut dyn FnMut(Arc<Record>) -> bool) -> Result<(), Refusal> {
        Ok(self.inner.journal.records(since, each)?)
    }

    /// Runs what is due on an item; says whether anything was.
    pub(crate) fn settle(&self, item: &Item) -> Result<bool, Refusal> {
        if needs_of_tick(item, self.now()).questions.is_empty() {
            return Ok(false);
        }
        let job = Box::new(Tick { rules: self.rules()?, clock: Arc::clone(&self.inner.clock) });
        self.inner.journal.update(Update { stream: item.id.clone().into(), ticket: None, job })?;
        Ok(true)
    }

    fn item_and_snapshot(&self, id: &ItemId) -> Result<(Arc<Item>, Box<dyn Snapshot + '_>), Refusal> {
        let there = |snapshot: &dyn Snapshot| match snapshot.item(id)? {
            Some(item) => Ok(item),
            None => State::default().item(id).cloned().map(Arc::new),
        };
        let snapshot = self.inner.journal.read()?;
        let item = there(&*snapshot)?;
        if !self.settle(&item)? {
            return Ok((item, snapshot));
        }
        let snapshot = self.inner.journal.read()?;
        Ok((there(&*snapshot)?, snapshot))
    }

    /// Items after what is due on them, with the snapshot that they are from.
    pub(crate) fn current(&self, which: Which) -> Result<(Vec<Item>, Box<dyn Snapshot + '_>), Refusal> {
        let snapshot = self.inner.journal.read()?;
        let items = all(&*snapshot, which)?;
        let mut settled = false;
        for item in &items {
            settled |= self.settle(item)?;
        }
        if !settled {
            return Ok((items, snapshot));
        }
        let snapshot = self.inner.journal.read()?;
        Ok((all(&*snapshot, which)?, snapshot))
    }

    /// Adds to `item_not_found` which item was probably meant.
    fn with_nearest(&self, mut refusal: Refusal) -> Refusal {
        let given = refusal.details["item"].as_str().unwrap_or_default().to_owned();
        if refusal.code != Code::ItemNotFound || refusal.details.get("nearest").is_some() {
            return refusal;
        }
        let known = self.inner.journal.read().and_then(|snapshot| snapshot.items(Which::All)).unwrap_or_default();
        if let Some(near) = nearest::of(&given, known.iter().map(ItemId::as_str)) {
            refusal.hint = format!("did you mean `{near}`? If not, add it: querent item add {given} --title …");
            refusal.details["nearest"] = json!(near);
        }
        refusal
    }
}

pub(crate) fn all(snapshot: &dyn Snapshot, which: Which) -> Result<Vec<Item>, Refusal> {
    let mut items = Vec::new();
    for id in snapshot.items(which)? {
        items.extend(snapshot.item(&id)?.map(Arc::unwrap_or_clone));
    }
    Ok(items)
}

/// The questions of an item that can have the wanted status.
pub(crate) fn numbers(item: &Item, status: StatusFilter) -> Vec<u32> {
    match status {
        StatusFilter::Active if item.has_ended() => Vec::new(),
        StatusFilter::Active => {
            let mut numbers: Vec<u32> = item.open.keys().chain(&item.answered).copied().collect();
            numbers.sort_unstable();
            numbers
        }
        StatusFilter::Open | StatusFilter::Stale | StatusFilter::Stuck | StatusFilter::Escalated => {
            item.open.keys().copied().collect()
        }
        StatusFilter::Answered => item.answered.iter().copied().collect(),
        StatusFilter::Resolved | StatusFilter::Expired | StatusFilter::Withdrawn | StatusFilter::All => {
            (1..=item.asked).collect()
        }
    }
}

/// An id that nobody else makes, for a caller that gives none: a random number of this process, and the number of the id in it.
fn random_operation() -> Result<OperationId, Refusal> {
    static FIRST: OnceLock<u128> = OnceLock::new();
    static MADE: AtomicU64 = AtomicU64::new(0);
    let first = if let Some(first) = FIRST.get() {
        first
    } else {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| {
            let message = format!("the system gives no random bytes: {error}");
            Refusal::new(Code::StorageError, message, "give an operation id of your own")
        })?;
        FIRST.get_or_init(|| u128::from_le_bytes(bytes))
    };
    Ok(OperationId::of(first.wrapping_add(MADE.fetch_add(1, Ordering::Relaxed).into())))
}
