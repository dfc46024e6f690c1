//! Where time comes from.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use querent_core::{Moment, Span};

/// Tells the time. The core never asks; the hub does, once for each update.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Moment;
}

/// The system's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Moment::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A clock that stands still until it is moved: for tests.
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows `moment`.
    pub fn new(moment: Moment) -> Self {
        Self(AtomicI64::new(moment.millis()))
    }

    /// Lets `span` pass.
    pub fn pass(&self, span: Span) {
        self.0.fetch_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        Moment::from_millis(self.0.load(Ordering::SeqCst))
    }
}
