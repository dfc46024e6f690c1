//! Who works, who waits and for whom. Derived from the open questions, never stored.

use serde::{Deserialize, Serialize};

use crate::id::{AgentName, ItemId, ProgramHandle, QuestionId, SessionId};
use crate::item::Item;
use crate::moment::Moment;
use crate::parked::Program;
use crate::party::Party;
use crate::session::SessionStatus;

/// A session as every surface shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionView {
    /// The agent in it.
    pub agent: AgentName,
    /// Its id.
    pub session: SessionId,
    /// The item that it works on.
    pub item: ItemId,
    /// What it is doing.
    pub status: SessionStatus,
    /// The question that it waits for, or is to answer.
    pub clarification_id: Option<QuestionId>,
    /// Whose answer it waits for.
    pub waiting_on: Option<Party>,
    /// Who waits for its answer.
    pub responding_to: Option<AgentName>,
    /// When it was last heard of.
    pub last_activity: Moment,
    /// Where it waits outside of any process, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked: Option<ParkedView>,
}

/// A session that waits outside of any process, as every surface shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParkedView {
    /// The question that it is parked on.
    pub question_id: QuestionId,
    /// Whether that is settled, so that it can be resumed.
    pub settled: bool,
    /// Whether somebody resumes it at the moment.
    pub claimed: bool,
    /// The program that it runs in.
    pub program: Program,
    /// What the program itself calls the session.
    pub handle: ProgramHandle,
    /// Where the program is started.
    pub directory: String,
    /// Since when.
    pub since: Moment,
}

impl ParkedView {
    /// The session that is parked on this question of the item, if one is.
    pub fn of(item: &Item, number: u32) -> Option<Self> {
        let parked = item.parked.get(&number)?;
        Some(Self {
            question_id: item.question_id(number),
            settled: !item.open.contains_key(&number),
            claimed: parked.claim.is_some(),
            program: parked.program,
            handle: parked.handle.clone(),
            directory: parked.directory.clone(),
            since: parked.since,
        })
    }
}

/// The sessions of an item. An agent that is asked and has no session yet appears with the one that it would have.
pub fn sessions(item: &Item) -> Vec<SessionView> {
    let mut views: Vec<SessionView> = item
        .sessions
        .iter()
        .map(|(session, it)| {
            let view = plain(item, session, &it.agent, it.finished, it.last_activity);
            if it.lost { SessionView { status: SessionStatus::Stuck, ..view } } else { view }
        })
        .collect();
    for (number, question) in item.open.iter().filter(|(_, question)| question.blocking) {
        let id = item.question_id(*number);
        if let Some(asker) =
            views.iter_mut().find(|it| it.session == question.session && it.status == SessionStatus::Working)
        {
            asker.status = SessionStatus::BlockedClarification;
            asker.clarification_id = Some(id.clone());
            asker.waiting_on = Some(question.to.clone());
        }
    }
    for (number, question) in item.open.iter().filter(|(_, question)| question.blocking) {
        let Some(agent) = question.to.agent() else { continue };
        let place = addressee(&views, agent).unwrap_or_else(|| {
            views.push(plain(item, &SessionId::of(agent, &item.id), agent, true, question.created_at));
            views.len() - 1
        });
        let asked = &mut views[place];
        if matches!(asked.status, SessionStatus::Working | SessionStatus::Done) {
            asked.status = SessionStatus::Clarifying;
            asked.clarification_id = Some(item.question_id(*number));
            asked.responding_to = Some(question.agent.clone());
        }
    }
    views
}

fn plain(item: &Item, session: &SessionId, agent: &AgentName, finished: bool, last_activity: Moment) -> SessionView {
    let of_session = item.parked.iter().find(|(_, parked)| parked.session == *session).map(|(number, _)| *number);
    SessionView {
        agent: agent.clone(),
        session: session.clone(),
        item: item.id.clone(),
        status: if finished { SessionStatus::Done } else { SessionStatus::Working },
        clarification_id: None,
        waiting_on: None,
        responding_to: None,
        last_activity,
        parked: of_session.and_then(|number| ParkedView::of(item, number)),
    }
}

/// The session in which an agent would answer: one at work before one that is done, the latest of its kind.
fn addressee(views: &[SessionView], agent: &AgentName) -> Option<usize> {
    let own = views.iter().enumerate().filter(|(_, it)| it.agent == *agent);
    own.max_by_key(|(_, it)| (it.status != SessionStatus::Done, it.last_activity)).map(|(place, _)| place)
}
