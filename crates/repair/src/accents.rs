//! Accents that stand beside their letter: `M¨uller`, `dzi˛ekuj˛e`, `possı́veis`.

use unicode_normalization::char::compose;

/// The text with each accent on its letter; `None` if no accent stands beside one.
pub(super) fn joined(text: &str) -> Option<String> {
    let is_beside = |c: char| combining(c).is_some() || is_mark(c);
    if !text.contains(is_beside) {
        return None;
    }
    let characters: Vec<char> = text.chars().collect();
    let at = |index: usize| characters.get(index).copied().unwrap_or(' ');
    let mut joined = String::with_capacity(text.len());
    let mut index = 0;
    while index < characters.len() {
        let character = characters[index];
        // A letter that lost its dot to the accent above it.
        if character == 'ı' && is_mark(at(index + 1)) {
            let composed = compose('i', at(index + 1));
            joined.push(composed.unwrap_or('ı'));
            index += 1 + usize::from(composed.is_some());
            continue;
        }
        let Some(accent) = combining(character) else {
            joined.push(character);
            index += 1;
            continue;
        };
        let before = joined.chars().next_back().unwrap_or(' ');
        // A quotation mark of TeX and of program code, unless it stands within a word.
        if character == '`' && !(before.is_alphabetic() && at(index + 1).is_lowercase()) {
            joined.push(character);
            index += 1;
            continue;
        }
        // Older readers put a space between.
        let gap = usize::from(at(index + 1) == ' ' && at(index + 2).is_lowercase());
        let letter = if at(index + 1 + gap) == 'ı' {
            'i'
        } else {
            at(index + 1 + gap)
        };
        let follows = compose(letter, accent).filter(|_| fits(accent, letter, at(index + 2 + gap)));
        if let Some(composed) = follows.filter(|_| gap == 0 || before.is_alphabetic()) {
            joined.push(composed);
            index += 2 + gap;
            continue;
        }
        let composed = compose(before, accent).filter(|_| fits(accent, before, ' '));
        match composed.filter(|_| at(index + 1).is_lowercase()) {
            Some(composed) => {
                joined.pop();
                joined.push(composed);
            }
            None => joined.push(character),
        }
        index += 1;
    }
    Some(joined)
}

/// Acute and grave also serve as apostrophes: "it´s", "don´t".
fn fits(accent: char, letter: char, after: char) -> bool {
    let is_apostrophe = matches!(accent, '\u{301}' | '\u{300}');
    let is_vowel = matches!(
        letter.to_ascii_lowercase(),
        'a' | 'e' | 'i' | 'o' | 'u' | 'y'
    );
    letter.is_alphabetic() && (!is_apostrophe || is_vowel || after.is_lowercase() && letter != 't')
}

fn combining(accent: char) -> Option<char> {
    let combining = match accent {
        '`' => '\u{300}',
        '´' => '\u{301}',
        'ˆ' => '\u{302}',
        '˜' => '\u{303}',
        '¯' => '\u{304}',
        '˘' => '\u{306}',
        '˙' => '\u{307}',
        '¨' => '\u{308}',
        '˚' => '\u{30a}',
        '˝' => '\u{30b}',
        'ˇ' => '\u{30c}',
        '¸' => '\u{327}',
        '˛' => '\u{328}',
        _ => return None,
    };
    Some(combining)
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{330}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_find_their_letters() {
        for (broken, well) in [
            ("M¨uller, Mu¨ller und K¨ohler", "Müller, Müller und Köhler"),
            ("Serdecznie dzi˛ekuj˛e", "Serdecznie dziękuję"),
            ("possı́veis", "possíveis"),
            (
                "Universit´e, el`eve, coraz´on",
                "Université, elève, corazón",
            ),
            ("Dvoˇr´ak", "Dvořák"),
            ("M¨ uller", "Müller"),
        ] {
            assert_eq!(joined(broken).as_deref(), Some(well));
        }
    }

    #[test]
    fn apostrophes_and_code_stay() {
        for text in [
            "it´s and don´t",
            "`make` and x ˆ 2",
            "20 ¨ C",
            "``effect'' `a",
        ] {
            assert_eq!(joined(text).as_deref(), Some(text));
        }
        assert_eq!(joined("plain"), None);
    }
}
