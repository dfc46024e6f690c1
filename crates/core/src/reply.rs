//! What a caller is told. The shapes are the contract of every surface.

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::advice::{advice, advice_on_follow_up};
use crate::alert::Alert;
use crate::answer::Answer;
use crate::assumption::Assumption;
use crate::command::{Action, Command, SharedAction, SharedCommand};
use crate::event::{Event, Record};
use crate::id::{AgentName, QuestionId, SessionId, TokenId};
use crate::item::{Item, Stage};
use crate::party::Party;
use crate::path::ProjectPath;
use crate::question::{Question, Status};
use crate::refusal::{Code, Refusal};
use crate::spelt;
use crate::state::State;
use crate::view::{ItemView, LearnedView, SessionView, TokenView, sessions};

/// A reply as it is sent: `{"ok":true,"data":…}` or `{"ok":false,"error":…}`. Kept as text, so that a replay is the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope(String);

/// A reply with data.
#[derive(Serialize)]
struct Accepted<'a, T> {
    ok: bool,
    data: &'a T,
}

impl Envelope {
    /// A reply with data.
    pub fn ok(data: &impl Serialize) -> Self {
        Self(spelt::text(&Accepted { ok: true, data }))
    }

    /// Writes the same bytes without keeping them: a list may be long.
    pub fn write_ok(data: &impl Serialize, into: impl io::Write) -> io::Result<()> {
        spelt::write(&Accepted { ok: true, data }, into)
    }

    /// A refusal.
    pub fn refused(error: &Refusal) -> Self {
        #[derive(Serialize)]
        struct Refused<'a> {
            ok: bool,
            error: &'a Refusal,
        }
        Self(spelt::text(&Refused { ok: false, error }))
    }

    /// A reply that was stored.
    pub fn from_text(text: String) -> Self {
        Self(text)
    }

    /// Whether it is no refusal.
    pub fn is_ok(&self) -> bool {
        self.0.starts_with("{\"ok\":true")
    }

    /// The reply as JSON on one line.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same, for whoever keeps it.
    pub fn into_string(self) -> String {
        self.0
    }

    /// The reply's data, or the refusal that it is.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        #[derive(Deserialize)]
        struct Parts<T> {
            data: Option<T>,
            error: Option<Refusal>,
        }
        let unreadable = |error: serde_json::Error| {
            let message = format!("a stored reply cannot be read: {error}");
            Refusal::new(Code::StorageError, message, "check the project: querent doctor")
        };
        let Parts { data, error } = serde_json::from_str(&self.0).map_err(unreadable)?;
        match (error, data) {
            (Some(refusal), _) => Err(refusal),
            (None, Some(data)) => Ok(data),
            // A reply that has nothing to say.
            (None, None) => serde_json::from_str("null").map_err(unreadable),
        }
    }
}

/// Of `ask` and `follow-up`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskReply {
    /// The question.
    pub question_id: QuestionId,
    /// Where it is in its life.
    pub status: Status,
    /// Who is to answer.
    pub to: Party,
    /// The round it is in.
    pub round: u32,
    /// The last round.
    pub max_rounds: u32,
    /// Where the item is.
    pub item_stage: Option<Stage>,
    /// Where the item goes on.
    pub resume_stage: Option<Stage>,
    /// The answer; none while it is open.
    pub answer: Option<Answer>,
    /// Whether the answer was there already, so that nothing was asked.
    #[serde(default)]
    pub reused: bool,
    /// How to ask better next time; empty if all is well, and in replies that were stored before there was any.
    #[serde(default)]
    pub advice: Vec<String>,
}

/// As much of it as it takes to wait for the answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BriefAskReply {
    /// The question.
    pub question_id: QuestionId,
    /// Whether the answer was there already, so that nothing was asked.
    #[serde(default)]
    pub reused: bool,
    /// How to ask better next time.
    #[serde(default)]
    pub advice: Vec<String>,
}

impl BriefAskReply {
    /// As much of a reply to a question as that.
    pub fn of(reply: &Envelope) -> Result<Self, Refusal> {
        Self::usual(reply).map_or_else(|| reply.read(), Ok)
    }

    /// The reply to a question that was new: its id comes first, and the advice last.
    fn usual(reply: &Envelope) -> Option<Self> {
        let rest = reply.as_str().strip_prefix(r#"{"ok":true,"data":{"question_id":""#)?;
        let (id, rest) = rest.split_once('"')?;
        let (_, advice) = rest.split_once(r#","answer":null,"reused":false,"advice":"#)?;
        let advice = serde_json::from_str(advice.strip_suffix("}}")?).ok()?;
        Some(Self { question_id: id.parse().ok()?, reused: false, advice })
    }
}

/// Of `answer` and `await`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerReply {
    /// The question.
    pub question_id: QuestionId,
    /// Where it is in its life.
    pub status: Status,
    /// Where the item is.
    pub item_stage: Option<Stage>,
    /// Whether the item goes on because of it.
    pub resumed: bool,
    /// The answer.
    pub answer: Option<Answer>,
}

/// Of `resolve`, `escalate` and `withdraw`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusReply {
    /// The question.
    pub question_id: QuestionId,
    /// Where it is in its life.
    pub status: Status,
    /// Where the item is.
    pub item_stage: Option<Stage>,
}

