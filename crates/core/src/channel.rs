//! How people are notified: the channels that the config names, and when each of them may speak.

use serde::{Deserialize, Deserializer};

use crate::id::ChannelName;
use crate::moment::{Moment, Span};
use crate::monitor::Severity;
use crate::party::Via;
use crate::question::{Kind, Question, words};

/// The longest pause between two attempts.
const LONGEST_PAUSE: Span = Span::minutes(5);

words!(
    /// What sort of channel it is.
    ChannelKind {
        /// The desktop of whoever runs the server.
        Desktop = "desktop",
        /// An ntfy topic.
        Ntfy = "ntfy",
        /// A Slack channel, by its incoming webhook.
        Slack = "slack",
        /// A Telegram chat, by a bot.
        Telegram = "telegram",
        /// A program that takes signed requests.
        Webhook = "webhook",
    }
);

impl From<ChannelKind> for Via {
    fn from(kind: ChannelKind) -> Self {
        match kind {
            ChannelKind::Desktop => Self::Desktop,
            ChannelKind::Ntfy => Self::Ntfy,
            ChannelKind::Slack => Self::Slack,
            ChannelKind::Telegram => Self::Telegram,
            ChannelKind::Webhook => Self::Webhook,
        }
    }
}

/// `[[notify]]`: a channel, and what goes through it. What is secret is named here, and stands elsewhere.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// What sort of channel it is.
    #[serde(rename = "channel")]
    pub kind: ChannelKind,
    /// What it is called; without one, as its sort is.
    #[serde(default)]
    name: Option<ChannelName>,
    /// Where it is reached.
    #[serde(default)]
    pub url: Option<String>,
    /// The environment variable that says where, if that is a secret itself.
    #[serde(default)]
    pub url_env: Option<String>,
    /// The environment variable that holds its secret.
    #[serde(default)]
    pub secret_env: Option<String>,
    /// The file that holds its secret.
    #[serde(default)]
    pub secret_file: Option<String>,
    /// The chat, of a Telegram bot.
    #[serde(default, deserialize_with = "chat")]
    pub chat: Option<String>,
    /// The kinds of question that it carries; without any, all that a human is asked.
    #[serde(default)]
    pub kinds: Option<Vec<Kind>>,
    /// The severities of alert that it carries.
    #[serde(default)]
    pub severities: Vec<Severity>,
    /// When it is silent, by the local time of the server.
    #[serde(default)]
    pub quiet_hours: Option<QuietHours>,
    /// How often it says all at once what blocks nobody; without it, each at once.
    #[serde(default)]
    pub digest: Option<Span>,
    /// Whether it carries reminders.
    #[serde(default = "yes")]
    pub reminders: bool,
    /// How often a delivery is tried again that failed.
    #[serde(default = "seven")]
    pub retries: u32,
    /// The pause before the first of these; each further one is twice as long, up to five minutes.
    #[serde(default = "second")]
    pub backoff: Span,
}

fn yes() -> bool {
    true
}

fn seven() -> u32 {
    7
}

fn second() -> Span {
    Span::seconds(1)
}

impl Channel {
    /// What it is called.
    pub fn name(&self) -> ChannelName {
        self.name.clone().unwrap_or_else(|| ChannelName::of(self.kind.as_str(), 1))
    }

    /// Whether it carries questions like this one.
    pub fn carries(&self, question: &Question) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&question.kind))
    }

    /// How often a delivery is attempted at most.
    pub fn attempts(&self) -> u32 {
        self.retries.saturating_add(1)
    }

    /// How long it rests after this attempt, the first being 1.
    pub fn pause(&self, attempt: u32) -> Span {
        let doubled = 1_u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX);
        Span::millis(self.backoff.as_millis().saturating_mul(doubled)).min(LONGEST_PAUSE)
    }

    /// When it may say, from `now` on, what there is to say since `since`. `east` is how many seconds the server's clock is
    /// ahead of UTC.
    pub fn earliest(&self, since: Moment, blocking: bool, now: Moment, east: i32) -> Moment {
        let gathered = match self.digest.filter(|_| !blocking) {
            Some(period) => next_multiple(since, period),
            None => since,
        };
        let wanted = gathered.max(now);
        self.quiet_hours.map_or(wanted, |quiet| quiet.over(wanted, east))
    }
}

/// The end of the period that a moment is in. Periods are counted from 1970 on, so that all who count agree.
fn next_multiple(at: Moment, period: Span) -> Moment {
    let period = i64::try_from(period.as_millis()).unwrap_or(i64::MAX).max(1);
    let begun = at.millis().div_euclid(period).saturating_mul(period);
    Moment::from_millis(begun.saturating_add(period))
}

/// Hours in which nobody is disturbed, every day: `22:00-07:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct QuietHours {
    /// Minutes after midnight.
    from: u32,
    to: u32,
}

const DAY: i64 = 24 * 60 * 60 * 1_000;

impl QuietHours {
    /// The same moment, or the end of the quiet hours that it falls into.
    pub fn over(self, at: Moment, east: i32) -> Moment {
        let minutes = |minutes: u32| i64::from(minutes) * 60_000;
        let local = at.millis().saturating_add(i64::from(east) * 1_000).rem_euclid(DAY);
        let since_begin = (local - minutes(self.from)).rem_euclid(DAY);
        let lasts = (minutes(self.to) - minutes(self.from)).rem_euclid(DAY);
        if since_begin < lasts { Moment::from_millis(at.millis().saturating_add(lasts - since_begin)) } else { at }
    }
}

