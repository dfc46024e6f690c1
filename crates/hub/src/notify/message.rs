//! What people are told, before a channel puts it in its own form. Pure: what it says follows from what it is given.

use querent_core::view::QuestionView;
use querent_core::{
    Alert, ChannelKind, ChannelName, EntryKind, Expected, Moment, Occasion, Question, effect_id, monitor::Severity,
};
use serde_json::{Value, json};

use super::links::{Link, Links};
use super::text::{clean, cut, line};

/// What is sent at once.
#[derive(Clone, Debug)]
pub(crate) enum Letter {
    /// A question.
    Question(Box<Message>),
    /// Several that block nobody.
    Digest(Vec<Message>),
    /// What people should look at.
    Alert(Box<Alert>),
    /// Nothing but that the channel works.
    Test {
        /// The project's name.
        project: String,
    },
}

/// A question, and the links that belong to it.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) question: Question,
    pub(crate) state: Occasion,
    /// What makes it the same notification.
    pub(crate) effect: String,
    /// Where the question is shown.
    pub(crate) open: String,
    pub(crate) choices: Vec<Choice>,
}

/// An answer that can be given with one click.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// What programs call it.
    pub(crate) id: String,
    pub(crate) label: String,
    /// Where it is confirmed.
    pub(crate) url: String,
    /// What the button of a chat carries, where that fits.
    pub(crate) button: Option<String>,
}

/// The same for every channel that people read, in plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) title: String,
    pub(crate) body: String,
    /// What it is about, on one line.
    pub(crate) foot: String,
    pub(crate) open: Option<String>,
    pub(crate) urgency: Urgency,
}

/// How loud a channel should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    Low,
    Normal,
    High,
}

/// What a channel is, as far as links are concerned.
pub(crate) struct Sender<'a> {
    pub(crate) links: &'a Links,
    pub(crate) base: &'a str,
    pub(crate) channel: &'a ChannelName,
    pub(crate) kind: ChannelKind,
}

impl Message {
    /// The message about a question, sent at `now`.
    pub(crate) fn of(question: Question, state: Occasion, sender: &Sender<'_>, now: Moment) -> Self {
        let link = Link::to(&question, sender.channel, sender.kind, now);
        let choice = |(place, (id, label, value)): (usize, (String, String, Value))| Choice {
            id,
            label,
            url: sender.links.url(sender.base, &link.answering(value)),
            button: sender.links.button(&question.id, question.round, place),
        };
        let choices = choices(&question).into_iter().enumerate().map(choice).collect();
        let open = sender.links.url(sender.base, &link);
        let effect = effect_id(&question.id, question.round, state, sender.channel);
        Self { question, state, effect, open, choices }
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let event = match self.state {
            Occasion::Asked => "question_asked",
            Occasion::Escalated => "question_escalated",
            Occasion::Reminded(_) => "question_reminded",
        };
        let answers: serde_json::Map<String, Value> =
            self.choices.iter().map(|choice| (choice.id.clone(), json!(choice.url))).collect();
        let question = QuestionView { question: &self.question, with_thread: true };
        json!({ "event": event, "question": question, "links": { "open": self.open, "answer": answers } })
    }

    /// For people.
    pub(crate) fn note(&self) -> Note {
        let question = &self.question;
        let (asker, topic) = (&question.from.agent, line(&question.topic));
        let title = match self.state {
            Occasion::Asked if question.blocking => format!("{asker} waits for you: {topic}"),
            Occasion::Asked => format!("{asker} asks: {topic}"),
            Occasion::Escalated => format!("{asker} needs your decision: {topic}"),
            Occasion::Reminded(_) => format!("Reminder: {asker} still waits: {topic}"),
        };
        let urgency = if question.blocking { Urgency::High } else { Urgency::Normal };
        let round = if question.round > 1 { format!(", round {}", question.round) } else { String::new() };
        let foot = format!("{}, item {}{round}", question.id, question.item);
        Note { title, body: body(question), foot, open: Some(self.open.clone()), urgency }
    }
}

impl Letter {
    /// For people.
    pub(crate) fn note(&self) -> Note {
        match self {
            Self::Question(message) => message.note(),
            Self::Digest(messages) => digest(messages),
            Self::Alert(alert) => Note {
                title: format!("Alert: {}", alert.alarm.kind.as_str().replace('_', " ")),
                body: clean(&alert.alarm.message),
                foot: format!("{}, {}", alert.id, alert.alarm.severity),
                open: None,
                urgency: if alert.alarm.severity >= Severity::Error { Urgency::High } else { Urgency::Normal },
            },
            Self::Test { project } => Note {
                title: "Querent can reach you here".to_owned(),
                body: format!("Questions of the project {} will come through this channel.", line(project)),
                foot: "a test; nothing waits for you".to_owned(),
                open: None,
                urgency: Urgency::Normal,
            },
        }
    }

    /// What can be answered with one click.
    pub(crate) fn choices(&self) -> &[Choice] {
        match self {
            Self::Question(message) => &message.choices,
            Self::Digest(_) | Self::Alert(_) | Self::Test { .. } => &[],
        }
    }
}

/// What can be answered with one click: id, label and value.
pub(crate) fn choices(question: &Question) -> Vec<(String, String, Value)> {
    match question.expected {
        Expected::SingleChoice => {
            let options = question.options.iter();
            options.map(|it| (it.id.clone(), line(&it.label), json!(it.id))).collect()
        }
        Expected::Boolean => [("true", "Yes", true), ("false", "No", false)]
            .map(|(id, label, value)| (id.to_owned(), label.to_owned(), json!(value)))
            .to_vec(),
        _ => Vec::new(),
    }
}

/// The question so that it can be understood without anything else.
fn body(question: &Question) -> String {
    let last = |kind| question.thread.iter().rev().find(|entry| entry.kind == kind).map(|entry| clean(&entry.body));
    let escalation = last(EntryKind::Escalation);
    let asked = last(EntryKind::Question).unwrap_or_else(|| clean(&question.prompt));
    let options = question.options.iter().map(|option| {
        let recommended = if option.recommended { " (recommended)" } else { "" };
        let more = [&option.description, &option.implications].into_iter().flatten().map(|it| line(it));
        let said: Vec<String> = [format!("- {}{recommended}", line(&option.label))].into_iter().chain(more).collect();
        said.join("; ")
    });
    let options: Vec<String> = options.collect();
    let fallback = question.fallback.as_ref().map(|fallback| {
        let taken = fallback.answer.as_str().map_or_else(|| fallback.answer.to_string(), str::to_owned);
        let by = question
            .expires_at
            .map_or_else(|| "Without an answer".to_owned(), |at| format!("Without an answer by {at}"));
        format!("{by}: uses {}, because {}", line(&taken), line(&fallback.reason))
    });
    let parts = [
        Some(escalation.unwrap_or(asked)),
        question.context.as_deref().map(clean),
        (!options.is_empty()).then(|| options.join("\n")),
        fallback,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn digest(messages: &[Message]) -> Note {
    let lines = messages.iter().map(|message| {
        let question = &message.question;
        let (topic, prompt) = (line(&question.topic), cut(&line(&question.prompt), 200));
        format!("{}: {} asks: {topic}\n{prompt}\n{}", question.id, question.from.agent, message.open)
    });
    let count = messages.len();
    Note {
        title: format!("{count} questions wait for you, none of them urgent"),
        body: lines.collect::<Vec<_>>().join("\n\n"),
        foot: format!("{count} questions"),
        open: None,
        urgency: Urgency::Low,
    }
}
