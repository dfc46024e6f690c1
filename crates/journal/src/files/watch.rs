//! Noticing what other processes write, through the file system's own events: one watch of the system for all of a process
//! that wait, because a system has few.

use std::sync::{Arc, Mutex};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::commit::hold;
use super::layout::Layout;
use crate::wakes::Wakes;
use crate::{Error, Wake, Watch};

/// Watches the journal's directory from the first who waits on, as long as the journal is open or anybody waits.
#[derive(Default)]
pub(crate) struct Watcher {
    wakes: Arc<Wakes>,
    system: Mutex<Option<Arc<RecommendedWatcher>>>,
}

impl Watcher {
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
        let wakes = Arc::clone(&self.wakes);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading wakes nobody; an error may hide a change, so it wakes.
            if event.map_or(true, |event| !event.kind.is_access()) {
                wakes.wake();
            }
        })
        .map_err(failed)?;
        watcher.watch(&dir, RecursiveMode::NonRecursive).map_err(failed)?;
        Ok(watcher)
    }
}
