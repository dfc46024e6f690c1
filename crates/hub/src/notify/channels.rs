//! A channel as it is reached now: its address and its secret, wherever they stand; and one message through it.

use std::path::Path;
use std::time::Duration;

use querent_core::{Channel, ChannelKind, Moment};
use serde::Deserialize;

use super::client::{self, Request};
use super::message::Letter;
use super::telegram::{self, Bot};
use super::text::{cut, line};
use super::{desktop, ntfy, slack, webhook};

/// How long somebody else's server has.
const PATIENCE: Duration = Duration::from_secs(15);

/// Sends a letter. Says what the channel calls the message, if it calls it anything; or why it was not taken.
pub(crate) async fn send(
    channel: &Channel,
    root: Option<&Path>,
    letter: &Letter,
    at: Moment,
) -> Result<Option<String>, String> {
    let request = match channel.kind {
        ChannelKind::Desktop => {
            let letter = letter.clone();
            let sent = tokio::task::spawn_blocking(move || desktop::send(&letter)).await;
            return sent.map_err(|error| error.to_string())?.map(|()| None);
        }
        ChannelKind::Ntfy => ntfy::request(&url(channel)?, secret(channel, root)?.as_deref(), letter),
        ChannelKind::Slack => slack::request(&url(channel)?, letter),
        ChannelKind::Telegram => bot(channel, root)?.send_message(letter),
        ChannelKind::Webhook => {
            let secret = secret(channel, root)?.ok_or("it has no secret")?;
            webhook::request(&url(channel)?, &secret, letter, at)
        }
    };
    let body = taken(&request).await?;
    Ok(receipt(channel.kind, &body))
}

/// What was replied to a request that was taken; the error says why it was not.
pub(crate) async fn taken(request: &Request) -> Result<String, String> {
    let reply = client::send(request, PATIENCE).await?;
    if (200..300).contains(&reply.status) {
        return Ok(reply.body);
    }
    // What they say helps whoever configured the channel; it is theirs, so it is cut and cleaned.
    let said = cut(&line(&reply.body), 200);
    Err(if said.is_empty() { format!("status {}", reply.status) } else { format!("status {}: {said}", reply.status) })
}

/// What the channel calls the message.
fn receipt(kind: ChannelKind, body: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Sent {
        message_id: i64,
    }
    match kind {
        ChannelKind::Telegram => telegram::result::<Sent>(body).ok().map(|sent| sent.message_id.to_string()),
        _ => None,
    }
}

/// The bot of a Telegram channel.
pub(crate) fn bot(channel: &Channel, root: Option<&Path>) -> Result<Bot, String> {
    let base = match (&channel.url, &channel.url_env) {
        (None, None) => telegram::API.to_owned(),
        _ => url(channel)?,
    };
    let token = secret(channel, root)?.ok_or("it has no secret")?;
    Ok(Bot { base, token, chat: channel.chat.clone().unwrap_or_default() })
}

fn url(channel: &Channel) -> Result<String, String> {
    match (&channel.url, &channel.url_env) {
        (Some(url), _) => Ok(url.clone()),
        (None, Some(name)) => environment(name),
        (None, None) => Err("it has no address".to_owned()),
    }
}

/// The secret, if the channel names one. A file is looked for from the project's directory on.
fn secret(channel: &Channel, root: Option<&Path>) -> Result<Option<String>, String> {
    match (&channel.secret_env, &channel.secret_file) {
        (Some(name), _) => environment(name).map(Some),
        (None, Some(file)) => {
            let path = root.unwrap_or_else(|| Path::new(".")).join(file);
            let text =
                std::fs::read_to_string(path).map_err(|error| format!("its secret_file cannot be read: {error}"))?;
            Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
        }
        (None, None) => Ok(None),
    }
}

fn environment(name: &str) -> Result<String, String> {
    match std::env::var(name) {
        Ok(value) if !value.trim().is_empty() => Ok(value.trim().to_owned()),
        _ => Err(format!("the environment variable {name} is not set where the server runs")),
    }
}
