//! A session wants files for itself: all of them at once, or none.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::{Now, bounds, rights};
use crate::arbiter::{Claim, OnConflict, on_conflict};
use crate::event::{Event, LockExpired, LockGranted, LockReleased, LockWaited};
use crate::id::{AgentName, SessionId};
use crate::moment::{Moment, Span};
use crate::path::ProjectPath;
use crate::refusal::{Code, Refusal};
use crate::resources::{Lock, Release};

/// How many files one request may name.
const MOST_PATHS: usize = 500;

pub(super) fn decide(
    now: &Now<'_>,
    session: &SessionId,
    paths: &BTreeSet<ProjectPath>,
    ttl: Span,
    wait: bool,
) -> Result<Vec<Event>, Refusal> {
    let agent = of_session(now, session)?;
    bounds::count("paths", paths.len(), MOST_PATHS)?;
    if paths.is_empty() {
        return Err(Refusal::invalid("paths", "no file is named", "name the files, directories or globs to lock"));
    }
    if ttl < Span::seconds(1) || ttl > Span::minutes(7 * 24 * 60) {
        return Err(Refusal::invalid("ttl", format!("a lock lasts from 1s to 7d, not {ttl}"), "give a ttl like 30m"));
    }
    let ground = match survey(now, session, &agent, paths) {
        Ok(ground) => ground,
        Err(_) if wait => {
            let (paths, session, item) = (paths.clone(), session.clone(), now.item.id.clone());
            return Ok(vec![LockWaited { paths, session, agent, item }.into()]);
        }
        Err(refusal) => return Err(*refusal),
    };
    let expired = ground.expired.into_iter().map(|(session, paths)| LockExpired { paths, session }.into());
    let taken = ground
        .taken
        .into_iter()
        .map(|(session, paths)| LockReleased { paths, session, reason: Release::Preempted, cycle: None }.into());
    let granted = LockGranted {
        paths: paths.clone(),
        session: session.clone(),
        agent,
        item: now.item.id.clone(),
        expires_at: now.at.plus(ttl),
    };
    Ok(expired.chain(taken).chain([granted.into()]).collect())
}

/// The agent of a session that is at work on the item. Only it, or a human, acts for it.
pub(super) fn of_session(now: &Now<'_>, session: &SessionId) -> Result<AgentName, Refusal> {
    let known = now.item.sessions.get(session).filter(|it| !it.finished).ok_or_else(|| {
        let message = format!("no session `{session}` is at work on item `{}`", now.item.id);
        Refusal::invalid("session", message, "start it first: querent hook start --agent … --item … --session …")
    })?;
    rights::of_agent(now.command, &known.agent)?;
    Ok(known.agent.clone())
}

/// What makes room for a request.
#[derive(Default)]
struct Ground {
    /// Locks that are over, by session.
    expired: BTreeMap<SessionId, BTreeSet<ProjectPath>>,
    /// Locks that give way, by session.
    taken: BTreeMap<SessionId, BTreeSet<ProjectPath>>,
}

fn survey(
    now: &Now<'_>,
    session: &SessionId,
    agent: &AgentName,
    paths: &BTreeSet<ProjectPath>,
) -> Result<Ground, Box<Refusal>> {
    let (resources, rules) = (&now.state.resources, now.rules);
    let mut ground = Ground::default();
    let others = resources.locks.iter().filter(|(_, lock)| lock.session != *session);
    let others: Vec<(&ProjectPath, &Lock)> = others.collect();
    for path in paths {
        let owner = resources.owner(path);
        let (wants, owns) = (Claim::of(agent, rules), owner.map(|owner| Claim::of(owner, rules)));
        if on_conflict(wants, None, owns) == OnConflict::Owned {
            return Err(Box::new(owned(path, owner)));
        }
        for (held, lock) in others.iter().filter(|(held, _)| held.overlaps(path)) {
            if lock.expires_at <= now.at {
                ground.expired.entry(lock.session.clone()).or_default().insert((*held).clone());
                continue;
            }
            match on_conflict(wants, Some(Claim::of(&lock.agent, rules)), owns) {
                OnConflict::Preempt => {
                    ground.taken.entry(lock.session.clone()).or_default().insert((*held).clone());
                }
                OnConflict::Grant | OnConflict::Held | OnConflict::Owned => {
                    return Err(Box::new(held_by(path, held, lock, owner, now.at)));
                }
            }
        }
    }
    Ok(ground)
}

fn held_by(path: &ProjectPath, held: &ProjectPath, lock: &Lock, owner: Option<&AgentName>, at: Moment) -> Refusal {
    let within = if path == held { String::new() } else { format!(" (as `{held}`)") };
    let left = lock.expires_at.since(at).rough();
    let message = format!("`{path}` is locked{within} by {} of {}, for {left} more at most", lock.session, lock.agent);
    Refusal::new(Code::FileLocked, message, "wait for it with `--wait 5m`, or work on something else").with(json!({
        "path": path,
        "holder": { "session": lock.session, "agent": lock.agent, "item": lock.item, "path": held,
                    "since": lock.since, "expires_at": lock.expires_at },
        "owner": owner,
    }))
}

fn owned(path: &ProjectPath, owner: Option<&AgentName>) -> Refusal {
    let name = owner.map_or("another agent", AgentName::as_str);
    let message = format!("`{path}` is owned by {name}, which does not rank behind you");
    let hint = format!("ask {name} for the change, or have a person give it to you: querent own {path} --agent …");
    Refusal::new(Code::NotOwner, message, hint).with(json!({ "path": path, "owner": owner, "holder": null }))
}
