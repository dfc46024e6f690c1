//! Who carries notifications through one channel: looks at what is owed, claims it, sends it, and says what became of it.
//!
//! Everything that matters is in the journal. A courier that dies leaves a claim whose process is gone; the next one takes it
//! over and sends the same notification again, under the same id.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use querent_core::event::EffectOutcome;
use querent_core::{
    Action, Channel, ChannelKind, ChannelName, Command, Delivery, EffectClaim, Errand, Event, Moment, Occasion, Party,
    Process, Question, QuestionId, Refusal, Span, Via, owed,
};
use querent_journal::{Update, Which};
use tokio::time::sleep;

use super::agenda::Agenda;
use super::channels;
use super::links::Links;
use super::message::{Letter, Message, Sender};
use super::text::{cut, line};
use crate::handle::Handle;
use crate::jobs::Own;
use crate::processes;

/// How long a claim is believed whose process cannot be seen from here, after its pause.
const LEASE: Span = Span::minutes(5);
/// How often somebody looks whether the process of another one's claim still runs.
const LOOK: Span = Span::seconds(2);
/// How many questions a digest has at most.
const DIGEST: usize = 50;
/// How long it rests when the project cannot be read.
const REST: Duration = Duration::from_secs(2);

/// The courier of one channel.
#[derive(Clone)]
pub(crate) struct Courier {
    pub(crate) hub: Handle,
    pub(crate) channel: Channel,
    pub(crate) base: Arc<str>,
    pub(crate) links: Links,
    /// This process.
    process: Option<Process>,
}

/// Why the last attempt of this courier failed, where another one follows.
type Errors = BTreeMap<QuestionId, String>;

/// A notification that this courier sends.
struct Claimed {
    question: Question,
    state: Occasion,
    claim: EffectClaim,
    attempt: u32,
}

/// What is to be done for a question now.
enum Turn {
    /// Send this, over a claim of the past.
    Send(Occasion, Option<EffectClaim>),
    /// It had all its attempts, and somebody must say so.
    GiveUp(Occasion, EffectClaim),
    /// Look again then.
    Wait(Moment),
    /// Nothing.
    Rest,
}

impl Courier {
    pub(crate) fn new(hub: Handle, channel: Channel, base: Arc<str>, links: Links) -> Self {
        Self { hub, channel, base, links, process: processes::process(std::process::id()).ok() }
    }

    /// Carries notifications until it is dropped. What cannot be read now is read a moment later.
    pub(crate) async fn run(self) {
        loop {
            if self.follow().await.is_err() {
                sleep(REST).await;
            }
        }
    }

    /// Looks at all that is open, and then at what is touched, and at what has its time.
    async fn follow(&self) -> Result<(), Refusal> {
        let mut subscription = self.hub.subscribe_from_now()?;
        let mut agenda = Agenda::default();
        let mut errors = Errors::new();
        let mut alarmed = true;
        let hub = self.hub.clone();
        for id in blocking(move || open_to_humans(&hub)).await? {
            agenda.set(&id, Some(self.hub.now()));
        }
        loop {
            let most = if self.channel.digest.is_some() { DIGEST } else { 1 };
            let due = agenda.due(self.hub.now(), most);
            if !due.is_empty() {
                let passed_over = self.deliver(&due, &mut errors).await?;
                for id in &due {
                    // What somebody else has, or what the rules allow no more, is not tried again at once.
                    let not_before = self.hub.now().plus(if passed_over.contains(id) { LOOK } else { Span::millis(0) });
                    let next = self.next(id, &errors).await?;
                    agenda.set(id, next.map(|at| at.max(not_before)));
                }
                continue;
            }
            let alerts_at = if alarmed { self.tell_alerts().await? } else { None };
            alarmed = alerts_at.is_some();
            let next = agenda.next().into_iter().chain(alerts_at).min();
            let pause = next.map(|next| Duration::from_millis(next.since(self.hub.now()).as_millis()));
            tokio::select! {
                record = subscription.next() => {
                    let record = record?;
                    alarmed |= matches!(record.event, Event::AlertRaised(_));
                    if let Some(id) = record.event.question() {
                        if settles(&record.event) {
                            self.tidy(id).await;
                            errors.remove(id);
                        }
                        let next = self.next(id, &errors).await?;
                        agenda.set(id, next);
                    }
                }
                () = rest(pause) => {}
            }
        }
    }

    /// When a question is to be looked at again: for what it is owed, or for its own deadline.
    async fn next(&self, id: &QuestionId, errors: &Errors) -> Result<Option<Moment>, Refusal> {
        let question = self.question(id).await?;
        let turn = match self.turn(&question, errors.contains_key(id)) {
            Turn::Send(..) | Turn::GiveUp(..) => Some(self.hub.now()),
            Turn::Wait(at) => Some(at),
            Turn::Rest => None,
        };
        Ok(turn.into_iter().chain(question.next_due().filter(|_| question.to.is_human())).min())
    }

