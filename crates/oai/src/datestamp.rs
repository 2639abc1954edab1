//! Datestamps: UTC, to the second, in the two forms of OAI-PMH 2.0, section 3.3.

use std::fmt;

use jiff::{SignedDuration, civil};

/// A moment in UTC with a precision of one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Datestamp(i64);

/// How finely a date is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granularity {
    /// `YYYY-MM-DD`
    Day,
    /// `YYYY-MM-DDThh:mm:ssZ`
    Second,
}

impl Datestamp {
    /// The first moment that can be written with a four-digit year.
    pub const MIN: Self = Self(-62_135_596_800);
    /// The last moment that can be written with a four-digit year.
    pub const MAX: Self = Self(253_402_300_799);

    /// Makes a datestamp from seconds since 1970, brought into the years 1 to 9999.
    pub fn from_seconds(seconds: i64) -> Self {
        Self(seconds.clamp(Self::MIN.0, Self::MAX.0))
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    pub fn seconds(self) -> i64 {
        self.0
    }

    /// Parses one of the two legal forms; anything else, and any impossible date, is `None`.
    ///
    /// ```
    /// use oai::{Datestamp, Granularity};
    ///
    /// let (datestamp, granularity) = Datestamp::parse("2004-02-29").unwrap();
    /// assert_eq!(datestamp.to_string(), "2004-02-29T00:00:00Z");
    /// assert_eq!(granularity, Granularity::Day);
    /// assert!(Datestamp::parse("2003-02-29").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<(Self, Granularity)> {
        let granularity = if fits("0000-00-00", text) {
            Granularity::Day
        } else if fits("0000-00-00T00:00:00Z", text) {
            Granularity::Second
        } else {
            return None;
        };
        let number = |range: std::ops::Range<usize>| text[range].parse::<i8>().ok();
        // XML Schema has no year 0.
        let year: i16 = text[..4].parse().ok().filter(|year| *year > 0)?;
        let date = civil::Date::new(year, number(5..7)?, number(8..10)?).ok()?;
        let time = match granularity {
            Granularity::Day => civil::Time::midnight(),
            Granularity::Second => {
                civil::Time::new(number(11..13)?, number(14..16)?, number(17..19)?, 0).ok()?
            }
        };
        Some((Self::from_civil(date.to_datetime(time)), granularity))
    }

    /// The last second of the day that begins at this moment.
    pub fn end_of_day(self) -> Self {
        Self::from_seconds(self.0.saturating_add(86_399))
    }

    /// The first second of this moment's year.
    pub fn start_of_year(self) -> Self {
        Self::from_civil(self.civil().first_of_year().start_of_day())
    }

    fn from_civil(datetime: civil::DateTime) -> Self {
        Self::from_seconds(datetime.duration_since(EPOCH).as_secs())
    }

    fn civil(self) -> civil::DateTime {
        let since = SignedDuration::from_secs(self.0);
        EPOCH
            .checked_add(since)
            .expect("constructors keep to four-digit years")
    }
}

impl fmt::Display for Datestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = self.civil();
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            t.year(),
            t.month(),
            t.day(),
            t.hour(),
            t.minute(),
            t.second()
        )
    }
}

impl fmt::Display for Granularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Day => "YYYY-MM-DD",
            Self::Second => "YYYY-MM-DDThh:mm:ssZ",
        })
    }
}

const EPOCH: civil::DateTime = civil::datetime(1970, 1, 1, 0, 0, 0, 0);

/// Whether the text has the shape of a pattern in which `0` stands for any digit.
fn fits(pattern: &str, text: &str) -> bool {
    pattern.len() == text.len()
        && pattern.bytes().zip(text.bytes()).all(|(p, t)| match p {
            b'0' => t.is_ascii_digit(),
            p => p == t,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_both_forms() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("1969-12-31T23:59:59Z", -1),
            ("1903-07-01", -2_098_742_400),
            ("2026-11-15T20:49:07Z", 1_794_775_747),
        ] {
            let (datestamp, _) = Datestamp::parse(text).unwrap();
            assert_eq!(datestamp.seconds(), seconds, "{text}");
            assert!(
                datestamp
                    .to_string()
                    .starts_with(text.trim_end_matches('Z'))
            );
        }
    }

    #[test]
    fn refuses_every_other_form() {
        for text in [
            "",
            "junk",
            "2002-2-5",
            "2002-02-30",
            "2002-13-01",
            "2002-02-05T05:35:00",
            "2002-02-05T05:35Z",
            "2002-02-05T24:00:00Z",
            "2002-02-05T05:35:00.0Z",
            "2002-02-05T05:35:00+01:00",
            "+2002-02-05",
            "0000-01-01",
            "２００２-02-05",
        ] {
            assert!(Datestamp::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_end_of_time_can_be_asked_for() {
        let (datestamp, _) = Datestamp::parse("9999-12-31").unwrap();
        assert_eq!(datestamp.end_of_day(), Datestamp::MAX);
        assert!(Datestamp::parse("0001-01-01").is_some());
    }

    #[test]
    fn clamps_to_four_digit_years() {
        assert_eq!(
            Datestamp::from_seconds(i64::MIN).to_string(),
            "0001-01-01T00:00:00Z"
        );
        assert_eq!(
            Datestamp::from_seconds(i64::MAX).to_string(),
            "9999-12-31T23:59:59Z"
        );
    }

    #[test]
    fn start_of_year_is_never_a_leap_day() {
        let (leap_day, _) = Datestamp::parse("2004-02-29T12:00:00Z").unwrap();
        assert_eq!(leap_day.start_of_year().to_string(), "2004-01-01T00:00:00Z");
    }
}
