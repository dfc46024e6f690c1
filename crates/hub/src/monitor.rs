//! The monitor at work: the core surveys, the hub carries out what follows. Any number of monitors may run at once: each deed
//! is judged again where it is recorded, so it happens once.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use querent_core::monitor::{Deed, Finding, Scene, Signs, survey};
use querent_core::{Alert, ComponentName, Item, ItemId, Moment, Question, Refusal, SessionId, Shared, Span};
use querent_journal::{Beat, Pulse, Snapshot, Update, Which};

use crate::handle::{Handle, all};
use crate::jobs::{Act, CarryShared};
use crate::processes;

/// How often it acts at most before it leaves the rest to the next one.
const MOST_LOOKS: usize = 4;
/// How long a look that found nothing to do stands for the next one, where nothing is recorded meanwhile.
const CALM: Span = Span::seconds(1);
/// The same, where there is much to look at: a survey is not to take more than a small part of the time.
const MOST_CALM: Span = Span::seconds(15);
/// When the beats of sessions are forgotten.
const FORGOTTEN: Span = Span::minutes(24 * 60);

impl Handle {
    /// Looks at everything that is open and, unless it is a dry run, does what follows; then looks again, for what was done may
    /// bring more to light. Costs what is open.
    pub fn monitor(&self, dry_run: bool) -> Result<Vec<Finding>, Refusal> {
        let (mut findings, signs) = self.look()?;
        if dry_run {
            return Ok(findings);
        }
        let mut news = findings.clone();
        for _ in 0..MOST_LOOKS {
            let deeds: Vec<&Deed> = news.iter().flat_map(|finding| &finding.actions).collect();
            let is_idle = deeds.is_empty();
            deeds.into_iter().try_for_each(|deed| self.carry_out(deed))?;
            if !self.settle_all()? && is_idle {
                break;
            }
            news = self.look()?.0;
            findings.extend(news.iter().filter(|finding| !finding.actions.is_empty()).cloned());
        }
        self.forget(&signs)?;
        Ok(findings)
    }

    /// The monitor as a side effect of queries: a process that answers many of them looks once a second where nothing happens
    /// and little is open. One that keeps the time does so whatever happens meanwhile: deadlines are carried out anyway, and a
    /// busy server would do nothing else than look.
    pub(crate) fn monitor_unless_calm(&self) -> Result<(), Refusal> {
        let (now, head) = (self.now(), self.inner.journal.read()?.head());
        let keeps_time = self.inner.keeps_time.load(Ordering::Relaxed);
        let calm = || self.inner.calm.lock().unwrap_or_else(PoisonError::into_inner);
        let stands = |(at, seen)| (keeps_time || seen == head) && at <= now && now.since(at) < self.calm_span();
        if calm().is_some_and(stands) {
            return Ok(());
        }
        let looking = self.inner.looking.try_lock();
        if keeps_time && looking.is_err() {
            return Ok(());
        }
        let is_calm = self.monitor(false)?.iter().all(|finding| finding.actions.is_empty());
        *calm() = is_calm.then_some((now, head));
        drop(looking);
        Ok(())
    }

    /// How long a look stands: a second, and a millisecond more for each question that it took.
    fn calm_span(&self) -> Span {
        let surveyed = self.inner.surveyed.load(Ordering::Relaxed);
        Span::millis(CALM.as_millis().saturating_add(surveyed)).min(MOST_CALM)
    }

    /// What is wrong now, and the signs of life that say so.
    fn look(&self) -> Result<(Vec<Finding>, Signs), Refusal> {
        let snapshot = self.inner.journal.read()?;
        let items = all(&*snapshot, Which::Active)?;
        let questions = active_questions(&*snapshot, &items)?;
        self.inner.surveyed.store(questions.len() as u64, Ordering::Relaxed);
        let (resources, alerts) = (snapshot.shared(Shared::Resources)?, snapshot.shared(Shared::Alerts)?);
        let signs = self.signs(&items)?;
        let (resources, alerts) = (&resources.resources, &alerts.alerts);
        let scene = Scene { items: &items, questions: &questions, resources, alerts, signs: &signs };
        Ok((survey(&scene, &*self.rules()?, self.now()), signs))
    }

    /// The last alerts, oldest first.
    pub fn alerts(&self) -> Result<Vec<Alert>, Refusal> {
        let shared = self.inner.journal.read()?.shared(Shared::Alerts)?;
        Ok(shared.alerts.recent.values().cloned().collect())
    }

