//! Dates as logs have them, in seconds of UTC since 1970.

use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::Offset;

/// Reads a date in one of the formats, or in the usual ones if there are none: ISO 8601, or 8 to 17 digits. Dates that do
/// not exist are `None`.
pub(super) fn parse(text: &str, formats: &[String]) -> Option<i64> {
    let text = text.trim();
    if formats.is_empty() {
        return usual(text);
    }
    formats.iter().find_map(|format| by_format(text, format))
}

/// Whether a format can be used at all.
pub(super) fn check(format: &str) -> Result<(), jiff::Error> {
    let now = jiff::Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC);
    jiff::fmt::strtime::format(format, &now).map(|_| ())
}

fn by_format(text: &str, format: &str) -> Option<i64> {
    let parsed = BrokenDownTime::parse(format, text).ok()?;
    if let Ok(timestamp) = parsed.to_timestamp() {
        return Some(timestamp.as_second());
    }
    let midnight = || parsed.to_date().map(|date| date.at(0, 0, 0, 0));
    utc(parsed.to_datetime().or_else(|_| midnight()).ok()?)
}

/// ISO 8601, or digits alone.
fn usual(text: &str) -> Option<i64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits >= 8 {
        return plain(&text[..digits]);
    }
    let (date, rest) = (text.get(..10)?, text.get(10..)?);
    let mut parts = date.splitn(3, '-');
    let mut next = || parts.next().and_then(number);
    let (year, month, day) = (next()?, next()?, next()?);
    let rest = rest.trim_start_matches(['T', 't', ' ']);
    if rest.is_empty() {
        return seconds([year, month, day, 0, 0, 0]);
    }
    let end = rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.' | ','));
    let (time, zone) = rest.split_at(end.unwrap_or(rest.len()));
    let mut parts = time.split([':', '.', ',']);
    let mut next = || parts.next().map_or(Some(0), number);
    let (hour, minute, second) = (next()?, next()?, next()?);
    Some(seconds([year, month, day, hour, minute, second])? - offset(zone)?)
}

/// Year, month and day, and of hour, minute and second what is there; what follows are fractions.
fn plain(digits: &str) -> Option<i64> {
    let part = |from: usize, length: usize| digits.get(from..from + length).map_or(Some(0), number);
    seconds([
        part(0, 4)?,
        part(4, 2)?,
        part(6, 2)?,
        part(8, 2)?,
        part(10, 2)?,
        part(12, 2)?,
    ])
}

fn seconds([year, month, day, hour, minute, second]: [i16; 6]) -> Option<i64> {
    let small = |value: i16| i8::try_from(value).ok();
    // A leap second is the end of its minute.
    let second = small(second)?.min(if second == 60 { 59 } else { i8::MAX });
    utc(DateTime::new(
        year,
        small(month)?,
        small(day)?,
        small(hour)?,
        small(minute)?,
        second,
        0,
    )
    .ok()?)
}

/// Returns the offset of a zone from UTC, in seconds.
fn offset(zone: &str) -> Option<i64> {
    let zone = zone.trim();
    let sign = match zone.as_bytes().first() {
        None | Some(b'Z' | b'z') => return Some(0),
        Some(b'+') => 1,
        Some(b'-') => -1,
        Some(_) => return matches!(zone, "UTC" | "GMT").then_some(0),
    };
    let digits = zone[1..].replace(':', "");
    let hours = number(digits.get(..2)?)?;
    let minutes = digits
        .get(2..)
        .filter(|rest| !rest.is_empty())
        .map_or(Some(0), number)?;
    Some(sign * (i64::from(hours) * 3600 + i64::from(minutes) * 60))
}

fn number(digits: &str) -> Option<i16> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

fn utc(datetime: DateTime) -> Option<i64> {
    let timestamp = Offset::UTC.to_timestamp(datetime).ok()?;
    Some(timestamp.as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_dates_are_read() {
        for (text, expected) in [
            ("1970-01-01", 0),
            ("1970-01-01T00:00:01Z", 1),
            ("1970-01-01T00:00:01.999Z", 1),
            ("1970-01-01 00:01", 60),
            ("1970-01-01T01:00:00+01:00", 0),
            ("1970-01-01T00:00:00-0130", 5400),
            ("19700101", 0),
            ("197001010001", 60),
            ("19700101000001", 1),
            ("19700101000001999+15", 1),
            ("1900-01-01T00:00:00Z", -2_208_988_800),
            ("2106-02-07T06:28:16Z", 4_294_967_296),
            ("2016-12-31T23:59:60Z", 1_483_228_799),
        ] {
            assert_eq!(parse(text, &[]), Some(expected), "{text}");
        }
    }

    #[test]
    fn dates_that_do_not_exist_are_none() {
        for text in [
            "",
            "-",
            "2009-03-65",
            "2009-02-29T00:00:00Z",
            "20090230",
            "2009-01-01T25:00:00Z",
            "2009-1-1",
            "yesterday",
            "2009-01-01T00:00:00X",
            "99999999",
            "2009-01-0\u{e9}",
            "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
            "2009-01-01T00:00:00+9",
            "+009-01-01",
            "2009-01-01T00:99999:00Z",
        ] {
            assert_eq!(parse(text, &[]), None, "{text}");
        }
    }

    #[test]
    fn other_dates_are_read_by_their_format() {
        let formats = ["%d/%b/%Y:%H:%M:%S %z".to_owned(), "%d.%m.%Y".to_owned()];

        assert_eq!(parse("01/Jan/1970:01:00:01 +0100", &formats), Some(1));
        assert_eq!(parse("02.01.1970", &formats), Some(86_400));
        assert_eq!(parse("1970-01-01", &formats), None);
        assert!(check("%d.%m.%Y").is_ok());
        assert!(check("%!").is_err());
    }
}
