//! Dates as crawlers write them.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// `2009-03-15T12:00:00Z`, maybe with fractions, maybe without its last parts. `None` if there is no such date.
pub(in crate::archive) fn iso(text: &[u8]) -> Option<i64> {
    let mut digits = [0; 14];
    let mut count = 0;
    for byte in text.trim_ascii() {
        match byte {
            b'0'..=b'9' if count < digits.len() => {
                digits[count] = *byte;
                count += 1;
            }
            b'-' | b':' | b'T' | b't' | b' ' if count >= 4 && count.is_multiple_of(2) => {}
            // Fractions of a second, and the zone, which is always UTC.
            b'.' | b'Z' | b'z' => break,
            _ => return None,
        }
    }
    seconds(&digits[..count])
}

/// `20090315120000`, or without seconds, or with fractions of them.
pub(in crate::archive) fn digits(text: &[u8]) -> Option<i64> {
    let plausible = text.len() >= 12 && text.iter().all(u8::is_ascii_digit);
    plausible
        .then(|| seconds(&text[..text.len().min(14)]))
        .flatten()
}

fn seconds(digits: &[u8]) -> Option<i64> {
    if digits.len() < 4 || !digits.len().is_multiple_of(2) {
        return None;
    }
    let number = |from: usize, missing: i16| match digits.get(from..from + 2) {
        Some([a, b]) => i16::from(a - b'0') * 10 + i16::from(b - b'0'),
        _ => missing,
    };
    let part = |from, missing| number(from, missing) as i8;
    let year = number(0, 0) * 100 + number(2, 0);
    // A leap second is taken for the one before.
    let date = DateTime::new(
        year,
        part(4, 1),
        part(6, 1),
        part(8, 0),
        part(10, 0),
        part(12, 0).min(59),
        0,
    );
    let zoned = date.ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_centuries_are_read() {
        assert_eq!(iso(b"1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(iso(b"2016-12-31T23:59:60.5Z"), Some(1_483_228_799));
        assert_eq!(iso(b"1900-01-01T00:00:00Z"), Some(-2_208_988_800));
        assert_eq!(iso(b"2106-02-07T06:28:16Z"), Some(1 << 32));
        assert_eq!(iso(b"2009-03"), Some(1_235_865_600));
        assert_eq!(digits(b"200101211835"), Some(980_102_100));
        assert_eq!(digits(b"20010121183500"), Some(980_102_100));
        assert_eq!(digits(b"20010121183500123"), Some(980_102_100));
    }

    #[test]
    fn dates_that_do_not_exist_are_none() {
        for date in ["2009-03-65T00:00:00Z", "never", "", "2009-1-1", "20"] {
            assert_eq!(iso(date.as_bytes()), None, "{date}");
        }
        assert_eq!(digits(b"20011321183500"), None);
        assert_eq!(digits(b"20010121"), None);
    }
}
