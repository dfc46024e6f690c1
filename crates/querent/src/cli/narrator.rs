//! What happens, told as it happens: a line or a round of a conversation for each record that people care about.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use querent_core::event::{Event, SaidKind, TurnEnded, TurnOutcome};
use querent_core::{AgentName, Party, Provenance, Purpose, QuestionId, Record, Stage};
use querent_hub::Handle;

use super::output::{Page, Paint};
use crate::text::{clean_line, clock, hanging};

/// Tells records. It remembers who asked whom, so that an answer says whom it is for.
pub(crate) struct Narrator {
    hub: Handle,
    zone: TimeZone,
    /// Who asked whom, and which round it is in.
    asked: BTreeMap<QuestionId, Asked>,
}

#[derive(Clone)]
struct Asked {
    from: AgentName,
    to: Party,
    round: u32,
}

impl Narrator {
    pub(crate) fn new(hub: Handle) -> Self {
        Self { hub, zone: TimeZone::system(), asked: BTreeMap::new() }
    }

    /// Writes what a record says; nothing if it is of no interest to people.
    pub(crate) fn tell(&mut self, page: &mut Page, record: &Record) {
        let item = record.stream.item().map(ToString::to_string).unwrap_or_default();
        match &record.event {
            Event::TurnBegun(it) => {
                let what = match &it.purpose {
                    Purpose::Step(step) => format!("works on {step}"),
                    Purpose::Happening(number) => format!("hears of event {number}"),
                };
                let again = if it.attempt > 1 { ", taken up again" } else { "" };
                plain(page, &item, &format!("{} {what} (turn {}{again})", it.agent, it.number));
            }
            Event::TurnEnded(it) => turn_ended(page, &item, it),
            Event::TurnSaid(it) if it.kind == SaidKind::Note => {
                plain(page, &item, &format!("{} notes: {}", it.session, clean_line(&it.text)));
            }
            Event::TurnSaid(it) if it.kind == SaidKind::Ignored => {
                painted(page, &item, Paint::Dim, &format!("ignored from {}: {}", it.session, clean_line(&it.text)));
            }
            Event::ItemMoved(it) => {
                let paint = if it.to == Stage::Blocked { Paint::Bad } else { Paint::Good };
                let why = it.reason.as_deref().map_or_else(String::new, |why| format!(": {}", clean_line(why)));
                painted(page, &item, paint, &format!("{} -> {}{why}", it.from, it.to));
            }
            Event::ItemPaused(it) => {
                painted(page, &item, Paint::Warn, &format!("waits for a human: {}", it.question));
            }
            Event::ItemResumed(it) => {
                painted(page, &item, Paint::Good, &format!("goes on in {} ({})", it.to, clean_line(&it.reason)));
            }
            Event::ItemEnded(it) => painted(page, &item, Paint::Good, &format!("has ended: {}", it.outcome)),
            Event::AgentCalled(it) => {
                plain(page, &item, &format!("{} is called for {} (round {})", it.agent, it.question, it.round));
            }
            Event::AgentCallFailed(it) => {
                let error = clean_line(&it.error);
                painted(page, &item, Paint::Bad, &format!("{} could not answer {}: {error}", it.agent, it.question));
            }
            Event::MessageSent(it) => plain(page, &item, &format!("{} says: {}", record.by, clean_line(&it.text))),
            Event::EventEmitted(it) => {
                let heard: Vec<&str> = it.to.iter().map(AgentName::as_str).collect();
                let heard = if heard.is_empty() { "nobody listens".to_owned() } else { heard.join(", ") };
                plain(page, &item, &format!("event {} by {} ({heard})", it.event, record.by));
            }
            Event::AssumptionRecorded(it) => {
                let assumed = &it.assumption;
                let decision = clean_line(&assumed.decision);
                plain(page, &item, &format!("{} assumes {}: {decision}", record.by, assumed.id));
            }
            Event::AssumptionOverturned(it) => {
                painted(page, &item, Paint::Warn, &format!("{} is overturned by {}", it.assumption, record.by));
            }
            Event::AlertRaised(it) => {
                painted(page, "alert", Paint::Bad, &clean_line(&it.alarm.message));
            }
            _ => self.conversation(page, record),
        }
    }

