//! Tells clients what changed: earlier eras by URI, the era without sessions on the stream that it listens to.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use querent_core::{Record, Refusal};
use querent_hub::Subscription;
use rmcp::ErrorData;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};

use super::resources;
use super::server::{Server, lock};

/// What a client wants to be told.
#[derive(Default)]
pub(crate) struct Watched {
    /// Resources, in an earlier era.
    uris: Mutex<BTreeSet<String>>,
    is_followed: AtomicBool,
    /// Streams that are promised and not listened to yet, in the era without sessions.
    promised: Mutex<VecDeque<Subscription>>,
}

impl Watched {
    pub(crate) fn add(&self, uri: String) {
        lock(&self.uris).insert(uri);
    }

    pub(crate) fn remove(&self, uri: &str) {
        lock(&self.uris).remove(uri);
    }

    fn has(&self, uri: &str) -> bool {
        lock(&self.uris).contains(uri)
    }
}

/// Follows the log for a client that has shown an interest in resources, once.
pub(crate) fn follow(server: &Server, peer: &Peer<RoleServer>) -> Result<(), Refusal> {
    if server.watched().is_followed.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let mut log = server.hub().subscribe_from_now()?;
    let (server, peer) = (server.clone(), peer.clone());
    tokio::spawn(async move {
        // A client that is gone, or a log that cannot be read, ends it; reading again still shows what is.
        while let Ok(record) = log.next().await {
            if peer.is_transport_closed() || tell(&server, &peer, &record).await.is_err() {
                break;
            }
        }
    });
    Ok(())
}

async fn tell(server: &Server, peer: &Peer<RoleServer>, record: &Record) -> Result<(), rmcp::ServiceError> {
    for uri in resources::changed_by(record) {
        if server.watched().has(&uri) {
            peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
        }
    }
    if resources::changes_the_list(record) {
        peer.notify_resource_list_changed().await?;
    }
    Ok(())
}

/// What of a wish to be told can be granted. From here on nothing is missed: the client hears of the promise before it listens.
pub(crate) fn granted(server: &Server, requested: &SubscriptionFilter) -> SubscriptionFilter {
    // What fails here is told when it listens.
    lock(&server.watched().promised).extend(server.hub().subscribe_from_now());
    let mut granted = requested.clone();
    (granted.tools_list_changed, granted.prompts_list_changed) = (None, None);
    if let Some(uris) = &mut granted.resource_subscriptions {
        uris.retain(|uri| resources::is_known(uri));
    }
    granted
}

/// Tells a client of the era without sessions, until it listens no longer.
pub(crate) async fn listen(server: &Server, context: SubscriptionContext) -> Result<(), ErrorData> {
    let promised = lock(&server.watched().promised).pop_front();
    let mut log = promised
        .map_or_else(|| server.hub().subscribe_from_now(), Ok)
        .map_err(|refusal| ErrorData::internal_error(refusal.message, None))?;
    let accepted = context.accepted().clone();
    let uris: BTreeSet<String> = accepted.resource_subscriptions.unwrap_or_default().into_iter().collect();
    loop {
        let record = tokio::select! {
            record = log.next() => record.map_err(|refusal| ErrorData::internal_error(refusal.message, None))?,
            () = context.cancelled() => return Ok(()),
        };
        for uri in resources::changed_by(&record).intersection(&uris) {
            if context.sink().notify_resource_updated(uri.clone()).await.is_err() {
                return Ok(());
            }
        }
        let lists = accepted.resources_list_changed == Some(true) && resources::changes_the_list(&record);
        if lists && context.sink().notify_resource_list_changed().await.is_err() {
            return Ok(());
        }
    }
}
