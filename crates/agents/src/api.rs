//! A turn by way of a model's API: one request, whose reply is read as it comes, and made again where that may help.
//!
//! What the vendors have in common is here; what each says in its own way is a [`Vendor`], as data and pure functions. A
//! model that is reached so has no tools and no session: it is told everything, and its text is all that comes of the turn.

mod world;

#[cfg(test)]
mod stub;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use querent_core::{ProgramHandle, ProviderConfig};
use serde_json::Value;
use tokio::sync::mpsc::Sender;

pub(crate) use self::world::World;
use crate::http::{self, Address, Reply, Request};
use crate::normalise::final_text;
use crate::order::Order;
use crate::retry::{self, Trouble};
use crate::run::{Failure, FailureKind, Provider, Run, RunEnd};
use crate::signal::{Signal, Usage};
use crate::sse::Parser;

/// The most that is read of a refusal.
const REFUSAL: usize = 64 << 10;

/// The most characters of a server's own words that are passed on.
const WORDS: usize = 300;

/// What sets one vendor's API apart.
pub(crate) struct Vendor {
    /// Where it is reached, unless the config says otherwise.
    pub(crate) address: &'static str,
    /// The path of the call.
    pub(crate) path: &'static str,
    /// The variable that holds the key, unless the config says otherwise.
    pub(crate) key_env: &'static str,
    /// The headers, from the key.
    pub(crate) headers: fn(&str) -> Vec<(&'static str, String)>,
    /// The body.
    pub(crate) body: fn(&Model, &Order) -> Value,
    /// Begins to read a reply.
    pub(crate) reading: fn() -> Box<dyn Reading>,
}

/// Which model, and how much it may say.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) max_tokens: Option<u32>,
}

/// Reads the events of a reply, one after the other. Pure.
pub(crate) trait Reading: Send {
    /// What the data of the next event means.
    fn read(&mut self, data: &str) -> Heard;
}

/// What an event means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// More of the text.
    pub(crate) text: String,
    /// What the reply cost so far, if that is said.
    pub(crate) usage: Option<Usage>,
    /// The reply is over: whole, or for a fault.
    pub(crate) end: Option<Result<(), Fault>>,
}

impl Heard {
    /// The reply is over for a fault.
    pub(crate) fn fault(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { end: Some(Err(Fault { kind, message: message.into(), status: None })), ..Self::default() }
    }
}

/// Why a reply is not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FailureKind,
    /// May hold the server's own words.
    pub(crate) message: String,
    /// The HTTP status that says the same, where there is one.
    pub(crate) status: Option<u16>,
}

/// What the model is told before anything else.
pub(crate) fn system(order: &Order) -> String {
    format!(
        "You are the agent `{}` of a team that Querent runs. You have no tools and see no files: all that you know of the \
         work is in the message, and your reply is all that comes of it.",
        order.agent
    )
}

/// A model that is reached through a vendor's API.
pub(crate) struct Api {
    vendor: &'static Vendor,
    model: Model,
    address: Address,
    /// What must not be repeated of the address: all before the vendor's own path, and its own path if it has one.
    secrets: Vec<String>,
    key_env: String,
    max_output: u64,
    world: World,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("model", &self.model).field("address", &self.address).finish_non_exhaustive()
    }
}

impl Api {
    /// The model that the config names, at this vendor's.
    pub(crate) fn new(vendor: &'static Vendor, config: &ProviderConfig, world: World) -> Result<Self, Failure> {
        let unavailable = |message: &str| Failure::new(FailureKind::Unavailable, message);
        let name = config.model.clone().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| unavailable("the provider names no `model`"))?;
        let base = config.base_url.as_deref().unwrap_or(vendor.address);
        // Some write the version into the base, as some libraries want it.
        let base = base.trim_end_matches('/');
        let base = base.strip_suffix("/v1").unwrap_or(base).to_owned();
        let address = Some(format!("{base}{}", vendor.path)).filter(|_| !base.contains(['?', '#']));
        let address = address.and_then(|address| Address::new(&address));
        let address =
            address.ok_or_else(|| unavailable("the provider's `base_url` is no address like https://host/path"))?;
        let path = address.path().strip_suffix(vendor.path).filter(|path| !path.is_empty()).map(str::to_owned);
        Ok(Self {
            vendor,
            model: Model { name, max_tokens: config.max_tokens },
            address,
            secrets: [base].into_iter().chain(path).collect(),
            key_env: config.api_key_env.clone().unwrap_or_else(|| vendor.key_env.to_owned()),
            max_output: config.max_output,
            world,
        })
    }
}

impl Provider for Api {
    fn start(&self, order: Order) -> Result<Run, Failure> {
        let key = (self.world.variable)(&self.key_env).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let missing = || Failure::new(FailureKind::Unavailable, format!("the variable {} holds no key", self.key_env));
        let key = key.ok_or_else(missing)?;
        let turn = Turn {
            request: Request {
                address: self.address.clone(),
                headers: (self.vendor.headers)(&key),
                body: (self.vendor.body)(&self.model, &order).to_string(),
            },
            reading: self.vendor.reading,
            secrets: [vec![key], self.secrets.clone()].concat(),
            max_output: self.max_output,
            world: self.world.clone(),
        };
        Ok(Run::new(None, |end| turn.drive(end)))
    }

    /// There is no session to go on with: the order tells everything again.
    fn resume(&self, order: Order, _: &ProgramHandle) -> Result<Run, Failure> {
        self.start(order)
    }
}

/// One turn, ready to be made.
struct Turn {
    request: Request,
    reading: fn() -> Box<dyn Reading>,
    secrets: Vec<String>,
    max_output: u64,
    world: World,
}

