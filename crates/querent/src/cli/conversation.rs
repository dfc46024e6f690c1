//! Waiting for an answer where one can watch how it comes about: who is called, what is said, how it ends.

use std::time::Duration;

use querent_core::{QuestionId, Refusal};
use querent_hub::{Awaited, Follower, Handle, Team, TeamOptions};

use super::context::Context;
use super::narrator::Narrator;

/// Waits until the question is answered or settled. If an agent is asked that Querent can invoke, and nobody does, it is
/// invoked here. What happens meanwhile is told to people.
pub(crate) async fn until_answered(
    hub: &Handle,
    id: &QuestionId,
    timeout: Duration,
    mut news: Follower,
    context: &Context,
) -> Result<Awaited, Refusal> {
    let call = async {
        // Whoever waits hears of a failure by what becomes of the question.
        let _ = called(hub, id).await;
        std::future::pending::<()>().await;
    };
    let told = async {
        let mut narrator = Narrator::new(hub.clone());
        while let Ok(news) = news.next().await {
            if !context.json && news.record.event.question() == Some(id) {
                // Whoever reads may be gone; the answer is kept all the same.
                let _ = context.tell(|page| narrator.tell(page, &news.record));
            }
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        () = told => unreachable_end(id),
        awaited = hub.await_answer(id, Some(timeout)) => awaited,
        () = call => unreachable_end(id),
    }
}

async fn called(hub: &Handle, id: &QuestionId) -> Result<(), Refusal> {
    let question = hub.question(id)?;
    let rules = hub.rules()?;
    let asked = question.to.agent().and_then(|agent| rules.agent(agent).ok());
    if asked.is_none_or(|agent| agent.provider.is_none()) {
        return Ok(());
    }
    let program = std::env::current_exe().ok();
    Team::open(hub, TeamOptions { program, ..TeamOptions::default() })?.ask(id).await
}

/// Neither of the two that only accompany the wait ever ends.
fn unreachable_end(id: &QuestionId) -> Result<Awaited, Refusal> {
    let message = format!("the wait for {id} broke off");
    Err(Refusal::new(querent_core::Code::StorageError, message, format!("wait on with `querent await {id}`")))
}
