//! What waits for a person, the most urgent first.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::{AgentName, QuestionId, SessionId};
use crate::item::{Item, Stage};
use crate::moment::Moment;
use crate::session::SessionStatus;
use crate::view::session::{SessionView, sessions};

/// A question that waits for a person, and the work that waits with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The question.
    pub id: QuestionId,
    /// When it was asked.
    pub created_at: Moment,
    /// When it ends without an answer.
    pub expires_at: Option<Moment>,
    /// Whether its asker waits.
    pub blocking: bool,
    /// The sessions that cannot go on before it is answered, directly or because they wait for one that cannot.
    pub holds_up: BTreeSet<SessionId>,
}

/// The open questions to people, by how much work they hold up, then by how soon they end, then the oldest first. Costs what
/// is open and who is at work.
pub fn queue(items: &[Item]) -> Vec<Waiting> {
    let views: Vec<SessionView> = items.iter().flat_map(sessions).collect();
    let held = Held::of(&views);
    let mut queue = Vec::new();
    for item in items {
        for (number, open) in item.open.iter().filter(|(_, open)| open.to.is_human()) {
            let first = open.blocking.then(|| {
                let paused = item.stage == Stage::AwaitingInput;
                let own = item.sessions.iter().filter(|(_, it)| paused && !it.finished && !it.lost).map(|(id, _)| id);
                own.chain([&open.session]).collect::<BTreeSet<_>>()
            });
            queue.push(Waiting {
                id: item.question_id(*number),
                created_at: open.created_at,
                expires_at: open.expires_at,
                blocking: open.blocking,
                holds_up: held.with(first.unwrap_or_default()),
            });
        }
    }
    queue.sort_by_cached_key(|it| {
        let soon = it.expires_at.map_or((true, it.created_at), |end| (false, end));
        (std::cmp::Reverse((it.holds_up.len(), it.blocking)), soon, it.created_at, it.id.clone())
    });
    queue
}

/// Who waits for whom.
struct Held<'a> {
    /// The sessions that wait for an agent.
    waiting: BTreeMap<&'a AgentName, Vec<&'a SessionId>>,
    /// The sessions in which an agent could go on.
    live: BTreeMap<&'a AgentName, Vec<&'a SessionId>>,
    agents: BTreeMap<&'a SessionId, &'a AgentName>,
}

impl<'a> Held<'a> {
    fn of(views: &'a [SessionView]) -> Self {
        let mut held = Self { waiting: BTreeMap::new(), live: BTreeMap::new(), agents: BTreeMap::new() };
        for view in views {
            held.agents.insert(&view.session, &view.agent);
            if !matches!(view.status, SessionStatus::Done | SessionStatus::Stuck) {
                held.live.entry(&view.agent).or_default().push(&view.session);
            }
            if let Some(agent) = view.waiting_on.as_ref().and_then(|party| party.agent()) {
                held.waiting.entry(agent).or_default().push(&view.session);
            }
        }
        held
    }

    /// These, and all who wait for an agent none of whose sessions can go on.
    fn with(&self, first: BTreeSet<&'a SessionId>) -> BTreeSet<SessionId> {
        let mut held = first.clone();
        let mut news: Vec<&SessionId> = first.into_iter().collect();
        while let Some(session) = news.pop() {
            let Some(agent) = self.agents.get(session) else { continue };
            let is_stopped = self.live.get(agent).is_none_or(|live| live.iter().all(|it| held.contains(it)));
            for waiter in self.waiting.get(agent).into_iter().flatten().filter(|_| is_stopped) {
                if held.insert(waiter) {
                    news.push(waiter);
                }
            }
        }
        held.into_iter().cloned().collect()
    }
}
