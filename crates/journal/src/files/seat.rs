//! Where a thread waits until another one tells it what to do. A channel would do; this one costs no call of the system where
//! nobody waits, and whoever waits does nothing else.

use std::sync::{Arc, Condvar, Mutex};

use super::commit::hold;

/// The end at which one waits.
pub(crate) struct Seat<T>(Arc<Place<T>>);

/// The end at which one is told.
pub(crate) struct Bell<T>(Arc<Place<T>>);

struct Place<T> {
    now: Mutex<Now<T>>,
    rung: Condvar,
}

struct Now<T> {
    told: Option<T>,
    is_waiting: bool,
    is_over: bool,
}

/// A seat, and its bell.
pub(crate) fn seat<T>() -> (Bell<T>, Seat<T>) {
    let now = Mutex::new(Now { told: None, is_waiting: false, is_over: false });
    let place = Arc::new(Place { now, rung: Condvar::new() });
    (Bell(Arc::clone(&place)), Seat(place))
}

impl<T> Bell<T> {
    /// Tells it to whoever waits, or will.
    pub(crate) fn tell(&self, what: T) {
        self.change(|now| now.told = Some(what));
    }

    fn change(&self, change: impl FnOnce(&mut Now<T>)) {
        let mut now = hold(&self.0.now);
        change(&mut now);
        let is_waiting = std::mem::take(&mut now.is_waiting);
        drop(now);
        if is_waiting {
            self.0.rung.notify_one();
        }
    }
}

impl<T> Drop for Bell<T> {
    fn drop(&mut self) {
        self.change(|now| now.is_over = true);
    }
}

impl<T> Seat<T> {
    /// Waits for the next word; none if there will be no more.
    pub(crate) fn wait(&self) -> Option<T> {
        let mut now = hold(&self.0.now);
        loop {
            if now.told.is_some() || now.is_over {
                return now.told.take();
            }
            now.is_waiting = true;
            now = self.0.rung.wait(now).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn every_word_arrives_and_then_the_end() {
        let (bell, seat) = seat();
        let waits = thread::spawn(move || [seat.wait(), seat.wait(), seat.wait()]);
        bell.tell(1);
        // One word at a time: the next comes when the last was taken.
        while hold(&bell.0.now).told.is_some() {
            thread::yield_now();
        }
        bell.tell(2);
        drop(bell);

        assert_eq!(waits.join().unwrap(), [Some(1), Some(2), None]);
    }
}
