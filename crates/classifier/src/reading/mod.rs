//! A document's text as the features see it: a bounded part of it, cut into pages, lines and words.
//!
//! Of a long text the first and the last part are read, so the work does not grow with the document, and the same
//! features come out whether the whole text is given or one that was cut already.

mod clean;
mod parts;
mod word;

use std::sync::Arc;

use super::hash::Hash;
use super::vocabulary::Vocabulary;
use clean::clean;
use parts::parts;

pub(crate) use word::{Word, WordKind};

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
    /// The source of a cover page, which is skipped.
    pub(crate) cover: Option<&'static str>,
    /// How many pages the whole document has; `None` where nothing tells.
    pub(crate) pages: Option<usize>,
    /// The words that features look for.
    pub(crate) vocabulary: Arc<Vocabulary>,
}

/// The hashes of the words of a phrase, cut up as texts are.
pub(crate) fn word_hashes(phrase: &str) -> Vec<Hash> {
    let mut cleaned = String::new();
    clean(phrase, &mut cleaned);
    let mut words = Vec::new();
    word::add_words(cleaned.trim(), 0, &mut words);
    words.iter().map(|word| word.hash).collect()
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

impl Reading {
    /// Reads a text. `pages` is how many pages the document has, where that is known from elsewhere; form feeds in
    /// the text end pages.
    pub(crate) fn new(text: &str, pages: Option<usize>, vocabulary: &Arc<Vocabulary>) -> Self {
        let (head, tail) = parts(text);
        let (head, _) = repair::repair(head);
        let tail = tail.map(|tail| repair::repair(tail).0);
        let front = repair::front_matter(&head);
        let head = &head[front.map_or(0, |front| front.end)..];
        let mut reading = Self {
            text: String::with_capacity(head.len() + tail.as_deref().map_or(0, str::len) + 2),
            cover: front.map(|front| front.source),
            vocabulary: Arc::clone(vocabulary),
            ..Self::default()
        };
        clean(head, &mut reading.text);
        if let Some(tail) = tail.as_deref() {
            reading.text.push('\n');
            clean(tail, &mut reading.text);
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

    /// All words that were read.
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
        // A blank rest after the last form feed is no page.
        if self.page_starts.len() > 1 && self.page_starts.last() == Some(&self.lines.len()) {
            self.page_starts.pop();
        }
        self.text = text;
    }

    /// Adds the line unless it is blank, and says whether it did.
    fn add_line(&mut self, text: &str, start: usize, end: usize, after_gap: bool) -> bool {
        let line = &text[start..end];
        let trimmed = line.trim();
        if trimmed.is_empty() || repair::is_stamp(trimmed) {
            return false;
        }
        let start = start + (line.len() - line.trim_start().len());
        let first_word = self.words.len() as u32;
        word::add_words(trimmed, start, &mut self.words);
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
}
