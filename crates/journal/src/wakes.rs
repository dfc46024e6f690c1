//! Those who wait for a change.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::{Wake, Watch};

/// Whom to wake, as long as they watch.
#[derive(Default)]
pub(crate) struct Wakes(Mutex<Vec<Weak<dyn Fn() + Send + Sync>>>);

impl Wakes {
    /// Wakes this one too, until its watch is dropped.
    pub(crate) fn add(&self, wake: Wake) -> Watch {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&wake));
        Watch::held_by(wake)
    }

    /// Something changed.
    pub(crate) fn wake(&self) {
        let wakes: Vec<Wake> = {
            let mut wakes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            wakes.retain(|wake| wake.strong_count() > 0);
            wakes.iter().filter_map(Weak::upgrade).collect()
        };
        for wake in wakes {
            wake();
        }
    }
}
