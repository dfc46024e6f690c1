//! Waiting without polling: the journal says when something changed, here or in another process.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use querent_core::reply::AnswerReply;
use querent_core::{Item, Question, QuestionId, Record, Refusal, Status};
use querent_journal::Watch;
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::handle::Handle;

/// The safety net under the file system's events: how long a lost one is noticed later.
const SAFETY: Duration = Duration::from_secs(2);
/// How long a wait sleeps at most: a clock may be set, and a machine may have slept.
const LONGEST: Duration = Duration::from_secs(30);
/// How many records are read ahead.
const AHEAD: usize = 256;

/// How waiting for an answer ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Awaited {
    /// The question has its answer, or will never have one.
    Settled(Box<AnswerReply>),
    /// Neither came to pass in time.
    TimedOut {
        /// The question.
        question_id: QuestionId,
        /// Where it is in its life.
        status: Status,
    },
}

impl Handle {
    /// Waits until the question is answered or settled. Its deadlines fire on time meanwhile.
    pub async fn await_answer(&self, id: &QuestionId, timeout: Option<Duration>) -> Result<Awaited, Refusal> {
        let (question, item) = self.await_question(id, timeout).await?;
        Ok(if question.status.is_open() {
            Awaited::TimedOut { question_id: id.clone(), status: question.status }
        } else {
            Awaited::Settled(Box::new(AnswerReply::now(&item, &question)))
        })
    }

    /// The same: the question and its item as they are then. If it is open still, the time is over.
    pub async fn await_question(
        &self,
        id: &QuestionId,
        timeout: Option<Duration>,
    ) -> Result<(Arc<Question>, Arc<Item>), Refusal> {
        let mut follower = self.follow_item(&id.item)?;
        // A time that no clock reaches is for ever.
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut is_over = false;
        loop {
            if follower.is_broken() {
                follower = self.follow_item(&id.item)?;
            }
            let notified = follower.changed.notified();
            // Nothing of the item is kept while it waits: thousands may.
            let due = {
                let (question, item) = self.question_lately(id)?;
                if is_over || !question.status.is_open() {
                    // The caller acts on the answer: it must be durable first.
                    self.inner.journal.sync()?;
                    return Ok((question, item));
                }
                item.open.values().filter_map(|open| open.due).min()
            };
            let patience =
                due.map_or(LONGEST, |due| Duration::from_millis(due.since(self.now()).as_millis()).min(LONGEST));
            let next = Instant::now() + patience;
            // Whichever comes first: it looks again.
            let _ = timeout_at(end.map_or(next, |end| end.min(next)), notified).await;
            is_over = end.is_some_and(|end| end <= Instant::now());
        }
    }

    /// The records after `since`, and those that come, from any process.
    pub fn subscribe(&self, since: u64) -> Result<Subscription, Refusal> {
        let (changed, watch) = self.changes()?;
        Ok(Subscription { hub: self.clone(), since, ahead: VecDeque::new(), drained: false, changed, _watch: watch })
    }

    /// The records that come from now on, from any process.
    pub fn subscribe_from_now(&self) -> Result<Subscription, Refusal> {
        let head = self.inner.journal.read()?.head();
        self.subscribe(head)
    }

    pub(crate) fn changes(&self) -> Result<(Arc<Notify>, Watch), Refusal> {
        let changed = Arc::new(Notify::new());
        let wake = Arc::clone(&changed);
        // One permit is kept, so a change between a look and the next wait is not missed.
        let watch = self.inner.journal.watch(Arc::new(move || wake.notify_one()))?;
        Ok((changed, watch))
    }
}

pub(crate) async fn until(end: Option<Instant>) {
    match end {
        Some(end) => sleep_until(end).await,
        None => std::future::pending().await,
    }
}

/// A place in the journal that moves on.
pub struct Subscription {
    hub: Handle,
    since: u64,
    ahead: VecDeque<Arc<Record>>,
    /// Whether there is nothing in the log that it has not read, unless it is told so.
    drained: bool,
    changed: Arc<Notify>,
    _watch: Watch,
}

impl Subscription {
    /// The next record, as soon as there is one. It is durable.
    pub async fn next(&mut self) -> Result<Arc<Record>, Refusal> {
        loop {
            if let Some(record) = self.ahead.pop_front() {
                self.since = record.seq;
                return Ok(record);
            }
            if std::mem::take(&mut self.drained) {
                tokio::select! {
                    () = self.changed.notified() => {}
                    () = sleep(SAFETY) => {}
                }
                if !self.hub.is_crowded() {
                    // Whoever made the change is told first.
                    yield_now().await;
                }
            }
            let ahead = &mut self.ahead;
            self.hub.inner.journal.records(self.since, &mut |record| {
                ahead.push_back(record);
                ahead.len() < AHEAD
            })?;
            self.drained = self.ahead.len() < AHEAD;
            if !self.ahead.is_empty() {
                self.hub.inner.journal.sync()?;
            }
        }
    }
}
