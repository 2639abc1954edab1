//! The passages of a text that have the words of a query.

use super::query::{SearchQuery, SearchTerm};
use crate::records::words::{is_written_alone, words};

/// A part of a text, in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The pieces, in their order.
    pub segments: Vec<Segment>,
}

/// A piece of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The text, with one space between its words.
    pub text: String,
    /// Whether the query asks for it.
    pub is_match: bool,
}

/// A word of a text.
struct Token {
    from: usize,
    to: usize,
    folded: String,
}

impl SearchQuery {
    /// At most `most` passages with the words of the query, in their order: those with the most different words.
    pub fn passages(&self, text: &str, most: usize) -> Vec<Passage> {
        let text = &text[..text.floor_char_boundary(LONGEST)];
        let terms: Vec<_> = self.terms.iter().filter(|term| !term.is_excluded).collect();
        let mut hits = Vec::new();
        let tokens = tokens(text);
        for (at, _) in tokens.iter().enumerate() {
            for (number, term) in terms.iter().enumerate() {
                if term.matches(&tokens[at..]) {
                    let end = tokens[at + term.words.len() - 1].to;
                    hits.push((tokens[at].from, end, number));
                }
            }
            if hits.len() >= MOST_HITS {
                break;
            }
        }
        let mut chosen = best(&hits, most);
        chosen.sort_unstable();
        chosen
            .into_iter()
            .map(|from| passage(text, from, &hits))
            .collect()
    }

    /// A title, in pieces.
    pub fn marked(&self, title: &str) -> Passage {
        let whole = self.passages(title, 1).into_iter().next();
        whole
            .filter(|_| title.len() < WIDTH)
            .unwrap_or_else(|| Passage {
                segments: vec![Segment {
                    text: title.to_owned(),
                    is_match: false,
                }],
            })
    }
}

impl SearchTerm {
    /// Whether a text goes on with the words.
    fn matches(&self, tokens: &[Token]) -> bool {
        if tokens.len() < self.words.len() {
            return false;
        }
        let last = self.words.len() - 1;
        let pairs = self.words.iter().zip(tokens).enumerate();
        let mut pairs = pairs.map(|(at, (word, token))| match at == last && self.is_prefix {
            true => token.folded.starts_with(word.as_str()),
            false => token.folded == *word,
        });
        pairs.all(|is_same| is_same)
    }
}

/// The words of a text with their places, folded as those of the index are.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut from = None;
    let mut take = |from: &mut Option<usize>, to: usize| {
        if let Some(from) = from.take() {
            let word = &text[from..to];
            let folded = match word.is_ascii() {
                true => word.to_ascii_lowercase(),
                false => words(word).concat(),
            };
            tokens.push(Token { from, to, folded });
        }
    };
    for (at, letter) in text.char_indices() {
        let is_mark = unicode_normalization::char::is_combining_mark(letter) && from.is_some();
        if is_written_alone(letter) {
            take(&mut from, at);
            from = Some(at);
            take(&mut from, at + letter.len_utf8());
        } else if letter.is_alphanumeric() || is_mark {
            from.get_or_insert(at);
        } else {
            take(&mut from, at);
        }
    }
    take(&mut from, text.len());
    tokens
}

/// Where the passages begin that have the most different words, none within another.
fn best(hits: &[(usize, usize, usize)], most: usize) -> Vec<usize> {
    let mut windows: Vec<_> = hits
        .iter()
        .enumerate()
        .map(|(at, (from, ..))| {
            let inside = hits[at..]
                .iter()
                .take_while(|(other, ..)| *other < from + WIDTH / 2);
            let mut seen: Vec<_> = inside.map(|(.., term)| term).collect();
            let all = seen.len();
            seen.sort_unstable();
            seen.dedup();
            (seen.len(), all.min(5), *from)
        })
        .collect();
    windows.sort_by_key(|(terms, all, from)| (std::cmp::Reverse((*terms, *all)), *from));
    let mut chosen: Vec<usize> = Vec::new();
    for (.., from) in windows {
        if chosen.len() < most && chosen.iter().all(|other| other.abs_diff(from) > WIDTH) {
            chosen.push(from);
        }
    }
    chosen
}

/// The passage around a place.
fn passage(text: &str, at: usize, hits: &[(usize, usize, usize)]) -> Passage {
    let begin = text.floor_char_boundary(at.saturating_sub(WIDTH / 3));
    // It begins behind a space, if there is one.
    let begin = match begin {
        0 => 0,
        begin => text[begin..at]
            .find(char::is_whitespace)
            .map_or(begin, |space| begin + space + 1),
    };
    let begin = text.ceil_char_boundary(begin);
    let end = text.floor_char_boundary((at + WIDTH).min(text.len()));
    let end = match end == text.len() {
        true => end,
        false => text[at..end]
            .rfind(char::is_whitespace)
            .map_or(end, |space| at + space),
    };
    let mut segments = Vec::new();
    let mut done = begin;
    for (from, to, _) in hits {
        if *from < done || *to > end {
            continue;
        }
        segments.push(Segment {
            text: one_line(&text[done..*from]),
            is_match: false,
        });
        segments.push(Segment {
            text: one_line(&text[*from..*to]),
            is_match: true,
        });
        done = *to;
    }
    segments.push(Segment {
        text: one_line(&text[done..end]),
        is_match: false,
    });
    segments.retain(|segment| !segment.text.is_empty());
    Passage { segments }
}

/// The text with a space in place of all space.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter.is_whitespace() || letter.is_control() {
            true if line.ends_with(' ') => {}
            true => line.push(' '),
            false => line.push(letter),
        }
    }
    line
}

/// Bytes of a passage.
const WIDTH: usize = 240;
/// Bytes of a text that are looked at.
const LONGEST: usize = 512 * 1024;
/// Hits that passages are chosen from.
const MOST_HITS: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(query: &str, text: &str) -> Vec<String> {
        let passages = SearchQuery::parse(query).unwrap().passages(text, 3);
        let shown = |passage: &Passage| {
            let pieces = passage
                .segments
                .iter()
                .map(|segment| match segment.is_match {
                    true => format!("[{}]", segment.text),
                    false => segment.text.clone(),
                });
            pieces.collect::<String>()
        };
        passages.iter().map(shown).collect()
    }

    #[test]
    fn words_phrases_and_beginnings_are_marked_as_they_stand_in_the_text() {
        assert_eq!(
            marked(
                "\"shape of\" coast* cafe",
                "The Shape\nof Coasts, by the Café"
            ),
            ["The [Shape of] [Coasts], by the [Café]"]
        );
        assert_eq!(marked("東京", "海東京海"), ["海[東京]海"]);
    }

    #[test]
    fn the_passages_with_the_most_words_are_shown() {
        let filling = "nothing to see here ".repeat(60);
        let text = format!("alpha {filling} alpha beta {filling} beta {filling}");

        let passages = marked("alpha beta", &text);

        assert_eq!(passages.len(), 3);
        assert!(passages[1].contains("[alpha] [beta]"), "{passages:?}");
        assert!(passages.iter().all(|passage| passage.len() < 400));
    }

    #[test]
    fn hostile_texts_are_cut_between_characters() {
        for text in [
            "é".repeat(2000),
            "e\u{301}".repeat(500),
            "\u{301}".repeat(100),
            "x".repeat(3000),
        ] {
            let _ = marked("ee* é \"x\"", &text).len();
        }
    }
}
