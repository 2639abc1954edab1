//! The beginning of a paper: title, authors with raised marks, affiliations.

use super::super::reading::{Line, Reading, WordKind};
use super::{Sheet, part};

/// Lines that can belong to the beginning.
const HEAD: usize = 40;

pub(super) fn measure(reading: &Reading, sheet: &mut Sheet) {
    let vocabulary = &*reading.vocabulary;
    let affiliation = vocabulary.list("affiliation");
    let join = vocabulary.list("join");
    let (mut marked, mut affiliations, mut names) = (0, 0, 0);
    for (index, line) in reading.lines.iter().take(HEAD).enumerate() {
        let words = reading.line_words(line);
        let raised = words
            .iter()
            .filter(|word| word.kind == WordKind::Title && word.length > 2);
        marked += raised
            .filter(|word| {
                word.next.is_ascii_digit()
                    || matches!(word.next, '∗' | '*' | '†' | '‡' | '§' | '¹' | '²' | '³')
            })
            .count();
        affiliations += usize::from(
            line.length < 120
                && words.iter().any(|word| {
                    vocabulary.word(word.hash) & affiliation != 0 && word.kind != WordKind::Lower
                }),
        );
        let is_name = |line: &Line| {
            let words = reading.line_words(line);
            let good = words.iter().filter(|word| {
                word.kind.begins_upper()
                    || vocabulary.word(word.hash) & join != 0
                    || word.kind == WordKind::Number
            });
            (2..=24).contains(&words.len())
                && good.count() == words.len()
                && !reading.line(line).ends_with('.')
        };
        names += usize::from(index > 0 && index < 20 && is_name(line));
    }
    sheet.count(
        "authors.marked",
        "names with raised marks near the beginning",
        marked as f32,
    );
    sheet.count(
        "authors.affiliations",
        "lines with an affiliation near the beginning",
        affiliations as f32,
    );
    sheet.count(
        "authors.names",
        "lines of names near the beginning",
        names as f32,
    );
    let head = &reading.lines[..reading.lines.len().min(HEAD)];
    let long = head
        .iter()
        .filter(|line| line.end_word - line.first_word >= 7)
        .count();
    sheet.share(
        "authors.prose",
        "share of long lines near the beginning",
        part(long, head.len()),
    );
}