impl TryFrom<String> for QuietHours {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let minutes = |text: &str| {
            let (hours, minutes) = text.trim().split_once(':')?;
            let two = |text: &str| (text.len() == 2).then(|| text.parse::<u32>().ok()).flatten();
            let (hours, minutes) = (two(hours)?, two(minutes)?);
            (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
        };
        let read = text.split_once('-').and_then(|(from, to)| Some(Self { from: minutes(from)?, to: minutes(to)? }));
        let wrong = || format!("`{text}` are no hours; write them like 22:00-07:00");
        read.filter(|hours| hours.from != hours.to).ok_or_else(wrong)
    }
}

/// Reads the channels, and gives those a name that have none: what they are, with a number from the second one on.
pub(crate) fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Channel>, D::Error> {
    let mut channels = Vec::<Channel>::deserialize(deserializer)?;
    let mut taken: Vec<ChannelName> = channels.iter().filter_map(|channel| channel.name.clone()).collect();
    for (place, name) in taken.iter().enumerate() {
        if taken[..place].contains(name) {
            return Err(serde::de::Error::custom(format!("two channels are called `{name}`")));
        }
    }
    for channel in channels.iter_mut().filter(|channel| channel.name.is_none()) {
        let name =
            (1..=u32::MAX).map(|number| ChannelName::of(channel.kind.as_str(), number)).find(|it| !taken.contains(it));
        taken.extend(name.clone());
        channel.name = name;
    }
    Ok(channels)
}

/// A chat is a number or a name that begins with `@`.
fn chat<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Chat {
        Number(i64),
        Name(String),
    }
    Ok(Some(match Chat::deserialize(deserializer)? {
        Chat::Number(number) => number.to_string(),
        Chat::Name(name) => name,
    }))
}

/// `[serve]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Serve {
    /// Where people reach the server, for links; without it, the address that it listens on.
    pub public_url: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn moment(text: &str) -> Moment {
        text.parse().unwrap()
    }

    fn channel(fields: &serde_json::Value) -> Channel {
        let mut all = json!({ "channel": "ntfy" });
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn quiet_hours_hold_what_comes_in_them_to_their_end_by_the_servers_clock() {
        let over = |hours: &str, at: &str, east: i32| {
            QuietHours::try_from(hours.to_owned()).unwrap().over(moment(at), east).to_string()
        };

        assert_eq!(over("22:00-07:00", "2026-01-31T21:59:59Z", 0), "2026-01-31T21:59:59.000Z");
        assert_eq!(over("22:00-07:00", "2026-01-31T22:00:00Z", 0), "2026-02-01T07:00:00.000Z");
        assert_eq!(over("22:00-07:00", "2026-01-31T06:59:59Z", 0), "2026-01-31T07:00:00.000Z");
        assert_eq!(over("22:00-07:00", "2026-01-31T07:00:00Z", 0), "2026-01-31T07:00:00.000Z");
        assert_eq!(over("12:00-13:30", "2026-01-31T12:10:00Z", 0), "2026-01-31T13:30:00.000Z");
        assert_eq!(over("22:00-07:00", "2026-01-31T21:30:00Z", 3_600), "2026-02-01T06:00:00.000Z");
        assert_eq!(over("22:00-07:00", "2026-01-31T01:30:00Z", -5 * 3_600), "2026-01-31T01:30:00.000Z");
    }

    #[test]
    fn hours_that_are_none_are_refused_with_the_form_they_take() {
        for text in ["", "22:00", "22-07", "24:00-07:00", "22:60-07:00", "7:00-8:00", "07:00-07:00"] {
            let refusal = QuietHours::try_from(text.to_owned()).unwrap_err();
            assert!(refusal.contains("22:00-07:00"), "{refusal}");
        }
    }

    #[test]
    fn what_blocks_nobody_is_gathered_to_the_end_of_its_period() {
        let hourly = channel(&json!({ "digest": "1h" }));
        let (asked, now) = (moment("2026-01-31T10:20:00Z"), moment("2026-01-31T10:20:01Z"));

        assert_eq!(hourly.earliest(asked, false, now, 0), moment("2026-01-31T11:00:00Z"));
        assert_eq!(hourly.earliest(asked, true, now, 0), now);
        let late = moment("2026-01-31T12:34:00Z");
        assert_eq!(hourly.earliest(asked, false, late, 0), late, "what was missed is said at once");
    }

    #[test]
    fn each_pause_is_twice_as_long_as_the_last_up_to_five_minutes() {
        let pauses: Vec<String> = (1..=4).map(|attempt| channel(&json!({})).pause(attempt).to_string()).collect();

        assert_eq!(pauses, ["1s", "2s", "4s", "8s"]);
        assert_eq!(channel(&json!({})).pause(u32::MAX), LONGEST_PAUSE);
    }

    #[test]
    fn channels_without_a_name_are_called_as_what_they_are() {
        #[derive(Deserialize)]
        struct Config(#[serde(deserialize_with = "named")] Vec<Channel>);
        let read = |value| serde_json::from_value::<Config>(value);
        let config = json!([
            { "channel": "ntfy" }, { "channel": "ntfy" }, { "channel": "slack", "name": "ntfy-2" }, { "channel": "ntfy" },
        ]);

        let names: Vec<String> = read(config).unwrap().0.iter().map(|it| it.name().to_string()).collect();
        let twice = read(json!([{ "channel": "ntfy", "name": "a" }, { "channel": "slack", "name": "a" }]));

        assert_eq!(names, ["ntfy", "ntfy-3", "ntfy-2", "ntfy-4"]);
        assert_eq!(twice.err().unwrap().to_string(), "two channels are called `a`");
    }
}
