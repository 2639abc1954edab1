//! Times as JSON has them: RFC 3339, in UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use oai::{Datestamp, Granularity};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use crate::parameters::Parameter;

/// A moment, kept in seconds, written as `2026-11-16T05:00:00Z`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, ToSchema)]
#[schema(value_type = String, format = DateTime, example = "2026-11-16T05:00:00Z")]
pub struct Time(pub i64);

impl std::fmt::Display for Time {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let moment = Timestamp::from_second(self.0).unwrap_or(Timestamp::UNIX_EPOCH);
        write!(out, "{moment}")
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let moment: Timestamp = text.parse().map_err(|_| {
            D::Error::custom(format!(
                "`{text}` is not a date such as 2026-11-16T05:00:00Z"
            ))
        })?;
        Ok(Self(moment.as_second()))
    }
}

impl Parameter for Time {
    /// Reads a date, or a date with a time, as people and browsers write them; in UTC.
    fn read(text: &str) -> Result<Self, String> {
        moment(text).ok_or_else(|| format!("`{text}` is not a date; write it as 2026-12-31T06:00"))
    }
}

/// The first second of a day, or a moment, as the command line has dates: `YYYY-MM-DD` or `YYYY-MM-DDThh:mm:ssZ`.
pub fn first_second(text: &str) -> Result<Time, String> {
    date(text).map(|(moment, _)| Time(moment.seconds()))
}

/// The last second of a day, or a moment.
pub fn last_second(text: &str) -> Result<Time, String> {
    date(text).map(|(moment, granularity)| match granularity {
        Granularity::Day => Time(moment.end_of_day().seconds()),
        Granularity::Second => Time(moment.seconds()),
    })
}

fn date(text: &str) -> Result<(Datestamp, Granularity), String> {
    let date = Datestamp::parse(text);
    date.ok_or_else(|| "write YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ".to_owned())
}

pub(crate) fn moment(text: &str) -> Option<Time> {
    let text = text.trim();
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let time: DateTime = text.parse().ok()?;
    if !(1..=LAST_YEAR).contains(&time.year()) {
        return None;
    }
    let time = time.to_zoned(TimeZone::UTC).ok()?;
    Some(Time(time.timestamp().as_second()))
}

/// No schedule is kept until then.
const LAST_YEAR: i16 = 9000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_browsers_and_people_write_them() {
        for (text, seconds) in [
            ("1970-01-02", 86_400),
            ("1970-01-01T01:00", 3600),
            ("1970-01-01T00:00:07", 7),
            ("1970-01-01 00:01", 60),
            (" 1970-01-01T01:00:00Z ", 3600),
        ] {
            assert_eq!(Time::read(text), Ok(Time(seconds)), "{text}");
        }
        for text in [
            "tomorrow",
            "2026-02-30",
            "31.12.2026",
            "9999-01-01",
            "-0001-01-01",
        ] {
            assert!(Time::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn dates_are_written_and_read_alike() {
        let text = serde_json::to_string(&Time(1_794_805_200)).unwrap();
        assert_eq!(text, r#""2026-11-16T05:00:00Z""#);
        assert_eq!(
            serde_json::from_str::<Time>(&text).unwrap(),
            Time(1_794_805_200)
        );
        let error = serde_json::from_str::<Time>(r#""tomorrow""#).unwrap_err();
        assert!(error.to_string().contains("tomorrow"), "{error}");
    }
}
