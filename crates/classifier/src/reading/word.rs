//! Words: runs of letters or of digits.

use super::super::hash::{self, Hash};

/// A run of letters or of digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Of its letters in lower case; of numbers, of the number of digits.
    pub(crate) hash: Hash,
    pub(crate) kind: WordKind,
    /// The value of a number of at most six digits.
    pub(crate) number: u32,
    /// The character right after it; a space at the end of a line.
    pub(crate) next: char,
    /// The character right before it.
    pub(crate) previous: char,
    pub(crate) length: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordKind {
    Lower,
    /// One capital letter at its beginning.
    Title,
    /// Capitals alone.
    Upper,
    Mixed,
    /// Of a script without spaces between words: each character by itself.
    Ideograph,
    Number,
}

impl WordKind {
    pub(crate) fn begins_upper(self) -> bool {
        matches!(self, Self::Title | Self::Upper)
    }
}

/// Adds the words of a line that begins at `offset`.
pub(super) fn add_words(line: &str, offset: usize, words: &mut Vec<Word>) {
    let mut run = Run::default();
    let mut before = ' ';
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        if run.class.is_none()
            && c.is_ascii_alphabetic()
            && let Some(word) = ascii_word(line, at, offset, before)
        {
            at = word.end as usize - offset;
            before = char::from(line.as_bytes()[at - 1]);
            words.push(word);
            continue;
        }
        let class = Class::of(c);
        let goes_on = run.class == Some(class)
            && class != Class::Ideograph
            && run.length < LONGEST_WORD
            && class != Class::Other;
        if !goes_on {
            words.extend(run.finish(at + offset, c));
            run = Run::default();
            // Plain words are read at once, by the next round.
            if c.is_ascii_alphabetic() && ascii_word(line, at, offset, before).is_some() {
                continue;
            }
            if class != Class::Other {
                run.start(class, at + offset, before);
            }
        }
        run.add(c);
        before = c;
        at += c.len_utf8();
    }
    words.extend(run.finish(line.len() + offset, ' '));
}

/// A word of plain letters; none if another letter goes on with it.
fn ascii_word(line: &str, at: usize, offset: usize, previous: char) -> Option<Word> {
    let bytes = &line.as_bytes()[at..];
    let length = bytes
        .iter()
        .take(LONGEST_WORD + 1)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let next = bytes.get(length).copied().unwrap_or(b' ');
    if length > LONGEST_WORD || !next.is_ascii() {
        return None;
    }
    let word = &bytes[..length];
    let mut hasher = hash::Hasher::default();
    let mut uppers = 0;
    for byte in word {
        uppers += usize::from(byte.is_ascii_uppercase());
        hasher.add_ascii_letter(*byte);
    }
    let kind = match uppers {
        0 => WordKind::Lower,
        n if n == length => WordKind::Upper,
        1 if word[0].is_ascii_uppercase() => WordKind::Title,
        _ => WordKind::Mixed,
    };
    Some(Word {
        start: (at + offset) as u32,
        end: (at + offset + length) as u32,
        hash: hasher.finish(),
        kind,
        number: 0,
        next: char::from(next),
        previous,
        length: length as u8,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Ideograph,
    Other,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' => Self::Letter,
            '0'..='9' => Self::Digit,
            '\0'..='\x7f' => Self::Other,
            '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
                Self::Ideograph
            }
            // Letters used as symbols: of mathematical alphabets and of private fonts.
            '\u{1d400}'..='\u{1d7ff}' => Self::Other,
            c if c.is_alphabetic() => Self::Letter,
            // Vowel signs and other marks belong to the letter before them.
            '\u{300}'..='\u{36f}'
            | '\u{900}'..='\u{dff}'
            | '\u{e30}'..='\u{e4e}'
            | '\u{64b}'..='\u{65f}' => Self::Letter,
            _ => Self::Other,
        }
    }
}

/// A word while it is read.
#[derive(Debug, Default)]
struct Run {
    class: Option<Class>,
    start: usize,
    previous: char,
    hash: Option<hash::Hasher>,
    length: usize,
    uppers: usize,
    first_upper: bool,
    number: u32,
}

impl Run {
    fn start(&mut self, class: Class, start: usize, previous: char) {
        self.class = Some(class);
        self.start = start;
        self.previous = previous;
        self.hash = Some(hash::Hasher::default());
    }

    fn add(&mut self, c: char) {
        let Some(hasher) = &mut self.hash else {
            return;
        };
        self.length += 1;
        if self.class == Some(Class::Digit) {
            if self.length <= 6 {
                self.number = self.number * 10 + (u32::from(c) - u32::from('0'));
            }
            return;
        }
        let is_upper = c.is_uppercase();
        self.uppers += usize::from(is_upper);
        self.first_upper |= is_upper && self.length == 1;
        hasher.add_lower(c);
    }

    fn finish(self, end: usize, next: char) -> Option<Word> {
        let class = self.class?;
        let kind = match (class, self.uppers) {
            (Class::Digit, _) => WordKind::Number,
            (Class::Ideograph, _) => WordKind::Ideograph,
            (_, 0) => WordKind::Lower,
            (_, n) if n == self.length => WordKind::Upper,
            (_, 1) if self.first_upper => WordKind::Title,
            _ => WordKind::Mixed,
        };
        let hash = match class {
            Class::Digit => hash::of_number(self.length),
            _ => self.hash?.finish(),
        };
        Some(Word {
            start: self.start as u32,
            end: end as u32,
            hash,
            kind,
            number: if self.length <= 6 {
                self.number
            } else {
                u32::MAX
            },
            next,
            previous: self.previous,
            length: self.length.min(255) as u8,
        })
    }
}
/// Longer runs of letters are no words of any language; they are broken up.
const LONGEST_WORD: usize = 32;
