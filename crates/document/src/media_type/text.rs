//! Text and what is none.

use std::borrow::Cow;

/// Bytes in which ASCII can be looked for: without the byte order mark, and UTF-16 reduced to its ASCII characters.
pub(super) fn ascii(head: &[u8]) -> Cow<'_, [u8]> {
    let reduce = |bytes: &[u8], high: usize, low: usize| {
        let units = bytes.chunks_exact(2);
        let reduced = units.map(|unit| if unit[high] == 0 { unit[low] } else { b'?' });
        Cow::Owned(reduced.collect())
    };
    match head {
        [0xEF, 0xBB, 0xBF, rest @ ..] => Cow::Borrowed(rest),
        [0xFE, 0xFF, rest @ ..] => reduce(rest, 0, 1),
        [0xFF, 0xFE, rest @ ..] => reduce(rest, 1, 0),
        _ => Cow::Borrowed(head),
    }
}

/// Whether there are bytes that no text has: the "binary data bytes" of the WHATWG's MIME Sniffing Standard.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    // Every capture comes through here, so blocks are looked at without a branch for each byte.
    bytes.chunks(BLOCK).any(|block| {
        block
            .iter()
            .fold(false, |found, byte| found | is_of_no_text(*byte))
    })
}

const BLOCK: usize = 256;

/// Whether there are so many bytes that no text has that it can hardly be one.
///
/// In what is compressed every tenth byte is one of those, in programs and images more. UTF-8 does not come about by
/// chance, so there it may be more: in texts of formulas it is up to a fifth.
pub(super) fn is_hardly_text(bytes: &[u8]) -> bool {
    let odd = bytes.iter().filter(|byte| is_of_no_text(**byte)).count();
    let is_utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // The last character may be cut off.
        Err(error) => error.error_len().is_none(),
    };
    let most = if is_utf8 { 30 } else { 2 };
    odd * 100 > bytes.len() * most
}

/// A control character other than those by which text is laid out.
fn is_of_no_text(byte: u8) -> bool {
    let is_control = byte < 0x20;
    let is_of_text =
        (byte == 0x1B) | (byte == 0x09) | (byte == 0x0A) | (byte == 0x0C) | (byte == 0x0D);
    is_control & !is_of_text
}

/// The lines of bytes, whatever ends them.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| matches!(byte, b'\r' | b'\n'))
}

/// Where a needle begins in a haystack.
pub(super) fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let mut windows = haystack.windows(needle.len());
    windows.position(|window| window == needle)
}

/// Every place where a needle begins.
pub(super) fn find_all<'a>(
    haystack: &'a [u8],
    needle: &'a [u8],
) -> impl Iterator<Item = usize> + 'a {
    let windows = haystack.windows(needle.len()).enumerate();
    windows
        .filter(move |(_, window)| *window == needle)
        .map(|(at, _)| at)
}

/// Bytes without the white space before them.
pub(super) fn trim_start(bytes: &[u8]) -> &[u8] {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0B;
    let start = bytes.iter().position(|byte| !blank(byte));
    &bytes[start.unwrap_or(bytes.len())..]
}

/// Whether bytes begin so, in whatever letter case.
pub(super) fn begins(bytes: &[u8], start: &[u8]) -> bool {
    bytes
        .get(..start.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}
