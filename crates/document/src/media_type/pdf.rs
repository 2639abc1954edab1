//! PDF: `%PDF-` within the first kilobyte, as readers accept it, but not where a text only speaks of it.

use super::sniff::Sniffed;
use super::text;

/// Looks for a PDF; `in_page` says that the bytes begin like HTML or XML.
pub(super) fn sniff(head: &[u8], in_page: bool) -> Option<Sniffed> {
    let within = &head[..head.len().min(FIRST + MARK.len())];
    let mut places = text::find_all(within, MARK);
    let found = places.any(|at| is_pdf(&head[at + MARK.len()..], at, in_page));
    found.then_some(Sniffed::certain("application/pdf"))
}

/// Whether a PDF goes on like this behind a `%PDF-` that stands at an offset.
fn is_pdf(rest: &[u8], at: usize, in_page: bool) -> bool {
    let [major, b'.', minor, rest @ ..] = rest else {
        return false;
    };
    if !major.is_ascii_digit() || !minor.is_ascii_digit() {
        return false;
    }
    if text::is_binary(rest) {
        return at == 0 || has_object(rest);
    }
    // A page that shows the source of a PDF is a page; a PDF behind the warnings of a program has streams.
    !in_page && goes_on(rest, at == 0)
}

/// Whether what follows the version is a PDF's: a line with bytes that make programs treat the file as binary, or
/// comments and then an object, a table or a trailer. Prose is neither. A file that `is_first` says to begin with the
/// version and that ends behind it or behind comments is the rest of a PDF, and no text.
fn goes_on(rest: &[u8], is_first: bool) -> bool {
    let lines = text::lines(rest).map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty());
    let mut next = lines.next();
    if next.is_some_and(is_mark) {
        return true;
    }
    // Anything else in the line of the version is prose, but for an object of those who write no line ends.
    let line = rest.split(|byte| matches!(byte, b'\r' | b'\n')).next();
    if line.is_some_and(|line| !line.trim_ascii().is_empty()) {
        return next.is_some_and(is_object);
    }
    while next.is_some_and(|line| line.starts_with(b"%")) {
        next = lines.next();
    }
    next.map_or(is_first, |line| is_object(line) || is_structure(line))
}

/// Whether a line begins one of the parts of a PDF that are no objects.
fn is_structure(line: &[u8]) -> bool {
    let is_trailer = |rest: &[u8]| {
        let rest = rest.trim_ascii_start();
        rest.is_empty() || rest.starts_with(b"<<")
    };
    line == b"xref" || line == b"startxref" || line.strip_prefix(b"trailer").is_some_and(is_trailer)
}

/// ISO 32000-1, 7.5.2: a comment with at least four bytes above 127. Some writers have only two.
fn is_mark(line: &[u8]) -> bool {
    let is_high = |byte: &u8| *byte >= 0x80;
    let [b'%', behind @ ..] = line else {
        return false;
    };
    behind.len() <= 32 && behind.iter().filter(|byte| is_high(byte)).count() >= 2
}

/// Whether a line begins with `12 0 obj`.
fn is_object(line: &[u8]) -> bool {
    let after_number = |bytes: &[u8]| -> Option<usize> {
        let digits = bytes
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let blanks = bytes[digits..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace());
        let end = digits + blanks.count();
        (1..=10).contains(&digits).then_some(end)
    };
    let Some(first) = after_number(line) else {
        return false;
    };
    let Some(second) = after_number(&line[first..]) else {
        return false;
    };
    line[first + second..].starts_with(b"obj")
}

/// Whether there is an object somewhere.
fn has_object(bytes: &[u8]) -> bool {
    text::find_all(bytes, b"obj").any(|at| {
        let before = &bytes[at.saturating_sub(24)..at];
        let is_part = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_whitespace();
        let length = before.iter().rev().take_while(|byte| is_part(byte)).count();
        is_object(text::trim_start(&bytes[at - length..at + 3]))
    })
}

const MARK: &[u8] = b"%PDF-";
/// ISO 32000-1, annex H, 3.4.1.
const FIRST: usize = 1024;
