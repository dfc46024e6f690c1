//! Files for one session at a time, and waiting for them.

use std::collections::BTreeSet;
use std::time::Duration;

use querent_core::reply::LockReply;
use querent_core::view::{LocksView, locks};
use querent_core::{
    Action, AgentName, Code, Command, ComponentName, Envelope, ItemId, Moment, OperationId, Party, ProjectPath,
    Refusal, Resources, SessionId, Shared, Span, Via,
};
use querent_journal::{Beat, Pulse, Which};
use tokio::time::{Instant, sleep};

use crate::handle::Handle;
use crate::wait::until;

/// How often a waiter says that it is still there; a third of the time that it is believed.
const RENEWAL: Duration = Duration::from_secs(3);

/// What a session wants.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The session.
    pub session: SessionId,
    /// The files.
    pub paths: BTreeSet<ProjectPath>,
    /// For how long.
    pub ttl: Span,
    /// Through which surface.
    pub via: Via,
}

impl Handle {
    /// Who holds what, who waits for it, and whose it is.
    pub fn resources(&self) -> Result<Resources, Refusal> {
        Ok(self.inner.journal.read()?.shared(Shared::Resources)?.resources.clone())
    }

    /// The same as surfaces show it.
    pub fn locks(&self) -> Result<LocksView, Refusal> {
        let said = self.inner.journal.beats(Pulse::Wait)?.into_iter();
        let said = said.filter_map(|beat| Some((beat.name.as_str().parse().ok()?, beat.at))).collect();
        Ok(locks(&self.resources()?, &said, self.now()))
    }

    /// Locks files for a session: all of them, or none.
    pub fn lock(&self, wanted: &Wanted, operation: Option<OperationId>) -> Result<Envelope, Refusal> {
        let (item, by) = self.holder(&wanted.session)?;
        Ok(self.execute(&wanted.command(item, by, false), operation))
    }

    /// The same, and waits up to `patience` for whoever has them. A wait that is cut off leaves nothing behind that lasts.
    pub async fn lock_within(
        &self,
        wanted: &Wanted,
        patience: Duration,
        operation: Option<OperationId>,
    ) -> Result<Envelope, Refusal> {
        let (item, by) = self.holder(&wanted.session)?;
        let end = Instant::now().checked_add(patience);
        let (changed, _watch) = self.changes()?;
        let name: ComponentName = wanted.session.as_str().parse()?;
        let beat = || self.inner.journal.beat(&Beat { pulse: Pulse::Wait, name: name.clone(), at: self.now() });
        beat()?;
        let first = self.execute(&wanted.command(item.clone(), by.clone(), true), operation);
        let mut waits = first.read::<LockReply>().is_ok_and(|reply| !reply.waiting.is_empty());
        let mut reply = first;
        let mut tried = None;
        while waits {
            let notified = changed.notified();
            beat()?;
            let (resources, now) = (self.resources()?, self.now());
            if tried.is_none_or(|tried| has_changed(&resources, tried, now)) {
                reply = self.execute(&wanted.command(item.clone(), by.clone(), false), None);
                waits = reply.read::<LockReply>().is_err_and(|it| matches!(it.code, Code::FileLocked | Code::NotOwner));
                tried = Some((resources.version, now));
                continue;
            }
            let ends = resources.locks.values().map(|lock| lock.expires_at).filter(|end| *end > now).min();
            let next = ends.map_or(RENEWAL, |end| Duration::from_millis(end.since(now).as_millis()));
            tokio::select! {
                () = notified => {}
                () = sleep(next.min(RENEWAL)) => {}
                () = until(end) => break,
            }
        }
        if waits || reply.read::<LockReply>().is_err() {
            let action = Action::EndWait { session: wanted.session.clone() };
            let ended = self.execute(&Command { item, by, via: wanted.via, action }, None);
            drop(ended);
        }
        self.inner.journal.still(Pulse::Wait, &name)?;
        Ok(reply)
    }

    /// Gives files back; all that the session has, if none is named.
    pub fn unlock(
        &self,
        session: &SessionId,
        paths: BTreeSet<ProjectPath>,
        via: Via,
        operation: Option<OperationId>,
    ) -> Result<Envelope, Refusal> {
        let (item, by) = self.holder(session)?;
        let action = Action::Unlock { session: session.clone(), paths };
        Ok(self.execute(&Command { item, by, via, action }, operation))
    }

    /// The agent whose session this is.
    pub fn agent_of(&self, session: &SessionId) -> Result<AgentName, Refusal> {
        let (_, by) = self.holder(session)?;
        by.agent().cloned().ok_or_else(|| Refusal::invalid("session", "this is no agent's session", "name another"))
    }

    /// The item that a session is on, and its agent.
    fn holder(&self, session: &SessionId) -> Result<(ItemId, Party), Refusal> {
        let seat =
            self.seat(session, Which::Active)?.map_or_else(|| self.seat(session, Which::All), |it| Ok(Some(it)))?;
        let known = seat.and_then(|item| Some((item.id.clone(), item.sessions.get(session)?.agent.clone())));
        known.map(|(item, agent)| (item, Party::Agent(agent))).ok_or_else(|| {
            let message = format!("there is no session `{session}`");
            Refusal::invalid("session", message, "start it first: querent hook start --agent … --item … --session …")
        })
    }
}

impl Wanted {
    fn command(&self, item: ItemId, by: Party, wait: bool) -> Command {
        let (session, paths, ttl) = (self.session.clone(), self.paths.clone(), self.ttl);
        Command { item, by, via: self.via, action: Action::Lock { session, paths, ttl, wait } }
    }
}

/// Whether the files may be free that were not at an earlier look: something happened to some, or the time of some is over.
fn has_changed(resources: &Resources, (version, then): (u64, Moment), now: Moment) -> bool {
    let is_over = |end: Moment| then < end && end <= now;
    resources.version != version || resources.locks.values().any(|lock| is_over(lock.expires_at))
}
