//! From bytes to text: byte order marks, declared encodings, stray bytes.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::{Kind, Tally};

pub(super) fn decode<'a>(bytes: &'a [u8], tally: &mut Tally) -> Cow<'a, str> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        let rest = &bytes[length..];
        if encoding != UTF_8 {
            tally.add(Kind::Recoded);
            let text = encoding.decode_without_bom_handling(rest).0;
            return Cow::Owned(beginning(&text).to_owned());
        }
        return decode(rest, tally);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(beginning(text)),
        Err(_) => decode_other(bytes, tally),
    }
}

/// Bytes that are not UTF-8: in the declared encoding, else stray ones.
fn decode_other<'a>(bytes: &'a [u8], tally: &mut Tally) -> Cow<'a, str> {
    let declared = declared(bytes).filter(|encoding| *encoding != UTF_8);
    let text = match declared {
        Some(encoding) => {
            tally.add(Kind::Recoded);
            encoding.decode(bytes).0.into_owned()
        }
        None => decode_strays(bytes, tally),
    };
    Cow::Owned(beginning(&text).to_owned())
}

fn decode_strays(bytes: &[u8], tally: &mut Tally) -> String {
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            tally.add(Kind::StrayByte);
            text.push_str(&WINDOWS_1252.decode_without_bom_handling(&[*byte]).0);
        }
    }
    text
}

fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(LONGEST_DECLARATION)];
    let head = String::from_utf8_lossy(head);
    let declaration = head.strip_prefix("<?xml")?.split("?>").next()?.to_owned();
    let (_, after) = declaration.split_once("encoding")?;
    let label = after.trim_start().strip_prefix('=')?.trim_start();
    let label = label.trim_start_matches(['"', '\'']);
    Encoding::for_label(label.split(['"', '\'']).next()?.as_bytes())
}

/// The text behind byte order marks and white space.
fn beginning(text: &str) -> &str {
    text.trim_start_matches(|c: char| c == '\u{FEFF}' || c.is_whitespace())
}

const LONGEST_DECLARATION: usize = 200;