    /// The question, after what is due on it.
    async fn question(&self, id: &QuestionId) -> Result<Question, Refusal> {
        let (hub, id) = (self.hub.clone(), id.clone());
        blocking(move || hub.question(&id)).await
    }

    /// What is to be done for a question. `tried` says that this courier tried it and failed, so that a claim is its own.
    fn turn(&self, question: &Question, tried: bool) -> Turn {
        let now = self.hub.now();
        let Some((state, since)) = owed(question, &self.channel) else { return Turn::Rest };
        let known = question.delivery(&self.channel.name(), state);
        let Some((delivery, claim)) = known.and_then(|it| Some((it, it.claim.as_ref()?))) else {
            return match self.channel.earliest(since, question.blocking, now, super::east(now)) {
                at if at <= now => Turn::Send(state, None),
                at => Turn::Wait(at),
            };
        };
        match self.free_at(claim, tried, now) {
            Some(at) if at > now => Turn::Wait(at),
            Some(_) => self.again(delivery, state, claim),
            None => Turn::Wait(now.plus(LOOK)),
        }
    }

    fn again(&self, delivery: &Delivery, state: Occasion, claim: &EffectClaim) -> Turn {
        if delivery.attempts >= self.channel.attempts() {
            return Turn::GiveUp(state, claim.clone());
        }
        Turn::Send(state, Some(claim.clone()))
    }

    /// When a claim holds no more; none while another one's process runs.
    fn free_at(&self, claim: &EffectClaim, tried: bool, now: Moment) -> Option<Moment> {
        if claim.process == self.process && (tried || claim.process.is_some()) {
            return Some(claim.until);
        }
        match claim.process.as_ref().and_then(processes::runs) {
            Some(true) => None,
            Some(false) => Some(now),
            None => Some(claim.until.plus(LEASE)),
        }
    }

    /// Claims what is owed for these questions, sends it, and records what became of it. Returns what was passed over.
    async fn deliver(&self, ids: &[QuestionId], errors: &mut Errors) -> Result<Vec<QuestionId>, Refusal> {
        let (mut claimed, mut passed_over) = (Vec::new(), Vec::new());
        for id in ids {
            let question = self.question(id).await?;
            match self.turn(&question, errors.contains_key(id)) {
                Turn::Send(state, over) => match self.claim(question, state, over, errors.get(id).cloned()).await? {
                    Some(made) => claimed.push(made),
                    None => passed_over.push(id.clone()),
                },
                Turn::GiveUp(state, claim) => {
                    let error = errors.remove(id).or_else(|| known_error(&question, &claim));
                    let error = error.unwrap_or_else(|| "the server ended while it sent it".to_owned());
                    self.end(id, state, claim, Err(error)).await?;
                }
                Turn::Wait(_) | Turn::Rest => {}
            }
        }
        // What somebody waits for comes by itself, with its buttons.
        let (alone, together): (Vec<Claimed>, Vec<Claimed>) =
            claimed.into_iter().partition(|it| self.channel.digest.is_none() || it.question.blocking);
        for group in alone.into_iter().map(|it| vec![it]).chain([together]).filter(|group| !group.is_empty()) {
            self.send(group, errors).await?;
        }
        Ok(passed_over)
    }

    /// Sends as one letter what belongs together.
    async fn send(&self, claimed: Vec<Claimed>, errors: &mut Errors) -> Result<(), Refusal> {
        let letter = self.letter(&claimed);
        let sent = channels::send(&self.channel, self.hub.root().as_deref(), &letter, self.hub.now()).await;
        for Claimed { question, state, claim, attempt } in claimed {
            match &sent {
                Err(error) if attempt < self.channel.attempts() => {
                    errors.insert(question.id, error.clone());
                }
                sent => {
                    errors.remove(&question.id);
                    self.end(&question.id, state, claim, sent.clone()).await?;
                }
            }
        }
        Ok(())
    }

    /// Durable when it returns. None if somebody else has it by now, or it is owed no more.
    async fn claim(
        &self,
        question: Question,
        state: Occasion,
        over: Option<EffectClaim>,
        error: Option<String>,
    ) -> Result<Option<Claimed>, Refusal> {
        let (channel, process) = (self.channel.name(), self.process.clone());
        let error = error.map(|error| told(&error));
        let errand = Errand::Claim { channel: channel.clone(), state, process, over, error };
        if !self.record(&question.id, errand).await? {
            return Ok(None);
        }
        let question = self.question(&question.id).await?;
        let own = |it: &Delivery| Some((it.claim.clone().filter(|claim| claim.process == self.process)?, it.attempts));
        let made = question.delivery(&channel, state).and_then(own);
        Ok(made.map(|(claim, attempt)| Claimed { question, state, claim, attempt }))
    }

