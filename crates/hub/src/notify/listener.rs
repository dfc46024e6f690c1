//! What comes back from Telegram: buttons that were pressed, and replies.
//!
//! Telegram keeps an update until the next one is asked for. What was understood twice answers once: the first answer wins,
//! and the operation bears the update's number. So nothing of this needs to be stored.

use std::time::Duration;

use querent_core::{Action, Code, Command, Envelope, Party, QuestionId, Refusal, Via};
use serde_json::Value;
use tokio::time::sleep;

use super::channels;
use super::client;
use super::courier::{Courier, blocking};
use super::message::choices;
use super::telegram::{self, Bot, POLL, Update, Wish};

/// How long it rests after an error, at first and at most.
const REST: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// Listens to a chat until it is dropped.
pub(crate) async fn run(courier: Courier) {
    let (mut offset, mut rest) = (0, REST.0);
    loop {
        let bot = channels::bot(&courier.channel, courier.hub.root().as_deref());
        let heard = match &bot {
            Ok(bot) => hear(bot, offset).await,
            Err(why) => Err(why.clone()),
        };
        let (Ok(bot), Ok(updates)) = (bot, heard) else {
            sleep(rest).await;
            rest = (rest * 2).min(REST.1);
            continue;
        };
        rest = REST.0;
        for update in updates {
            let number = update.number;
            offset = number + 1;
            if let Some(wish) = telegram::wish(update, &bot.chat) {
                answer(&courier, &bot, number, wish).await;
            }
        }
    }
}

async fn hear(bot: &Bot, offset: i64) -> Result<Vec<Update>, String> {
    let reply = client::send(&bot.get_updates(offset), Duration::from_secs(POLL + 15)).await?;
    if reply.status != 200 {
        return Err(format!("status {}", reply.status));
    }
    // One that is written in a way that we do not know is passed over, and keeps nobody from being heard.
    let updates: Vec<Value> = telegram::result(&reply.body)?;
    let number = |update: &Value| update["update_id"].as_i64();
    let read = |update: Value| {
        let unknown = number(&update).map(|number| serde_json::json!({ "update_id": number }));
        serde_json::from_value(update).ok().or_else(|| serde_json::from_value(unknown?).ok())
    };
    Ok(updates.into_iter().filter_map(read).collect())
}

/// Carries out what somebody wants, and tells them what came of it.
async fn answer(courier: &Courier, bot: &Bot, number: i64, wish: Wish) {
    match wish {
        Wish::Press { callback, message, button, by } => {
            let Some((question, round, choice)) = courier.links.read_button(&button) else { return };
            let said = match chosen(courier, &question, choice).await {
                Ok(answer) => give(courier, (question, round), answer, by, number).await,
                Err(refusal) => Err(refusal),
            };
            let told = said.as_deref().unwrap_or_else(|refusal| &refusal.message);
            drop(channels::taken(&bot.answer_callback(&callback, told)).await);
            // Whoever pressed a button that is of no use any more sees it go.
            let over = said.as_ref().err().is_none_or(|refusal| refusal.code != Code::LockTimeout);
            if over {
                drop(channels::taken(&bot.without_buttons(message)).await);
            }
        }
        Wish::Reply { message, question, text, by } => {
            let (hub, id) = (courier.hub.clone(), question.clone());
            let said = match blocking(move || hub.question(&id)).await {
                Ok(known) => give(courier, (question, known.round), Value::String(text), by, number).await,
                Err(refusal) => Err(refusal),
            };
            let told = said.unwrap_or_else(|refusal| format!("{}\n{}", refusal.message, refusal.hint));
            drop(channels::taken(&bot.reply(message, &told)).await);
        }
    }
}

/// The value that a button stands for.
async fn chosen(courier: &Courier, question: &QuestionId, choice: usize) -> Result<Value, Refusal> {
    let (hub, id) = (courier.hub.clone(), question.clone());
    let known = blocking(move || hub.question(&id)).await?;
    choices(&known).into_iter().nth(choice).map(|(_, _, value)| value).ok_or_else(|| {
        Refusal::new(Code::InvalidInput, format!("{question} has no such choice"), "open the question in the inbox")
    })
}

/// Answers, once for each update.
async fn give(
    courier: &Courier,
    (question, round): (QuestionId, u32),
    answer: Value,
    by: Party,
    number: i64,
) -> Result<String, Refusal> {
    let (hub, id) = (courier.hub.clone(), question.clone());
    blocking(move || {
        let operation = format!("telegram-{number}").parse()?;
        let action = Action::AnswerRound { question: question.clone(), round, answer };
        let command = Command { item: question.item, by, via: Via::Telegram, action };
        let reply: Envelope = hub.execute(&command, Some(operation));
        reply.read::<Value>().map(|data| format!("{id}: {}", data["answer"]["text"].as_str().unwrap_or("answered")))
    })
    .await
}
