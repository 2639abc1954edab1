//! Dates as people write them into forms, in UTC.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::filters::date;

/// The moment that a text means, in seconds: a date, or a date with a time.
pub(crate) fn moment(text: &str) -> Option<i64> {
    let text = text.trim();
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let time: DateTime = text.parse().ok()?;
    if !(1..=LAST_YEAR).contains(&time.year()) {
        return None;
    }
    let time = time.to_zoned(TimeZone::UTC).ok()?;
    Some(time.timestamp().as_second())
}

/// A moment as forms write it, without seconds if it has none.
pub(crate) fn shown(seconds: i64) -> String {
    let format = match seconds % 60 {
        0 => "%Y-%m-%dT%H:%M",
        _ => "%Y-%m-%dT%H:%M:%S",
    };
    date(seconds).strftime(format).to_string()
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
            assert_eq!(moment(text), Some(seconds), "{text}");
        }
        for text in [
            "",
            "tomorrow",
            "2026-02-30",
            "31.12.2026",
            "9999-01-01",
            "-0001-01-01",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_shown_can_be_read_again() {
        for seconds in [0, 60, 61, 1_795_000_000] {
            assert_eq!(moment(&shown(seconds)), Some(seconds));
        }
    }
}
