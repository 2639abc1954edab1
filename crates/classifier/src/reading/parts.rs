//! Which parts of a long text are read.

/// The first and the last part of a text, if it is long or was cut before.
pub(super) fn parts(text: &str) -> (&str, Option<&str>) {
    // As many bytes are as many characters at least, so short texts need no counting.
    let end = char_boundary(text, HEAD);
    let head = &text[..end];
    let marked = memchr::memmem::find(
        &text.as_bytes()[..text.len().min(4 * (HEAD + 200))],
        CUT.as_bytes(),
    );
    if let Some(at) = marked {
        let tail = &text[at + CUT.len()..];
        let from = char_boundary_back(tail, TAIL);
        return (&text[..at.min(end)], Some(&tail[from..]));
    }
    let rest = &text[end..];
    if rest.is_empty() {
        return (head, None);
    }
    // A rest that is no longer than the tail goes on without a gap.
    let from = char_boundary_back(rest, TAIL);
    if from == 0 {
        return (text, None);
    }
    (head, Some(&rest[from..]))
}

/// Where the first so many characters end.
fn char_boundary(text: &str, characters: usize) -> usize {
    let found = text.char_indices().nth(characters);
    found.map_or(text.len(), |(at, _)| at)
}

/// Where the last so many characters begin.
fn char_boundary_back(text: &str, characters: usize) -> usize {
    let found = text.char_indices().rev().nth(characters.saturating_sub(1));
    found.map_or(0, |(at, _)| at)
}

/// Number of characters that are read from the beginning of a long text,
const HEAD: usize = 60_000;
/// and so many from its end.
const TAIL: usize = 15_000;
/// Stands where something was left out, in texts of training data too.
const CUT: &str = "[... text cut here ...]";
