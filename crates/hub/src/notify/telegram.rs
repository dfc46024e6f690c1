//! Telegram: what a bot says to its chat, and what it understands of what comes back. Plain text: nothing is parsed.

use querent_core::{Party, QuestionId, canonical};
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::Request;
use super::message::Letter;
use super::text::{cut, line};

/// Where bots live unless the config says otherwise.
pub(crate) const API: &str = "https://api.telegram.org";
/// What Telegram takes of a message, with room for the links; and how many buttons are still readable.
const TEXT: usize = 3_000;
const BUTTONS: usize = 20;
/// How long it holds a request for news, in seconds.
pub(crate) const POLL: u64 = 25;

/// A bot: where it lives, by its secret, and its chat.
#[derive(Clone)]
pub(crate) struct Bot {
    pub(crate) base: String,
    pub(crate) token: String,
    pub(crate) chat: String,
}

impl Bot {
    pub(crate) fn call(&self, method: &str, body: &Value) -> Request {
        let url = format!("{}/bot{}/{method}", self.base.trim_end_matches('/'), self.token);
        Request { url, headers: Vec::new(), body: canonical::text(body) }
    }

    pub(crate) fn send_message(&self, letter: &Letter) -> Request {
        let note = letter.note();
        let open = note.open.map(|open| format!("\n\n{open}")).unwrap_or_default();
        let hint = match letter {
            Letter::Question(_) => "\n\nReply to this message to answer in your own words.",
            _ => "",
        };
        // The last line is how a reply is understood.
        let text = format!("{}\n\n{}{open}{hint}\n\n{}", cut(&note.title, 250), cut(&note.body, TEXT), note.foot);
        let rows: Vec<Value> = letter.choices().iter().take(BUTTONS).filter_map(row).collect();
        let mut body = json!({ "chat_id": self.chat, "text": text, "link_preview_options": { "is_disabled": true } });
        if !rows.is_empty() {
            body["reply_markup"] = json!({ "inline_keyboard": rows });
        }
        self.call("sendMessage", &body)
    }

    pub(crate) fn get_updates(&self, offset: i64) -> Request {
        let body = json!({ "offset": offset, "timeout": POLL, "allowed_updates": ["message", "callback_query"] });
        self.call("getUpdates", &body)
    }

    /// The one who pressed a button hears what came of it.
    pub(crate) fn answer_callback(&self, id: &str, text: &str) -> Request {
        self.call("answerCallbackQuery", &json!({ "callback_query_id": id, "text": cut(text, 190) }))
    }

    /// The buttons of a message are taken away.
    pub(crate) fn without_buttons(&self, message: i64) -> Request {
        let nothing = json!({ "inline_keyboard": [] });
        self.call(
            "editMessageReplyMarkup",
            &json!({ "chat_id": self.chat, "message_id": message, "reply_markup": nothing }),
        )
    }

    /// A word to the chat, under a message.
    pub(crate) fn reply(&self, message: i64, text: &str) -> Request {
        let under = json!({ "message_id": message, "allow_sending_without_reply": true });
        self.call("sendMessage", &json!({ "chat_id": self.chat, "text": cut(text, TEXT), "reply_parameters": under }))
    }
}

fn row(choice: &super::message::Choice) -> Option<Value> {
    let button = choice.button.as_ref()?;
    Some(json!([{ "text": cut(&choice.label, 60), "callback_data": button }]))
}

/// What Telegram says that happened.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Update {
    #[serde(rename = "update_id")]
    pub(crate) number: i64,
    message: Option<Incoming>,
    callback_query: Option<Callback>,
}

#[derive(Clone, Debug, Deserialize)]
struct Callback {
    id: String,
    from: User,
    message: Option<Incoming>,
    data: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Incoming {
    message_id: i64,
    chat: Chat,
    from: Option<User>,
    text: Option<String>,
    reply_to_message: Option<Box<Incoming>>,
}

#[derive(Clone, Debug, Deserialize)]
struct Chat {
    id: i64,
    username: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct User {
    #[serde(default)]
    is_bot: bool,
    username: Option<String>,
    first_name: Option<String>,
}

/// What somebody in the chat wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// A button was pressed.
    Press { callback: String, message: i64, button: String, by: Party },
    /// A message of ours was replied to.
    Reply { message: i64, question: QuestionId, text: String, by: Party },
}

/// The results of a call.
pub(crate) fn result<T: serde::de::DeserializeOwned>(body: &str) -> Result<T, String> {
    #[derive(Deserialize)]
    struct Reply<T> {
        result: Option<T>,
        description: Option<String>,
    }
    let reply: Reply<T> = serde_json::from_str(body).map_err(|error| format!("what Telegram says is none: {error}"))?;
    reply.result.ok_or_else(|| line(&reply.description.unwrap_or_else(|| "no result".to_owned())))
}

/// What an update wants; nothing if it comes from another chat, or is none of our business.
pub(crate) fn wish(update: Update, chat: &str) -> Option<Wish> {
    let here =
        |it: &Chat| it.id.to_string() == chat || it.username.as_ref().is_some_and(|name| format!("@{name}") == chat);
    if let Some(pressed) = update.callback_query {
        let message = pressed.message.filter(|message| here(&message.chat))?;
        let by = party(&pressed.from);
        return Some(Wish::Press { callback: pressed.id, message: message.message_id, button: pressed.data?, by });
    }
    let said = update.message.filter(|message| here(&message.chat))?;
    let ours = said.reply_to_message.filter(|it| it.from.as_ref().is_some_and(|from| from.is_bot))?;
    let foot = ours.text?;
    let question = foot.lines().next_back()?.split(',').next()?.trim().parse().ok()?;
    let by = said.from.as_ref().map_or(Party::HUMAN, party);
    Some(Wish::Reply { message: said.message_id, question, text: said.text?, by })
}

/// Whoever it is, by the name that Telegram has for them.
fn party(user: &User) -> Party {
    let name = user.username.as_ref().or(user.first_name.as_ref()).map(|name| cut(&line(name), 64));
    Party::Human(name.filter(|name| !name.is_empty()))
}
