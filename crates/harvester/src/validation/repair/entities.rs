//! References in texts and attributes, and the characters that XML allows.

use super::{Kind, Tally};

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
        Some(c) => {
            tally.add(Kind::HtmlEntity);
            out.push(c);
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

fn html_entity(name: &str) -> Option<char> {
    let latin = LATIN_1
        .split_ascii_whitespace()
        .position(|other| other == name);
    if let Some(index) = latin {
        return char::from_u32(0xA0 + u32::try_from(index).ok()?);
    }
    OTHERS
        .iter()
        .find(|(other, _)| *other == name)
        .map(|(_, c)| *c)
}

const LONGEST_NAME: usize = 12;

/// From U+00A0 to U+00FF.
const LATIN_1: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn \
    sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml \
    Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml \
    times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave \
    eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute \
    ucirc uuml yacute thorn yuml";

const OTHERS: [(&str, char); 24] = [
    ("OElig", '\u{152}'),
    ("oelig", '\u{153}'),
    ("Scaron", '\u{160}'),
    ("scaron", '\u{161}'),
    ("ndash", '\u{2013}'),
    ("mdash", '\u{2014}'),
    ("lsquo", '\u{2018}'),
    ("rsquo", '\u{2019}'),
    ("sbquo", '\u{201A}'),
    ("ldquo", '\u{201C}'),
    ("rdquo", '\u{201D}'),
    ("bdquo", '\u{201E}'),
    ("dagger", '\u{2020}'),
    ("bull", '\u{2022}'),
    ("hellip", '\u{2026}'),
    ("prime", '\u{2032}'),
    ("euro", '\u{20AC}'),
    ("trade", '\u{2122}'),
    ("alpha", '\u{3B1}'),
    ("beta", '\u{3B2}'),
    ("gamma", '\u{3B3}'),
    ("mu", '\u{3BC}'),
    ("minus", '\u{2212}'),
    ("ensp", '\u{2002}'),
];
