//! Headings: lines of their own that name a part, and words that open a paragraph, as in "Results: …".

use super::super::hash;
use super::super::reading::{Line, Reading, Word, WordKind};
use super::super::vocabulary::{Bits, Vocabulary};
use super::Sheet;

/// Where headings were found.
#[derive(Debug, Default)]
pub(super) struct Headings {
    /// The line of the last heading of a list of references.
    pub(super) references: Option<usize>,
}

/// The words for each kind of heading.
const SAID: [(&str, &str); 24] = [
    ("abstract", "a heading such as Abstract or Summary"),
    ("keywords", "a heading such as Keywords"),
    ("introduction", "a heading such as Introduction"),
    ("background", "a heading such as Related work or Background"),
    ("methods", "headings such as Methods or Data"),
    ("results", "headings such as Results or Experiments"),
    ("discussion", "headings such as Discussion or Limitations"),
    ("conclusion", "a heading such as Conclusion"),
    ("acknowledgements", "a heading such as Acknowledgements"),
    (
        "declarations",
        "headings such as Funding or Competing interests",
    ),
    ("references", "a heading such as References or Bibliography"),
    ("appendix", "a heading such as Appendix"),
    ("contents", "a heading such as Table of contents"),
    ("book", "headings of books such as Preface or Index"),
    ("thesis", "headings of theses such as List of abbreviations"),
    ("slides", "headings of slides such as Outline or Questions"),
    ("exercises", "headings such as Problem or Solution"),
    ("course", "headings of courses such as Grading or Textbook"),
    (
        "manual",
        "headings of manuals such as Installation or Options",
    ),
    ("cv", "headings of CVs such as Education or Skills"),
    ("minutes", "headings of minutes such as Call to order"),
    ("law", "headings of laws, courts and bylaws"),
    ("form", "headings of forms and invoices"),
    ("news", "headings of newsletters and brochures"),
];

pub(super) fn measure(reading: &Reading, sheet: &mut Sheet) -> Headings {
    let vocabulary = &*reading.vocabulary;
    let found = find(reading, vocabulary);
    let lines = reading.lines.len().max(1);
    let mut kinds_of_paper = 0;
    for (index, name) in vocabulary.headings.iter().enumerate() {
        let bit: Bits = 1 << index;
        let of_it = found.iter().filter(|(_, bits)| bits & bit != 0);
        let count = of_it.count().min(20);
        let said = SAID.iter().find(|(known, _)| known == name);
        let said = said.map_or(name.as_str(), |(_, said)| said);
        if index < PAPER {
            kinds_of_paper += usize::from(count > 0);
        }
        let name = sheet.name(format_args!("heading.{name}"));
        sheet.count(&name, said, count as f32);
    }
    let bit = |name: &str| {
        vocabulary
            .headings
            .iter()
            .position(|known| known == name)
            .map_or(0, |index| 1_u64 << index)
    };
    let place = |name: &str| {
        let bit = bit(name);
        let first = found.iter().find(|(_, bits)| bits & bit != 0);
        first.map(|(line, _)| *line as f32 / lines as f32)
    };
    let within = |name: &str, lines: usize| {
        let bit = bit(name);
        found
            .iter()
            .any(|(line, bits)| bits & bit != 0 && *line < lines)
    };
    sheet.count(
        "heading.kinds",
        "different headings that papers have",
        kinds_of_paper as f32,
    );
    sheet.flag(
        "heading.abstract_early",
        "an abstract near the beginning",
        within("abstract", 80),
    );
    sheet.flag(
        "heading.introduction_early",
        "an introduction near the beginning",
        within("introduction", 150),
    );
    sheet.flag(
        "heading.contents_early",
        "a table of contents near the beginning",
        within("contents", 120),
    );
    sheet.flag(
        "heading.keywords_early",
        "keywords near the beginning",
        within("keywords", 120),
    );
    sheet.flag(
        "heading.conclusion_late",
        "a conclusion in the second half",
        place("conclusion").is_some_and(|at| at > 0.5),
    );
    let medical = ["background", "methods", "results", "conclusion"];
    let in_head = medical.iter().filter(|name| within(name, 100)).count();
    sheet.count(
        "heading.medical",
        "parts of a structured abstract (background, methods, results, conclusions)",
        in_head as f32,
    );
    let references = bit("references");
    let last = found.iter().rev().find(|(_, bits)| bits & references != 0);
    sheet.flag(
        "heading.references_late",
        "a list of references in the second half",
        last.is_some_and(|(line, _)| line * 2 > lines),
    );
    sections(reading, sheet);
    Headings {
        references: last.map(|(line, _)| *line),
    }
}

