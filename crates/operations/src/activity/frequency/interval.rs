//! Intervals: a number of minutes, hours, days, weeks or months, counted from a moment.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, bail};
use jiff::{Span, civil};

use super::{moment, seconds};

/// A number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    number: u32,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
}

impl Interval {
    /// The first of the moments anchor, anchor + 1 interval, … that is later than `after`.
    pub(super) fn next(self, after: i64, anchor: i64) -> Option<i64> {
        if after < anchor {
            return Some(anchor);
        }
        match self.unit.seconds() {
            Some(unit) => {
                let step = unit * i64::from(self.number);
                let gone = (after - anchor) / step + 1;
                anchor.checked_add(gone.checked_mul(step)?)
            }
            None => self.next_month(after, anchor),
        }
    }

    /// The n-th time is the anchor with n times the months added, not the time before with the months added: a day that
    /// a month lacks would else be lost for all months that follow.
    fn next_month(self, after: i64, anchor: i64) -> Option<i64> {
        let (begin, now) = (moment(anchor)?, moment(after)?);
        let number = i64::from(self.number);
        let gone = months(now) - months(begin);
        let nth = |n: i64| {
            let months = Span::new().try_months(n * number).ok()?;
            Some(seconds(begin.checked_add(months).ok()?))
        };
        // The month of `after` or the one behind it has the next time, whatever the days are.
        let first = gone / number;
        (first..=first + 1)
            .filter_map(nth)
            .find(|time| *time > after)
    }
}

impl Unit {
    /// How long it is; months differ.
    fn seconds(self) -> Option<i64> {
        match self {
            Self::Minute => Some(60),
            Self::Hour => Some(3600),
            Self::Day => Some(86_400),
            Self::Week => Some(7 * 86_400),
            Self::Month => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let unit = match text.to_ascii_lowercase().as_str() {
            "m" | "min" | "minute" | "minutes" => Self::Minute,
            "h" | "hour" | "hours" => Self::Hour,
            "d" | "day" | "days" => Self::Day,
            "w" | "week" | "weeks" => Self::Week,
            "month" | "months" => Self::Month,
            _ => return None,
        };
        Some(unit)
    }
}

impl FromStr for Interval {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let text = text.trim();
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at(digits);
        let unit = Unit::parse(unit.trim()).with_context(|| {
            format!("`{text}` is not an interval; write a number and minutes, hours, days, weeks or months")
        })?;
        let number = match number {
            "" => 1,
            number => number.parse().unwrap_or(u32::MAX),
        };
        if !(1..=MOST).contains(&number) {
            bail!("`{text}` is not an interval; write a number from 1 to {MOST}");
        }
        Ok(Self { number, unit })
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.unit.name();
        match self.number {
            1 => f.write_str(name),
            number => write!(f, "{number} {name}s"),
        }
    }
}

/// How many months lie between the year 0 and a moment.
fn months(time: civil::DateTime) -> i64 {
    i64::from(time.year()) * 12 + i64::from(time.month())
}

/// As many months are more than 80 years; beyond that it is a slip of the pen.
const MOST: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        seconds(text.parse().unwrap())
    }

    fn times(interval: &str, anchor: &str, number: usize) -> Vec<String> {
        let interval: Interval = interval.parse().unwrap();
        let anchor = at(anchor);
        let mut times = Vec::new();
        let mut after = anchor;
        while times.len() < number {
            after = interval.next(after, anchor).unwrap();
            times.push(moment(after).unwrap().to_string());
        }
        times
    }

    #[test]
    fn months_keep_the_day_of_the_anchor_and_end_early_where_it_is_missing() {
        let times = times("month", "2025-12-31T06:30:00", 4);
        assert_eq!(
            times,
            [
                "2026-01-31T06:30:00",
                "2026-02-28T06:30:00",
                "2026-03-31T06:30:00",
                "2026-04-30T06:30:00"
            ]
        );
    }

    #[test]
    fn several_months_are_counted_from_the_anchor() {
        let times = times("5 months", "2023-09-30T00:00:00", 3);
        assert_eq!(
            times,
            [
                "2024-02-29T00:00:00",
                "2024-07-30T00:00:00",
                "2024-12-30T00:00:00"
            ]
        );
    }

    #[test]
    fn every_time_that_was_missed_is_passed_over() {
        let interval: Interval = "15 minutes".parse().unwrap();
        let anchor = at("2026-01-01T00:07:00");

        let next = interval.next(at("2026-11-16T12:00:00"), anchor);

        assert_eq!(next, Some(at("2026-11-16T12:07:00")));
    }

    #[test]
    fn a_month_is_found_from_every_moment_in_it() {
        let interval: Interval = "2 months".parse().unwrap();
        let anchor = at("2026-01-31T12:00:00");
        for (after, next) in [
            ("2026-02-01T00:00:00", "2026-03-31T12:00:00"),
            ("2026-03-31T11:59:59", "2026-03-31T12:00:00"),
            ("2026-03-31T12:00:00", "2026-05-31T12:00:00"),
            ("2026-10-31T00:00:00", "2026-11-30T12:00:00"),
        ] {
            assert_eq!(interval.next(at(after), anchor), Some(at(next)), "{after}");
        }
    }

    #[test]
    fn what_is_shorter_than_a_minute_or_longer_than_a_life_is_refused() {
        for text in [
            "0 minutes",
            "30 seconds",
            "1001 days",
            "99999999999 days",
            "-1 day",
            "1.5 days",
        ] {
            assert!(text.parse::<Interval>().is_err(), "{text}");
        }
    }

    #[test]
    fn moments_beyond_all_calendars_have_no_next() {
        let interval: Interval = "month".parse().unwrap();
        assert_eq!(interval.next(i64::MAX, 0), None);
        let interval: Interval = "1000 weeks".parse().unwrap();
        assert_eq!(interval.next(i64::MAX, 0), None);
    }
}
