//! What a channel needs, checked when the config is read: nobody should find out at night.

use querent_agents::http::Address;
use querent_core::{Channel, ChannelKind, Config, Refusal};

use crate::config::File;

/// The refusal that names the first channel that cannot work, and its line.
pub(crate) fn check(file: &File<'_>, config: &Config) -> Result<(), Refusal> {
    for (number, channel) in config.notify.iter().enumerate() {
        if let Err((message, hint)) = channel_works(channel) {
            let place = file.text.match_indices("[[notify]]").nth(number).map_or(0, |(start, _)| start);
            let message = format!("the channel `{}` {message}", channel.name());
            return Err(file.wrong(place, &message, hint, None));
        }
    }
    if let Some(url) = config.serve.public_url.as_deref().filter(|url| !is_address(url)) {
        let place = file.text.find("public_url").unwrap_or(0);
        let message = format!("serve.public_url is `{url}`, which is no address");
        return Err(file.wrong(place, &message, "write it like https://querent.example", None));
    }
    Ok(())
}

type Wrong = (&'static str, &'static str);

fn channel_works(channel: &Channel) -> Result<(), Wrong> {
    let Channel { kind, url, url_env, secret_env, secret_file, chat, .. } = channel;
    let (has_url, has_secret) = (url.is_some() || url_env.is_some(), secret_env.is_some() || secret_file.is_some());
    if url.is_some() && url_env.is_some() {
        return Err(("has both url and url_env", "keep one of them"));
    }
    if secret_env.is_some() && secret_file.is_some() {
        return Err(("has both secret_env and secret_file", "keep one of them"));
    }
    if url.as_deref().is_some_and(|url| !is_address(url)) {
        return Err(("has a url that is no address", "write it like https://example.org/path"));
    }
    if chat.is_some() && *kind != ChannelKind::Telegram {
        return Err(("has a chat, which only telegram has", "remove the key"));
    }
    if channel.digest.is_some_and(|digest| digest.as_millis() == 0) {
        return Err(("has a digest of no length", "write it like 1h, or leave the key out"));
    }
    match kind {
        ChannelKind::Desktop if has_url || has_secret => Err(("needs neither address nor secret", "remove the key")),
        ChannelKind::Ntfy if !has_url => {
            Err(("has no url", "name server and topic: url = \"https://ntfy.sh/my-topic\""))
        }
        ChannelKind::Ntfy => match url.as_deref().map(|url| url.trim_end_matches('/').matches('/').count()) {
            Some(slashes) if slashes < 3 => {
                Err(("has a url without a topic", "write it like https://ntfy.sh/my-topic"))
            }
            _ => Ok(()),
        },
        ChannelKind::Slack if !has_url => {
            Err(("has neither url nor url_env", "name the variable that holds the webhook's address: url_env = \"…\""))
        }
        ChannelKind::Telegram if !has_secret => Err((
            "has neither secret_env nor secret_file",
            "name the variable that holds the bot's token: secret_env = \"…\"",
        )),
        ChannelKind::Telegram if chat.is_none() => {
            Err(("has no chat", "name the chat that the bot talks to: chat = \"…\""))
        }
        ChannelKind::Webhook if !has_url => {
            Err(("has neither url nor url_env", "say where it is: url = \"https://…\""))
        }
        ChannelKind::Webhook if !has_secret => Err((
            "has neither secret_env nor secret_file",
            "name the variable that holds what it is signed with: secret_env = \"…\"",
        )),
        ChannelKind::Webhook if channel.digest.is_some() => {
            Err(("has a digest, and programs get each question by itself", "remove the key"))
        }
        ChannelKind::Desktop | ChannelKind::Slack | ChannelKind::Telegram | ChannelKind::Webhook => Ok(()),
    }
}

/// `http` or `https`, a host, and nobody's password.
fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    host.is_some_and(|host| !host.is_empty() && !host.contains('@')) && Address::new(url).is_some()
}
