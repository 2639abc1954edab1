//! Words that a line end divides, for the search: `transfor-\nmation` is "transformation".

use std::borrow::Cow;

/// The text with divided words whole; the line then ends behind the word.
///
/// Only a small letter behind the line end joins: "Müller-\nLüdenscheidt" keeps its hyphen. That "well-\nknown" becomes
/// "wellknown" is the price; without a dictionary nothing tells.
pub fn join_hyphenated(text: &str) -> Cow<'_, str> {
    if !text.contains("-\n") && !text.contains("\u{2010}\n") && !text.contains("-\r\n") {
        return Cow::Borrowed(text);
    }
    let mut joined = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n').peekable();
    let mut owed: usize = 0;
    while let Some(line) = lines.next() {
        let line = &line[owed..];
        owed = 0;
        let stem = line.trim_end_matches(['\n', '\r']);
        let stem = stem.strip_suffix(['-', '\u{2010}']);
        let stem = stem.filter(|stem| {
            stem.ends_with(char::is_alphabetic) && !stem.ends_with(char::is_uppercase)
        });
        let rest = lines
            .peek()
            .map(|next| continuation(next))
            .unwrap_or_default();
        match stem {
            Some(stem) if !rest.is_empty() => {
                joined.push_str(stem);
                joined.push_str(rest);
                joined.push('\n');
                owed = rest.len();
                // The space behind the word would begin the line.
                owed += lines
                    .peek()
                    .map_or(0, |next| usize::from(next[owed..].starts_with(' ')));
            }
            _ => joined.push_str(line),
        }
    }
    Cow::Owned(joined)
}

/// The rest of a divided word at the beginning of a line, with its punctuation.
fn continuation(line: &str) -> &str {
    if !line.starts_with(char::is_lowercase) {
        return "";
    }
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let word = &line[..end];
    // A word that is divided again is left to the next line.
    match word.ends_with('-') {
        true => "",
        false => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divided_words_become_whole() {
        for (text, well) in [
            (
                "a transfor-\nmation of\nspace",
                "a transformation\nof\nspace",
            ),
            ("Unter-\nsuchung, die\n", "Untersuchung,\ndie\n"),
            ("исследо-\nвание", "исследование\n"),
            ("Müller-\nLüdenscheidt", "Müller-\nLüdenscheidt"),
            ("pages 3-\n5", "pages 3-\n5"),
            ("plain\n", "plain\n"),
        ] {
            assert_eq!(join_hyphenated(text), well);
        }
    }
}
