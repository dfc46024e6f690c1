//! A clock that moves when it is told, also backwards.

use std::sync::atomic::{AtomicI64, Ordering};

use querent_core::Moment;
use querent_hub::Clock;

/// The time of the simulated machine, in milliseconds.
pub(crate) struct SimClock(AtomicI64);

impl SimClock {
    /// Ten in the morning.
    pub(crate) fn new() -> Self {
        Self(AtomicI64::new(1_769_853_600_000))
    }

    pub(crate) fn jump(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for SimClock {
    fn now(&self) -> Moment {
        Moment::from_millis(self.0.load(Ordering::SeqCst))
    }
}
