//! Brings characters that look the same to the same form, so that words are found again.

/// Adds a part of a text to what was read.
pub(super) fn clean(part: &str, to: &mut String) {
    for line in part.split_inclusive(['\n', '\x0c']) {
        // Some extractors make a line of each paragraph. Set like others, it has the shape that is known.
        let width = match line.len() > LONGEST_LINE {
            true => USUAL_LINE,
            false => LONGEST_LINE,
        };
        clean_line(line, width, to);
    }
}

fn clean_line(line: &str, width: usize, to: &mut String) {
    let mut column = 0;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        // Nearly all of nearly all texts is plain and goes over as it is.
        let fits = width.saturating_sub(column);
        let plain = rest
            .bytes()
            .take(fits)
            .take_while(|byte| (0x20..0x7f).contains(byte))
            .count();
        if plain > 0 {
            to.push_str(&rest[..plain]);
            column += plain;
            rest = &rest[plain..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        column += 1;
        // At a space if there is one.
        let is_end = matches!(c, '\n' | '\x0c');
        if column > width && !is_end && (c.is_whitespace() || column > width + LONGEST_WORD) {
            to.push('\n');
            column = 0;
        }
        clean_one(c, to);
    }
}

fn clean_one(c: char, to: &mut String) {
    match c {
        '\x0c' | '\n' => to.push(c),
        // Soft hyphens, marks for the direction of writing, and the byte order mark.
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => (),
        '\u{fb00}' => to.push_str("ff"),
        '\u{fb01}' => to.push_str("fi"),
        '\u{fb02}' => to.push_str("fl"),
        '\u{fb03}' => to.push_str("ffi"),
        '\u{fb04}' => to.push_str("ffl"),
        '\u{2019}' | '\u{2018}' => to.push('\''),
        '\u{ff01}'..='\u{ff5e}' => to.push(ascii_of_full_width(c)),
        '\u{660}'..='\u{669}' => to.push(digit(c, 0x660)),
        '\u{6f0}'..='\u{6f9}' => to.push(digit(c, 0x6f0)),
        '\u{966}'..='\u{96f}' => to.push(digit(c, 0x966)),
        '\u{e50}'..='\u{e59}' => to.push(digit(c, 0xe50)),
        c if c.is_whitespace() || c.is_control() => to.push(' '),
        c => to.push(c),
    }
}

/// Digits of Arabic, Persian, Hindi and Thai, from that of their zero on.
fn digit(c: char, zero: u32) -> char {
    char::from_digit(u32::from(c) - zero, 10).unwrap_or(c)
}

fn ascii_of_full_width(c: char) -> char {
    let ascii = u32::from(c) - 0xff01 + 0x21;
    char::from_u32(ascii).unwrap_or(c)
}

/// Longer lines, in bytes, are broken up,
const LONGEST_LINE: usize = 400;
/// after so many characters,
const USUAL_LINE: usize = 85;
/// and within a word if it is longer than this.
const LONGEST_WORD: usize = 40;
