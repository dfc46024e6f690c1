//! A session gives files back, or waits for them no longer.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Now, rights};
use crate::event::{Event, ItemEnded, LockReleased, LockWaitEnded, SessionFinished, SessionLost};
use crate::id::SessionId;
use crate::path::ProjectPath;
use crate::refusal::{Code, Refusal};
use crate::resources::Release;

pub(super) fn decide(now: &Now<'_>, session: &SessionId, paths: &BTreeSet<ProjectPath>) -> Result<Vec<Event>, Refusal> {
    let resources = &now.state.resources;
    own(now, session)?;
    for path in paths {
        match resources.locks.get(path) {
            Some(lock) if lock.session == *session => {}
            Some(lock) => {
                let message = format!("`{path}` is locked by {} of {}, not by {session}", lock.session, lock.agent);
                return Err(Refusal::new(Code::NotOwner, message, "only the session that holds a lock gives it back")
                    .with(json!({ "path": path, "holder": { "session": lock.session, "agent": lock.agent } })));
            }
            None => {
                let message = format!("{session} does not hold a lock on `{path}`");
                return Err(Refusal::new(Code::NotOwner, message, "see who holds what: querent locks")
                    .with(json!({ "path": path, "holder": null })));
            }
        }
    }
    // What it held is on record even if that is nothing: sent again later, the call must not take what was locked since.
    let paths = if paths.is_empty() { resources.held(&now.item.id, Some(session)) } else { paths.clone() };
    Ok(vec![LockReleased { paths, session: session.clone(), reason: Release::Unlocked, cycle: None }.into()])
}

/// It waits no longer.
pub(super) fn end_wait(now: &Now<'_>, session: &SessionId) -> Result<Vec<Event>, Refusal> {
    own(now, session)?;
    if !now.state.resources.waits.contains_key(session) {
        let message = format!("{session} does not wait for files");
        return Err(Refusal::new(Code::InvalidTransition, message, "there is nothing left to do"));
    }
    Ok(vec![LockWaitEnded { session: session.clone() }.into()])
}

/// A session that has finished may still clean up.
fn own(now: &Now<'_>, session: &SessionId) -> Result<(), Refusal> {
    let known = now.item.sessions.get(session).ok_or_else(|| {
        let message = format!("item `{}` has no session `{session}`", now.item.id);
        Refusal::invalid("session", message, "see the sessions: querent state")
    })?;
    rights::of_agent(now.command, &known.agent)
}

/// What is given back with the end of a session or an item.
pub(super) fn with_end(now: &Now<'_>, events: &[Event]) -> Vec<Event> {
    let mut released: Vec<Event> = Vec::new();
    let mut give_back = |session: Option<&SessionId>, reason: Release| {
        let resources = &now.state.resources;
        let mut sessions: BTreeSet<&SessionId> = session.into_iter().collect();
        let waits = resources.waits.iter().filter(|(_, wait)| wait.item == now.item.id).map(|(session, _)| session);
        let locks = resources.locks.values().filter(|lock| lock.item == now.item.id).map(|lock| &lock.session);
        if session.is_none() {
            sessions.extend(waits.chain(locks));
        }
        for session in sessions {
            let paths = resources.held(&now.item.id, Some(session));
            if !paths.is_empty() || resources.waits.contains_key(session) {
                released.push(LockReleased { paths, session: session.clone(), reason, cycle: None }.into());
            }
        }
    };
    for event in events {
        match event {
            Event::SessionFinished(SessionFinished { session, .. }) => give_back(Some(session), Release::Finished),
            Event::SessionLost(SessionLost { session, .. }) => give_back(Some(session), Release::Lost),
            Event::ItemEnded(ItemEnded { .. }) => give_back(None, Release::Ended),
            _ => {}
        }
    }
    released
}