/// Of `item add`, `item show`, `item move` and `item end`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemReply {
    /// The item.
    pub item: ItemView,
}

/// Of `assume` and `assumptions review`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssumptionReply {
    /// The assumption as it is now.
    pub assumption: Assumption,
}

/// Of `hook start` and `hook finish`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HookReply {
    /// The session.
    pub session: Option<SessionView>,
    /// The item.
    pub item: ItemView,
}

/// Of `lock`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LockReply {
    /// The files that the session has.
    pub granted: Vec<ProjectPath>,
    /// The files that it waits for.
    pub waiting: Vec<ProjectPath>,
}

/// Of `unlock`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnlockReply {
    /// The files that the session had.
    pub released: Vec<ProjectPath>,
}

/// Of `own`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnReply {
    /// The files.
    pub path: ProjectPath,
    /// Whose they are.
    pub owner: Option<AgentName>,
}

/// Of `token revoke` and of those who make one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenReply {
    /// The token, without its secret.
    pub token: Option<TokenView>,
}

/// Of `alerts ack`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlertReply {
    /// The alert as it is now.
    pub alert: Option<Alert>,
}

impl AskReply {
    /// The question as it is now, with what its asker was advised.
    pub fn of(item: Option<&Item>, question: &Question, advice: Vec<String>) -> Self {
        Self {
            question_id: question.id.clone(),
            status: question.status,
            to: question.to.clone(),
            round: question.round,
            max_rounds: question.max_rounds,
            item_stage: item.map(|item| item.stage.clone()),
            resume_stage: item.and_then(|item| item.resume_stage.clone()),
            answer: question.answer.clone(),
            reused: false,
            advice,
        }
    }
}

impl AnswerReply {
    /// The question as somebody finds it who waited for it.
    pub fn now(item: &Item, question: &Question) -> Self {
        let goes_on = !item.has_ended() && !matches!(item.stage, Stage::AwaitingInput | Stage::Blocked);
        let resumed = !question.status.is_open() && question.resume_stage.is_some() && goes_on;
        Self::of(Some(item), question, resumed)
    }

    /// The question as it is now; `resumed` says whether its settling let the item go on.
    pub fn of(item: Option<&Item>, question: &Question, resumed: bool) -> Self {
        Self {
            question_id: question.id.clone(),
            status: question.status,
            item_stage: item.map(|item| item.stage.clone()),
            resumed,
            answer: question.answer.clone(),
        }
    }
}

/// What the caller of `command` is told, now that `records` are in the state.
pub(crate) fn reply(state: &State, command: &Command, records: &[Record]) -> Envelope {
    let asked = records.iter().find_map(|record| match &record.event {
        Event::QuestionAsked(it) => Some(&it.question.id),
        Event::QuestionReused(it) => Some(&it.question),
        _ => None,
    });
    let reused = records.iter().any(|record| matches!(record.event, Event::QuestionReused(_)));
    let question = command.action.question().or(asked).and_then(|id| state.questions.get(id));
    match (&command.action, question, &state.item) {
        (Action::FollowUp { .. }, Some(question), _) if question.status == Status::Escalated => {
            Envelope::refused(&out_of_rounds(state, question))
        }
        (Action::FollowUp { prompt, .. }, Some(question), _) => {
            let advice = advice_on_follow_up(question, prompt);
            Envelope::ok(&AskReply::of(state.item.as_ref(), question, advice))
        }
        (Action::Ask(_), Some(question), _) => {
            Envelope::ok(&AskReply { reused, ..AskReply::of(state.item.as_ref(), question, advice(question)) })
        }
        (Action::Answer { .. } | Action::AnswerRound { .. }, Some(question), _) => {
            let resumed = records.iter().any(|record| matches!(record.event, Event::ItemResumed(_)));
            Envelope::ok(&AnswerReply::of(state.item.as_ref(), question, resumed))
        }
        (_, Some(question), _) => Envelope::ok(&StatusReply {
            question_id: question.id.clone(),
            status: question.status,
            item_stage: stage(state),
        }),
        (Action::Lock { .. }, ..) => Envelope::ok(&locked(records)),
        (Action::Unlock { .. } | Action::EndWait { .. }, ..) => Envelope::ok(&unlocked(records)),
        (Action::StartSession { session, .. } | Action::FinishSession { session, .. }, None, Some(item)) => {
            let named = session.clone().or_else(|| Some(SessionId::of(command.by.agent()?, &item.id)));
            let session = sessions(item).into_iter().find(|it| Some(&it.session) == named.as_ref());
            Envelope::ok(&HookReply { session, item: ItemView::of(item) })
        }
        (Action::Assume(_) | Action::Review { .. }, None, Some(item)) => {
            let judged = match &command.action {
                Action::Review { assumption, .. } => item.assumptions.get(&assumption.number),
                _ => item.assumptions.last_key_value().map(|(_, assumption)| assumption),
            };
            judged.map_or_else(
                || Envelope::ok(&json!(null)),
                |it| Envelope::ok(&AssumptionReply { assumption: it.clone() }),
            )
        }
        (_, None, Some(item)) => Envelope::ok(&ItemReply { item: ItemView::of(item) }),
        (_, None, None) => Envelope::ok(&json!(null)),
    }
}

