//! Time as data: a [`Moment`] is an argument, never read from a clock; a [`Span`] is how long something may take.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::id::stored_as_text;

/// A point in time, to the millisecond. Written as RFC 3339 in UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(i64);

stored_as_text!(Moment, it => str::from_utf8(&it.digits()).unwrap_or_default());

impl Moment {
    /// The moment that is `millis` milliseconds after 1970-01-01T00:00:00Z, held within the years 1 to 9999.
    pub fn from_millis(millis: i64) -> Self {
        let lowest = -62_135_596_800_000;
        let highest = 253_402_207_200_000;
        Self(millis.clamp(lowest, highest))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// This moment, `span` later.
    #[must_use]
    pub fn plus(self, span: Span) -> Self {
        Self::from_millis(self.0.saturating_add(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }

    /// This moment, `span` earlier.
    #[must_use]
    pub fn minus(self, span: Span) -> Self {
        Self::from_millis(self.0.saturating_sub(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }

    /// How long it is from `earlier` to this moment; nothing if `earlier` is not earlier.
    pub fn since(self, earlier: Self) -> Span {
        Span(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// Times are in every line, reply and ledger, so they are written here, digit by digit.
impl Moment {
    fn digits(self) -> [u8; 24] {
        let (day, milli) = (self.0.div_euclid(86_400_000), self.0.rem_euclid(86_400_000));
        let (year, month, day) = date(day);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let mut pair = |place: usize, value: i64| {
            let value = u8::try_from(value).unwrap_or_default();
            text[place] += value / 10;
            text[place + 1] += value % 10;
        };
        pair(0, year / 100);
        pair(2, year % 100);
        pair(5, month);
        pair(8, day);
        pair(11, milli / 3_600_000);
        pair(14, milli / 60_000 % 60);
        pair(17, milli / 1_000 % 60);
        pair(20, milli / 10 % 100);
        text[22] += u8::try_from(milli % 10).unwrap_or_default();
        text
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

/// Year, month and day of a day, counted from 1970-01-01. Years begin in March here, so that a leap day is a year's last; and 400 of
/// them, which have 146,097 days, are an era.
const fn date(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    if month < 10 { (era * 400 + year, month + 3, day) } else { (era * 400 + year + 1, month - 9, day) }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse::<jiff::Timestamp>() {
            Ok(timestamp) => Ok(Self::from_millis(timestamp.as_millisecond())),
            Err(_) => Err(format!("`{text}` is not a time like 2026-01-31T10:02:00.000Z")),
        }
    }
}

/// A length of time, to the millisecond. Written `30s`, `15m`, `2h` or `7d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(u64);

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

impl Span {
    /// A span of so many milliseconds.
    pub const fn millis(millis: u64) -> Self {
        Self(millis)
    }

    /// A span of so many seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(SECOND))
    }

    /// A span of so many minutes.
    pub const fn minutes(minutes: u64) -> Self {
        Self(minutes.saturating_mul(MINUTE))
    }

    /// The span in milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Half of it.
    #[must_use]
    pub const fn half(self) -> Self {
        Self(self.0 / 2)
    }

    /// The span for people, in its largest whole unit: `40s`, `12m`, `3h`, `9d`.
    pub fn rough(self) -> String {
        match self.0 {
            ms if ms < MINUTE => format!("{}s", ms / SECOND),
            ms if ms < HOUR => format!("{}m", ms / MINUTE),
            ms if ms < DAY => format!("{}h", ms / HOUR),
            ms => format!("{}d", ms / DAY),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "0s"),
            ms if ms % DAY == 0 => write!(f, "{}d", ms / DAY),
            ms if ms % HOUR == 0 => write!(f, "{}h", ms / HOUR),
            ms if ms % MINUTE == 0 => write!(f, "{}m", ms / MINUTE),
            ms if ms % SECOND == 0 => write!(f, "{}s", ms / SECOND),
            ms => write!(f, "{ms}ms"),
        }
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let wrong = || format!("`{text}` is not a duration; write it like 30s, 15m, 2h or 7d");
        let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at(digits);
        let unit = match unit {
            "ms" => 1,
            "s" => SECOND,
            "m" => MINUTE,
            "h" => HOUR,
            "d" => DAY,
            _ => return Err(wrong()),
        };
        let number: u64 = number.parse().map_err(|_| wrong())?;
        number.checked_mul(unit).map(Self).ok_or_else(wrong)
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_the_calendar_has_it() {
        let day = 86_400_000;
        let around = |millis: i64| [millis - 1, millis, millis + 1, millis + 12_345_678];
        let days = (-719_162..2_932_890).step_by(97).chain([-1, 0, 59, 60, 11_016, 19_782, 47_541]);
        for millis in days.flat_map(|it| around(it * day)) {
            let moment = Moment::from_millis(millis);
            let calendar = jiff::Timestamp::from_millisecond(moment.millis()).unwrap();
            assert_eq!(moment.to_string(), format!("{calendar:.3}"));
        }
    }

    #[test]
    fn a_moment_is_rfc_3339_in_utc_with_milliseconds() {
        let moment: Moment = "2026-11-15T10:02:03.5+02:00".parse().unwrap();

        assert_eq!(moment.to_string(), "2026-11-15T08:02:03.500Z");
        assert_eq!(moment.to_string().parse::<Moment>().unwrap(), moment);
    }

    #[test]
    fn a_span_is_written_as_it_is_read() {
        for text in ["30s", "15m", "2h", "7d", "250ms"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
        assert_eq!("90s".parse::<Span>().unwrap(), "1500ms".parse::<Span>().map(|s| Span(s.0 * 60)).unwrap());
    }

    #[test]
    fn a_span_without_a_unit_or_out_of_range_is_refused_with_the_form_it_takes() {
        for text in ["", "15", "m", "1.5h", "-3m", "5 weeks", "99999999999999999999d"] {
            let refusal = text.parse::<Span>().unwrap_err();
            assert!(refusal.contains("30s, 15m, 2h or 7d"), "{refusal}");
        }
    }

    #[test]
    fn time_neither_overflows_nor_runs_backwards() {
        let late = Moment::from_millis(i64::MAX);

        assert_eq!(late.plus(Span::millis(u64::MAX)), late);
        assert!(Moment::from_millis(0).minus(Span::millis(u64::MAX)) < Moment::from_millis(0));
        assert_eq!(Moment::from_millis(0).since(late), Span::millis(0));
        assert!(!late.to_string().is_empty());
    }
}
