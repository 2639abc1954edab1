//! Words that can be searched for: taken from texts, and asked for.
//!
//! Both databases are given words that were taken apart here, and take nothing apart themselves. So they find the same,
//! and no text can be an error or an order to them: a word has letters, digits and marks only. Case and accents do not
//! count. Scripts that do not part words by spaces are taken apart into characters, and what stands together in a query
//! has to stand together in the text.

use std::collections::HashMap;
use std::fmt::Write;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// How many characters of a word count.
const LONGEST: usize = 64;
/// How many words of a text are kept. PostgreSQL does not tell places behind this one apart.
const MOST: usize = 16_383;
/// How many letters of a beginning have to be there; fewer are a word. One letter would find nearly everything, slowly.
const SHORTEST_PREFIX: usize = 2;
/// How many words or phrases of a query count.
const MOST_TERMS: usize = 32;

/// The words of a search, all of which have to be there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms(Vec<Term>);

/// Words that stand one behind the other.
#[derive(Debug, PartialEq, Eq)]
struct Term {
    words: Vec<String>,
    /// Whether the last word only begins so.
    prefix: bool,
}

/// The words of a text, in their order, as they are compared.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut take = |word: &mut String| {
        if !word.is_empty() {
            let end = word.char_indices().nth(LONGEST).map(|(at, _)| at);
            word.truncate(end.unwrap_or(word.len()));
            words.push(std::mem::take(word));
        }
    };
    for character in folded(text) {
        if is_combining_mark(character) && !word.is_empty() {
            word.push(character);
        } else if !character.is_alphanumeric() {
            take(&mut word);
        } else if is_written_alone(character) {
            take(&mut word);
            word.push(character);
        } else {
            if word.chars().next().is_some_and(is_written_alone) {
                take(&mut word);
            }
            word.push(character);
        }
    }
    take(&mut word);
    words.truncate(MOST);
    words
}

/// A text as it is compared: without accents, in small letters.
pub(crate) fn fold(text: &str) -> String {
    folded(text).collect()
}

fn folded(text: &str) -> Box<dyn Iterator<Item = char> + '_> {
    if text.is_ascii() {
        return Box::new(text.chars().map(|character| character.to_ascii_lowercase()));
    }
    let bare = text.nfkd().filter(|character| !is_accent(*character));
    Box::new(bare.nfc().flat_map(char::to_lowercase).flat_map(spelled))
}

/// Marks that readers leave out: accents, and the points of Hebrew and Arabic. Marks of other scripts are vowels.
fn is_accent(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}')
}

/// Letters with a stroke and joined letters have no accent that could be taken away.
fn spelled(character: char) -> impl Iterator<Item = char> {
    let (first, second) = match character {
        'ß' => ('s', Some('s')),
        'æ' => ('a', Some('e')),
        'œ' => ('o', Some('e')),
        'ø' => ('o', None),
        'ł' => ('l', None),
        'đ' | 'ð' => ('d', None),
        'þ' => ('t', Some('h')),
        'ħ' => ('h', None),
        'ı' => ('i', None),
        other => (other, None),
    };
    [Some(first), second].into_iter().flatten()
}

/// Whether words of this character's script are not parted by spaces.
pub(crate) fn is_written_alone(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// The words as a text for SQLite, which parts them at spaces.
pub(crate) fn for_sqlite(words: &[String]) -> String {
    words.join(" ")
}

/// The words and their places as PostgreSQL writes a `tsvector`.
pub(crate) fn for_postgres(words: &[String]) -> String {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, word) in (1..).zip(words) {
        places.entry(word).or_default().push(place);
    }
    let mut vector = String::new();
    for (word, places) in places {
        write!(vector, " '{word}'").expect("a string takes everything");
        // More places of one word than this PostgreSQL does not keep.
        for (at, place) in places.iter().take(255).enumerate() {
            let separator = if at == 0 { ':' } else { ',' };
            write!(vector, "{separator}{place}").expect("a string takes everything");
        }
    }
    vector
}

/// A word that no text has: the number of the repository. With it a search in one repository passes over the others.
pub(crate) fn of_repository(repository: i64) -> String {
    format!("¶{repository}")
}