fn locked(records: &[Record]) -> LockReply {
    let mut reply = LockReply::default();
    for record in records {
        match &record.event {
            Event::LockGranted(it) => reply.granted.extend(it.paths.iter().cloned()),
            Event::LockWaited(it) => reply.waiting.extend(it.paths.iter().cloned()),
            _ => {}
        }
    }
    reply
}

fn unlocked(records: &[Record]) -> UnlockReply {
    let released = records.iter().filter_map(|record| match &record.event {
        Event::LockReleased(it) => Some(it.paths.iter().cloned()),
        _ => None,
    });
    UnlockReply { released: released.flatten().collect() }
}

/// What the caller of a command is told that is about what all items share.
pub(crate) fn shared_reply(state: &State, command: &SharedCommand) -> Envelope {
    #[derive(Serialize)]
    struct Revoked<'a> {
        learned: Option<LearnedView<'a>>,
    }
    match &command.action {
        SharedAction::Revoke { learned, .. } => {
            Envelope::ok(&Revoked { learned: state.knowledge.learned.get(&learned.0).map(LearnedView) })
        }
        SharedAction::Own { path, agent } => Envelope::ok(&OwnReply { path: path.clone(), owner: agent.clone() }),
        SharedAction::Raise(_) | SharedAction::Tell { .. } | SharedAction::UseLogin { .. } => {
            Envelope::ok(&json!(null))
        }
        SharedAction::Acknowledge { alert } => {
            Envelope::ok(&AlertReply { alert: state.alerts.recent.get(&alert.0).cloned() })
        }
        SharedAction::CreateToken { .. } => token_reply(state, TokenId(state.access.made)),
        SharedAction::RevokeToken { token } | SharedAction::OfferLogin { token, .. } => token_reply(state, *token),
    }
}

fn token_reply(state: &State, token: TokenId) -> Envelope {
    Envelope::ok(&TokenReply { token: state.access.tokens.get(&token.0).map(TokenView::of) })
}

fn stage(state: &State) -> Option<Stage> {
    state.item.as_ref().map(|item| item.stage.clone())
}

fn out_of_rounds(state: &State, question: &Question) -> Refusal {
    let (id, most) = (&question.id, question.max_rounds);
    let rounds = if most == 1 { "only round".to_owned() } else { format!("{most} rounds") };
    let message = format!("{id} had its {rounds}; it was escalated to a human");
    Refusal::new(Code::MaxRoundsExceeded, message, format!("wait for the human: querent await {id}"))
        .with(json!({ "question_id": id, "status": question.status, "item_stage": stage(state) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answer: &str, rest: &str) -> Envelope {
        let known = r#""status":"open","to":"human","round":1,"max_rounds":6,"item_stage":"a\"b","resume_stage":null"#;
        Envelope::from_text(format!(
            r#"{{"ok":true,"data":{{"question_id":"CLR-42-001",{known},"answer":{answer}{rest}}}}}"#
        ))
    }

    #[test]
    fn what_is_read_of_a_reply_at_once_is_what_all_of_it_says() {
        let advice = r#","reused":false,"advice":["say \"why\"",",\"advice\":[]}}"]"#;
        let other = r#"{"value":{"answer":null,"reused":false,"advice":[]}}"#;
        for (reply, is_usual) in [
            (asked("null", r#","reused":false,"advice":[]"#), true),
            (asked("null", advice), true),
            (asked("null", r#","reused":true,"advice":[]"#), false),
            (asked(other, advice), false),
            (asked("null", ""), false),
            (Envelope::refused(&Refusal::new(Code::Conflict, "no", "try")), false),
        ] {
            assert_eq!(BriefAskReply::usual(&reply).is_some(), is_usual, "{}", reply.as_str());
            assert_eq!(BriefAskReply::of(&reply), reply.read(), "{}", reply.as_str());
        }
    }
}
