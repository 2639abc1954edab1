//! A document's text as the features see it: a bounded part of it, cut into pages, lines and words.
//!
//! Of a long text the first and the last part are read, so the work does not grow with the document, and the same
//! features come out whether the whole text is given or one that was cut already.

use super::hash::{self, Hash};

/// So many characters are read from the beginning of a long text,
const HEAD: usize = 60_000;
/// and so many from its end.
const TAIL: usize = 15_000;
/// Stands where something was left out, in texts of training data too.
const CUT: &str = "[... text cut here ...]";
/// Longer runs of letters are no words of any language; they are broken up.
const LONGEST_WORD: usize = 32;
/// Line ends that a text has none of are put in after so many characters, at a space if there is one.
const LONGEST_LINE: usize = 2_000;
/// Pages of unknown size are taken to be as long as those of most documents.
const USUAL_PAGE: usize = 450;

/// A text, read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    text: String,
    pub(crate) lines: Vec<Line>,
    pub(crate) words: Vec<Word>,
    /// Index of the first line of each page that was read.
    pub(crate) page_starts: Vec<usize>,
    /// How many pages the whole document has; `None` where nothing tells.
    pub(crate) pages: Option<usize>,
}

/// A line that is not blank.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    start: u32,
    end: u32,
    pub(crate) first_word: u32,
    pub(crate) end_word: u32,
    /// Characters, spaces included.
    pub(crate) length: u32,
    /// Whether a blank line or the beginning of a page stands before it.
    pub(crate) after_gap: bool,
}

/// A run of letters or of digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    start: u32,
    end: u32,
    /// Of its letters in lower case; of numbers, of the number of digits.
    pub(crate) hash: Hash,
    pub(crate) kind: WordKind,
    /// The value of a number of at most six digits.
    pub(crate) number: u32,
    /// What stands right after it; a space at the end of a line.
    pub(crate) next: char,
    /// What stands right before it.
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

impl Reading {
    /// Reads a text. `pages` is how many pages the document has, where that is known from elsewhere; form feeds in
    /// the text end pages.
    pub(crate) fn new(text: &str, pages: Option<usize>) -> Self {
        let (head, tail) = parts(text);
        let mut reading = Self {
            text: String::with_capacity(head.len() + tail.map_or(0, str::len) + 2),
            ..Self::default()
        };
        reading.clean(head);
        if let Some(tail) = tail {
            reading.text.push('\n');
            reading.clean(tail);
        }
        reading.cut_up();
        let ends = memchr::memchr_iter(b'\x0c', text.as_bytes()).count();
        let last = text.rsplit('\x0c').next().unwrap_or_default();
        let counted = ends + usize::from(ends > 0 && !last.chars().all(char::is_whitespace));
        let counted = Some(counted).filter(|pages| *pages > 0);
        let short = Some(1).filter(|_| reading.words.len() <= USUAL_PAGE);
        reading.pages = pages.filter(|pages| *pages > 0).or(counted).or(short);
        reading
    }

    pub(crate) fn line(&self, line: &Line) -> &str {
        &self.text[line.start as usize..line.end as usize]
    }

    pub(crate) fn line_words(&self, line: &Line) -> &[Word] {
        &self.words[line.first_word as usize..line.end_word as usize]
    }

    pub(crate) fn word(&self, word: &Word) -> &str {
        &self.text[word.start as usize..word.end as usize]
    }

    /// All that was read.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The lines of each page that was read.
    pub(crate) fn page_lines(&self) -> impl Iterator<Item = &[Line]> {
        let ends = self.page_starts.iter().skip(1).copied();
        let ends = ends.chain([self.lines.len()]);
        let ranges = self.page_starts.iter().copied().zip(ends);
        ranges.map(|(start, end)| &self.lines[start..end])
    }

    /// Whether pages can be told from each other. A long text without any form feed may have come without them.
    pub(crate) fn has_pages(&self) -> bool {
        self.page_starts.len() > 1 || self.words.len() < 3 * USUAL_PAGE
    }

    /// Brings characters that look the same to the same form, so that words are found again.
    fn clean(&mut self, part: &str) {
        let mut column = 0;
        let mut rest = part;
        while let Some(c) = rest.chars().next() {
            // Nearly all of nearly all texts is plain and goes over as it is.
            let fits = LONGEST_LINE.saturating_sub(column);
            let plain = rest
                .bytes()
                .take(fits)
                .take_while(|byte| (0x20..0x7f).contains(byte))
                .count();
            if plain > 0 {
                self.text.push_str(&rest[..plain]);
                column += plain;
                rest = &rest[plain..];
                continue;
            }
            rest = &rest[c.len_utf8()..];
            column = self.clean_one(c, column);
        }
    }