/// Lines that begin like "3.2 Title", and how far the numbers go.
fn sections(reading: &Reading, sheet: &mut Sheet) {
    let (mut numbered, mut nested, mut next) = (0, 0, 1);
    for line in &reading.lines {
        let words = reading.line_words(line);
        let [first, second, ..] = words else {
            continue;
        };
        let starts = reading.line(line).starts_with(|c: char| c.is_ascii_digit());
        if !starts || words.len() > 12 || line.length > 90 || first.number > 30 {
            continue;
        }
        let capital = |word: &Word| word.kind.begins_upper();
        if capital(second) && first.next != ',' {
            numbered += 1;
            // Sections of papers come in order: 1, 2, 3.
            next += u32::from(first.number == next);
        }
        if first.next == '.'
            && second.kind == WordKind::Number
            && second.number < 30
            && words.get(2).is_some_and(capital)
        {
            nested += 1;
        }
    }
    sheet.count(
        "heading.numbered",
        "numbered headings",
        (numbered.min(60)) as f32,
    );
    sheet.count(
        "heading.in_order",
        "numbered headings that follow each other",
        (next - 1) as f32,
    );
    sheet.count(
        "heading.nested",
        "numbered headings of a second level",
        (nested.min(100)) as f32,
    );
}

fn find(reading: &Reading, vocabulary: &Vocabulary) -> Vec<(usize, Bits)> {
    let mut found = Vec::new();
    for (index, line) in reading.lines.iter().enumerate() {
        let bits = own_line(reading, line, vocabulary) | run_in(reading, line, vocabulary);
        if bits != 0 {
            found.push((index, bits));
        }
    }
    found
}

/// A line that is nothing but a heading, with its number if it has one.
fn own_line(reading: &Reading, line: &Line, vocabulary: &Vocabulary) -> Bits {
    let words = reading.line_words(line);
    if line.length > 70 || words.len() > 24 {
        return 0;
    }
    // "Introduction . . . 3" stands in a table of contents.
    let ends_with_number = words
        .last()
        .is_some_and(|word| word.kind == WordKind::Number);
    let begins_small = words.iter().find(|word| word.kind != WordKind::Number);
    if ends_with_number
        || begins_small.is_none_or(|word| {
            word.kind == WordKind::Lower && word.length > 1 && reading.word(word).is_ascii()
        })
    {
        return 0;
    }
    let words = without_number(words);
    let mut hasher = hash::Hasher::default();
    for word in words.iter().filter(|word| word.kind != WordKind::Number) {
        letters(reading.word(word)).for_each(|c| hasher.add_lower(c));
    }
    vocabulary.heading(hasher.finish())
}

/// A heading at the beginning of a paragraph: "Abstract—We …", "Methods: …".
fn run_in(reading: &Reading, line: &Line, vocabulary: &Vocabulary) -> Bits {
    let words = without_number(reading.line_words(line));
    let Some(first) = words
        .first()
        .filter(|word| word.kind != WordKind::Number && !begins_small(reading.word(word)))
    else {
        return 0;
    };
    let mut hasher = hash::Hasher::default();
    for (index, word) in words.iter().take(8).enumerate() {
        letters(reading.word(word)).for_each(|c| hasher.add_lower(c));
        let is_end = matches!(
            word.next,
            ':' | '.' | '—' | '–' | '-' | '：' | '】' | '。' | '］' | ']'
        ) || (word.kind == WordKind::Ideograph && word.next == ' ' && index > 0);
        // "Abstract We propose": nothing but the next capital tells.
        let is_word = index == 0
            && first.length > 6
            && word.next == ' '
            && words
                .get(1)
                .is_some_and(|next| next.kind == WordKind::Title)
            && words
                .get(2)
                .is_some_and(|next| next.kind == WordKind::Lower);
        if !is_end && !is_word {
            continue;
        }
        let bits = vocabulary.heading(hasher.clone().finish()) & RUN_IN;
        if bits != 0 && words.len() > index + 1 {
            return bits;
        }
    }
    0
}

/// The characters that the key of a heading has: letters without the marks above and below them.
fn letters(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|c| c.is_alphabetic())
}

/// Whether a word begins with a small letter, of a script that has large ones.
fn begins_small(word: &str) -> bool {
    word.starts_with(char::is_lowercase)
}

/// Without "II." or "A." before a heading.
fn without_number(words: &[Word]) -> &[Word] {
    let Some((first, rest)) = words.split_first() else {
        return words;
    };
    if first.kind == WordKind::Number {
        return without_number(rest);
    }
    let is_label =
        first.kind == WordKind::Upper && first.length <= 4 && first.next == '.' && !rest.is_empty();
    if is_label { rest } else { words }
}

/// The first so many kinds of headings are those of papers.
const PAPER: usize = 11;
/// Only headings of papers open paragraphs.
const RUN_IN: Bits = (1 << PAPER) - 1;
