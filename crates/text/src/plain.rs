//! Plain text, in whatever encoding.

use std::io::{self, Read};

use super::work::{Input, Work};
use super::{Extracted, Outcome, charset, clean, dispatch};

/// Takes the text out of a text.
pub(super) fn extract(work: &Work<'_>, input: &Input) -> Extracted {
    let bytes = match read(work, input) {
        Ok(bytes) => bytes,
        Err(error) => return dispatch::unreadable(&error),
    };
    let text = clean::text(&charset::decode(&bytes, None));
    if is_none(&bytes, &text) {
        return Extracted::without_text(Outcome::Damaged, "it is not text");
    }
    finish(
        work,
        text,
        "garner-plain",
        (bytes.len() as u64) < input.length,
    )
}

/// The bytes, as far as they are needed.
pub(super) fn read(work: &Work<'_>, input: &Input) -> io::Result<Vec<u8>> {
    // No encoding takes more than twice what UTF-8 does.
    let most = (work.options().text_bytes as u64).saturating_mul(2) + 1;
    let mut bytes = Vec::new();
    input.bytes()?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A text that was read here.
pub(super) fn finish(work: &Work<'_>, mut text: String, engine: &str, is_part: bool) -> Extracted {
    let truncated = clean::cut(&mut text, work.options().text_bytes) | is_part;
    let outcome = match text.trim().is_empty() {
        true => Outcome::Empty,
        false => Outcome::Text,
    };
    let feeds = text.trim_end().matches('\x0C').count();
    let pages = u32::try_from(feeds + 1).unwrap_or(u32::MAX);
    Extracted {
        pages: (feeds > 0).then_some(pages),
        engine: Some(format!("{engine} {}", env!("CARGO_PKG_VERSION"))),
        truncated,
        text,
        ..Extracted::without_text(outcome, "")
    }
}

/// Whether bytes that are said to be text are something else: much of it is no character.
fn is_none(bytes: &[u8], text: &str) -> bool {
    let odd = text
        .chars()
        .filter(|c| *c == char::REPLACEMENT_CHARACTER)
        .count();
    let zeros = bytes.iter().filter(|byte| **byte == 0).count();
    let characters = text.chars().count();
    odd * 10 > characters * 3 || (characters < bytes.len() / 4 && zeros * 2 < bytes.len())
}
