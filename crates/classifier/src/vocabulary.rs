//! The words and headings by which documents give themselves away, looked up by hash.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use super::Error;
use super::hash::{self, Hash};

/// Which headings, phrases or languages a hash stands for: one bit each.
pub(crate) type Bits = u64;

/// The words that features look for: those of `vocabulary.txt`, and those that a librarian added.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// Names of headings; the place of a name is its bit.
    pub(crate) headings: Vec<String>,
    /// Names of groups of phrases; the place of a name is its bit.
    pub(crate) phrases: Vec<String>,
    /// Languages whose small words are known, English first; the place of a language is its bit.
    pub(crate) languages: Vec<String>,
    word_names: Vec<String>,
    word_keys: HashMap<Hash, Bits, Spread>,
    heading_keys: HashMap<Hash, Bits, Spread>,
    phrase_keys: HashMap<Hash, Entry, Spread>,
    small_keys: HashMap<Hash, Bits, Spread>,
    /// Beginnings of words, for languages whose words change at the end, and the hash that stands for all of them.
    stems: HashMap<Hash, Hash, Spread>,
    /// The first letters of these, so that most words are passed over quickly.
    stem_starts: HashSet<Hash, Spread>,
    added: String,
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
    /// The vocabulary that this program brings along.
    pub fn built_in() -> &'static Arc<Self> {
        static ONE: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
            let mut vocabulary = Vocabulary::default();
            for line in include_str!("vocabulary.txt").lines() {
                let added = vocabulary.add(line, true);
                debug_assert_eq!(added, Ok(()), "{line}");
            }
            Arc::new(vocabulary)
        });
        &ONE
    }

    /// The built-in vocabulary with more words: lines such as `heading abstract: ikisiri; muhtasari`. They may name the
    /// headings, phrases and words that are there already, and new languages of small words.
    pub fn extended(lines: &str) -> Result<Arc<Self>, Error> {
        if lines.trim().is_empty() {
            return Ok(Arc::clone(Self::built_in()));
        }
        if lines.len() > LONGEST {
            let reason = format!("it has {} bytes; at most {LONGEST} are read", lines.len());
            return Err(Error::Vocabulary { line: 1, reason });
        }
        let mut vocabulary = Self::clone(Self::built_in());
        for (number, line) in lines.trim_start_matches('\u{feff}').lines().enumerate() {
            let added = vocabulary.add(line, false);
            added.map_err(|reason| Error::Vocabulary {
                line: number + 1,
                reason,
            })?;
        }
        vocabulary.added = lines.to_owned();
        Ok(Arc::new(vocabulary))
    }

    /// The lines that were added to those that the program brings along.
    pub fn added(&self) -> &str {
        &self.added
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
        let found = self.word_names.iter().position(|known| known == name);
        found.map_or(0, |place| 1 << place)
    }

    /// Which languages have this small word.
    pub(crate) fn small_word(&self, key: Hash) -> Option<Bits> {
        self.small_keys.get(&key).copied()
    }

    /// Adds the words of a line; `is_ours` allows new names.
    fn add(&mut self, line: &str, is_ours: bool) -> Result<(), String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let subject = line.split_once(':').and_then(|(subject, list)| {
            let (sort, name) = subject.split_once(' ')?;
            Some((sort, name.trim(), list))
        });
        let Some((sort, name, list)) = subject else {
            return Err("it is not of the form `heading NAME: words; words`".to_owned());
        };
        let names = match sort {
            "heading" => &mut self.headings,
            "phrase" => &mut self.phrases,
            "word" => &mut self.word_names,
            "small" => &mut self.languages,
            other => {
                return Err(format!(
                    "there are no words of the sort `{}`, but heading, phrase, word and small",
                    shown(other)
                ));
            }
        };
        let bit = bit(names, name, is_ours || sort == "small")?;
        for item in list.split([';', '\u{61b}', '；']).map(str::trim) {
            if item.is_empty() {
                continue;
            }
            match sort {
                "heading" => self.add_heading(bit, item)?,
                "phrase" => self.add_phrase(bit, item)?,
                "word" => *self.word_keys.entry(hash::of_word(item)).or_default() |= bit,
                _ => {
                    for word in item.split(' ') {
                        *self.small_keys.entry(hash::of_word(word)).or_default() |= bit;
                    }
                }
            }
        }
        Ok(())
    }

    fn add_heading(&mut self, bit: Bits, item: &str) -> Result<(), String> {
        if item.chars().count() > LONGEST_HEADING {
            return Err(format!(
                "the heading `{}` is longer than {LONGEST_HEADING} characters, as no heading is",
                shown(item)
            ));
        }
        *self.heading_keys.entry(heading_key(item)).or_default() |= bit;
        Ok(())
    }

    fn add_phrase(&mut self, bit: Bits, item: &str) -> Result<(), String> {
        let mut words = Vec::new();
        for word in item.split(' ') {
            words.extend(self.add_stem(word)?);
        }
        let Some((first, rest)) = words.split_first() else {
            return Err(format!("`{}` has no letters", shown(item)));
        };
        if words.len() > LONGEST_PHRASE {
            return Err(format!(
                "the phrase `{}` has more than {LONGEST_PHRASE} words",
                shown(item)
            ));
        }
        let mut key = *first;
        for word in rest {
            self.phrase_keys.entry(key).or_default().goes_on = true;
            key = hash::then(key, *word);
        }
        self.phrase_keys.entry(key).or_default().phrases |= bit;
        Ok(())
    }

    /// The hashes of a word of a phrase. One that ends with a star stands for all words that begin like it.
    fn add_stem(&mut self, word: &str) -> Result<Vec<Hash>, String> {
        let Some(stem) = word.strip_suffix('*') else {
            return Ok(words(word));
        };
        if !(SHORTEST_STEM..=LONGEST_STEM).contains(&stem.chars().count()) {
            return Err(format!(
                "`{}` needs {SHORTEST_STEM} to {LONGEST_STEM} letters before its star",
                shown(word)
            ));
        }
        let start: String = stem.chars().take(SHORTEST_STEM).collect();
        self.stem_starts.insert(hash::of_word(&start));
        let key = hash::of_word(stem);
        // Not the hash of the word itself, which may be a phrase of its own.
        let stands_for = hash::then(key, key);
        self.stems.insert(key, stands_for);
        Ok(vec![stands_for])
    }
}

