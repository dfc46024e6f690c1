//! What a process that stays does by the clock: deadlines on time, and the monitor every now and then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use querent_core::{Item, ItemId, Moment, Refusal};
use querent_journal::Which;
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::{Instant, interval_at, sleep};

use crate::handle::{Handle, all};

/// How often the monitor looks.
const MONITOR: Duration = Duration::from_mins(2);
/// The longest sleep: a clock may be set, and a machine may have slept.
const LONGEST: Duration = Duration::from_secs(30);
/// The shortest one, so that what cannot be settled keeps nobody busy.
const SHORTEST: Duration = Duration::from_millis(20);
/// How long it waits after an error before it begins again.
const AGAIN: Duration = Duration::from_secs(5);

impl Handle {
    /// Carries out deadlines when they come, and runs the monitor every two minutes, until it is dropped. Costs what changes.
    /// What cannot be done now is done later: nothing that is due is ever lost.
    pub async fn keep_time(&self) {
        let _kept = Kept::begin(&self.inner.keeps_time);
        let clock = async {
            loop {
                let _ = self.keep_deadlines().await;
                sleep(AGAIN).await;
            }
        };
        let monitor = async {
            let mut tick = interval_at(Instant::now() + MONITOR, MONITOR);
            loop {
                tick.tick().await;
                let hub = self.clone();
                let _ = spawn_blocking(move || hub.monitor(false)).await;
            }
        };
        tokio::join!(clock, monitor);
    }

    async fn keep_deadlines(&self) -> Result<(), Refusal> {
        let mut news = self.follow(None)?;
        let mut dues = Dues::default();
        all(&*self.inner.journal.read()?, Which::Active)?.iter().for_each(|item| dues.set(item));
        loop {
            let now = self.now();
            for item in dues.before(now) {
                let hub = self.clone();
                let settled = spawn_blocking(move || hub.item(&item)).await;
                if let Ok(settled) = settled {
                    dues.set(&settled?);
                }
            }
            let patience = dues.next().map_or(LONGEST, |due| Duration::from_millis(due.since(now).as_millis()));
            let patience = patience.clamp(SHORTEST, LONGEST);
            tokio::select! {
                changed = news.next() => {
                    // Whoever waits for the change goes first.
                    yield_now().await;
                    if let Some(id) = changed?.record.stream.item()
                        && let Some(item) = self.inner.journal.read_lately()?.item(id)?
                    {
                        dues.set(&item);
                    }
                }
                () = sleep(patience) => {}
            }
        }
    }
}

/// Somebody keeps the time until this is dropped.
struct Kept<'a>(&'a AtomicBool);

impl<'a> Kept<'a> {
    fn begin(kept: &'a AtomicBool) -> Self {
        kept.store(true, Ordering::Relaxed);
        Self(kept)
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// When something is due, and on which item.
#[derive(Default)]
struct Dues {
    by_item: BTreeMap<ItemId, Moment>,
    by_time: BTreeSet<(Moment, ItemId)>,
}

impl Dues {
    fn set(&mut self, item: &Item) {
        if let Some(old) = self.by_item.remove(&item.id) {
            self.by_time.remove(&(old, item.id.clone()));
        }
        if let Some(due) = item.open.values().filter_map(|open| open.due).min() {
            self.by_item.insert(item.id.clone(), due);
            self.by_time.insert((due, item.id.clone()));
        }
    }

    fn next(&self) -> Option<Moment> {
        self.by_time.first().map(|(due, _)| *due)
    }

    /// The items on which something is due now. They are set again by whoever settles them.
    fn before(&self, now: Moment) -> Vec<ItemId> {
        self.by_time.iter().take_while(|(due, _)| *due <= now).map(|(_, item)| item.clone()).collect()
    }
}
