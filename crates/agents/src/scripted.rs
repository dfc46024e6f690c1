//! Provider `scripted`: replies from a file, for demonstrations and tests.
//!
//! A script is a list. The first entry whose `when` fits the turn is played; nothing is kept between turns, so the same turn
//! always gets the same reply.

mod file;

use std::path::Path;
use std::time::Duration;

use querent_core::{ProgramHandle, ProviderConfig};
use serde_json::Value;

use crate::normalise;
use crate::order::{Order, Purpose};
use crate::run::{Failure, FailureKind, Provider, Run, RunEnd};
use crate::signal::Signal;
use file::{Entry, When};

/// A script.
#[derive(Debug)]
pub struct Scripted {
    name: String,
    entries: Vec<Entry>,
    pace: f64,
}

impl Scripted {
    /// Reads a script. Its pauses last `pace` times as long as it says; 0 is none at all.
    pub fn load(path: &Path, pace: f64) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::new(FailureKind::Unavailable, format!("{name} cannot be read: {error}")))?;
        let entries = file::read(&name, &text)?;
        Ok(Self { name, entries, pace: if pace.is_finite() { pace.max(0.0) } else { 1.0 } })
    }

    /// The script of a config, at this pace.
    pub(crate) fn of(config: &ProviderConfig, root: &Path, pace: f64) -> Result<Self, Failure> {
        let script = config.script.as_ref().ok_or_else(|| {
            let message = "the provider names no file of replies: give it a `script`";
            Failure::new(FailureKind::Unavailable, message)
        })?;
        Self::load(&root.join(script), pace)
    }

    fn play(&self, order: &Order) -> Result<Run, Failure> {
        let entry = self.entries.iter().find(|entry| fits(&entry.when, order)).ok_or_else(|| {
            let message = format!("{} has no reply for {}", self.name, described(order));
            Failure::new(FailureKind::Unavailable, message)
        })?;
        let places = Places::of(order);
        let signals = entry.emit.iter().flat_map(|said| normalise::value(places.fill(said))).collect();
        let pause = entry.after.map_or(0, querent_core::Span::as_millis);
        let pause = Duration::try_from_secs_f64(Duration::from_millis(pause).as_secs_f64() * self.pace);
        let part = Part {
            pause: pause.unwrap_or_default(),
            signals,
            fail: entry.fail.as_deref().map(|why| places.fill_text(why)),
            hang: entry.hang,
        };
        Ok(Run::new(None, |end| part.act(end)))
    }
}

impl Provider for Scripted {
    fn start(&self, order: Order) -> Result<Run, Failure> {
        self.play(&order)
    }

    fn resume(&self, order: Order, _handle: &ProgramHandle) -> Result<Run, Failure> {
        self.play(&order)
    }
}

/// What is done in one turn.
struct Part {
    pause: Duration,
    signals: Vec<Signal>,
    fail: Option<String>,
    hang: bool,
}

impl Part {
    async fn act(self, end: RunEnd) -> Result<(), Failure> {
        let RunEnd { gate, signals, mut cancelled } = end;
        let act = async move {
            if gate.await.is_err() {
                return Err(stopped());
            }
            if !self.pause.is_zero() {
                tokio::time::sleep(self.pause).await;
            }
            for signal in self.signals {
                // Whoever wants to know only the end has let the rest go.
                let _ = signals.send(signal).await;
            }
            if self.hang {
                std::future::pending::<()>().await;
            }
            self.fail.map_or(Ok(()), |why| Err(Failure::new(FailureKind::Exited, why)))
        };
        tokio::select! {
            biased;
            _ = cancelled.wait_for(|stop| *stop) => Err(stopped()),
            ended = act => ended,
        }
    }
}

fn stopped() -> Failure {
    Failure::new(FailureKind::Cancelled, "the script was stopped")
}

/// Whether the entry is for this turn. What it does not name, it does not mind.
fn fits(when: &When, order: &Order) -> bool {
    let same = |wanted: &Option<String>, given: Option<&str>| wanted.as_deref().is_none_or(|it| given == Some(it));
    let (step, event) = match &order.purpose {
        Purpose::Step(step) => (Some(step.as_str()), None),
        Purpose::Event(event) => (None, Some(event.as_str())),
        Purpose::Answer { .. } => (None, None),
    };
    let asked = match &order.purpose {
        Purpose::Answer { question, topic, round } => Some((question.to_string(), topic, *round)),
        Purpose::Step(_) | Purpose::Event(_) => None,
    };
    let is_asked =
        |part: &String| asked.as_ref().is_some_and(|(id, topic, _)| topic.contains(part) || id.contains(part));
    same(&when.agent, Some(order.agent.as_str()))
        && same(&when.item, Some(order.item.as_str()))
        && same(&when.step, step)
        && same(&when.event, event)
        && when.question.as_ref().is_none_or(is_asked)
        && when.turn.is_none_or(|turn| turn == order.turn)
        && when.round.is_none_or(|round| asked.as_ref().is_some_and(|(_, _, at)| *at == round))
}

fn described(order: &Order) -> String {
    let (agent, item, turn) = (&order.agent, &order.item, order.turn);
    match &order.purpose {
        Purpose::Step(step) => format!("{agent} in step {step} of {item}, turn {turn}"),
        Purpose::Answer { question, topic, round } => format!("{agent}, asked {question} ({topic}) in round {round}"),
        Purpose::Event(event) => format!("{agent} on {event} of {item}, turn {turn}"),
    }
}

/// What is filled into the texts of a script.
struct Places([(&'static str, String); 3]);

impl Places {
    fn of(order: &Order) -> Self {
        let (item, agent) = (order.item.to_string(), order.agent.to_string());
        Self([("{item}", item), ("{agent}", agent), ("{turn}", order.turn.to_string())])
    }

    /// Some turn, to see whether a script makes sense.
    fn example() -> Self {
        Self([("{item}", "42".to_owned()), ("{agent}", "engineer".to_owned()), ("{turn}", "1".to_owned())])
    }

    fn fill_text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (place, value)| text.replace(place, value))
    }

    fn fill(&self, said: &Value) -> Value {
        match said {
            Value::String(text) => self.fill_text(text).into(),
            Value::Array(all) => all.iter().map(|one| self.fill(one)).collect(),
            Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), self.fill(value))).collect(),
            other => other.clone(),
        }
    }
}

#[cfg(test)]
#[path = "scripted_tests.rs"]
mod tests;