/// As much of a word of a file as a message has room for.
fn shown(item: &str) -> String {
    match item.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", &item[..end]),
        None => item.to_owned(),
    }
}

/// The most characters of a word in a message.
const LONGEST_SHOWN: usize = 40;
/// Shorter beginnings would be those of too many words.
const SHORTEST_STEM: usize = 4;
const LONGEST_STEM: usize = 14;
/// The most words of a phrase; each character of Chinese and Japanese is one.
pub(crate) const LONGEST_PHRASE: usize = 6;
/// Longer lines are no headings.
const LONGEST_HEADING: usize = 70;
/// The most bytes of added words; the built-in ones have a tenth of it.
const LONGEST: usize = 1 << 20;

/// A heading by its letters alone: "A B S T R A C T" is "Abstract".
pub(crate) fn heading_key(heading: &str) -> Hash {
    let mut hasher = hash::Hasher::default();
    let letters = heading.chars().filter(|c| c.is_alphabetic());
    letters.for_each(|c| hasher.add_lower(c));
    hasher.finish()
}

/// The hashes of a phrase's words, cut up as texts are.
fn words(item: &str) -> Vec<Hash> {
    super::reading::word_hashes(item)
}

/// The bit of a name. A name that is not there is new, or a mistake.
fn bit(names: &mut Vec<String>, name: &str, may_be_new: bool) -> Result<Bits, String> {
    if let Some(place) = names.iter().position(|known| known == name) {
        return Ok(1 << place);
    }
    if !may_be_new {
        return Err(format!(
            "there is no `{}`; the names are {}",
            shown(name),
            names.join(", ")
        ));
    }
    if names.len() >= Bits::BITS as usize {
        return Err(format!(
            "there are {} names already, as many as can be told apart",
            names.len()
        ));
    }
    names.push(name.to_owned());
    Ok(1 << (names.len() - 1))
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
