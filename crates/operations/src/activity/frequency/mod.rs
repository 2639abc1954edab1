//! How often a schedule runs: once, every so often, or by a cron expression. All times are UTC.

mod cron;
mod interval;

use std::fmt;
use std::str::FromStr;

use anyhow::bail;
use jiff::{SignedDuration, civil};

use self::cron::CronTimes;
use self::interval::Interval;

/// When a schedule runs. The text of it is what it was read from.
///
/// ```
/// use operations::Frequency;
///
/// let daily: Frequency = "cron 0 3 * * *".parse().unwrap();
/// assert_eq!(daily.describe(), "every day at 03:00 UTC");
/// assert_eq!(daily.next(0, 0), Some(3 * 3600));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frequency(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Once,
    Every(Interval),
    Cron(Box<CronTimes>),
}

impl Frequency {
    /// A single time.
    pub fn once() -> Self {
        Self(Kind::Once)
    }

    /// So often, such as `15 minutes`, `day` or `3 months`.
    pub fn every(interval: &str) -> anyhow::Result<Self> {
        Ok(Self(Kind::Every(interval.parse()?)))
    }

    /// By a cron expression of five fields. One that never comes true is refused.
    pub fn cron(expression: &str) -> anyhow::Result<Self> {
        let times = CronTimes::parse(expression)?;
        Ok(Self(Kind::Cron(Box::new(times))))
    }

    /// Whether there is a single time only.
    pub fn is_once(&self) -> bool {
        self.0 == Kind::Once
    }

    /// Whether the first time is the anchor itself, so that somebody who names none wants it at once.
    pub fn begins_at_anchor(&self) -> bool {
        !matches!(self.0, Kind::Cron(_))
    }

    /// The first time later than a moment; both are seconds since 1970. Intervals are counted from the anchor.
    pub fn next(&self, after: i64, anchor: i64) -> Option<i64> {
        match &self.0 {
            Kind::Once => (anchor > after).then_some(anchor),
            Kind::Every(interval) => interval.next(after, anchor),
            Kind::Cron(times) => times.next(after),
        }
    }

    /// The frequency in plain words.
    pub fn describe(&self) -> String {
        match &self.0 {
            Kind::Once => "once".to_owned(),
            Kind::Every(interval) => format!("every {interval}"),
            Kind::Cron(times) => times.describe(),
        }
    }
}

impl FromStr for Frequency {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let text = text.trim();
        match text.split_once(char::is_whitespace) {
            None if text == "once" => Ok(Self::once()),
            Some(("every", interval)) => Self::every(interval),
            Some(("cron", expression)) => Self::cron(expression),
            _ => bail!(
                "`{text}` is not a frequency; write once, every N minutes|hours|days|weeks|months, or cron and five fields"
            ),
        }
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Once => f.write_str("once"),
            Kind::Every(interval) => write!(f, "every {interval}"),
            Kind::Cron(times) => write!(f, "cron {times}"),
        }
    }
}

/// A moment by calendar and clock; `None` beyond the years that can be written.
fn moment(seconds: i64) -> Option<civil::DateTime> {
    EPOCH
        .checked_add(SignedDuration::from_secs(seconds))
        .ok()
        .filter(|time| (1..=LAST_YEAR).contains(&time.year()))
}

fn seconds(time: civil::DateTime) -> i64 {
    time.duration_since(EPOCH).as_secs()
}

const EPOCH: civil::DateTime = civil::datetime(1970, 1, 1, 0, 0, 0, 0);
/// No schedule of ours is kept until then, and every date up to it can be computed with.
const LAST_YEAR: i16 = 9000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        seconds(text.parse().unwrap())
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        for text in [
            "once",
            "every day",
            "every 15 minutes",
            "every hour",
            "every 3 months",
            "cron 0 3 * * *",
            "cron */5 8-18 * * 1-5",
            "cron @daily",
        ] {
            let frequency: Frequency = text.parse().unwrap();
            assert_eq!(frequency.to_string(), text);
            assert_eq!(text.parse::<Frequency>().unwrap(), frequency);
        }
    }

    #[test]
    fn other_spellings_of_the_same_are_read() {
        for (text, written) in [
            (" every 1  day ", "every day"),
            ("every 2 Weeks", "every 2 weeks"),
            ("every 1 minute", "every minute"),
            ("every 30 min", "every 30 minutes"),
            ("every 5h", "every 5 hours"),
            ("cron  0  3 * * * ", "cron 0 3 * * *"),
        ] {
            let frequency: Frequency = text.parse().unwrap();
            assert_eq!(frequency.to_string(), written);
        }
    }

    #[test]
    fn nonsense_is_refused_with_what_could_be_written() {
        for text in ["", "daily", "every", "cron", "twice", "every other day"] {
            let error = text.parse::<Frequency>().unwrap_err().to_string();
            assert!(error.contains("write"), "{text}: {error}");
        }
    }

    #[test]
    fn a_single_time_is_the_anchor() {
        let once = Frequency::once();
        assert_eq!(once.next(99, 100), Some(100));
        assert_eq!(once.next(100, 100), None);
    }

    #[test]
    fn the_first_time_may_be_the_anchor_itself() {
        let daily = Frequency::every("day").unwrap();
        let anchor = at("2026-03-01T04:05:06");

        assert_eq!(daily.next(anchor - 1, anchor), Some(anchor));
        assert_eq!(daily.next(anchor, anchor), Some(anchor + 86_400));
        assert_eq!(daily.next(anchor - 999_999, anchor), Some(anchor));
    }
}
