//! The words and headings by which documents give themselves away, looked up by hash.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::hash::{self, Hash};

/// Which headings or phrases a hash stands for: one bit each.
pub(crate) type Bits = u64;

/// All words and headings of `vocabulary.txt`.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// Names of headings; the place of a name is its bit.
    pub(crate) headings: Vec<&'static str>,
    /// Names of groups of phrases; the place of a name is its bit.
    pub(crate) phrases: Vec<&'static str>,
    word_names: Vec<&'static str>,
    word_keys: HashMap<Hash, Bits, Spread>,
    heading_keys: HashMap<Hash, Bits, Spread>,
    phrase_keys: HashMap<Hash, Entry, Spread>,
    /// Beginnings of words, for languages whose words change at the end, and the hash that stands for all of them.
    stems: HashMap<Hash, Hash, Spread>,
    /// The first letters of these, so that most words are passed over quickly.
    stem_starts: HashSet<Hash, Spread>,
}

/// The statistics of words after each other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Entry {
    pub(crate) phrases: Bits,
    /// Whether longer phrases begin like this.
    pub(crate) goes_on: bool,
}

impl Entry {
    /// Whether no phrase is this or begins like this.
    pub(crate) fn is_none(self) -> bool {
        self.phrases == 0 && !self.goes_on
    }
}

impl Vocabulary {
    /// The one vocabulary there is.
    pub(crate) fn get() -> &'static Self {
        static ONE: LazyLock<Vocabulary> =
            LazyLock::new(|| Vocabulary::parse(include_str!("vocabulary.txt")));
        &ONE
    }

    /// Headings with exactly these letters.
    pub(crate) fn heading(&self, key: Hash) -> Bits {
        self.heading_keys.get(&key).copied().unwrap_or_default()
    }

    /// The hash that stands for all words that begin like this one, if there is such a beginning.
    pub(crate) fn stem(&self, word: &str) -> Option<Hash> {
        let mut hasher = hash::Hasher::default();
        for (index, letter) in word.chars().take(LONGEST_STEM).enumerate() {
            hasher.add_lower(letter);
            if index + 1 < SHORTEST_STEM {
                continue;
            }
            let key = hasher.clone().finish();
            if index + 1 == SHORTEST_STEM && !self.stem_starts.contains(&key) {
                return None;
            }
            if let Some(stem) = self.stems.get(&key) {
                return Some(*stem);
            }
        }
        None
    }

    /// Phrases of exactly these words.
    pub(crate) fn phrase(&self, key: Hash) -> Entry {
        self.phrase_keys.get(&key).copied().unwrap_or_default()
    }

    /// Which lists of single words hold this one.
    pub(crate) fn word(&self, key: Hash) -> Bits {
        self.word_keys.get(&key).copied().unwrap_or_default()
    }

    /// The bit of a list of single words.
    pub(crate) fn list(&self, name: &str) -> Bits {
        let found = self.word_names.iter().position(|known| *known == name);
        found.map_or(0, |place| 1 << place)
    }

    fn parse(text: &'static str) -> Self {
        let mut vocabulary = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((subject, list)) = line.split_once(": ") else {
                continue;
            };
            let items = list
                .split(';')
                .map(str::trim)
                .filter(|item| !item.is_empty());
            match subject.split_once(' ') {
                Some(("heading", name)) => {
                    items.for_each(|item| vocabulary.add_heading(name, item));
                }
                Some(("phrase", name)) => {
                    items.for_each(|item| vocabulary.add_phrase(name, item));
                }
                Some(("word", name)) => {
                    items.for_each(|item| vocabulary.add_word(name, item));
                }
                _ => (),
            }
        }
        vocabulary
    }

    fn add_heading(&mut self, name: &'static str, item: &str) {
        let bit = bit(&mut self.headings, name);
        *self.heading_keys.entry(heading_key(item)).or_default() |= bit;
    }

    fn add_word(&mut self, name: &'static str, item: &str) {
        let bit = bit(&mut self.word_names, name);
        *self.word_keys.entry(hash::of_word(item)).or_default() |= bit;
    }

    fn add_phrase(&mut self, name: &'static str, item: &str) {
        let bit = bit(&mut self.phrases, name);
        let words: Vec<Hash> = item
            .split(' ')
            .flat_map(|word| self.add_stem(word))
            .collect();
        let Some((first, rest)) = words.split_first() else {
            return;
        };
        let mut key = *first;
        for word in rest {
            self.phrase_keys.entry(key).or_default().goes_on = true;
            key = hash::then(key, *word);
        }
        self.phrase_keys.entry(key).or_default().phrases |= bit;
    }

    /// The hashes of a word of a phrase. One that ends with a star stands for all words that begin like it.
    fn add_stem(&mut self, word: &str) -> Vec<Hash> {
        let Some(stem) = word.strip_suffix('*') else {
            return words(word);
        };
        debug_assert!(
            (SHORTEST_STEM..=LONGEST_STEM).contains(&stem.chars().count()),
            "`{stem}*` is too short or too long"
        );
        let start: String = stem.chars().take(SHORTEST_STEM).collect();
        self.stem_starts.insert(hash::of_word(&start));
        let key = hash::of_word(stem);
        // Not the hash of the word itself, which may be a phrase of its own.
        let stands_for = hash::then(key, key);
        self.stems.insert(key, stands_for);
        vec![stands_for]
    }
}

/// Shorter beginnings would be those of too many words.
const SHORTEST_STEM: usize = 4;
const LONGEST_STEM: usize = 14;

/// A heading by its letters alone: "A B S T R A C T" is "Abstract".
pub(crate) fn heading_key(heading: &str) -> Hash {
    let mut hasher = hash::Hasher::default();
    let letters = heading.chars().filter(|c| c.is_alphabetic());
    letters.for_each(|c| hasher.add_lower(c));
    hasher.finish()
}

/// The hashes of a phrase's words, cut up as texts are.
fn words(item: &str) -> Vec<Hash> {
    let reading = super::reading::Reading::new(item, None);
    reading.words.iter().map(|word| word.hash).collect()
}

fn bit(names: &mut Vec<&'static str>, name: &'static str) -> Bits {
    let found = names.iter().position(|known| *known == name);
    let place = found.unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    });
    debug_assert!(place < 64, "a bit for every name");
    1 << place
}

/// The keys are hashes already.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spread;

impl std::hash::BuildHasher for Spread {
    type Hasher = AsIs;

    fn build_hasher(&self) -> AsIs {
        AsIs::default()
    }
}

/// Takes one `u64` for its hash.
#[derive(Debug, Default)]
pub(crate) struct AsIs(u64);

impl std::hash::Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
