//! A sketch of a text: 64 bytes by which texts that say nearly the same are found and compared.
//!
//! It is a MinHash of the text's shingles of three words. Two sketches agree in as many places as the sets of shingles
//! share, give or take a sixteenth. A SimHash would be shorter, but the texts of a PDF and of a PostScript file of one
//! paper differ by more than the three of 64 bits that it can be looked up with: their lines, hyphens and page heads do.
//!
//! A sketch has 16 bands of four bytes. Texts that agree in one band are compared: of texts that share half of their
//! shingles two thirds are found so, of those that share seven tenths 99 in a hundred.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;

/// A sketch of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch([u8; PLACES]);

impl Sketch {
    /// The sketch of a text; `None` if it is too short for one.
    ///
    /// ```
    /// use text::Sketch;
    ///
    /// let letter = |n: u32, at: u32| char::from(b'a' + ((n * n % 997) >> (3 * at) & 7) as u8);
    /// let words = (0..400).map(|n| (0..4).map(|at| letter(n, at)).collect::<String>()).collect::<Vec<_>>();
    /// let paper = Sketch::of(&words.join(" ")).unwrap();
    /// let other = Sketch::of(&words.join("\n").to_uppercase()).unwrap();
    /// assert_eq!(paper.similarity(&other), 1.0);
    /// assert_eq!(Sketch::of("too short"), None);
    /// ```
    pub fn of(text: &str) -> Option<Self> {
        let shingles = shingles(text);
        if shingles.len() < FEWEST {
            return None;
        }
        let mut least = [u64::MAX; PLACES];
        for shingle in shingles {
            let mut mixed = shingle;
            for least in &mut least {
                mixed = mix(mixed.wrapping_add(STEP));
                *least = (*least).min(mixed);
            }
        }
        Some(Self(least.map(|least| (mix(least) >> 56) as u8)))
    }

    /// The part of their shingles that two texts share, as far as the sketches tell: from 0 to 1.
    pub fn similarity(&self, other: &Self) -> f64 {
        let same = self.0.iter().zip(other.0).filter(|(a, b)| **a == *b);
        let same = same.count() as f64 / PLACES as f64;
        // One in 256 bytes is the same by chance.
        ((same - CHANCE) / (1.0 - CHANCE)).max(0.0)
    }

    /// The bands, each a number that no other band has.
    pub fn bands(&self) -> impl Iterator<Item = i64> + '_ {
        let bands = self.0.chunks_exact(BAND).zip(0_i64..);
        bands.map(|(band, at)| {
            let value = band
                .iter()
                .fold(0, |value, byte| value << 8 | i64::from(*byte));
            at << 32 | value
        })
    }

    /// In hexadecimal, as the catalog keeps it.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads what [`Sketch::to_hex`] wrote.
    pub fn parse(hex: &str) -> Option<Self> {
        if hex.len() != 2 * PLACES || !hex.is_ascii() {
            return None;
        }
        let mut bytes = [0; PLACES];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// Texts that share this part of their shingles, or more, are near-duplicates.
    pub const NEAR: f64 = 0.6;
}

/// The shingles of a text, as numbers.
fn shingles(text: &str) -> HashSet<u64> {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let hashes: Vec<u64> = match text.is_ascii() {
        true => hashes(text.chars()),
        // Ligatures are the letters that they join, in some programs.
        false => hashes(
            text.nfkd()
                .filter(|mark| !unicode_normalization::char::is_combining_mark(*mark)),
        ),
    };
    let shingle = |words: &[u64]| words.iter().fold(0, |all, word| mix(all ^ word));
    hashes.windows(SHINGLE).map(shingle).collect()
}

/// The words of a text, as numbers. Numbers are left out: they are pages and lines.
fn hashes(text: impl Iterator<Item = char>) -> Vec<u64> {
    let (mut hashes, mut word) = (Vec::new(), BASIS);
    for character in text.flat_map(char::to_lowercase).chain([' ']) {
        if character.is_alphabetic() {
            word = (word ^ u64::from(character)).wrapping_mul(PRIME);
        } else if word != BASIS {
            hashes.push(word);
            word = BASIS;
        }
    }
    hashes
}

/// Mixes the bits of a number (SplitMix64).
fn mix(mut number: u64) -> u64 {
    number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

const PLACES: usize = 64;
const BAND: usize = 4;
const SHINGLE: usize = 3;
/// A form with a few words is like any other.
const FEWEST: usize = 40;
/// Bytes of text that count: about a hundred pages.
const LONGEST: usize = 256 * 1024;
const CHANCE: f64 = 1.0 / 256.0;
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

#[cfg(test)]
mod tests {
    use super::*;

    fn words(from: u64, to: u64) -> String {
        let letters = |mut number: u64| {
            let mut word = String::new();
            for _ in 0..6 {
                word.push(char::from(b'a' + (number % 26) as u8));
                number /= 26;
            }
            word
        };
        let words: Vec<_> = (from..to).map(|number| letters(mix(number))).collect();
        words.join(" ")
    }

    #[test]
    fn texts_that_share_most_are_near_and_others_are_not() {
        let paper = Sketch::of(&words(0, 1000)).unwrap();
        let version = Sketch::of(&words(50, 1050)).unwrap();
        let other = Sketch::of(&words(5000, 6000)).unwrap();

        assert!(paper.similarity(&version) > Sketch::NEAR);
        assert!(paper.similarity(&other) < 0.15);
        assert!(
            paper
                .bands()
                .any(|band| version.bands().any(|other| other == band))
        );
    }

    #[test]
    fn ligatures_case_page_numbers_and_line_ends_do_not_count() {
        let text = format!("{} final effects", words(0, 300));
        let other = format!("12\n{}\r\nﬁnal eﬀects 13", words(0, 300).to_uppercase());

        assert_eq!(Sketch::of(&text), Sketch::of(&other));
    }

    #[test]
    fn a_sketch_is_read_as_it_was_written() {
        let sketch = Sketch::of(&words(0, 100)).unwrap();

        assert_eq!(Sketch::parse(&sketch.to_hex()), Some(sketch));
        for hostile in ["", "zz", &"é".repeat(64), &"g".repeat(128)] {
            assert_eq!(Sketch::parse(hostile), None);
        }
    }
}
