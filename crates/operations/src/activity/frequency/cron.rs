//! Times by a cron expression of five fields: minute, hour, day of month, month, day of week.

use std::fmt;

use anyhow::{anyhow, bail};
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};

use super::{moment, seconds};

/// The times that an expression means, in UTC.
#[derive(Debug, Clone)]
pub(super) struct CronTimes {
    /// As it was written, with single spaces.
    text: String,
    cron: Cron,
}

impl CronTimes {
    /// Reads an expression. One that never comes true is refused.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.len() > LONGEST {
            bail!("the cron expression has more than {LONGEST} characters; write a shorter one");
        }
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .build();
        let cron = parser.parse(&text).map_err(|error| {
            let reason = plain(&error.to_string());
            anyhow!(
                "`{text}` is not a cron expression: {reason}; write minute, hour, day, month and weekday, such as `0 3 * * *`"
            )
        })?;
        let times = Self { text, cron };
        // The days of the week and of the month come round within 28 years; a century without a leap day is on the way.
        let Some(first) = times.next(0) else {
            bail!("`{times}` never comes true: no month has that day; write another day or month");
        };
        if first > A_CENTURY {
            bail!("`{times}` does not come true within a century; write another day or month");
        }
        Ok(times)
    }

    pub(super) fn next(&self, after: i64) -> Option<i64> {
        let after = moment(after)?;
        let next = self.cron.find_next_occurrence(&after, false).ok()?;
        Some(seconds(next))
    }

    /// The usual expressions in plain words, the others as the library has it.
    pub(super) fn describe(&self) -> String {
        let fields: Vec<&str> = match self.text.as_str() {
            "@hourly" => vec!["0", "*", "*", "*", "*"],
            "@daily" => vec!["0", "0", "*", "*", "*"],
            "@weekly" => vec!["0", "0", "*", "*", "0"],
            "@monthly" => vec!["0", "0", "1", "*", "*"],
            text => text.split(' ').collect(),
        };
        self.usual(&fields).unwrap_or_else(|| {
            let description = self.cron.describe();
            format!("{} (UTC)", plain(&description))
        })
    }

    fn usual(&self, fields: &[&str]) -> Option<String> {
        let &[minute, hour, day, "*", weekday] = fields else {
            return None;
        };
        if let ("*", "*", "*") = (hour, day, weekday) {
            if minute == "*" {
                return Some("every minute".to_owned());
            }
            return match minute.strip_prefix("*/").map(str::parse::<u8>) {
                Some(Ok(step)) if 60 % step == 0 => Some(format!("every {step} minutes")),
                Some(_) => None,
                None => {
                    let minute: u8 = minute.parse().ok()?;
                    Some(format!("every hour at minute {minute:02}"))
                }
            };
        }
        let (minute, hour): (u8, u8) = (minute.parse().ok()?, hour.parse().ok()?);
        let at = format!("at {hour:02}:{minute:02} UTC");
        match (day, weekday) {
            ("*", "*") => Some(format!("every day {at}")),
            ("*", weekday) => {
                let weekday = WEEKDAYS.get(weekday.parse::<usize>().ok()?)?;
                Some(format!("every {weekday} {at}"))
            }
            (day, "*") => {
                let day: u8 = day.parse().ok()?;
                Some(format!("on day {day} of every month {at}"))
            }
            _ => None,
        }
    }
}

impl PartialEq for CronTimes {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for CronTimes {}

impl fmt::Display for CronTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A sentence of the library as a part of ours: lower case at its beginning, no full stop.
fn plain(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut characters = sentence.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => String::new(),
    }
}

const LONGEST: usize = 200;
const A_CENTURY: i64 = 100 * 366 * 86_400;
const WEEKDAYS: [&str; 8] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        seconds(text.parse().unwrap())
    }

    #[test]
    fn times_come_in_order_and_never_twice() {
        let times = CronTimes::parse("30 6 1 * *").unwrap();
        let first = times.next(at("2026-01-01T06:29:59")).unwrap();
        assert_eq!(first, at("2026-01-01T06:30:00"));
        assert_eq!(times.next(first), Some(at("2026-02-01T06:30:00")));
    }

    #[test]
    fn a_leap_day_is_found_also_over_a_century_without_one() {
        let times = CronTimes::parse("0 0 29 2 *").unwrap();
        assert_eq!(
            times.next(at("2096-03-01T00:00:00")),
            Some(at("2104-02-29T00:00:00"))
        );
    }

    #[test]
    fn an_expression_that_never_comes_true_is_refused_with_the_reason() {
        for text in ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *"] {
            let began = std::time::Instant::now();
            let error = CronTimes::parse(text).unwrap_err().to_string();
            assert!(error.contains("never comes true"), "{error}");
            assert!(began.elapsed().as_secs() < 2, "{:?}", began.elapsed());
        }
    }

    #[test]
    fn only_five_fields_are_read() {
        for text in [
            "* * * *",
            "0 0 0 * * *",
            "0 0 1 1 * 2030",
            "",
            "a b c d e",
            "61 * * * *",
        ] {
            let error = CronTimes::parse(text).unwrap_err().to_string();
            assert!(
                error.contains("is not a cron expression"),
                "{text}: {error}"
            );
        }
        assert!(CronTimes::parse(&"1,".repeat(1000)).is_err());
    }

    #[test]
    fn usual_expressions_are_told_in_plain_words() {
        for (text, words) in [
            ("* * * * *", "every minute"),
            ("*/15 * * * *", "every 15 minutes"),
            ("7 * * * *", "every hour at minute 07"),
            ("5 3 * * *", "every day at 03:05 UTC"),
            ("@daily", "every day at 00:00 UTC"),
            ("0 22 * * 5", "every Friday at 22:00 UTC"),
            ("0 0 1 * *", "on day 1 of every month at 00:00 UTC"),
        ] {
            assert_eq!(CronTimes::parse(text).unwrap().describe(), words);
        }
        let other = CronTimes::parse("*/7 8-18 * * MON-FRI").unwrap().describe();
        assert!(other.ends_with("(UTC)"), "{other}");
    }

    #[test]
    fn a_moment_beyond_the_calendar_has_no_next() {
        let times = CronTimes::parse("* * * * *").unwrap();
        assert_eq!(times.next(i64::MAX), None);
        assert_eq!(times.next(at("8999-12-31T00:00:00")), None);
    }
}
