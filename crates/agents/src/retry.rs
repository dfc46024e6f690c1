//! Whether and when a request to a model is made again. Pure: the same trouble is always met with the same delay.

use std::time::Duration;

use jiff::fmt::rfc2822::DateTimeParser;
use querent_core::Moment;

/// How often a request is made at most.
pub(crate) const ATTEMPTS: u32 = 5;

/// The longest that a server is waited for. One that wants more is not going to serve this turn.
pub(crate) const LONGEST: Duration = Duration::from_mins(5);

/// Why a request came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The server refused, with this status.
    Status(u16),
    /// The server could not be reached, or was lost.
    Connection,
}

/// How long to wait before the next attempt after attempt number `attempt`, counted from 1; none if there is to be none.
pub(crate) fn next(attempt: u32, trouble: Trouble, retry_after: Option<Duration>) -> Option<Duration> {
    let may_pass = match trouble {
        Trouble::Connection => true,
        Trouble::Status(status) => status == 429 || (500..600).contains(&status),
    };
    if !may_pass || attempt >= ATTEMPTS {
        return None;
    }
    let doubled = Duration::from_secs(1 << attempt.saturating_sub(1));
    // The server knows better than we do; but it does not make us call sooner than we would.
    let delay = retry_after.map_or(doubled, |wanted| wanted.max(doubled));
    (delay <= LONGEST).then_some(delay)
}

/// What a header `Retry-After` means: so many seconds, or how long it is until a date. One that cannot be read means nothing.
pub(crate) fn retry_after(value: &str, now: Moment) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = DateTimeParser::new().relaxed_weekday(true).parse_timestamp(value).ok()?;
    let date = Moment::from_millis(date.as_millisecond());
    Some(Duration::from_millis(date.since(now).as_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(trouble: Trouble) -> Vec<Option<u64>> {
        (1..=ATTEMPTS).map(|attempt| next(attempt, trouble, None).map(|it| it.as_secs())).collect()
    }

    #[test]
    fn what_may_pass_is_tried_five_times_with_doubled_delays() {
        let expected = [Some(1), Some(2), Some(4), Some(8), None];
        assert_eq!(delays(Trouble::Connection), expected);
        for status in [429, 500, 502, 503, 504, 529] {
            assert_eq!(delays(Trouble::Status(status)), expected, "{status}");
        }
    }

    #[test]
    fn what_will_not_pass_is_not_tried_again() {
        for status in [200, 301, 307, 400, 401, 403, 404, 413, 422] {
            assert_eq!(next(1, Trouble::Status(status), Some(Duration::from_secs(1))), None, "{status}");
        }
    }

    #[test]
    fn the_server_says_when_but_not_sooner_than_we_would_and_not_without_end() {
        let after = |attempt, seconds| next(attempt, Trouble::Status(429), Some(Duration::from_secs(seconds)));
        assert_eq!(after(1, 17), Some(Duration::from_secs(17)));
        assert_eq!(after(3, 0), Some(Duration::from_secs(4)));
        assert_eq!(after(1, 300), Some(LONGEST));
        assert_eq!(after(1, 301), None);
        assert_eq!(after(1, u64::MAX), None);
    }

    #[test]
    fn the_header_holds_seconds_or_a_date() {
        let now: Moment = "2026-11-06T08:49:37Z".parse().unwrap();
        assert_eq!(retry_after(" 20 ", now), Some(Duration::from_secs(20)));
        assert_eq!(retry_after("Fri, 06 Nov 2026 08:50:07 GMT", now), Some(Duration::from_secs(30)));
        assert_eq!(retry_after("Fri, 06 Nov 2026 08:49:00 GMT", now), Some(Duration::ZERO));
        for text in ["", "soon", "-1", "2.5", "99999999999999999999999999"] {
            assert_eq!(retry_after(text, now), None, "{text}");
        }
    }
}
