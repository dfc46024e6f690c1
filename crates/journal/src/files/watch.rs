//! Noticing what other processes write, through the file system's own events.

use notify::{RecursiveMode, Watcher};

use super::layout::Layout;
use crate::{Error, Wake, Watch};

pub(crate) fn watch(layout: &Layout, wake: Wake) -> Result<Watch, Error> {
    let dir = layout.journal();
    let failed =
        |error: notify::Error| Error::Io { what: "watch", path: dir.clone(), source: std::io::Error::other(error) };
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Reading wakes nobody; an error may hide a change, so it wakes.
        if event.map_or(true, |event| !event.kind.is_access()) {
            wake();
        }
    })
    .map_err(failed)?;
    watcher.watch(&layout.journal(), RecursiveMode::NonRecursive).map_err(failed)?;
    Ok(Watch::held_by(watcher))
}