    /// The rounds of a conversation.
    fn conversation(&mut self, page: &mut Page, record: &Record) {
        let Some(id) = record.event.question().cloned() else { return };
        if let Event::QuestionAsked(it) = &record.event {
            let (from, to) = (it.question.from.agent.clone(), it.question.to.clone());
            self.asked.insert(id.clone(), Asked { from, to, round: it.question.round });
        }
        let Some(known) = self.who(&id) else { return };
        let asker = Party::Agent(known.from.clone());
        match &record.event {
            Event::QuestionAsked(it) => {
                self.round(page, record, known.round, (&asker, &known.to), ("Q", &it.question.prompt));
            }
            Event::QuestionFollowedUp(it) => {
                let from = it.from.as_ref().unwrap_or(&record.by);
                self.round(page, record, it.round, (from, &known.to), ("Q", &it.prompt));
                self.asked.insert(id, Asked { round: it.round, ..known });
            }
            Event::QuestionAnswered(it) => {
                let how = if it.answer.provenance == Provenance::Learned { " (learned before)" } else { "" };
                let text = format!("{}{how}", it.answer.text);
                self.round(page, record, known.round, (&it.answer.by, &asker), ("A", &text));
            }
            Event::LateAnswerRecorded(it) => {
                let text = format!("{} (late)", it.answer.text);
                self.round(page, record, known.round, (&it.answer.by, &asker), ("A", &text));
            }
            Event::QuestionEscalated(it) => {
                marked(page, Paint::Bad, "[ESCALATED]", &id, &hanging(&it.summary, 2));
                self.asked.insert(id, Asked { to: Party::HUMAN, ..known });
            }
            _ => settled(page, record, &id, &known.to),
        }
    }

    fn who(&self, id: &QuestionId) -> Option<Asked> {
        self.asked.get(id).cloned().or_else(|| {
            let question = self.hub.question(id).ok()?;
            Some(Asked { from: question.from.agent, to: question.to, round: question.round })
        })
    }

    fn round(
        &self,
        page: &mut Page,
        record: &Record,
        round: u32,
        (from, to): (&Party, &Party),
        (mark, text): (&str, &str),
    ) {
        page.paint(Paint::Bold, &format!("[Round {round}] {from} -> {to}"));
        page.line(format!(" ({})", clock(&self.zone, self.hub.now(), record.at)));
        page.line(format!("  {mark}: {}", hanging(text, 5)));
    }
}

/// How a conversation ends, or stands still.
fn settled(page: &mut Page, record: &Record, id: &QuestionId, to: &Party) {
    match &record.event {
        Event::QuestionResolved(it) => {
            let said = it.note.as_deref().or(it.answer.as_ref().map(|it| it.text.as_str())).unwrap_or_default();
            marked(page, Paint::Good, "[RESOLVED]", id, &clean_line(said));
        }
        Event::QuestionExpired(it) => {
            let taken = it.answer.as_ref().map(|it| format!("; the fallback is taken: {}", clean_line(&it.text)));
            marked(page, Paint::Warn, "[EXPIRED]", id, &format!("nobody answered{}", taken.unwrap_or_default()));
        }
        Event::QuestionWithdrawn(it) => {
            marked(page, Paint::Dim, "[WITHDRAWN]", id, &clean_line(it.reason.as_deref().unwrap_or_default()));
        }
        Event::QuestionStale(_) => {
            marked(page, Paint::Warn, "[STALE]", id, &format!("{to} let its time pass and is called again"));
        }
        _ => {}
    }
}

fn marked(page: &mut Page, paint: Paint, mark: &str, id: &QuestionId, text: &str) {
    page.paint(paint, mark);
    page.line(format!(" {id} {text}"));
}

fn turn_ended(page: &mut Page, item: &str, it: &TurnEnded) {
    let said = it.said.as_deref().and_then(|said| said.lines().find(|line| !line.trim().is_empty()));
    let said = said.map_or_else(String::new, |said| format!(": {}", clean_line(said)));
    let (paint, what) = match it.outcome {
        TurnOutcome::Done => (Paint::Good, "is done"),
        TurnOutcome::Asked => (Paint::Warn, "waits for an answer"),
        TurnOutcome::Failed => (Paint::Bad, "failed"),
        TurnOutcome::Rejected => (Paint::Warn, "must try again"),
        TurnOutcome::Stopped => (Paint::Dim, "was stopped"),
    };
    painted(page, item, paint, &format!("{} {what}{said}", it.agent));
}

fn plain(page: &mut Page, item: &str, text: &str) {
    painted(page, item, Paint::Plain, text);
}

fn painted(page: &mut Page, item: &str, paint: Paint, text: &str) {
    page.paint(Paint::Dim, &format!("{item:<10} "));
    page.paint(paint, text);
    page.text("\n");
}
