//! The loop of a team: looks at what changed, begins what can be begun, and rests while everything waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use querent_core::{
    Action, Alarm, AlertId, Claim, Code, Command, Event, EventName, Item, ItemId, Party, Process, QuestionId, Record,
    Refusal, Stage, Via, Work, work,
};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::crew::{self, Crew, PATIENCE, REST, off};
use super::turn::Turn;
use super::{TeamEnd, TeamOptions, call};
use crate::follow::Follower;

/// How often somebody looks whether the process behind another one's claim still runs.
const LOOK: Duration = Duration::from_secs(1);
/// How many agents are called for an answer at a time.
const CALLS: usize = 16;

pub(super) struct Shift {
    crew: Arc<Crew>,
    chosen: Option<BTreeSet<ItemId>>,
    parallel: usize,
    once: bool,
    news: Follower,
    /// Items to look at.
    look: BTreeSet<ItemId>,
    /// Items to look at again then: somebody else works on them.
    again: BTreeMap<ItemId, Instant>,
    /// Items with work for which there is no place yet.
    queue: BTreeMap<ItemId, Turn>,
    /// Questions whose agent is to be called.
    calls: BTreeMap<QuestionId, Option<Claim>>,
    /// Items that are worked on, and questions whose agent is called, by this process.
    busy: BTreeSet<ItemId>,
    called: BTreeSet<QuestionId>,
    /// Items that are not over.
    unfinished: BTreeSet<ItemId>,
    tasks: JoinSet<(Task, Result<(), Refusal>)>,
    troubles: u32,
}

/// What was done.
enum Task {
    Turn(ItemId),
    Call(QuestionId),
}

impl Shift {
    pub(super) fn begin(crew: Arc<Crew>, options: &TeamOptions) -> Result<Self, Refusal> {
        // First the subscription, then the look: nothing falls between.
        let news = crew.hub.follow(None)?;
        let items = crew.hub.items()?;
        let known = |id: &ItemId| items.iter().any(|item| item.id == *id);
        for id in options.items.iter().flatten().filter(|id| !known(id)) {
            crew.hub.item(id)?;
        }
        let parallel = options.parallel.unwrap_or(crew.hub.rules()?.config.run.parallel);
        let look = items.into_iter().map(|item| item.id).collect();
        let mut shift = Self {
            crew,
            chosen: options.items.clone(),
            parallel,
            once: options.once,
            news,
            look,
            again: BTreeMap::new(),
            queue: BTreeMap::new(),
            calls: BTreeMap::new(),
            busy: BTreeSet::new(),
            called: BTreeSet::new(),
            unfinished: BTreeSet::new(),
            tasks: JoinSet::new(),
            troubles: 0,
        };
        shift.look.retain(|id| options.items.as_ref().is_none_or(|chosen| chosen.contains(id)));
        Ok(shift)
    }

    /// Works until there is nothing left, or until it is stopped.
    pub(super) async fn work(mut self, stop: watch::Receiver<bool>) -> Result<TeamEnd, Refusal> {
        let mut until_stop = stop.clone();
        loop {
            if *stop.borrow() {
                return Ok(self.stop().await);
            }
            match self.look_around().await {
                Ok(()) => self.troubles = 0,
                Err(refusal) => self.rest(refusal).await?,
            }
            self.begin_tasks(&stop);
            if let Some(end) = self.end() {
                return Ok(end);
            }
            let next = self.again.values().min().copied();
            tokio::select! {
                news = self.news.next() => self.hear(&news?.record).await?,
                Some(ended) = self.tasks.join_next() => self.ended(ended),
                () = until(next) => self.look_again(),
                () = crew::stopped(&mut until_stop) => return Ok(self.stop().await),
            }
        }
    }

    /// Whatever is under way ends as it stands, and is begun again by the next team.
    async fn stop(&mut self) -> TeamEnd {
        while self.tasks.join_next().await.is_some() {}
        TeamEnd::Stopped
    }

