//! The events of a client at work, told to whoever wants to know why nothing happens.

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

/// An event of a client at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEvent {
    /// A request is sent.
    Asking {
        /// The URL, without credentials.
        request: String,
    },
    /// The server answered; the body is not read yet.
    Answered {
        /// The URL of the request, without credentials.
        request: String,
        /// The HTTP status.
        status: u16,
    },
    /// An attempt failed, and the next one is made after a wait.
    Waiting(Waiting),
    /// An attempt failed, and it was the last one at this request.
    Refused {
        /// Why, with the number of attempts.
        reason: String,
    },
    /// A list that cannot be read is cut into smaller spans of time.
    Narrowing(Narrowing),
    /// All parts of a list that was cut are read or given up.
    Narrowed,
    /// Another decision about how the list is read on.
    Decision(String),
}

/// A step on the way to the record that keeps a list from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Narrowing {
    /// The number of this step.
    pub step: u32,
    /// The number of steps until spans are as small as can be.
    pub steps: u32,
    /// The length of the smallest spans, in seconds.
    pub grain: u64,
    /// The span that is asked for next: its first and last datestamp.
    pub span: (String, String),
    /// Why the list before it could not be read.
    pub reason: String,
}

/// Hears of every event, on the thread that asks.
#[derive(Clone, Default)]
pub struct Listener(Option<Arc<Hear>>);

type Hear = dyn Fn(&ClientEvent) + Send + Sync;

impl Listener {
    /// Calls `hear` for every event; for a wait, before it begins.
    pub fn new(hear: impl Fn(&ClientEvent) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    /// Tells of an event, which is only made if somebody listens.
    pub(crate) fn tell(&self, event: impl FnOnce() -> ClientEvent) {
        if let Some(hear) = &self.0 {
            hear(&event());
        }
    }
}

impl Narrowing {
    /// The step without its reason: "narrowing to 1-second spans, step 26 of 28".
    pub fn step_in_words(&self) -> String {
        let Self { step, steps, .. } = self;
        let grain = match self.grain {
            86_400 => "1-day".to_owned(),
            1 => "1-second".to_owned(),
            seconds => format!("{seconds}-second"),
        };
        format!("narrowing to {grain} spans, step {step} of {steps}")
    }
}

impl fmt::Display for Narrowing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (step, (from, until)) = (self.step_in_words(), &self.span);
        write!(f, "{step}, {from} to {until} next: {}", self.reason)
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
