//! Text that no repair makes readable: glyph numbers instead of letters.

/// Whether most of a text is no text, so that another reader or OCR should be tried.
pub fn is_rubbish(text: &str) -> bool {
    let (mut all, mut bad, mut letters) = (0_usize, 0_usize, 0_usize);
    for character in text.chars().take(SAMPLE) {
        match character {
            ' ' | '\n' | '\r' | '\t' | '\x0c' => continue,
            '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'.. => bad += 1,
            c if c.is_control() => bad += 1,
            c if c.is_alphabetic() => letters += 1,
            _ => {}
        }
        all += 1;
    }
    // Tables of numbers are text; what has neither letters nor digits is drawing.
    all >= FEWEST && (bad * 10 >= all * 4 || (bad * 5 >= all && letters * 2 < all))
}

const SAMPLE: usize = 50_000;
const FEWEST: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyph_numbers_are_rubbish_and_tables_are_not() {
        assert!(is_rubbish(&"\u{f0e5}\u{e123}\u{fffd} a".repeat(60)));
        assert!(is_rubbish(&"\x03\x12\x07\x1a ".repeat(60)));
        assert!(!is_rubbish(&"1.25 3.75 | 42 % ".repeat(60)));
        assert!(!is_rubbish(
            &"Ordinary text with a \u{f0b7} bullet. ".repeat(60)
        ));
        assert!(!is_rubbish(""));
    }
}
