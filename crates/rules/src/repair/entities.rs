//! References in texts and attributes, and the characters that XML allows.

use super::{Kind, Tally};
use crate::xml::html_entity;

/// Writes text so that it is legal: characters, references, angle brackets.
pub(super) fn write_text(text: &str, out: &mut String, tally: &mut Tally) {
    let mut rest = text;
    while let Some(at) = rest.find(|c| matches!(c, '&' | '<' | '>') || !is_legal(c)) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(c) = rest.chars().next() else { break };
        rest = match c {
            '&' => write_reference(rest, out, tally),
            '<' => {
                tally.add(Kind::BareAngleBracket);
                out.push_str("&lt;");
                &rest[1..]
            }
            '>' => {
                if out.ends_with("]]") {
                    tally.add(Kind::BareAngleBracket);
                    out.push_str("&gt;");
                } else {
                    out.push('>');
                }
                &rest[1..]
            }
            _ => {
                tally.add(Kind::IllegalCharacter);
                &rest[c.len_utf8()..]
            }
        };
    }
    out.push_str(rest);
}

/// Writes what stands as it is, as in a CDATA section, without illegal characters.
pub(super) fn write_raw(text: &str, out: &mut String, tally: &mut Tally) {
    for c in text.chars() {
        match is_legal(c) {
            true => out.push(c),
            false => tally.add(Kind::IllegalCharacter),
        }
    }
}

/// Writes the reference at the beginning of the text and gives the rest.
fn write_reference<'a>(text: &'a str, out: &mut String, tally: &mut Tally) -> &'a str {
    let body = &text[1..];
    let end = body.bytes().take(LONGEST_NAME).position(|b| b == b';');
    let Some(name) = end.map(|end| &body[..end]) else {
        return escape_ampersand(body, out, tally);
    };
    let rest = &body[name.len() + 1..];
    if let Some(number) = name.strip_prefix('#') {
        return match code_point(number) {
            Some(c) if is_legal(c) => {
                out.push_str(&text[..name.len() + 2]);
                rest
            }
            Some(_) => {
                tally.add(Kind::IllegalCharacter);
                rest
            }
            None if is_number(number) => {
                tally.add(Kind::IllegalCharacter);
                rest
            }
            None => escape_ampersand(body, out, tally),
        };
    }
    if matches!(name, "amp" | "lt" | "gt" | "quot" | "apos") {
        out.push_str(&text[..name.len() + 2]);
        return rest;
    }
    match html_entity(name) {
        Some(characters) => {
            tally.add(Kind::HtmlEntity);
            out.push_str(characters);
            rest
        }
        None => escape_ampersand(body, out, tally),
    }
}

fn escape_ampersand<'a>(body: &'a str, out: &mut String, tally: &mut Tally) -> &'a str {
    tally.add(Kind::BareAmpersand);
    out.push_str("&amp;");
    body
}

fn code_point(number: &str) -> Option<char> {
    if !is_number(number) {
        return None;
    }
    let value = match number.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    char::from_u32(value.ok()?)
}

fn is_number(text: &str) -> bool {
    let (digits, hex) = match text.strip_prefix('x') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let is_digit = |b: u8| match hex {
        true => b.is_ascii_hexdigit(),
        false => b.is_ascii_digit(),
    };
    !digits.is_empty() && digits.bytes().all(is_digit)
}

/// XML 1.0, 2.2.
fn is_legal(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// The longest name of HTML has 31 letters.
const LONGEST_NAME: usize = 33;
