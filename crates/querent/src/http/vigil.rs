//! Staying awake for a moment after a reply: who was answered often asks on at once, and to fall asleep and be woken takes as
//! long as the work for many a request.

use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use querent_hub::Handle;
use tokio::sync::Notify;
use tokio::task::yield_now;

/// How long.
const AWAKE: Duration = Duration::from_micros(200);

/// Keeps the server awake after each reply.
#[derive(Default)]
pub(super) struct Vigil(Notify);

impl Vigil {
    /// There is a reply.
    pub(super) fn replied(&self) {
        self.0.notify_one();
    }

    /// Keeps the vigil, until it is dropped. While commands are carried out, the processor is left to them; where there is but one, it
    /// is always left to those who ask.
    pub(super) async fn keep(&self, hub: &Handle) {
        if available_parallelism().is_ok_and(|processors| processors.get() == 1) {
            return;
        }
        loop {
            self.0.notified().await;
            let replied = Instant::now();
            while replied.elapsed() < AWAKE && !hub.is_busy() {
                yield_now().await;
            }
        }
    }
}
