//! Alerts, through the channels that carry their severity. That people are told is recorded before they are: an alert is said
//! at most once through each channel, and stands in `querent alerts` in any case.

use std::sync::Arc;

use querent_core::{Alert, Moment, Party, Refusal, SharedAction, SharedCommand, Via};
use querent_journal::Update;

use super::courier::{Courier, blocking};
use super::message::Letter;
use super::{channels, east};
use crate::handle::Handle;
use crate::jobs::CarryShared;

impl Courier {
    /// Tells people of what they have not seen. Says when it may, if these are quiet hours.
    pub(crate) async fn tell_alerts(&self) -> Result<Option<Moment>, Refusal> {
        if self.channel.severities.is_empty() {
            return Ok(None);
        }
        let hub = self.hub.clone();
        let name = self.channel.name();
        let is_news = |it: &Alert| {
            let carried = self.channel.severities.contains(&it.alarm.severity);
            carried && !it.acknowledged && !it.told.contains(&name)
        };
        let mut news = blocking(move || hub.alerts()).await?;
        news.retain(is_news);
        for alert in news {
            let now = self.hub.now();
            let at = self.channel.earliest(alert.created_at, true, now, east(now));
            if at > now {
                return Ok(Some(at));
            }
            let (hub, id, channel) = (self.hub.clone(), alert.id, name.clone());
            let action = SharedAction::Tell { alert: id, channel };
            if blocking(move || hub.own_shared_deed(action)).await? {
                let letter = Letter::Alert(Box::new(alert));
                drop(channels::send(&self.channel, self.hub.root().as_deref(), &letter, now).await);
            }
        }
        Ok(None)
    }
}

impl Handle {
    /// Something about what all items share that Querent itself does, if it is so still. Says whether it was.
    fn own_shared_deed(&self, action: SharedAction) -> Result<bool, Refusal> {
        let command = SharedCommand { by: Party::Querent, via: Via::Querent, action };
        let (rules, clock) = (self.rules()?, Arc::clone(&self.inner.clock));
        let stream = command.stream().into();
        let job = Box::new(CarryShared { command, ticket: None, rules, clock });
        let reply = self.inner.journal.update(Update { stream, ticket: None, job })?;
        Ok(reply.read::<serde_json::Value>().is_ok())
    }
}
