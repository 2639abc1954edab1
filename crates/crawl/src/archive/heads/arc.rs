//! The line that a record of an ARC file begins with.
//!
//! It is read from the right, because there are URLs with spaces in it.

use super::date;
use super::fields;

/// A parsed line of an ARC file.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::archive) struct ArcLine<'a> {
    pub(in crate::archive) url: &'a [u8],
    pub(in crate::archive) date: &'a [u8],
    pub(in crate::archive) media_type: &'a [u8],
    /// The status, which only version 2 has.
    pub(in crate::archive) status: Option<i32>,
    pub(in crate::archive) length: u64,
}

impl<'a> ArcLine<'a> {
    /// Parses a line without its end. The fields are URL, address, date, media type and length; in version 2 status,
    /// checksum, location, offset and file name stand before the length.
    pub(in crate::archive) fn parse(line: &'a [u8]) -> Result<Self, &'static str> {
        let not_one = "no record begins there";
        let (rest, length) = last_word(line).ok_or(not_one)?;
        let mut behind = rest;
        // A media type with parameters has words of its own.
        for _ in 0..=WORDS {
            let (before, word) = last_word(behind).ok_or(not_one)?;
            let address = last_word(before);
            if let (true, Some((url, address))) = (is_date(word), address)
                && is_address(address)
                && has_scheme(url)
            {
                // Quirk: Alexa's crawler left the media type empty where it knew none.
                let between = &rest[behind.len()..];
                return Self::whole(url, word, between, length);
            }
            behind = before;
        }
        Err(not_one)
    }

    fn whole(
        url: &'a [u8],
        date: &'a [u8],
        between: &'a [u8],
        length: &[u8],
    ) -> Result<Self, &'static str> {
        let length = std::str::from_utf8(length).ok();
        let length = length.filter(|length| length.bytes().all(|byte| byte.is_ascii_digit()));
        let length = length.and_then(|length| length.parse().ok());
        let length = length.ok_or(NO_LENGTH)?;
        let between = between.trim_ascii();
        let words = between.split(|byte| *byte == b' ');
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        let (media_type, status) = match words[..] {
            [media_type, status, _, _, offset, _] if is_number(status) && is_number(offset) => {
                (media_type, std::str::from_utf8(status).ok())
            }
            _ => (between, None),
        };
        Ok(Self {
            url,
            date,
            media_type,
            status: status.and_then(|status| status.parse().ok()),
            length,
        })
    }

    /// When it was got.
    pub(in crate::archive) fn crawled(&self) -> Option<i64> {
        date::digits(self.date)
    }

    /// The media type, where it is one: `no-type` and the like are not.
    pub(in crate::archive) fn declared(&self) -> Option<String> {
        fields::media_type(self.media_type).filter(|media_type| media_type.contains('/'))
    }
}

/// Whether a record begins here, even if its length is none. The line has to be complete.
pub(in crate::archive) fn begins(bytes: &[u8]) -> bool {
    let Some(end) = memchr::memchr(b'\n', bytes) else {
        return false;
    };
    let parsed = || ArcLine::parse(fields::first_line(&bytes[..=end]).0);
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && parsed().map_or_else(|reason| reason == NO_LENGTH, |_| true)
}

/// Returns the offset in `line` at which a record begins, for a file whose beginning is cut off.
pub(in crate::archive) fn start_within(line: &[u8]) -> Option<usize> {
    if !line.trim_ascii_end().last()?.is_ascii_digit() {
        return None;
    }
    let schemes: [&[u8]; 4] = [b"http://", b"https://", b"ftp://", b"dns:"];
    let found = |scheme: &&[u8]| memchr::memmem::find(line.get(1..)?, scheme).map(|at| at + 1);
    let start = schemes.iter().filter_map(found).min()?;
    ArcLine::parse(&line[start..]).is_ok().then_some(start)
}

/// The last word, and what is before it.
fn last_word(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.trim_ascii_end();
    let space = memchr::memrchr(b' ', line)?;
    Some((line[..space].trim_ascii_end(), &line[space + 1..]))
}

fn is_date(word: &[u8]) -> bool {
    (12..=18).contains(&word.len()) && word.iter().all(u8::is_ascii_digit)
}

fn is_address(word: &[u8]) -> bool {
    let dots = word.iter().filter(|byte| **byte == b'.').count();
    let colons = word.iter().filter(|byte| **byte == b':').count();
    let of_address = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':');
    word == b"-" || (dots == 3 || colons >= 2) && word.iter().all(of_address)
}

fn has_scheme(url: &[u8]) -> bool {
    let of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let colon = memchr::memchr(b':', url).filter(|colon| *colon > 0);
    colon.is_some_and(|colon| url[0].is_ascii_alphabetic() && url[..colon].iter().all(of_scheme))
}

fn is_number(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_digit) || word == b"-"
}

const NO_LENGTH: &str = "its length is no number";

/// The most words that are looked at behind the date.
const WORDS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_from_the_right() {
        let line = b"http://h/a b?c=d e 1.2.3.4 20140216050221 text/html; charset=utf-8 1591";

        let line = ArcLine::parse(line).unwrap();

        assert_eq!(line.url, b"http://h/a b?c=d e");
        assert_eq!(line.declared().unwrap(), "text/html");
        assert_eq!(line.length, 1591);
        assert_eq!(line.crawled(), Some(1_392_526_941));
    }

    #[test]
    fn lines_of_version_2_tell_the_status() {
        let line = b"http://h/ 1.2.3.4 200101211835 no-type 404 - - 99 x.arc.gz 12";

        let line = ArcLine::parse(line).unwrap();

        assert_eq!((line.status, line.length), (Some(404), 12));
        assert_eq!(line.declared(), None);
        assert_eq!(line.crawled(), Some(980_102_100));
    }

    #[test]
    fn a_media_type_may_be_empty() {
        for line in [
            "http://h/ 1.2.3.4 20140216050221  12",
            "http://h/ 1.2.3.4 20140216050221 12",
        ] {
            let line = ArcLine::parse(line.as_bytes()).unwrap();
            assert_eq!((line.declared(), line.length), (None, 12));
            assert_eq!(line.url, b"http://h/");
        }
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "",
            "URL IP-address Archive-date Content-type Archive-length",
            "http://h/ 1.2.3.4 20140216050221 text/html -1",
            "http://h/ 1.2.3.4 20140216050221",
            "no url 1.2.3.4 20140216050221 text/html 12",
        ] {
            assert!(ArcLine::parse(line.as_bytes()).is_err(), "{line}");
        }
    }
}
