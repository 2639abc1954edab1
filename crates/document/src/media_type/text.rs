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
    let binary = |found: bool, byte: &u8| {
        let is_control = *byte < 0x20;
        let is_of_text =
            (*byte == 0x1B) | (*byte == 0x09) | (*byte == 0x0A) | (*byte == 0x0C) | (*byte == 0x0D);
        found | (is_control & !is_of_text)
    };
    bytes
        .chunks(BLOCK)
        .any(|block| block.iter().fold(false, binary))
}

const BLOCK: usize = 256;

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