    /// Adds one character and says in which column the next is.
    fn clean_one(&mut self, c: char, column: usize) -> usize {
        let mut column = column + 1;
        match c {
            '\n' => column = 0,
            // Soft hyphens, marks for the direction of writing, and the byte order mark.
            '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}' => return column,
            _ => (),
        }
        if column > LONGEST_LINE && (c.is_whitespace() || column > LONGEST_LINE + 200) {
            self.text.push('\n');
            column = 0;
        }
        match c {
            '\x0c' | '\n' => self.text.push(c),
            '\u{fb00}' => self.text.push_str("ff"),
            '\u{fb01}' => self.text.push_str("fi"),
            '\u{fb02}' => self.text.push_str("fl"),
            '\u{fb03}' => self.text.push_str("ffi"),
            '\u{fb04}' => self.text.push_str("ffl"),
            '\u{2019}' | '\u{2018}' => self.text.push('\''),
            '\u{ff01}'..='\u{ff5e}' => self.text.push(ascii_of_full_width(c)),
            c if c.is_whitespace() || c.is_control() => self.text.push(' '),
            c => self.text.push(c),
        }
        column
    }

    fn cut_up(&mut self) {
        let text = std::mem::take(&mut self.text);
        let mut gap = true;
        let mut start = 0;
        self.page_starts.push(0);
        for end in memchr::memchr2_iter(b'\n', b'\x0c', text.as_bytes()).chain([text.len()]) {
            gap = !self.add_line(&text, start, end, gap);
            if text.as_bytes().get(end) == Some(&b'\x0c') {
                self.page_starts.push(self.lines.len());
                gap = true;
            }
            start = end + 1;
        }
        // What follows the last form feed is no page if it is blank.
        if self.page_starts.len() > 1 && self.page_starts.last() == Some(&self.lines.len()) {
            self.page_starts.pop();
        }
        self.text = text;
    }

    /// Adds the line unless it is blank, and says whether it did.
    fn add_line(&mut self, text: &str, start: usize, end: usize, after_gap: bool) -> bool {
        let line = &text[start..end];
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return false;
        }
        let start = start + (line.len() - line.trim_start().len());
        let first_word = self.words.len() as u32;
        self.add_words(trimmed, start);
        self.lines.push(Line {
            start: start as u32,
            end: (start + trimmed.len()) as u32,
            first_word,
            end_word: self.words.len() as u32,
            length: trimmed.chars().count() as u32,
            after_gap,
        });
        true
    }

    fn add_words(&mut self, line: &str, offset: usize) {
        let mut run = Run::default();
        let mut before = ' ';
        let mut at = 0;
        while let Some(c) = line[at..].chars().next() {
            if run.class.is_none() && c.is_ascii_alphabetic() {
                if let Some(word) = ascii_word(line, at, offset, before) {
                    at = word.end as usize - offset;
                    before = char::from(line.as_bytes()[at - 1]);
                    self.words.push(word);
                    continue;
                }
            }
            let class = Class::of(c);
            let goes_on = run.class == Some(class)
                && class != Class::Ideograph
                && run.length < LONGEST_WORD
                && class != Class::Other;
            if !goes_on {
                self.words.extend(run.finish(at + offset, c));
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
        self.words.extend(run.finish(line.len() + offset, ' '));
    }
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

/// The first and the last part of a text, if it is long or was cut before.
fn parts(text: &str) -> (&str, Option<&str>) {
    // As many bytes are as many characters at least, so short texts need no counting.
    let end = char_boundary(text, HEAD);
    let head = &text[..end];
    let marked = memchr::memmem::find(
        &text.as_bytes()[..text.len().min(4 * (HEAD + 200))],
        CUT.as_bytes(),
    );
    if let Some(at) = marked {
        let tail = &text[at + CUT.len()..];
        let from = char_boundary_back(tail, TAIL);
        return (&text[..at.min(end)], Some(&tail[from..]));
    }
    let rest = &text[end..];
    if rest.is_empty() {
        return (head, None);
    }
    // A rest that is no longer than the tail goes on without a gap.
    let from = char_boundary_back(rest, TAIL);
    if from == 0 {
        return (text, None);
    }
    (head, Some(&rest[from..]))
}

/// Where the first so many characters end.
fn char_boundary(text: &str, characters: usize) -> usize {
    let found = text.char_indices().nth(characters);
    found.map_or(text.len(), |(at, _)| at)
}

/// Where the last so many characters begin.
fn char_boundary_back(text: &str, characters: usize) -> usize {
    let found = text.char_indices().rev().nth(characters.saturating_sub(1));
    found.map_or(0, |(at, _)| at)
}

fn ascii_of_full_width(c: char) -> char {
    let ascii = u32::from(c) - 0xff01 + 0x21;
    char::from_u32(ascii).unwrap_or(c)
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