    fn end(&self) -> Option<TeamEnd> {
        let idle = self.tasks.is_empty() && self.look.is_empty() && self.queue.is_empty() && self.calls.is_empty();
        if !idle || !self.again.is_empty() || self.parallel == 0 {
            return None;
        }
        if self.unfinished.is_empty() { Some(TeamEnd::Done) } else { self.once.then_some(TeamEnd::Waits) }
    }

    /// Something happened: its item is looked at, and an alert is told to those who listen.
    async fn hear(&mut self, record: &Record) -> Result<(), Refusal> {
        if let Event::AlertRaised(it) = &record.event {
            self.alarm(it.alert, &it.alarm).await?;
        }
        self.touch(record.stream.item());
        Ok(())
    }

    /// Once, however many teams run: the operation bears the alert's id.
    async fn alarm(&self, alert: AlertId, alarm: &Alarm) -> Result<(), Refusal> {
        let event: Result<EventName, Refusal> = format!("alert.{}", alarm.kind).parse();
        let item = alarm.context.get("item").and_then(|it| it.as_str()).and_then(|id| id.parse::<ItemId>().ok());
        let (Ok(event), Some(item)) = (event, item) else { return Ok(()) };
        if self.crew.hub.rules()?.listeners(&event).is_empty() {
            return Ok(());
        }
        let data = serde_json::json!({ "alert": alert, "severity": alarm.severity, "message": alarm.message });
        let action = Action::Emit { event, data };
        let command = Command { item, by: Party::Querent, via: Via::Team, action };
        let operation = format!("alert:{alert}").parse()?;
        // An item that has ended has nobody to tell.
        self.crew.off(move |hub| Ok(hub.execute(&command, Some(operation)))).await.map(drop)
    }

    fn touch(&mut self, item: Option<&ItemId>) {
        if let Some(id) = item.filter(|id| self.chosen.as_ref().is_none_or(|chosen| chosen.contains(*id))) {
            self.look.insert(id.clone());
        }
    }

    fn look_again(&mut self) {
        let now = Instant::now();
        let due: Vec<ItemId> = self.again.iter().filter(|(_, at)| **at <= now).map(|(id, _)| id.clone()).collect();
        for id in due {
            self.again.remove(&id);
            self.look.insert(id);
        }
    }

    async fn look_around(&mut self) -> Result<(), Refusal> {
        while let Some(id) = self.look.first().cloned() {
            let item = self.crew.item(&id).await?;
            self.look.remove(&id);
            self.see(&item).await?;
        }
        Ok(())
    }

    /// Looks at an item: what is to be done on it, and whose answers it waits for.
    async fn see(&mut self, item: &Item) -> Result<(), Refusal> {
        let id = &item.id;
        self.queue.remove(id);
        self.again.remove(id);
        self.unfinished.insert(id.clone());
        let rules = self.crew.hub.rules()?;
        match work(item, &rules) {
            _ if self.busy.contains(id) => {}
            Work::Turn { agent, session, purpose } => {
                let turn = Turn { item: id.clone(), agent, session, purpose, over: None, orphan: None };
                self.queue.insert(id.clone(), turn);
            }
            Work::Driven { agent, session, purpose, claim, program } => {
                self.driven(item, (claim, program), |over, orphan| Turn {
                    item: id.clone(),
                    agent,
                    session,
                    purpose,
                    over: Some(over),
                    orphan,
                });
            }
            Work::Over => {
                self.unfinished.remove(id);
                self.tidy(item).await;
            }
            // Whoever comes by itself is not waited for: it may never come.
            Work::Outside(_) => drop(self.unfinished.remove(id)),
            Work::Waits(_) | Work::WaitsFor(_) => {}
        }
        self.see_questions(item).await
    }

