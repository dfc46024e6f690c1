//! What surfaces ask about notifications, and what people do with them.

use querent_core::view::{DeliveryView, Filter, StatusFilter};
use querent_core::{
    Action, ChannelKind, ChannelName, Command, Delivery, DeliveryStatus, Envelope, Errand, ItemId, Moment, OperationId,
    Party, Question, QuestionId, Refusal, Rules, effect_id, owed,
};
use serde::Serialize;

use super::links::Link;
use super::message::Letter;
use super::{channels, east};
use crate::handle::Handle;

/// A notification in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deliveries {
    /// The question that it is about.
    pub question_id: QuestionId,
    /// What makes it the same notification.
    pub effect: String,
    /// What sort of channel it is.
    pub kind: ChannelKind,
    /// The channel.
    pub channel: ChannelName,
    /// What people are told.
    pub state: String,
    /// The round that the question was in.
    pub round: u32,
    /// How far it has come.
    pub status: DeliveryStatus,
    /// How often it was attempted.
    pub attempts: u32,
    /// When its status last changed; since when it is owed, if it was not attempted yet.
    pub at: Moment,
    /// When it is sent, if it waits for its hour.
    pub due: Option<Moment>,
    /// Why the last attempt failed.
    pub error: Option<String>,
}

/// What a test of a channel brought.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tested {
    /// The channel.
    pub channel: ChannelName,
    /// What sort of channel it is.
    pub kind: ChannelKind,
    /// Whether it took the message.
    pub delivered: bool,
    /// Why not.
    pub error: Option<String>,
}

impl Handle {
    /// Notifications, of the questions that are active or of all, in the order of their questions.
    pub fn deliveries(&self, item: Option<&ItemId>, all: bool) -> Result<Vec<Deliveries>, Refusal> {
        let status = if all { StatusFilter::All } else { StatusFilter::Active };
        let rules = self.rules()?;
        let questions = self.questions(item, &Filter { status, ..Filter::default() })?;
        Ok(questions.iter().flat_map(|question| self.deliveries_of(question, &rules)).collect())
    }

    fn deliveries_of(&self, question: &Question, rules: &Rules) -> Vec<Deliveries> {
        let is_moot = |it: &&Delivery| it.is_over() || question.status.is_open();
        let recorded = question.deliveries.iter().filter(is_moot).map(|it| listed(question, it));
        let now = self.now();
        let waiting = rules.config.notify.iter().filter_map(|channel| {
            let ((state, since), name) = (owed(question, channel)?, channel.name());
            let due = channel.earliest(since, question.blocking, now, east(now));
            question.delivery(&name, state).is_none().then(|| Deliveries {
                question_id: question.id.clone(),
                effect: effect_id(&question.id, question.round, state, &name),
                kind: channel.kind,
                channel: name,
                state: state.to_string(),
                round: question.round,
                status: DeliveryStatus::Queued,
                attempts: 0,
                at: since,
                due: Some(due).filter(|due| *due > now),
                error: None,
            })
        });
        recorded.chain(waiting).collect()
    }

    /// Sends a test through a channel, or through all, and says what came back. Nothing is recorded.
    pub async fn test_channels(&self, only: Option<&ChannelName>) -> Result<Vec<Tested>, Refusal> {
        let rules = self.rules()?;
        if let Some(name) = only {
            rules.channel(name)?;
        }
        let project = &rules.config.project.name;
        let mut tested = Vec::new();
        for channel in rules.config.notify.iter().filter(|it| only.is_none_or(|only| it.name() == *only)) {
            let letter = Letter::Test { project: project.clone() };
            let sent = channels::send(channel, self.root().as_deref(), &letter, self.now()).await;
            let (channel, kind) = (channel.name(), channel.kind);
            tested.push(Tested { channel, kind, delivered: sent.is_ok(), error: sent.err() });
        }
        Ok(tested)
    }

    /// Somebody opened a notification's link. That it was seen before is no error.
    pub fn see(&self, link: &Link, by: Party) -> Result<(), Refusal> {
        let errand = Errand::See { channel: link.channel.clone(), round: link.round };
        let action = Action::Errand { question: link.question.clone(), errand };
        self.own_deed(Command { item: link.question.item.clone(), by, via: link.via(), action }).map(drop)
    }

    /// The answer of a link, which somebody confirmed. A link that only opens a question answers nothing.
    pub fn answer_by_link(&self, link: &Link, by: Party, operation: Option<OperationId>) -> Envelope {
        let Some(answer) = link.answer.clone() else {
            let message = format!("this link opens {} and answers nothing", link.question);
            return Envelope::refused(&Refusal::invalid("link", message, "choose an answer on the question's page"));
        };
        let action = Action::AnswerRound { question: link.question.clone(), round: link.round, answer };
        let command = Command { item: link.question.item.clone(), by, via: link.via(), action };
        self.execute(&command, operation)
    }
}

fn listed(question: &Question, delivery: &Delivery) -> Deliveries {
    let view = DeliveryView::of(delivery);
    Deliveries {
        question_id: question.id.clone(),
        effect: delivery.effect(&question.id),
        kind: view.kind,
        channel: view.channel.clone(),
        state: view.state.to_string(),
        round: view.round,
        status: view.status,
        attempts: view.attempts,
        at: view.at,
        due: delivery.claim.as_ref().map(|claim| claim.until).filter(|_| !delivery.is_over()),
        error: view.error.map(str::to_owned),
    }
}
