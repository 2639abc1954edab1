//! Characters that are another form of a letter: ligatures, letters of Arabic by their place in the word, full width,
//! radicals that stand for ideographs; and marks that nobody sees.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The text in plain letters, composed; `None` if it is already.
///
/// Superscripts, fractions and mathematical alphabets stay: `x²` is not `x2`.
pub(super) fn plain(text: &str) -> Option<String> {
    let is_composed = is_nfc_quick(text.chars()) == IsNormalized::Yes;
    if is_composed && !text.chars().any(|c| is_form(c) || is_invisible(c)) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut buffer = [0; 4];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            // A soft hyphen at the end of a line is the hyphen that a reader sees there.
            '\u{ad}' if matches!(characters.peek(), Some('\n' | '\r') | None) => plain.push('-'),
            _ if is_invisible(character) => {}
            _ if is_form(character) => plain.extend(character.encode_utf8(&mut buffer).nfkc()),
            _ => plain.push(character),
        }
    }
    match is_nfc_quick(plain.chars()) {
        IsNormalized::Yes => Some(plain),
        _ => Some(plain.nfc().collect()),
    }
}

fn is_form(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2fd5}' | '\u{f900}'..='\u{faff}' | '\u{fb00}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{ff01}'..='\u{ff9f}')
        // Full-width punctuation is the punctuation of Chinese.
        && !matches!(c, '！' | '（' | '）' | '，' | '：' | '；' | '？' | '．' | '［' | '］')
}

/// Soft hyphens and marks of direction. Joiners are letters of Persian and of Indian scripts, and stay.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_become_letters() {
        for (broken, well) in [
            ("\u{202b}ﺗﻘﺴﯿﻢ ﻣﯽ ﺷﻮﻧﺪ\u{202a}:\u{202c}", "تقسیم می شوند:"),
            ("ﬁrst eﬀect", "first effect"),
            ("ＡＢＣ１２３", "ABC123"),
            ("⽅法", "方法"),
            ("trans\u{ad}\nform ho\u{ad}tel", "trans-\nform hotel"),
            ("a\u{308}o\u{308}", "äö"),
        ] {
            assert_eq!(plain(broken).as_deref(), Some(well));
        }
        assert_eq!(plain("x² ½ 𝑥 方法，é"), None);
    }
}
