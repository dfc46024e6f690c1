//! Noticing what other processes write, through the file system's own events: one watch of the system for all of a process
//! that wait, because a system has few.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::commit::hold;
use super::disk::DiskFile;
use super::layout::Layout;
use super::place::Place;
use crate::wakes::Wakes;
use crate::{Error, Wake, Watch};

/// How long the events of what this process writes itself are left to gather, so that it is not woken for each of its commits.
const REST: Duration = Duration::from_millis(2);
/// How long no other process must have written for that: where they take turns, each is woken at once.
const ALONE: Duration = Duration::from_secs(1);

/// Watches the journal's directory from the first who waits on, as long as the journal is open or anybody waits.
#[derive(Default)]
pub(crate) struct Watcher {
    wakes: Arc<Wakes>,
    own: Arc<Own>,
    system: Mutex<Option<Arc<RecommendedWatcher>>>,
}

/// Up to where this process has written, or is about to: the segment, and where it ends then.
#[derive(Default)]
struct Own(Mutex<Option<(Arc<dyn DiskFile>, Place)>>);

impl Own {
    /// Whether there is nothing in the log but what this process wrote, or had read when it wrote.
    fn is_all(&self, layout: &Layout) -> bool {
        hold(&self.0).as_ref().is_some_and(|(segment, place)| {
            segment.length().is_ok_and(|length| length <= place.end) && !layout.is_followed(*place)
        })
    }
}

impl Watcher {
    /// This process is about to write up to `end`: it wakes those who wait itself, once that is durable.
    pub(crate) fn expect(&self, segment: Arc<dyn DiskFile>, end: Place) {
        *hold(&self.own.0) = Some((segment, end));
    }

    /// It could not write: whatever comes is somebody else's.
    pub(crate) fn expect_nothing(&self) {
        *hold(&self.own.0) = None;
    }

    /// Something was written.
    pub(crate) fn wake(&self) {
        self.wakes.wake();
    }

    /// Calls `wake` after every change, until the watch is dropped.
    pub(crate) fn watch(&self, layout: &Layout, wake: Wake) -> Result<Watch, Error> {
        let mut system = hold(&self.system);
        let system = match system.as_ref() {
            Some(system) => Arc::clone(system),
            None => Arc::clone(system.insert(Arc::new(self.begin(layout)?))),
        };
        Ok(Watch::held_by((self.wakes.add(wake), system)))
    }

    fn begin(&self, layout: &Layout) -> Result<RecommendedWatcher, Error> {
        let dir = layout.journal();
        layout.disk().create_dir_all(&dir).map_err(Error::io("make", &dir))?;
        let failed = |error| Error::io("watch", &dir)(std::io::Error::other::<notify::Error>(error));
        let (wakes, own, layout) = (Arc::clone(&self.wakes), Arc::clone(&self.own), layout.clone());
        let mut others = None::<Instant>;
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading wakes nobody; an error may hide a change, so it wakes.
            if event.is_ok_and(|event| event.kind.is_access()) {
                return;
            }
            let mut is_own = own.is_all(&layout);
            if is_own && others.is_none_or(|wrote| wrote.elapsed() > ALONE) {
                std::thread::sleep(REST);
                is_own = own.is_all(&layout);
            }
            if !is_own {
                others = Some(Instant::now());
                wakes.wake();
            }
        })
        .map_err(failed)?;
        watcher.watch(&dir, RecursiveMode::NonRecursive).map_err(failed)?;
        Ok(watcher)
    }
}
