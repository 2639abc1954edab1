//! Whether a text can be a title at all.

use super::LONGEST;
use super::furniture::{is_furniture, is_year};

/// Whether a text can be a title: a few words, mostly of letters, no name of a file or a program.
pub(super) fn is_title(text: &str) -> bool {
    let (length, words) = (text.chars().count(), text.split(' ').count());
    if !(SHORTEST..=LONGEST).contains(&length) || words > MOST_WORDS {
        return false;
    }
    // A year is part of many titles, and says nothing about what stands around it.
    let others = text.split(' ').filter(|word| !is_year(word));
    let (mut letters, mut solid) = (0, 0);
    for letter in others.flat_map(str::chars) {
        letters += usize::from(letter.is_alphabetic());
        solid += 1;
    }
    if letters * 10 < solid * 7 || text.contains(char::REPLACEMENT_CHARACTER) {
        return false;
    }
    if is_placeholder(text) || has_sentences(text) {
        return false;
    }
    let is_written_apart = text.chars().any(is_ideographic);
    if words < 2 && !is_written_apart {
        return false;
    }
    // Letters that stand alone are spaced out, or were not read.
    let alone = text
        .split(' ')
        .filter(|word| word.chars().count() == 1)
        .count();
    let small = text.to_lowercase();
    alone * 2 <= words && !is_furniture(text) && !NO_TITLES.iter().any(|part| small.contains(part))
}

/// Whether a text stands for a title that nobody wrote: `XXXX XXX`, or one word over and over.
fn is_placeholder(text: &str) -> bool {
    let small = text.to_lowercase();
    let mut letters: Vec<_> = small
        .chars()
        .filter(|letter| letter.is_alphabetic())
        .collect();
    let is_run = letters
        .windows(4)
        .any(|four| four.iter().all(|letter| *letter == four[0]));
    letters.sort_unstable();
    letters.dedup();
    let words: Vec<_> = small.split(' ').collect();
    let mut distinct = words.clone();
    distinct.sort_unstable();
    distinct.dedup();
    is_run || letters.len() < FEWEST_LETTERS || distinct.len() * 2 < words.len()
}

fn is_ideographic(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Whether a text has whole sentences, which no title has: a full stop behind many words. Words that nearly all have a
/// capital are those of a title of two parts.
pub(super) fn has_sentences(text: &str) -> bool {
    let long = text.split(' ').filter(|word| word.chars().count() > 3);
    let (mut capitals, mut words) = (0, 0);
    for word in long {
        words += 1;
        capitals += usize::from(word.chars().any(char::is_uppercase));
    }
    if capitals * 10 >= words * 9 {
        return false;
    }
    let mut words = 0;
    for word in text.split(' ') {
        words += 1;
        let is_end = word.ends_with('.') && word.chars().filter(|c| c.is_alphabetic()).count() > 3;
        if is_end && words > FEWEST_WORDS_OF_SENTENCE {
            return true;
        }
    }
    false
}

const SHORTEST: usize = 6;
const MOST_WORDS: usize = 35;
const FEWEST_WORDS_OF_SENTENCE: usize = 7;
/// Different letters that a title has at least.
const FEWEST_LETTERS: usize = 3;

/// Parts of what programs write in place of a title.
const NO_TITLES: [&str; 22] = [
    "untitled",
    "microsoft word",
    "microsoft powerpoint",
    "powerpoint presentation",
    ".dvi",
    ".doc",
    ".tex",
    ".ps",
    ".pdf",
    ".qxd",
    ".indd",
    ".ppt",
    ".xls",
    ".rtf",
    ".html",
    "slide 1",
    "no job name",
    "title of paper",
    "latex",
    "pdfcreator",
    "<!--",
    "file://",
];