/// An attempt that came to nothing.
struct Lost {
    failure: Failure,
    /// What may be tried again.
    trouble: Option<Trouble>,
    retry_after: Option<Duration>,
}

impl Lost {
    fn new(kind: FailureKind, message: String, trouble: Option<Trouble>) -> Self {
        Self { failure: Failure::new(kind, message), trouble, retry_after: None }
    }
}

impl Turn {
    async fn drive(self, end: RunEnd) -> Result<(), Failure> {
        let RunEnd { gate, signals, mut cancelled } = end;
        let made = async {
            match gate.await {
                Ok(()) => self.attempts(&signals).await,
                Err(_) => Err(stopped()),
            }
        };
        tokio::select! {
            biased;
            // One whose holder is gone is to stop as well. The attempt is dropped, and its connection with it.
            _ = cancelled.wait_for(|stop| *stop) => Err(stopped()),
            made = made => made,
        }
    }

    async fn attempts(&self, signals: &Sender<Signal>) -> Result<(), Failure> {
        let mut left = self.max_output;
        let mut attempt = 1;
        loop {
            let lost = match self.attempt(&mut left, signals).await {
                Ok(text) => {
                    for signal in final_text(&text) {
                        say(signals, signal).await;
                    }
                    return Ok(());
                }
                Err(lost) => lost,
            };
            match lost.trouble.and_then(|trouble| retry::next(attempt, trouble, lost.retry_after)) {
                Some(delay) => (self.world.pause)(delay).await,
                None if attempt == 1 => return Err(lost.failure),
                None => {
                    let message = format!("{}, at attempt {attempt}", lost.failure.message);
                    return Err(Failure::new(lost.failure.kind, message));
                }
            }
            attempt += 1;
        }
    }

    /// Makes the request once; the text of the reply, if it is whole. `left` is how much may still be read in this turn.
    async fn attempt(&self, left: &mut u64, signals: &Sender<Signal>) -> Result<String, Lost> {
        let unreached = |why| Lost::new(FailureKind::Refused, why, Some(Trouble::Connection));
        let mut reply = http::send(self.request.clone()).await.map_err(unreached)?;
        if reply.status != 200 {
            return Err(self.refused(reply).await);
        }
        let mut parser = Parser::new(usize::try_from(self.max_output).unwrap_or(usize::MAX));
        let mut reading = (self.reading)();
        let mut text = String::new();
        let mut is_stream = false;
        loop {
            // What was said already is not paid for again, nor is it certain that it would be said again.
            let trouble = text.is_empty().then_some(Trouble::Connection);
            let lost = |why| Lost::new(FailureKind::Refused, why, trouble);
            let Some(bytes) = reply.chunk().await.map_err(lost)? else {
                return Err(if is_stream {
                    lost(self.says("the reply ended in its middle"))
                } else {
                    self.no_stream()
                });
            };
            *left = left.checked_sub(bytes.len() as u64).ok_or_else(|| self.too_much())?;
            for event in parser.feed(&bytes).map_err(|_| self.too_much())? {
                is_stream = true;
                let heard = reading.read(&event.data);
                text.push_str(&heard.text);
                if let Some(usage) = heard.usage {
                    say(signals, Signal::Usage(usage)).await;
                }
                match heard.end {
                    None => {}
                    Some(Ok(())) => return Ok(text),
                    Some(Err(fault)) => return Err(self.faulty(&fault, text.is_empty())),
                }
            }
        }
    }

    /// The server refused, in its own words if it has any.
    async fn refused(&self, reply: Reply) -> Lost {
        let status = reply.status;
        let wanted = reply.retry_after.as_deref().and_then(|value| retry::retry_after(value, (self.world.now)()));
        let body = reply.beginning(REFUSAL).await;
        let message = match complaint(&body) {
            Some(words) => format!("refused with {status}: {}", self.harmless(&words)),
            None => format!("refused with {status}"),
        };
        let lost = Lost::new(FailureKind::Refused, self.says(&message), Some(Trouble::Status(status)));
        Lost { retry_after: wanted, ..lost }
    }

    fn faulty(&self, fault: &Fault, is_silent: bool) -> Lost {
        let trouble = fault.status.filter(|_| is_silent).map(Trouble::Status);
        Lost::new(fault.kind, self.says(&self.harmless(&fault.message)), trouble)
    }

    fn no_stream(&self) -> Lost {
        Lost::new(FailureKind::Unreadable, self.says("what came back is no stream of events"), None)
    }

    fn too_much(&self) -> Lost {
        let message = format!("the reply is larger than max_output = {}", self.max_output);
        Lost::new(FailureKind::TooMuch, self.says(&message), None)
    }

    fn says(&self, message: &str) -> String {
        format!("{}: {message}", self.request.address.host())
    }

    /// Somebody else's words on one line, of a bounded length, and without what only we should know.
    fn harmless(&self, words: &str) -> String {
        let mut words = words.to_owned();
        for secret in &self.secrets {
            words = words.replace(secret.as_str(), "***");
        }
        let words: Vec<&str> =
            words.split(|c: char| c.is_whitespace() || c.is_control()).filter(|it| !it.is_empty()).collect();
        words.join(" ").chars().take(WORDS).collect()
    }
}

/// Says something to whoever listens; if nobody does any more, nothing is lost that somebody wants.
async fn say(signals: &Sender<Signal>, signal: Signal) {
    let _ = signals.send(signal).await;
}

fn stopped() -> Failure {
    Failure::new(FailureKind::Cancelled, "the turn was stopped")
}

/// What a refusal says in the form that the vendors, and those who imitate them, have in common.
fn complaint(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let error = body.get("error").unwrap_or(&body);
    error.get("message").or(Some(error)).and_then(Value::as_str).map(str::to_owned)
}
