//! Waits before another attempt, told to whoever wants to know why nothing happens.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A wait before the next attempt at a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// How long.
    pub wait: Duration,
    /// Whether the server asked for it.
    pub asked: bool,
    /// The number of the next attempt.
    pub attempt: u32,
    /// How many attempts are made at most.
    pub attempts: u32,
    /// Why the last attempt failed.
    pub reason: String,
}

/// Hears of every wait, on the thread that waits.
#[derive(Clone, Default)]
pub struct Listener(Option<Arc<Hear>>);

type Hear = dyn Fn(&Waiting) + Send + Sync;

impl Listener {
    /// Calls this for every wait, before it begins.
    pub fn new(hear: impl Fn(&Waiting) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    pub(super) fn tell(&self, waiting: &Waiting) {
        if let Some(hear) = &self.0 {
            hear(waiting);
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (wait, reason) = (span(self.wait), &self.reason);
        match self.asked {
            true => write!(f, "server asks to wait {wait} (Retry-After): {reason}"),
            false => write!(
                f,
                "attempt {} of {} in {wait}: {reason}",
                self.attempt, self.attempts
            ),
        }
    }
}

/// A time in words, to the second or, if it is long, to the minute.
pub(crate) fn span(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() >= 500_000_000);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{} s", seconds.max(1)),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) if minutes < 10 => format!("{minutes} min {seconds} s"),
        (0, minutes, _) => format!("{minutes} min"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_in_words() {
        let waiting = |seconds, asked| Waiting {
            wait: Duration::from_secs(seconds),
            asked,
            attempt: 3,
            attempts: 6,
            reason: "the server answers 503".to_owned(),
        };
        assert_eq!(
            waiting(2400, true).to_string(),
            "server asks to wait 40 min (Retry-After): the server answers 503"
        );
        assert_eq!(
            waiting(12, false).to_string(),
            "attempt 3 of 6 in 12 s: the server answers 503"
        );
        for (milliseconds, said) in [
            (100, "1 s"),
            (89_600, "1 min 30 s"),
            (3_600_000, "1 h"),
            (5_430_000, "1 h 30 min"),
        ] {
            assert_eq!(span(Duration::from_millis(milliseconds)), said);
        }
    }
}
