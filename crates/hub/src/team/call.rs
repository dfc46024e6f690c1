//! The agent that was asked is invoked for its answer.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use querent_agents::{Failure, FailureKind, Order, Purpose, Run, Signal, TurnResult};
use querent_core::{
    ARTIFACTS, Action, AgentName, AgentReply, CallDeed, Claim, Command, Party, ProjectPath, Question, QuestionId,
    Refusal, SessionId, Via, question_briefing,
};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::crew::{Crew, off, stopped};

/// Whether something may follow that is for an agent to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called {
    /// The agent was invoked, and said something or failed.
    Invoked,
    /// Somebody else does it, or nobody can.
    Not,
}

/// Invokes the agent once, and records what came of it.
pub(super) async fn call(
    crew: &Arc<Crew>,
    id: &QuestionId,
    over: Option<Claim>,
    stop: watch::Receiver<bool>,
) -> Result<Called, Refusal> {
    let begin = CallDeed::Begin { process: crew.process.clone(), over };
    if !crew.deed(&id.item, Action::Call { question: id.clone(), deed: begin }).await? {
        return Ok(Called::Not);
    }
    let question = crew.question(id).await?;
    let claim = question.call.as_ref().and_then(|call| call.claim.clone());
    let (Some(agent), Some(claim)) = (question.to.agent().cloned(), claim) else { return Ok(Called::Not) };
    let said = ask(crew, &question, &agent, stop).await;
    match said {
        Ok(reply) => {
            let (round, reply) = (question.round, Box::new(reply));
            let action = Action::Reply { question: id.clone(), round, reply };
            let attempt = question.call.as_ref().map_or(1, |call| call.attempt);
            let operation = format!("call:{id}:{round}:{attempt}").parse()?;
            let command = Command { item: id.item.clone(), by: Party::Agent(agent), via: Via::Team, action };
            // Whoever was faster, or took the question back, has the word.
            crew.off(move |hub| Ok(hub.execute(&command, Some(operation)))).await?;
        }
        // Nobody failed; whoever comes next calls it again.
        Err(failure) if failure.kind == FailureKind::Cancelled => {}
        Err(failure) => {
            let deed = CallDeed::Fail { claim, error: failure.message };
            crew.surely(&id.item, Action::Call { question: id.clone(), deed }).await?;
        }
    }
    Ok(Called::Invoked)
}

/// Calls agents until the question waits for one no more.
pub(super) async fn until_answered(crew: &Arc<Crew>, id: &QuestionId) -> Result<(), Refusal> {
    let (_keep, stop) = watch::channel(false);
    loop {
        let question = crew.question(id).await?;
        let asked = question.to.agent().filter(|_| question.status.is_open());
        if !asked.is_some_and(|agent| crew.invokes(agent)) {
            return Ok(());
        }
        let claim = question.call.as_ref().and_then(|call| call.claim.clone());
        if claim.as_ref().is_some_and(|claim| !crew.is_void(claim)) {
            return Ok(());
        }
        if call(crew, id, claim, stop.clone()).await? == Called::Not {
            return Ok(());
        }
    }
}

async fn ask(
    crew: &Arc<Crew>,
    question: &Question,
    agent: &AgentName,
    stop: watch::Receiver<bool>,
) -> Result<AgentReply, Failure> {
    let broken = |refusal: Refusal| Failure::new(FailureKind::Broken, refusal.message);
    let (config, provider) = crew.provider(agent)?;
    let order = order(crew, question, agent).await.map_err(broken)?;
    let run = provider.start(order)?;
    let limit = Duration::from_millis(config.timeout.as_millis());
    match listen(run, limit, stop).await? {
        Some(TurnResult::Answer { answer, evidence, uncertainty }) => {
            Ok(AgentReply { answer, evidence, uncertainty, plain: false })
        }
        Some(TurnResult::Text(text)) => {
            Ok(AgentReply { answer: json!(text.trim()), evidence: None, uncertainty: None, plain: true })
        }
        Some(TurnResult::Failed { summary }) => Err(Failure::new(FailureKind::Refused, summary)),
        // A result without an answer, or none at all: the contract is not kept, and it is asked on.
        Some(TurnResult::Done { .. }) | None => {
            Ok(AgentReply { answer: Value::Null, evidence: None, uncertainty: None, plain: false })
        }
    }
}

/// Its last result.
async fn listen(mut run: Run, limit: Duration, mut stop: watch::Receiver<bool>) -> Result<Option<TurnResult>, Failure> {
    run.go();
    let mut result = None;
    let end = tokio::time::sleep(limit);
    tokio::pin!(end);
    loop {
        tokio::select! {
            signal = run.next() => match signal {
                Some(Signal::Result(said)) => result = Some(said),
                Some(_) => {}
                None => break,
            },
            () = &mut end => {
                run.cancel();
                drop(run.end().await);
                let message = format!("it said nothing that answers within {}s", limit.as_secs());
                return Err(Failure::new(FailureKind::Killed, message));
            }
            () = stopped(&mut stop) => {
                run.cancel();
                drop(run.end().await);
                return Err(Failure::new(FailureKind::Cancelled, "the team was stopped"));
            }
        }
    }
    run.end().await.map(|()| result)
}

async fn order(crew: &Arc<Crew>, question: &Question, agent: &AgentName) -> Result<Order, Refusal> {
    let rules = crew.hub.rules()?;
    let item = crew.item(&question.item).await?;
    let workflow = rules.workflow(&item.workflow)?;
    let patterns: Vec<String> =
        workflow.steps.iter().filter(|step| step.agent == *agent).flat_map(|step| step.artifacts.clone()).collect();
    let (artifacts, directory) = match crew.trees.clone() {
        Some(trees) => {
            let id = item.id.clone();
            let root = crew.root.clone();
            off(move || {
                let directory = Some(trees.directory(&id)).filter(|it| it.is_dir()).unwrap_or(root);
                Ok((trees.artifacts(&id, &patterns, ARTIFACTS), directory))
            })
            .await?
        }
        None => (texts(&crew.root, &patterns, ARTIFACTS), crew.root.clone()),
    };
    Ok(Order {
        agent: agent.clone(),
        item: item.id.clone(),
        session: SessionId::of(agent, &item.id),
        purpose: Purpose::Answer {
            question: question.id.clone(),
            topic: question.topic.clone(),
            round: question.round,
        },
        turn: question.call.as_ref().map_or(1, |call| call.attempt),
        prompt: question_briefing(&rules, question, agent, &artifacts),
        directory,
        mcp: None,
        env: Crew::environment(agent, &item.id),
    })
}

/// The texts of the files that are named outright, up to so many bytes; without worktrees there are no globs.
fn texts(root: &Path, names: &[String], budget: usize) -> Vec<(String, String)> {
    let mut left = budget;
    let read = |name: &String| {
        let path: ProjectPath = name.parse().ok()?;
        let text = std::fs::read_to_string(root.join(path.as_str())).ok().filter(|text| text.len() <= left)?;
        left -= text.len();
        Some((path.as_str().to_owned(), text))
    };
    names.iter().filter_map(read).collect()
}
