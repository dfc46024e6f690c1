//! How often the bearer of a token may call.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use querent_core::TokenId;

/// So many calls a second, and so many at once after a rest.
const A_SECOND: f64 = 100.0;
const AT_ONCE: f64 = 200.0;

/// What each token has left.
#[derive(Default)]
pub(crate) struct Rates {
    left: Mutex<BTreeMap<TokenId, (f64, Instant)>>,
}

impl Rates {
    /// Counts a call; if it is one too many, how long the caller must wait.
    pub(crate) fn take(&self, token: TokenId, now: Instant) -> Result<(), Duration> {
        let mut all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, last) = all.entry(token).or_insert((AT_ONCE, now));
        *left = (*left + now.saturating_duration_since(*last).as_secs_f64() * A_SECOND).min(AT_ONCE);
        *last = now;
        if *left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - *left) / A_SECOND));
        }
        *left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_may_call_two_hundred_times_at_once_and_then_a_hundred_times_a_second() {
        let (rates, begin) = (Rates::default(), Instant::now());
        let taken = |token, at| (0..1_000).take_while(|_| rates.take(TokenId(token), at).is_ok()).count();

        assert_eq!(taken(1, begin), 200);
        assert_eq!(taken(2, begin), 200);
        assert_eq!(taken(1, begin + Duration::from_millis(500)), 50);
        assert_eq!(taken(1, begin + Duration::from_mins(1)), 200);
        let wait = rates.take(TokenId(1), begin + Duration::from_mins(1)).unwrap_err();
        assert_eq!(wait.as_millis(), 10);
    }
}
