//! One call: who makes it, what it says, and through which hub.

use axum::http::HeaderMap;
use axum::http::header::{HeaderName, IF_MATCH};
use querent_core::{
    Action, AgentName, Code, Command, Envelope, ItemId, OperationId, Party, ProjectPath, Refusal, SharedAction,
    SharedCommand, Span, Via,
};
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::reply::Said;
use super::{Route, Run, Verb, parts};
use crate::http::Site;
use crate::http::who::Who;

/// The header that makes a call happen once.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A call of a route.
pub(super) struct Call {
    pub(super) site: Site,
    pub(super) who: Who,
    /// What was said in the path, the query and the body.
    given: Map<String, Value>,
    /// The id that makes it happen once.
    pub(super) operation: Option<OperationId>,
    /// The version of the item that the caller has seen.
    version: Option<u64>,
    /// Whether the caller wants what there is before the rest.
    pub(super) in_parts: bool,
}

/// A party that a caller names. Nobody calls itself `querent`.
#[derive(Debug, PartialEq)]
pub(super) struct Named(pub(super) Party);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map(Self).map_err(D::Error::custom)
    }
}

impl Call {
    pub(super) fn new(
        route: &Route,
        site: &Site,
        who: Who,
        given: Map<String, Value>,
        headers: &HeaderMap,
    ) -> Result<Self, Refusal> {
        let operation = header(headers, &IDEMPOTENCY_KEY)?.filter(|_| route.verb == Verb::Post);
        let operation = operation.map(|key| {
            let hint = "Idempotency-Key is 1 to 200 visible characters without spaces";
            key.parse().map_err(|_| Refusal::invalid("Idempotency-Key", "the Idempotency-Key is malformed", hint))
        });
        let version = match header(headers, &IF_MATCH)? {
            // An empty one says nothing.
            Some(tag) if route.verb == Verb::Post && !tag.is_empty() => version(route, tag)?,
            _ => None,
        };
        let in_parts = matches!(route.run, Run::Parts(_)) && parts::are_wanted(headers);
        Ok(Self { site: site.clone(), who, given, operation: operation.transpose()?, version, in_parts })
    }

    /// What was said, in the shape that the route takes.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        self.read_without(&[])
    }

    /// The same without the fields that were taken out before.
    pub(super) fn read_without<T: DeserializeOwned>(&self, taken: &[&str]) -> Result<T, Refusal> {
        let given = || {
            let given = self.given.iter().filter(|(name, _)| !taken.contains(&name.as_str()));
            MapDeserializer::<_, serde_json::Error>::new(given.map(|(name, value)| (name.as_str(), value)))
        };
        // Where it is that something does not fit is found out when something does not.
        T::deserialize(given()).or_else(|_| serde_path_to_error::deserialize(given())).map_err(|error| {
            let place = error.path().to_string();
            let message: String = format!("`{place}` does not fit: {}", error.inner()).chars().take(2_000).collect();
            Refusal::invalid(&place, message, "see the schema of the request in /openapi.json")
        })
    }

    /// In whose name it speaks.
    pub(super) fn speaks(&self, named: Option<Named>) -> Result<Party, Refusal> {
        self.who.speaks(named.map(|named| named.0))
    }

    /// The agent that is looked at: the named one, else the bearer of the token.
    pub(super) fn agent(&self, named: Option<AgentName>) -> Result<AgentName, Refusal> {
        named
            .or_else(|| self.who.agent().cloned())
            .ok_or_else(|| Refusal::invalid("agent", "no agent is named", "name a declared agent: agent=engineer"))
    }

    /// The item that is meant: the named one, else the only one that has not ended.
    pub(super) fn item(&self, named: Option<ItemId>) -> Result<ItemId, Refusal> {
        named.map_or_else(|| self.site.hub.only_item(), Ok)
    }

    /// The files that are meant, from the project's root.
    pub(super) fn path(&self, given: &str) -> Result<ProjectPath, Refusal> {
        self.site.project.path(self.site.project.root(), given)
    }

    /// A command on an item.
    pub(super) fn command(item: ItemId, by: Party, action: Action) -> Command {
        Command { item, by, via: Via::Http, action }
    }

    /// Carries out a command, without a thread that waits for the disk.
    pub(super) async fn tell(&self, command: Command) -> Envelope {
        self.site.hub.execute_later(command, self.version, self.operation.clone()).await
    }

    /// Carries out a command on an item, where it may block.
    pub(super) fn execute(&self, item: ItemId, by: Party, action: Action) -> Said {
        self.envelope(item, by, action).into()
    }

    /// The same, for a route that has more to do with the reply.
    pub(super) fn envelope(&self, item: ItemId, by: Party, action: Action) -> Envelope {
        let command = Self::command(item, by, action);
        self.site.hub.execute_at(&command, self.version, self.operation.clone())
    }

    /// Carries out a command that is about what all items share.
    pub(super) fn execute_shared(&self, by: Party, action: SharedAction) -> Said {
        let command = SharedCommand { by, via: Via::Http, action };
        self.site.hub.execute_shared(&command, self.operation.clone()).into()
    }
}

/// How long a call waits at most, and where it says nothing.
pub(super) const MOST_SECONDS: u64 = 300;

/// How long a call waits.
pub(super) fn patience(span: Span) -> std::time::Duration {
    std::time::Duration::from_millis(span.as_millis().min(MOST_SECONDS * 1_000))
}

/// Runs what waits for the disk where it may block.
pub(crate) async fn on_thread<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(job).await.unwrap_or_else(|error| {
        let message = format!("the call broke off: {error}");
        Err(Refusal::new(Code::StorageError, message, "try again; if it happens again, run querent doctor"))
    })
}

/// A header that may stand there once.
fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    let text = first.map(|value| value.to_str()).transpose();
    match (text, second) {
        (Ok(text), None) => Ok(text),
        _ => Err(Refusal::invalid(
            name.as_str(),
            format!("the header {name} is there twice or is no text"),
            "send it once",
        )),
    }
}

/// The version that `If-Match` names; none if any will do.
fn version(route: &Route, tag: &str) -> Result<Option<u64>, Refusal> {
    let refused =
        |message: &str| Err(Refusal::invalid("If-Match", message, "send the ETag of the last GET, like \"7\""));
    if !route.versioned {
        return refused("this route has no version to match");
    }
    let tag = tag.trim();
    if tag == "*" {
        return Ok(None);
    }
    let inner = tag.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).and_then(|inner| inner.parse().ok());
    inner.map_or_else(|| refused("If-Match is not one ETag of this server"), |version| Ok(Some(version)))
}