    /// Somebody works on it: if they are gone, whatever is to be done now is done instead of them.
    fn driven(
        &mut self,
        item: &Item,
        (claim, program): (Claim, Option<Process>),
        turn: impl FnOnce(Claim, Option<Process>) -> Turn,
    ) {
        // A claim of this process that nobody here works under is what an error left behind.
        let is_own = claim.process.is_some() && claim.process == self.crew.process && self.parallel > 0;
        if !is_own && !self.crew.is_void(&claim) {
            self.again.insert(item.id.clone(), Instant::now() + LOOK);
            return;
        }
        let mut free = item.clone();
        free.team.turns.values_mut().for_each(|it| it.claim = None);
        let due = self.crew.hub.rules().map(|rules| work(&free, &rules));
        let taken = turn(claim, program);
        if let Ok(Work::Turn { agent, session, purpose }) = due {
            self.queue.insert(item.id.clone(), Turn { agent, session, purpose, ..taken });
        } else if let Some(program) = &taken.orphan {
            // Nothing is to be done any more, but its program may still run.
            crate::processes::kill_group(program);
        }
    }

    async fn see_questions(&mut self, item: &Item) -> Result<(), Refusal> {
        for (number, open) in &item.open {
            let id = item.question_id(*number);
            self.calls.remove(&id);
            let asked = open.to.agent().is_some_and(|agent| self.crew.invokes(agent));
            if !asked || self.called.contains(&id) || item.has_ended() {
                continue;
            }
            let question = self.crew.question(&id).await?;
            let claim =
                question.call.as_ref().filter(|call| call.round == question.round).and_then(|it| it.claim.clone());
            match claim {
                Some(claim) if !self.crew.is_void(&claim) => {
                    self.again.insert(item.id.clone(), Instant::now() + LOOK);
                }
                over => drop(self.calls.insert(id, over)),
            }
        }
        Ok(())
    }

    /// An item on which no agent works any more needs no worktree. What was not committed stays where it is.
    async fn tidy(&self, item: &Item) {
        let over = item.has_ended() || item.stage == Stage::ReadyToMerge;
        if let Some(trees) = self.crew.trees.clone().filter(|trees| over && trees.is_left(&item.id)) {
            let (id, version) = (item.id.clone(), item.version);
            // What cannot be removed now is removed by the next look at it.
            let _ = off(move || {
                trees.commit(&id, &format!("{id}: what was left"), &format!("{id}:left:{version}"))?;
                trees.remove(&id)
            })
            .await;
        }
    }

    fn begin_tasks(&mut self, stop: &watch::Receiver<bool>) {
        while self.called.len() < CALLS
            && let Some((id, over)) = self.calls.pop_first()
        {
            self.called.insert(id.clone());
            let (crew, stop) = (Arc::clone(&self.crew), stop.clone());
            self.tasks.spawn(async move {
                let done = call::call(&crew, &id, over, stop).await.map(drop);
                (Task::Call(id), done)
            });
        }
        while self.busy.len() < self.parallel
            && let Some((id, turn)) = self.queue.pop_first()
        {
            self.busy.insert(id.clone());
            let (crew, stop) = (Arc::clone(&self.crew), stop.clone());
            self.tasks.spawn(async move { (Task::Turn(id), turn.drive(&crew, stop).await) });
        }
    }

    fn ended(&mut self, ended: Result<(Task, Result<(), Refusal>), tokio::task::JoinError>) {
        let Ok((task, done)) = ended else { return };
        let item = match task {
            Task::Turn(id) => {
                self.busy.remove(&id);
                id
            }
            Task::Call(id) => {
                self.called.remove(&id);
                id.item
            }
        };
        match done {
            Ok(()) => drop(self.look.insert(item)),
            Err(_) => drop(self.again.insert(item, Instant::now() + REST)),
        }
    }

    /// A lock that is not had or a disk that is full may be over in a moment; anything else is not.
    async fn rest(&mut self, refusal: Refusal) -> Result<(), Refusal> {
        self.troubles += 1;
        let passes = matches!(refusal.code, Code::LockTimeout | Code::StorageError | Code::InvalidConfig);
        if !passes || self.troubles > PATIENCE {
            return Err(refusal);
        }
        sleep(REST).await;
        Ok(())
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
