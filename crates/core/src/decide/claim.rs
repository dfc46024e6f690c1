//! A parked session is resumed: by one at a time, and once.

use serde_json::json;

use super::{Now, park, rights};
use crate::event::{Event, SessionClaimed, SessionResumed};
use crate::parked::Claim;
use crate::question::Question;
use crate::refusal::{Code, Refusal};
use crate::session::Process;

/// `over` is an earlier claim that is known to be void, or is handed on.
pub(super) fn decide(
    now: &Now<'_>,
    question: &Question,
    process: Option<&Process>,
    over: Option<&Claim>,
) -> Result<Vec<Event>, Refusal> {
    let parked = park::of(now, question)?;
    rights::of_agent(now.command, &parked.agent)?;
    let id = &question.id;
    if question.status.is_open() {
        let message = format!("{id} is {}; its session waits on", question.status);
        return Err(Refusal::new(
            Code::InvalidTransition,
            message,
            format!("answer it: querent answer {id} --answer …"),
        )
        .with(json!({ "question_id": id, "status": question.status })));
    }
    if let Some(claim) = parked.claim.as_ref().filter(|claim| over != Some(claim)) {
        let who = claim.process.as_ref().map_or_else(String::new, |it| format!(" (process {} of {})", it.pid, it.host));
        let message = format!("the session on {id} is being resumed since {}{who}", claim.at);
        return Err(Refusal::new(Code::Conflict, message, "leave it to them")
            .with(json!({ "question_id": id, "claim": claim })));
    }
    Ok(vec![SessionClaimed { question: id.clone(), process: process.cloned() }.into()])
}

/// The program has ended. If it failed, the session stays parked, for another try: no answer may be lost.
pub(super) fn end(
    now: &Now<'_>,
    question: &Question,
    process: Option<&Process>,
    exit_code: Option<i32>,
) -> Result<Vec<Event>, Refusal> {
    let parked = park::of(now, question)?;
    rights::of_agent(now.command, &parked.agent)?;
    if !parked.claim.as_ref().is_some_and(|claim| claim.process.as_ref() == process) {
        let message = format!("the session on {} is not resumed by this process", question.id);
        return Err(Refusal::new(Code::Conflict, message, "leave it to those who do")
            .with(json!({ "question_id": question.id })));
    }
    let (question, session) = (question.id.clone(), parked.session.clone());
    Ok(vec![SessionResumed { question, session, exit_code, parked: exit_code != Some(0) }.into()])
}