    async fn end(
        &self,
        id: &QuestionId,
        state: Occasion,
        claim: EffectClaim,
        sent: Result<Option<String>, String>,
    ) -> Result<(), Refusal> {
        let (outcome, error, receipt) = match sent {
            Ok(receipt) => (EffectOutcome::Delivered, None, receipt),
            Err(error) => (EffectOutcome::Failed, Some(told(&error)), None),
        };
        let errand = Errand::End { channel: self.channel.name(), state, claim, outcome, error, receipt };
        self.record(id, errand).await.map(drop)
    }

    /// Records a step, if it is so still. Says whether it was.
    async fn record(&self, id: &QuestionId, errand: Errand) -> Result<bool, Refusal> {
        let (hub, question) = (self.hub.clone(), id.clone());
        blocking(move || {
            let action = Action::Errand { question: question.clone(), errand };
            let command = Command { item: question.item, by: Party::Querent, via: Via::Querent, action };
            hub.own_deed(command)
        })
        .await
    }

    fn letter(&self, claimed: &[Claimed]) -> Letter {
        let (name, now) = (self.channel.name(), self.hub.now());
        let sender = Sender { links: &self.links, base: &self.base, channel: &name, kind: self.channel.kind };
        let of = |it: &Claimed| Message::of(it.question.clone(), it.state, &sender, now);
        match claimed {
            [one] => Letter::Question(Box::new(of(one))),
            several => Letter::Digest(several.iter().map(of).collect()),
        }
    }

    /// A question is settled: nobody should press its buttons any more. If that fails, whoever presses one is told.
    async fn tidy(&self, id: &QuestionId) {
        if self.channel.kind != ChannelKind::Telegram {
            return;
        }
        let (Ok(question), Ok(bot)) =
            (self.question(id).await, channels::bot(&self.channel, self.hub.root().as_deref()))
        else {
            return;
        };
        let name: ChannelName = self.channel.name();
        let own = question.deliveries.iter().filter(|it| it.channel == name);
        for message in own.filter_map(|it| it.receipt.as_ref()?.parse().ok()) {
            drop(channels::taken(&bot.without_buttons(message)).await);
        }
    }
}

impl Handle {
    /// Something that Querent itself does, if it is so still. Says whether it was. Durable when this returns.
    pub(crate) fn own_deed(&self, command: Command) -> Result<bool, Refusal> {
        let (rules, clock) = (self.rules()?, Arc::clone(&self.inner.clock));
        let stream = command.item.clone().into();
        let job = Box::new(Own { command, rules, clock });
        let reply = self.inner.journal.update(Update { stream, ticket: None, job })?;
        Ok(reply.read::<()>().is_ok())
    }

    /// The project's directory, if the rules come from there.
    pub(crate) fn root(&self) -> Option<PathBuf> {
        self.inner.rules.dir().and_then(|dir| dir.parent()).map(PathBuf::from)
    }
}

/// What the journal is told of an error.
fn told(error: &str) -> String {
    cut(&line(error), 300)
}

fn known_error(question: &Question, claim: &EffectClaim) -> Option<String> {
    question.deliveries.iter().find(|it| it.claim.as_ref() == Some(claim)).and_then(|it| it.error.clone())
}

/// Whether a question waits no more.
fn settles(event: &Event) -> bool {
    let ends = matches!(event, Event::QuestionResolved(_) | Event::QuestionExpired(_) | Event::QuestionWithdrawn(_));
    ends || matches!(event, Event::QuestionAnswered(_))
}

fn open_to_humans(hub: &Handle) -> Result<Vec<QuestionId>, Refusal> {
    let (items, _) = hub.current(Which::Active)?;
    let open = |item: &querent_core::Item| {
        let numbers = item.open.iter().filter(|(_, it)| it.to.is_human()).map(|(number, _)| item.question_id(*number));
        numbers.collect::<Vec<_>>()
    };
    Ok(items.iter().flat_map(open).collect())
}

async fn rest(pause: Option<Duration>) {
    match pause {
        Some(pause) => sleep(pause).await,
        None => std::future::pending().await,
    }
}

/// What may wait for a lock or the disk runs on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(job).await.unwrap_or_else(|error| {
        let message = format!("the courier broke off: {error}");
        Err(Refusal::new(querent_core::Code::StorageError, message, "it starts again by itself"))
    })
}
