//! The project's rules as they are in its files now, without reading them for every command.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use querent_core::{Refusal, Rules};

use crate::config;

/// How long rules are used before their files are looked at again.
const FRESH: Duration = Duration::from_millis(100);

/// Where the rules come from.
pub(crate) enum Source {
    /// From code.
    Fixed(Arc<Rules>),
    /// From the files under `.querent/`, read again when they change.
    Files { dir: PathBuf, read: Mutex<Option<Read>> },
}

/// What was read, and of which state of the files.
pub(crate) struct Read {
    rules: Arc<Rules>,
    stamp: Vec<(PathBuf, Option<SystemTime>, u64)>,
    checked: Instant,
}

impl Source {
    pub(crate) fn files(dir: PathBuf) -> Self {
        Self::Files { dir, read: Mutex::new(None) }
    }

    /// `.querent/`, if the rules come from there.
    pub(crate) fn dir(&self) -> Option<&Path> {
        match self {
            Self::Fixed(_) => None,
            Self::Files { dir, .. } => Some(dir),
        }
    }

    pub(crate) fn rules(&self) -> Result<Arc<Rules>, Refusal> {
        let (dir, read) = match self {
            Self::Fixed(rules) => return Ok(Arc::clone(rules)),
            Self::Files { dir, read } => (dir, read),
        };
        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = read.as_ref().filter(|read| read.checked.elapsed() < FRESH) {
            return Ok(Arc::clone(&read.rules));
        }
        let mut paths = config::workflow_files(dir)?;
        paths.push(dir.join("config.toml"));
        let stamp: Vec<_> = paths
            .into_iter()
            .map(|path| match fs::metadata(&path) {
                Ok(it) => (path, it.modified().ok(), it.len()),
                Err(_) => (path, None, 0),
            })
            .collect();
        if let Some(read) = read.as_mut().filter(|read| read.stamp == stamp) {
            read.checked = Instant::now();
            return Ok(Arc::clone(&read.rules));
        }
        let rules = Arc::new(config::load(dir)?);
        *read = Some(Read { rules: Arc::clone(&rules), stamp, checked: Instant::now() });
        Ok(rules)
    }
}