    /// A component, or a session, shows that it is alive. Nothing is recorded. Says whether it is a session.
    pub fn beat(&self, name: &ComponentName) -> Result<bool, Refusal> {
        let is_session = self.seat(&name.as_str().parse()?, Which::Active)?.is_some();
        let pulse = if is_session { Pulse::Session } else { Pulse::Component };
        self.inner.journal.beat(&Beat { pulse, name: name.clone(), at: self.now() })?;
        Ok(is_session)
    }

    /// No more beats are expected of a component.
    pub fn still(&self, name: &ComponentName) -> Result<(), Refusal> {
        Ok(Pulse::ALL.into_iter().try_for_each(|pulse| self.inner.journal.still(pulse, name))?)
    }

    /// The item that a session is on: one that it works on before one that it left, and the latest of its kind. A session
    /// that bears its item's name is found at once; another is looked for, in the items that are `which`.
    pub(crate) fn seat(&self, session: &SessionId, which: Which) -> Result<Option<Item>, Refusal> {
        let snapshot = self.inner.journal.read()?;
        let named = session.as_str().rsplit_once('@').and_then(|(_, item)| item.parse::<ItemId>().ok());
        if let Some(item) = named.map(|id| snapshot.item(&id)).transpose()?.flatten()
            && item.sessions.contains_key(session)
        {
            return Ok(Some(Arc::unwrap_or_clone(item)));
        }
        let items = all(&*snapshot, which)?.into_iter();
        let seats = items.filter_map(|item| {
            let it = item.sessions.get(session)?;
            Some(((!it.finished, it.last_activity), item))
        });
        Ok(seats.max_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, item)| item))
    }

    fn carry_out(&self, deed: &Deed) -> Result<(), Refusal> {
        let (rules, clock) = (self.rules()?, Arc::clone(&self.inner.clock));
        let update = match deed {
            Deed::Item(command) => {
                let job = Act { command: (**command).clone(), rules, clock };
                Update { stream: command.item.clone().into(), ticket: None, job: Box::new(job) }
            }
            Deed::Shared(command) => {
                let job = CarryShared { command: (**command).clone(), ticket: None, rules, clock };
                Update { stream: command.stream().into(), ticket: None, job: Box::new(job) }
            }
        };
        self.inner.journal.update(update).map(drop).map_err(Refusal::from)
    }

    fn signs(&self, items: &[Item]) -> Result<Signs, Refusal> {
        let mut signs = Signs::default();
        for Beat { name, at, .. } in self.inner.journal.beats(Pulse::Component)? {
            signs.components.insert(name, at);
        }
        for (pulse, seen) in [(Pulse::Session, &mut signs.sessions), (Pulse::Wait, &mut signs.waits)] {
            for Beat { name, at, .. } in self.inner.journal.beats(pulse)? {
                seen.extend(name.as_str().parse::<SessionId>().map(|session| (session, at)));
            }
        }
        for (id, session) in items.iter().flat_map(|item| &item.sessions) {
            match session.process.as_ref().filter(|_| session.busy_since.is_some()).and_then(processes::runs) {
                Some(true) => signs.running.insert(id.clone()),
                Some(false) => signs.gone.insert(id.clone()),
                None => false,
            };
        }
        Ok(signs)
    }

    /// Signs of life that say nothing any more.
    fn forget(&self, signs: &Signs) -> Result<(), Refusal> {
        let now: Moment = self.now();
        let old = |seen: &std::collections::BTreeMap<SessionId, Moment>, span: Span| {
            let old = seen.iter().filter(|(_, at)| now.since(**at) > span);
            old.filter_map(|(session, _)| session.as_str().parse().ok()).collect::<Vec<ComponentName>>()
        };
        let waits = old(&signs.waits, Span::minutes(5));
        for (pulse, names) in [(Pulse::Session, old(&signs.sessions, FORGOTTEN)), (Pulse::Wait, waits)] {
            for name in names {
                self.inner.journal.still(pulse, &name)?;
            }
        }
        Ok(())
    }
}

fn active_questions(snapshot: &dyn Snapshot, items: &[Item]) -> Result<Vec<Question>, Refusal> {
    let mut questions = Vec::new();
    for item in items.iter().filter(|item| item.has_active_questions()) {
        for number in item.open.keys().chain(&item.answered) {
            questions.extend(snapshot.question(&item.question_id(*number))?.map(Arc::unwrap_or_clone));
        }
    }
    Ok(questions)
}
