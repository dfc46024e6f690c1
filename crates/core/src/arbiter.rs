//! What is done when agents are in each other's way, or do not get on. Pure judgements; commands carry them out.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::{AgentName, ItemId, SessionId};
use crate::item::Item;
use crate::moment::Span;
use crate::policy::{Patience, Rules};

/// When a session that does not get on is looked at again.
pub const LOOK_AGAIN: Span = Span::minutes(5);

/// What is done about a session that does not get on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStuck {
    /// It is looked at again in [`LOOK_AGAIN`].
    Watch,
    /// A human decides: wait, skip or retry.
    Escalate,
    /// It is given up.
    Interrupt,
}

/// What is done about a session that has not got on for so long.
pub fn on_stuck(busy: Span, patience: &Patience) -> OnStuck {
    match busy {
        busy if busy >= patience.interrupt => OnStuck::Interrupt,
        busy if busy >= patience.escalate => OnStuck::Escalate,
        _ => OnStuck::Watch,
    }
}

/// Who wants a file, or has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    /// The agent.
    pub agent: &'a AgentName,
    /// Its place in the line: upstream ranks first.
    pub rank: u32,
}

impl<'a> Claim<'a> {
    /// That of an agent.
    pub fn of(agent: &'a AgentName, rules: &Rules) -> Self {
        Self { agent, rank: rules.rank(agent) }
    }

    /// Whether it comes before another.
    fn outranks(self, other: Self) -> bool {
        self.rank < other.rank
    }
}

/// What becomes of a request for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// It is granted.
    Grant,
    /// It is granted, and whoever has the file gives it up.
    Preempt,
    /// Whoever has the file keeps it.
    Held,
    /// The file is another agent's, who comes first.
    Owned,
}

/// Judges a request for a file by whose it is and who holds it. A file that is nobody's is whose it was first; on one that has
/// an owner, the owner and whoever ranks before it may take it from those that rank behind them.
pub fn on_conflict(wants: Claim<'_>, holder: Option<Claim<'_>>, owner: Option<Claim<'_>>) -> OnConflict {
    match (owner, holder) {
        (Some(owner), _) if owner.agent != wants.agent && !wants.outranks(owner) => OnConflict::Owned,
        (_, None) => OnConflict::Grant,
        (Some(_), Some(holder)) if wants.outranks(holder) => OnConflict::Preempt,
        (_, Some(_)) => OnConflict::Held,
    }
}

/// The session that goes on with the work of one that is lost: of the same agent, at work, and with the fewest items; the
/// first by name of those. None if nobody is left.
pub fn heir<'a>(items: &'a [Item], agent: &AgentName, lost: &SessionId) -> Option<&'a SessionId> {
    let mut loads: BTreeMap<&SessionId, BTreeSet<&ItemId>> = BTreeMap::new();
    for item in items {
        let working = item.sessions.iter().filter(|(_, session)| session.busy_since.is_some());
        for (id, _) in working.filter(|(id, session)| session.agent == *agent && *id != lost) {
            loads.entry(id).or_default().insert(&item.id);
        }
    }
    loads.into_iter().min_by_key(|(id, items)| (items.len(), *id)).map(|(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stuck_session_is_watched_then_put_to_a_human_then_given_up() {
        for (minutes, done) in [
            (10, OnStuck::Watch),
            (19, OnStuck::Watch),
            (20, OnStuck::Escalate),
            (29, OnStuck::Escalate),
            (30, OnStuck::Interrupt),
            (600, OnStuck::Interrupt),
        ] {
            assert_eq!(on_stuck(Span::minutes(minutes), &Patience::default()), done, "{minutes}");
        }
    }

    #[test]
    fn a_file_goes_by_ownership_and_rank() {
        let [pm, architect, engineer, other]: [AgentName; 4] =
            ["pm", "architect", "engineer", "other"].map(|name| name.parse().unwrap());
        let [pm, architect, engineer, other] =
            [(&pm, 1), (&architect, 2), (&engineer, 3), (&other, 3)].map(|(agent, rank)| Claim { agent, rank });

        for (wants, holder, owner, verdict) in [
            (engineer, None, None, OnConflict::Grant),
            (engineer, Some(other), None, OnConflict::Held),
            (pm, Some(engineer), None, OnConflict::Held),
            (engineer, None, Some(engineer), OnConflict::Grant),
            (engineer, None, Some(architect), OnConflict::Owned),
            (engineer, None, Some(other), OnConflict::Owned),
            (engineer, Some(other), Some(architect), OnConflict::Owned),
            (architect, None, Some(engineer), OnConflict::Grant),
            (architect, Some(engineer), Some(engineer), OnConflict::Preempt),
            (architect, Some(engineer), Some(architect), OnConflict::Preempt),
            (engineer, Some(pm), Some(engineer), OnConflict::Held),
            (engineer, Some(other), Some(engineer), OnConflict::Held),
        ] {
            assert_eq!(on_conflict(wants, holder, owner), verdict, "{wants:?} {holder:?} {owner:?}");
        }
    }
}
