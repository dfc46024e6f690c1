//! Waiting for an answer inside a call: below the client's own limit, with signs of life, and woken by whoever answers.

use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use querent_core::{Item, Question, QuestionId, Status};
use rmcp::model::ProgressNotificationParam;
use serde_json::Value;
use tokio::task::yield_now;
use tokio::time::{Instant, interval_at};

use super::call::{Call, cancelled};
use super::elicitation::{self, Offer};
use super::outcome::{Halt, Said};
use super::tasks;

/// The longest wait of one call: clients end theirs after 60 seconds.
pub(crate) const MOST_SECONDS: u32 = 50;
/// How often a waiting call shows that it lives.
const PROGRESS: Duration = Duration::from_secs(5);

/// How long a call waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience(Duration);

impl Patience {
    /// So many seconds, or the tool's own; never more than a client's limit allows.
    pub(crate) fn of(seconds: Option<u64>, without: u64) -> Self {
        Self(Duration::from_secs(seconds.unwrap_or(without).min(MOST_SECONDS.into())))
    }
}

/// A question and its item as they are found.
pub(crate) type Found = (Arc<Question>, Arc<Item>);

/// Waits until the question is settled or patience ends, and finds it as it is then. A call that is cancelled leaves it open.
pub(crate) async fn wait(call: &Call, id: &QuestionId, patience: Patience) -> Result<Found, Halt> {
    // Thousands may wait: what a wait may need besides is in a box of its own, so that waiting is small.
    if call.request_state.is_some() {
        Box::pin(elicitation::take(call, id)).await?;
    }
    let (question, item) = call.question(id)?;
    if patience.0.is_zero() || !question.status.is_open() {
        return Ok((question, item));
    }
    if let Some(created) = tasks::begun(call, &question) {
        return Err(tasks::instead(created));
    }
    if let Some(form) = elicitation::required(call, &question)? {
        return Err(Halt::Other(Box::new(form.into())));
    }
    let mut offer = Box::pin(Offer::make(call, &question)).await;
    // They can be read again.
    drop((question, item));
    let outcome = until_settled(call, id, patience, &mut offer).await;
    if let Some(offer) = offer {
        Box::pin(offer.withdraw()).await;
    }
    outcome
}

async fn until_settled(
    call: &Call,
    id: &QuestionId,
    patience: Patience,
    offer: &mut Option<Offer>,
) -> Result<Found, Halt> {
    let hub = call.server.hub();
    // A client that wants to know which question it waits for is told first.
    let mut settled = pin!(async {
        yield_now().await;
        hub.await_question(id, Some(patience.0)).await
    });
    let mut alive = pin!(show_life(call, id, patience));
    loop {
        tokio::select! {
            found = &mut settled => return Ok(found?),
            () = call.context.ct.cancelled() => return Err(cancelled()),
            never = &mut alive => match never {},
            said = Offer::said(offer) => {
                *offer = None;
                Box::pin(elicitation::heard(call, id, said)).await?;
            }
        }
    }
}

/// Tells a client that asked for it what it waits for, and for how long already: at once, so that whoever asks and waits in one call
/// knows the question by its id, and again and again. Some clients take it for life.
async fn show_life(call: &Call, id: &QuestionId, patience: Patience) -> Infallible {
    let Some(token) = call.context.meta.get_progress_token() else { return pending().await };
    let start = Instant::now();
    let mut tick = interval_at(start + PROGRESS, PROGRESS);
    loop {
        let turn = call.server.turn().await;
        let param = ProgressNotificationParam::new(token.clone(), start.elapsed().as_secs_f64().round())
            .with_total(patience.0.as_secs_f64())
            .with_message(format!("{id} waits for its answer"));
        // A client that is gone will not miss it.
        let _ = Box::pin(call.context.peer.notify_progress(param)).await;
        drop(turn);
        tick.tick().await;
    }
}

/// What to do about a question that is still open.
pub(crate) fn next(question: &Question) -> Option<String> {
    let id = &question.id;
    question.status.is_open().then(|| {
        if question.blocking {
            format!("call await_answer with question_id {id}; do not guess meanwhile")
        } else {
            format!("go on with your work; call await_answer with question_id {id} when you need the answer")
        }
    })
}

/// Adds what to do next while the question is open.
pub(crate) fn told(question: &Question, said: Said) -> Said {
    match next(question) {
        Some(next) => said.with("next", next),
        None => said,
    }
}

/// A question's state in words for a model.
pub(crate) fn words(question: &Question) -> String {
    let id = &question.id;
    let state = match (&question.answer, question.status) {
        (Some(answer), _) => {
            let (from, by) = (answer.provenance, &answer.by);
            // A person reads the label of an option, a program its id.
            let value = match &answer.value {
                Value::String(value) if *value != answer.text => format!(" ({value})"),
                _ => String::new(),
            };
            let note = answer.note.as_ref().map(|note| format!("\n{note}")).unwrap_or_default();
            format!("{id} is {}. The answer of {by} ({from}): {}{value}{note}", question.status, answer.text)
        }
        (None, Status::Expired) => format!("{id} expired without an answer."),
        (None, Status::Withdrawn) => format!("{id} was withdrawn."),
        (None, status) => format!("{id} is {status}; {} has not answered yet.", question.to),
    };
    match next(question) {
        Some(next) => format!("{state}\nNext: {next}."),
        None => state,
    }
}
