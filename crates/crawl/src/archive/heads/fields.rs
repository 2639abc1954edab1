//! Lines of the form `Name: value`, as WARC, HTTP and `application/warc-fields` have them.

use std::borrow::Cow;

use memchr::memchr;

use super::warc;

/// Returns the end of a head: behind its first empty line. Lines may end in LF alone.
pub(in crate::archive) fn head_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(end) = memchr(b'\n', &bytes[at..]) {
        let line = &bytes[at..at + end];
        at += end + 1;
        if line.is_empty() || line == b"\r" {
            return Some(at);
        }
    }
    None
}

/// Returns where a head ends that has no empty line: behind its first line and all that are fields or belong to one.
pub(in crate::archive) fn fields_end(bytes: &[u8]) -> usize {
    let mut end = memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
    while end < bytes.len() {
        let rest = &bytes[end..];
        let length = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let is_folded = matches!(rest.first(), Some(b' ' | b'\t'));
        if !is_folded && !is_field(&rest[..length]) {
            break;
        }
        end += length;
    }
    end
}

/// Whether a line has the form `Name: value`.
fn is_field(line: &[u8]) -> bool {
    let colon = memchr(b':', line).filter(|colon| *colon > 0);
    let is_name = |byte: &u8| byte.is_ascii_graphic();
    colon.is_some_and(|colon| line[..colon].iter().all(is_name))
}

/// Whether bytes begin with a line of any kind, lines of the form `Name: value`, and an empty line.
pub(in crate::archive) fn is_head(bytes: &[u8]) -> bool {
    let Some(end) = head_end(bytes) else {
        return false;
    };
    let mut lines = bytes[..end].split(|byte| *byte == b'\n').skip(1);
    lines.next().is_some_and(is_field)
}

/// The first line without its end, and what is behind it.
pub(in crate::archive) fn first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memchr(b'\n', bytes) {
        Some(end) => (trimmed_end(&bytes[..end]), &bytes[end + 1..]),
        None => (trimmed_end(bytes), &[]),
    }
}

/// Calls `see` with each field. Lines without a colon are passed over; those that begin with a blank belong to the one
/// before.
pub(in crate::archive) fn each<'a>(
    mut bytes: &'a [u8],
    mut see: impl FnMut(&'a [u8], Cow<'a, [u8]>),
) {
    while !bytes.is_empty() {
        let (line, mut rest) = first_line(bytes);
        let Some(colon) = memchr(b':', line) else {
            bytes = rest;
            continue;
        };
        let mut value = Cow::Borrowed(line[colon + 1..].trim_ascii());
        while let Some(b' ' | b'\t') = rest.first() {
            let (folded, behind) = first_line(rest);
            let value = value.to_mut();
            if !value.is_empty() {
                value.push(b' ');
            }
            value.extend_from_slice(folded.trim_ascii());
            rest = behind;
        }
        see(line[..colon].trim_ascii(), value);
        bytes = rest;
    }
}

/// Text from outside. What is not UTF-8 is kept as far as it can be.
pub(in crate::archive) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Text of which there should not be much. What is longer than any that makes sense is none.
pub(in crate::archive) fn short(bytes: &[u8]) -> Option<String> {
    (1..=SHORT).contains(&bytes.len()).then(|| text(bytes))
}

/// A URL that is to be followed or compared. None has ever been as long as to be none.
pub(in crate::archive) fn url(bytes: &[u8]) -> Option<String> {
    (1..=URL).contains(&bytes.len()).then(|| warc::url(bytes))
}

/// A media type without its parameters, in lower case.
pub(in crate::archive) fn media_type(bytes: &[u8]) -> Option<String> {
    let end = memchr::memchr2(b';', b',', bytes).unwrap_or(bytes.len());
    let name = bytes[..end].trim_ascii();
    short(name).map(|name| name.to_ascii_lowercase())
}

fn trimmed_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The longest URL. Many of them wait at a time.
pub(in crate::archive) const URL: usize = 16 * 1024;

const SHORT: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        each(bytes, |name, value| fields.push((text(name), text(&value))));
        fields
    }

    #[test]
    fn fields_are_read_whatever_their_lines_end_with() {
        let fields = all(b"A: 1\r\nB:2\n  more\r\nnothing\nD:\r\n\t 4\r\nC : x:y ");

        let expected = [("A", "1"), ("B", "2 more"), ("D", "4"), ("C", "x:y")];
        assert_eq!(fields, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn a_head_ends_at_its_first_empty_line() {
        assert_eq!(head_end(b"a\r\nb\r\n\r\nc"), Some(8));
        assert_eq!(head_end(b"a\n\nc"), Some(3));
        assert_eq!(head_end(b"a\r\nb\r\n\r"), None);
        assert_eq!(
            fields_end(b"HTTP/1.1 200 OK\r\nA: 1\r\n  x\r\n%PDF-1.4 a: b"),
            28
        );
        assert_eq!(fields_end(b"HTTP/1.1 200 OK\r\nA: 1"), 21);
    }
}
