//! Sessions that do not get on, and components that show no sign of life.

use serde_json::json;

use super::{Busy, Deed, Finding, FindingKind, Scene, Severity};
use crate::alert::Alarm;
use crate::arbiter::{LOOK_AGAIN, OnStuck, heir, on_stuck};
use crate::command::Action;
use crate::id::SessionId;
use crate::item::{Item, Stage};
use crate::moment::Moment;
use crate::policy::Patience;
use crate::session::Session;
use crate::table::Table;

pub(super) fn find(scene: &Scene<'_>, busy: &[Busy<'_>], patience: &Patience, at: Moment) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut locked = None;
    let least = patience.least();
    for &Busy { item, id, session, since, .. } in busy {
        if at.since(since) < least && scene.signs.gone.is_empty() {
            continue;
        }
        let locked = locked.get_or_insert_with(|| last_locked(scene));
        let stirred = locked.get(id).copied().unwrap_or(since).max(since);
        let seat = Seat { item, id, session, since, stirred };
        findings.extend(seat.silence(scene, patience, at));
        findings.extend(seat.no_progress(scene, patience, at));
    }
    let silent = scene.signs.components.iter().filter(|(_, beat)| at.since(**beat) >= patience.silence);
    findings.extend(silent.map(|(name, beat)| {
        let message = format!("{name} has shown no sign of life for {}", at.since(*beat).rough());
        down(None, name.as_str(), Severity::Error, message, scene, at)
    }));
    findings
}

/// When sessions last had a file that they wanted.
fn last_locked<'a>(scene: &Scene<'a>) -> Table<&'a SessionId, Moment> {
    let mut last = Table::default();
    for lock in scene.resources.locks.values() {
        let since = last.entry(&lock.session).or_insert(lock.since);
        *since = lock.since.max(*since);
    }
    last
}

/// A session that was started on an item and is not over.
struct Seat<'a> {
    item: &'a Item,
    id: &'a SessionId,
    session: &'a Session,
    /// What the item knows of it, by which the deed is judged again.
    since: Moment,
    /// The last sign that it gets on, which may be a file that it locked.
    stirred: Moment,
}

impl Seat<'_> {
    /// Its process is gone, or it said nothing for long and nothing else says that it runs.
    fn silence(&self, scene: &Scene<'_>, patience: &Patience, at: Moment) -> Option<Finding> {
        let signs = scene.signs;
        if signs.gone.contains(self.id) && !self.is_parked() {
            let message = format!("the process of {} on item `{}` is gone", self.id, self.item.id);
            let to = heir(scene.items, &self.session.agent, self.id).cloned();
            let mut finding = down(Some(self.item), self.id.as_str(), Severity::Error, message.clone(), scene, at);
            let (session, since, reason) = (self.id.clone(), self.since, message);
            finding.actions = vec![Deed::item(&self.item.id, Action::LoseSession { session, since, reason, to })];
            return Some(finding);
        }
        let heard = signs.sessions.get(self.id).copied().max(Some(self.session.last_activity)).unwrap_or(self.since);
        let silent = at.since(heard.max(self.stirred));
        if silent < patience.silence || signs.running.contains(self.id) || self.waits(scene, at) {
            return None;
        }
        let message = format!("{} on item `{}` has been silent for {}", self.id, self.item.id, silent.rough());
        Some(down(Some(self.item), self.id.as_str(), Severity::Warning, message, scene, at))
    }

    /// It works, and for too long without getting on. Whoever waits for an answer, a human or a file is not stuck.
    fn no_progress(&self, scene: &Scene<'_>, patience: &Patience, at: Moment) -> Option<Finding> {
        let busy = at.since(self.stirred);
        let is_short = busy < patience.in_step(self.item.step());
        if is_short || self.waits(scene, at) || self.is_parked() || scene.signs.gone.contains(self.id) {
            return None;
        }
        let step = self.item.step().unwrap_or_default();
        let message = format!("{} has not got on with {step} of item `{}` for {}", self.id, self.item.id, busy.rough());
        let (session, since) = (self.id.clone(), self.since);
        let alarm = Alarm {
            kind: FindingKind::StuckTask,
            severity: Severity::Warning,
            source: self.id.to_string(),
            message: message.clone(),
            context: json!({ "session": self.id, "item": self.item.id, "phase": step, "since": since }),
        };
        let alert = Deed::raise(alarm, scene.alerts, at);
        let asked = self.item.open.values().any(|open| open.about_session && open.session == *self.id);
        let (decided, next) = match on_stuck(busy, patience) {
            OnStuck::Watch => (None, format!("it is looked at again in {}", LOOK_AGAIN.rough())),
            OnStuck::Escalate if asked => (None, "a human was asked what becomes of it".to_owned()),
            OnStuck::Escalate => (Some(Action::AskAbout { session, since }), "a human decides".to_owned()),
            OnStuck::Interrupt => {
                let reason = format!("it did not get on for {}", busy.rough());
                let to = heir(scene.items, &self.session.agent, self.id).cloned();
                (Some(Action::LoseSession { session, since, reason, to }), "it is given up".to_owned())
            }
        };
        let deed = decided.map(|action| Deed::item(&self.item.id, action));
        Some(Finding {
            kind: FindingKind::StuckTask,
            severity: Severity::Warning,
            item: Some(self.item.id.clone()),
            question_id: None,
            source: Some(self.id.to_string()),
            cycle: None,
            evidence: vec![message, next],
            actions: alert.into_iter().chain(deed).collect(),
        })
    }

    /// Whether it waits outside of any process to be resumed. If nobody does that, it is silent, but not lost.
    fn is_parked(&self) -> bool {
        self.item.parked.values().any(|parked| parked.session == *self.id)
    }

    /// For the answer to a blocking question of its own, or for files.
    fn waits(&self, scene: &Scene<'_>, at: Moment) -> bool {
        let asked = self.item.open.values().any(|open| open.blocking && open.session == *self.id);
        asked || scene.waits_for_files(self.id, at) || !matches!(self.item.stage, Stage::Step(_))
    }
}

fn down(
    item: Option<&Item>,
    source: &str,
    severity: Severity,
    message: String,
    scene: &Scene<'_>,
    at: Moment,
) -> Finding {
    let kind = FindingKind::ComponentDown;
    let item = item.map(|item| item.id.clone());
    let context = json!({ "component": source, "item": item });
    let alarm = Alarm { kind, severity, source: source.to_owned(), message: message.clone(), context };
    Finding {
        kind,
        severity,
        item,
        question_id: None,
        source: Some(source.to_owned()),
        cycle: None,
        evidence: vec![message],
        actions: Deed::raise(alarm, scene.alerts, at).into_iter().collect(),
    }
}