impl Terms {
    /// Reads what somebody typed in: words, `"a phrase"`, `begin*`. All else parts words.
    pub(crate) fn parse(text: &str) -> Self {
        let mut terms = Vec::new();
        for (at, part) in text.split('"').enumerate() {
            if at % 2 == 1 {
                terms.push(Term {
                    words: words(part),
                    prefix: false,
                });
                continue;
            }
            let mut rest = part;
            while let Some((word, behind)) = rest.split_once('*') {
                add(&mut terms, word, true);
                rest = behind;
            }
            add(&mut terms, rest, false);
        }
        terms.retain(|term| !term.words.is_empty());
        terms.truncate(MOST_TERMS);
        Self(terms)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Asks for one more word, as it stands in the index.
    pub(crate) fn and(&mut self, word: String) {
        self.0.push(Term {
            words: vec![word],
            prefix: false,
        });
    }

    /// The terms as FTS5 reads them. All is in quotation marks, so nothing is an operator.
    pub(crate) fn for_sqlite(&self) -> String {
        let term = |term: &Term| {
            let star = if term.prefix { " *" } else { "" };
            format!("\"{}\"{star}", term.words.join(" "))
        };
        let terms: Vec<_> = self.0.iter().map(term).collect();
        terms.join(" AND ")
    }

    /// The terms as PostgreSQL writes a `tsquery`.
    pub(crate) fn for_postgres(&self) -> String {
        let term = |term: &Term| {
            let words: Vec<_> = term.words.iter().map(|word| format!("'{word}'")).collect();
            let star = if term.prefix { ":*" } else { "" };
            format!("({}{star})", words.join(" <-> "))
        };
        let terms: Vec<_> = self.0.iter().map(term).collect();
        terms.join(" & ")
    }
}

/// Adds the words of a text outside of quotation marks. With `prefix` there is a star behind it.
fn add(terms: &mut Vec<Term>, text: &str, prefix: bool) {
    let begun =
        prefix && text.ends_with(|last: char| last.is_alphanumeric() || is_combining_mark(last));
    for part in
        text.split(|character: char| !character.is_alphanumeric() && !is_combining_mark(character))
    {
        terms.push(Term {
            words: words(part),
            prefix: false,
        });
    }
    if let Some(last) = terms.last_mut().filter(|_| begun) {
        let letters = last.words.last().map_or(0, |word| word.chars().count());
        last.prefix = letters >= SHORTEST_PREFIX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str) -> String {
        Terms::parse(query).for_sqlite()
    }

    #[test]
    fn case_accents_and_joined_letters_do_not_count() {
        assert_eq!(
            words("Œuvres d'ÉRIC, Straße"),
            ["oeuvres", "d", "eric", "strasse"]
        );
        assert_eq!(words("Cafe\u{301} ﬁn ＡＢＣ"), ["cafe", "fin", "abc"]);
        assert_eq!(words("Привет Μῆνιν"), ["привет", "μηνιν"]);
        assert_eq!(words("שָׁלוֹם"), ["שלום"]);
    }

    #[test]
    fn vowel_signs_stay_in_their_words() {
        assert_eq!(words("हिन्दी भाषा").len(), 2);
        assert_ne!(words("कि"), words("का"));
    }

    #[test]
    fn scripts_without_spaces_are_taken_apart() {
        assert_eq!(words("東京2020年"), ["東", "京", "2020", "年"]);
        assert_eq!(found("東京 x"), r#""東 京" AND "x""#);
    }

    #[test]
    fn words_phrases_and_beginnings_are_read() {
        assert_eq!(
            found(r#"Open-access "grey literature" harv*"#),
            r#""open" AND "access" AND "grey literature" AND "harv" *"#
        );
        assert_eq!(found("ab*cd"), r#""ab" * AND "cd""#);
        assert_eq!(found("a*"), r#""a""#);
        assert_eq!(
            Terms::parse(r#""grey literature" harv*"#).for_postgres(),
            "('grey' <-> 'literature') & ('harv':*)"
        );
    }

    #[test]
    fn nothing_that_is_typed_in_is_an_operator() {
        for hostile in [
            "", " * ", "\"", "\"\"", "()", "-", "'; DROP", "a\"b", "NEAR(", "\\", "*a", "a *",
            "\0", ":*",
        ] {
            let terms = Terms::parse(hostile);
            for term in &terms.0 {
                assert!(!term.words.is_empty());
                let plain = |word: &String| word.chars().all(char::is_alphanumeric);
                assert!(term.words.iter().all(plain), "{hostile:?}");
            }
        }
        assert!(Terms::parse(" -- \" * \" ").is_empty());
        assert_eq!(found("a *"), r#""a""#);
    }

    #[test]
    fn what_is_too_much_is_cut() {
        assert_eq!(words(&"é".repeat(1_000))[0].len(), 64);
        assert_eq!(words(&"a ".repeat(20_000)).len(), MOST);
        assert_eq!(Terms::parse(&"a ".repeat(1_000)).0.len(), MOST_TERMS);
    }

    #[test]
    fn places_of_words_are_written_for_postgres() {
        let words = words("a a");
        assert_eq!(for_postgres(&words), " 'a':1,2");
    }
}
