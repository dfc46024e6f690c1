//! Notifications: people hear of what waits for them, through the channels that the config names.
//!
//! What is owed follows from the state; sending it is claimed and ended in the journal, so a crash loses nothing, and two
//! servers on one project send each notification once.

mod agenda;
mod alarm;
mod channels;
pub(crate) mod check;
mod client;
mod courier;
mod desktop;
mod links;
mod listener;
mod message;
mod ntfy;
mod query;
mod slack;
mod telegram;
mod text;
mod webhook;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use querent_core::{Channel, ChannelKind, Moment};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::handle::Handle;

pub use links::{Link, Links};
pub use query::{Deliveries, Tested};

/// How soon an edit of the config is noticed.
const EDITED: Duration = Duration::from_secs(1);

impl Handle {
    /// Notifies people until `stop`. `base` is where they reach the server, for links, unless the config says otherwise.
    pub async fn notify(self, base: String, links: Links, stop: impl Future<Output = ()>) {
        tokio::select! {
            () = self.keep_notifying(base, links) => {}
            () = stop => {}
        }
    }

    /// One courier for each channel, so that one that is slow keeps no other from being heard. They end with this future.
    async fn keep_notifying(self, base: String, links: Links) {
        let (mut couriers, mut known) = (JoinSet::new(), None);
        loop {
            if let Ok(rules) = self.rules() {
                let public = rules.config.serve.public_url.as_ref().unwrap_or(&base).trim_end_matches('/').to_owned();
                let wanted = (public, rules.config.notify.clone());
                if known.as_ref() != Some(&wanted) {
                    couriers.shutdown().await;
                    self.start(&mut couriers, &Arc::from(wanted.0.as_str()), &wanted.1, &links);
                    known = Some(wanted);
                }
            }
            sleep(EDITED).await;
        }
    }

    fn start(&self, couriers: &mut JoinSet<()>, base: &Arc<str>, channels: &[Channel], links: &Links) {
        for channel in channels {
            let courier = courier::Courier::new(self.clone(), channel.clone(), Arc::clone(base), links.clone());
            couriers.spawn(courier.clone().run());
            if channel.kind == ChannelKind::Telegram {
                couriers.spawn(listener::run(courier));
            }
        }
    }
}

/// How many seconds the clock of this machine is ahead of UTC then.
pub(crate) fn east(at: Moment) -> i32 {
    let then = jiff::Timestamp::from_millisecond(at.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    jiff::tz::TimeZone::system().to_offset(then).seconds()
}
