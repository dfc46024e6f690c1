//! What a turn needs of the world beside the server: variables, the time, and pauses. Tests hand in their own.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use querent_core::Moment;

/// A pause that has begun.
pub(crate) type Pause = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Looks a variable of the environment up.
pub(crate) type Variable = dyn Fn(&str) -> Option<String> + Send + Sync;

/// What a turn needs of the world beside the server.
#[derive(Clone)]
pub(crate) struct World {
    /// A variable of the environment.
    pub(crate) variable: Arc<Variable>,
    /// The time.
    pub(crate) now: Arc<dyn Fn() -> Moment + Send + Sync>,
    /// Lets time pass.
    pub(crate) pause: Arc<dyn Fn(Duration) -> Pause + Send + Sync>,
}

impl World {
    /// The world as it is.
    pub(crate) fn real() -> Self {
        Self {
            variable: Arc::new(|name| std::env::var(name).ok()),
            now: Arc::new(|| {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                Moment::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }),
            pause: Arc::new(|delay| Box::pin(tokio::time::sleep(delay))),
        }
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("World")
    }
}
