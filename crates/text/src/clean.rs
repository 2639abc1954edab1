//! Text as it is handed over: line feeds, tabs and form feeds are the only control characters.

/// The text with line feeds between its lines and without what is no text.
pub(super) fn text(text: &str) -> String {
    // Most texts are clean, and copied in one piece.
    if !text.bytes().any(may_be_unwanted) {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' => clean.push('\n'),
            '\n' | '\t' | '\x0C' => clean.push(character),
            '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => {}
            character if character.is_control() => {}
            character => clean.push(character),
        }
    }
    clean
}

/// The same for the text of a page description, where letters may have come out as other characters. What they are has
/// to be looked at before control characters are gone.
pub(super) fn repaired(text: &str) -> String {
    let (repaired, repairs) = repair::repair(text);
    if !repairs.is_empty() {
        tracing::debug!("repaired in the text: {}", repairs.names().join(", "));
    }
    self::text(&repaired)
}

/// The text with two spaces at most between its words, where a program has drawn pages with spaces.
pub(super) fn without_gaps(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut spaces = 0;
    for character in text.chars() {
        spaces = if character == ' ' { spaces + 1 } else { 0 };
        if spaces <= 2 {
            clean.push(character);
        }
    }
    clean
}

/// Cuts a text off at so many bytes, or a little before; tells whether there was more.
pub(super) fn cut(text: &mut String, most: usize) -> bool {
    if text.len() <= most {
        return false;
    }
    text.truncate(text.floor_char_boundary(most));
    true
}

/// The first byte of what is looked at more closely: control characters of ASCII, those of C1, and the marks near U+FFFF.
fn may_be_unwanted(byte: u8) -> bool {
    let is_control = byte < 0x20 && !matches!(byte, b'\n' | b'\t' | b'\x0C');
    is_control || matches!(byte, 0x7F | 0xC2 | 0xEF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_go_and_lines_stay() {
        assert_eq!(
            text("a\r\nb\rc\0d\x1B[2J\te\x0Cé\u{9B}\u{A0}\u{FEFF}f\u{FB01}"),
            "a\nb\ncd[2J\te\x0Cé\u{A0}f\u{FB01}"
        );
        assert_eq!(text("plain\n"), "plain\n");
    }

    #[test]
    fn gaps_between_words_are_closed() {
        assert_eq!(without_gaps("a     b  c\n   d"), "a  b  c\n  d");
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let mut text = "aé".to_owned();
        assert!(!cut(&mut text, 3));
        assert!(cut(&mut text, 2));
        assert_eq!(text, "a");
    }
}
