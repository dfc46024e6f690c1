//! Following the log: one reader for all in this process that want to know what happens, however many they are.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use querent_core::{ItemId, Record, Refusal, wire};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast};

use crate::handle::Handle;

/// How many records a slow follower may be behind before it reads them from the log itself.
const BEHIND: usize = 1_024;
/// How many records are read ahead.
const AHEAD: usize = 256;

/// A record, and the line that it is: made once for all who pass it on, and not before one does.
#[derive(Debug)]
pub struct News {
    /// The record.
    pub record: Arc<Record>,
    line: OnceLock<String>,
}

impl News {
    fn of(record: Arc<Record>) -> Arc<Self> {
        Arc::new(Self { record, line: OnceLock::new() })
    }

    /// One JSON object, as `querent events` prints it.
    pub fn line(&self) -> &str {
        self.line.get_or_init(|| wire::encode_record(&self.record))
    }
}

/// The one reader. It ends when nobody follows any more.
pub(crate) struct Feed {
    news: broadcast::Sender<Arc<News>>,
    items: Mutex<BTreeMap<ItemId, Weak<Notify>>>,
    /// The log could not be read: whoever still follows begins again.
    broken: AtomicBool,
    gone: Arc<Notify>,
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.gone.notify_one();
    }
}

impl Handle {
    /// What happens from now on, or after the record `since`, in any process. Needs a tokio runtime.
    pub fn follow(&self, since: Option<u64>) -> Result<Follower, Refusal> {
        let feed = self.feed()?;
        let news = feed.news.subscribe();
        let last = since.map_or_else(|| self.inner.journal.read().map(|snapshot| snapshot.head()), Ok)?;
        Ok(Follower { hub: self.clone(), feed, news, last, ahead: VecDeque::new(), is_behind: since.is_some() })
    }

    /// Tells of every change of one item, from now on.
    pub(crate) fn follow_item(&self, item: &ItemId) -> Result<ItemFollower, Refusal> {
        let feed = self.feed()?;
        let changed = {
            let mut items = lock(&feed.items);
            let known = items.get(item).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let made = Arc::new(Notify::new());
                items.insert(item.clone(), Arc::downgrade(&made));
                made
            })
        };
        Ok(ItemFollower { feed, item: item.clone(), changed })
    }

    fn feed(&self) -> Result<Arc<Feed>, Refusal> {
        let mut known = lock(&self.inner.feed);
        if let Some(feed) = known.upgrade().filter(|feed| !feed.broken.load(Ordering::Acquire)) {
            return Ok(feed);
        }
        let mut records = self.subscribe_from_now()?;
        let gone = Arc::new(Notify::new());
        let (news, _) = broadcast::channel(BEHIND);
        let feed = Arc::new(Feed { news, items: Mutex::default(), broken: AtomicBool::new(false), gone: gone.clone() });
        *known = Arc::downgrade(&feed);
        let weak = Arc::downgrade(&feed);
        tokio::spawn(async move {
            loop {
                let next = tokio::select! {
                    next = records.next() => next,
                    () = gone.notified() => return,
                };
                let Some(feed) = weak.upgrade() else { return };
                match next {
                    Ok(record) => feed.tell(record),
                    Err(_) => return feed.break_off(),
                }
            }
        });
        Ok(feed)
    }
}

impl Feed {
    fn tell(&self, record: Arc<Record>) {
        if let Some(item) = record.stream.item()
            && let Some(changed) = lock(&self.items).get(item).and_then(Weak::upgrade)
        {
            changed.notify_waiters();
        }
        // Without followers of everything there is nothing to pass on.
        if self.news.receiver_count() > 0 {
            let _ = self.news.send(News::of(record));
        }
    }

    /// Whoever waits looks for itself, and meets the error there.
    fn break_off(&self) {
        self.broken.store(true, Ordering::Release);
        for changed in lock(&self.items).values().filter_map(Weak::upgrade) {
            changed.notify_waiters();
        }
    }
}

/// Follows one item.
pub(crate) struct ItemFollower {
    feed: Arc<Feed>,
    item: ItemId,
    /// Wakes all who wait at that moment: begin to wait before you look.
    pub(crate) changed: Arc<Notify>,
}

impl ItemFollower {
    /// Whether it will tell nothing any more.
    pub(crate) fn is_broken(&self) -> bool {
        self.feed.broken.load(Ordering::Acquire)
    }
}

impl Drop for ItemFollower {
    fn drop(&mut self) {
        let mut items = lock(&self.feed.items);
        if Arc::strong_count(&self.changed) == 1 {
            items.remove(&self.item);
        }
    }
}

/// A place in the log that moves on. Nothing is passed over and nothing comes twice, however slow the follower is.
pub struct Follower {
    hub: Handle,
    feed: Arc<Feed>,
    news: broadcast::Receiver<Arc<News>>,
    last: u64,
    ahead: VecDeque<Arc<News>>,
    /// Whether there may be records in the log that it has not read.
    is_behind: bool,
}

impl Follower {
    /// The next record, as soon as there is one. It is durable.
    pub async fn next(&mut self) -> Result<Arc<News>, Refusal> {
        loop {
            if self.ahead.is_empty() && self.is_behind {
                self.catch_up()?;
            }
            if let Some(news) = self.ahead.pop_front() {
                self.last = news.record.seq;
                return Ok(news);
            }
            if self.feed.broken.load(Ordering::Acquire) {
                *self = self.hub.follow(Some(self.last))?;
                continue;
            }
            match self.news.recv().await {
                Ok(news) if news.record.seq <= self.last => {}
                Ok(news) if news.record.seq == self.last + 1 => {
                    self.last = news.record.seq;
                    return Ok(news);
                }
                Ok(_) | Err(RecvError::Lagged(_) | RecvError::Closed) => self.is_behind = true,
            }
        }
    }

    fn catch_up(&mut self) -> Result<(), Refusal> {
        let ahead = &mut self.ahead;
        self.hub.inner.journal.records(self.last, &mut |record| {
            ahead.push_back(News::of(record));
            ahead.len() < AHEAD
        })?;
        self.is_behind = ahead.len() == AHEAD;
        if !ahead.is_empty() {
            self.hub.inner.journal.sync()?;
        }
        Ok(())
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
