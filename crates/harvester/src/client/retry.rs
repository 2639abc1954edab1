//! When to ask again, and how long to wait before.

use std::time::{Duration, SystemTime};

use super::{ClientOptions, Waiting};

/// The attempts at one request.
pub(super) struct Retry<'a> {
    options: &'a ClientOptions,
    attempts: u32,
    waited: Duration,
}

impl<'a> Retry<'a> {
    pub(super) fn new(options: &'a ClientOptions) -> Self {
        Self {
            options,
            attempts: 1,
            waited: Duration::ZERO,
        }
    }

    /// How long to wait before the next attempt; `None` if there should be none.
    pub(super) fn next_wait(&mut self, asked: Option<Duration>) -> Option<Duration> {
        if self.attempts >= self.options.attempts {
            return None;
        }
        let backoff = self
            .options
            .first_wait
            .saturating_mul(1 << (self.attempts - 1).min(16));
        let wait = match asked {
            // A server that asks for nothing at all is asked again after a moment nevertheless.
            Some(asked) => asked.max(Duration::from_millis(100)),
            None => jittered(backoff, self.options.pace.now()),
        };
        let wait = wait.min(self.options.longest_wait);
        if self.waited + wait > self.options.longest_total_wait {
            return None;
        }
        self.attempts += 1;
        self.waited += wait;
        Some(wait)
    }

    /// The wait that was chosen, for those who hear of waits.
    pub(super) fn waiting(&self, wait: Duration, asked: bool, reason: String) -> Waiting {
        Waiting {
            wait,
            asked,
            attempt: self.attempts,
            attempts: self.options.attempts,
            reason,
        }
    }

    /// How many attempts were made.
    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether the next attempt is the second.
    pub(super) fn is_second(&self) -> bool {
        self.attempts == 2
    }

    pub(super) fn summary(&self) -> String {
        match self.attempts {
            1 => String::new(),
            attempts => format!(
                " ({attempts} attempts over {} s)",
                self.waited.as_secs().max(1)
            ),
        }
    }
}

/// Reads Retry-After: seconds or a date.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// Between one half and three halves, so that harvesters that failed together come back apart.
fn jittered(wait: Duration, now: SystemTime) -> Duration {
    let nanos = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .subsec_nanos();
    let scattered = nanos.wrapping_mul(2_654_435_761) ^ std::process::id().wrapping_mul(40_503);
    wait / 2 + wait.mul_f64(f64::from(scattered) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_retry_after_are_understood() {
        let now = httpdate::parse_http_date("Sun, 15 Nov 2026 10:00:00 GMT").unwrap();
        let read = |value| retry_after(value, now);
        assert_eq!(read("120"), Some(Duration::from_secs(120)));
        assert_eq!(
            read("Sun, 15 Nov 2026 10:00:30 GMT"),
            Some(Duration::from_secs(30))
        );
        assert_eq!(read("Sun, 15 Nov 2026 09:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(read("soon"), None);
    }

    #[test]
    fn waits_grow_and_end() {
        let options = ClientOptions {
            attempts: 4,
            ..ClientOptions::default()
        };
        let mut retry = Retry::new(&options);
        let mut waits = std::iter::from_fn(|| retry.next_wait(None));

        for expected in [2, 4, 8] {
            let wait = waits.next().unwrap().as_secs_f64();
            let expected = f64::from(expected);
            assert!((expected / 2.0..=expected * 1.5).contains(&wait), "{wait}");
        }
        assert_eq!(waits.next(), None);
    }
}
