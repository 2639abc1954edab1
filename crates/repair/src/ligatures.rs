//! Ligatures and punctuation of TeX fonts that came out as control characters: `e\x1bect` is "effect".

/// The text with letters for control characters; `None` if there are none.
pub(super) fn restored(text: &str) -> Option<String> {
    let is_control = |byte: u8| byte < 0x20 && !matches!(byte, b'\n' | b'\t' | b'\x0c' | b'\r');
    if !text.bytes().any(|byte| is_control(byte) || byte == 0x7f) {
        return None;
    }
    let mut restored = String::with_capacity(text.len() + 64);
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let after = characters.peek().copied().unwrap_or(' ');
        match meaning(before, character, after) {
            Some(letters) => restored.push_str(letters),
            None => restored.push(character),
        }
        before = character;
    }
    Some(restored)
}

/// Mathematical fonts use the same codes, so a ligature must stand beside a small letter, within a word.
fn meaning(before: char, character: char, after: char) -> Option<&'static str> {
    let in_word = after.is_lowercase() || (before.is_lowercase() && !after.is_control());
    let beside_letter = before.is_alphanumeric() || after.is_alphanumeric();
    match character {
        '\x1b' | '\x0b' if in_word => Some("ff"),
        '\x1c' if in_word => Some("fi"),
        '\x1d' if in_word => Some("fl"),
        '\x1e' | '\x0e' if in_word => Some("ffi"),
        '\x1f' | '\x0f' if in_word => Some("ffl"),
        '\x10' if after.is_alphanumeric() => Some("“"),
        '\x11' if !before.is_whitespace() && !before.is_control() => Some("”"),
        '\x15' if beside_letter => Some("–"),
        '\x16' if beside_letter => Some("—"),
        '\x7f' if before.is_alphabetic() => Some("-"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ligatures_of_tex_fonts_become_letters() {
        // From a technical report and from a journal, set with T1 fonts.
        for (broken, well) in [
            (
                "the \x1crst e\x1bect of di\x1eculties",
                "the first effect of difficulties",
            ),
            ("Abstract\x16This paper", "Abstract—This paper"),
            ("e\x0bect and co\x0eee-shop", "effect and coffiee-shop"),
            ("\x10in situ\x11", "“in situ”"),
        ] {
            assert_eq!(restored(broken).as_deref(), Some(well));
        }
    }

    #[test]
    fn signs_of_mathematics_stay() {
        assert_eq!(
            restored("X \x1b Y = \x0b 2").as_deref(),
            Some("X \x1b Y = \x0b 2")
        );
        assert_eq!(restored("plain\n\x0ctext"), None);
    }
}
