//! The shape of pages and lines: papers are full pages of long lines, slides are not.

use std::collections::HashMap;

use super::super::hash::{self, Hash};
use super::super::reading::{Line, Reading, WordKind};
use super::{Sheet, part};

pub(super) fn measure(reading: &Reading, sheet: &mut Sheet) {
    pages(reading, sheet);
    lines(reading, sheet);
    repeated(reading, sheet);
}

fn pages(reading: &Reading, sheet: &mut Sheet) {
    let known = reading.has_pages();
    let mut words: Vec<f32> = reading
        .page_lines()
        .map(|lines| page_words(lines) as f32)
        .collect();
    // The last page is seldom full, and the first of a report is a title.
    let mean = match known {
        true => part(reading.words.len(), words.len()),
        false => 450.0,
    };
    words.sort_by(f32::total_cmp);
    let median = match known {
        true => words.get(words.len() / 2).copied().unwrap_or_default(),
        false => 450.0,
    };
    let few = words.iter().filter(|words| **words < 120.0).count();
    let full = words.iter().filter(|words| **words > 350.0).count();
    let pages = reading.pages.unwrap_or(reading.words.len() / 450 + 1);
    let first = reading.page_lines().next().unwrap_or_default();
    let first_words = page_words(first) as f32;
    sheet.count("layout.pages", "pages", pages as f32);
    sheet.flag("layout.one_page", "a single page", pages <= 1);
    sheet.flag(
        "layout.two_to_four_pages",
        "two to four pages",
        (2..=4).contains(&pages),
    );
    sheet.flag("layout.up_to_four_pages", "at most four pages", pages <= 4);
    sheet.flag(
        "layout.paper_length",
        "five to forty pages",
        (5..=40).contains(&pages),
    );
    sheet.flag("layout.over_60_pages", "more than sixty pages", pages > 60);
    sheet.count("layout.words_a_page", "words a page", mean);
    sheet.count("layout.median_page", "words on a usual page", median);
    sheet.count(
        "layout.first_page",
        "words on the first page",
        if known { first_words } else { 400.0 },
    );
    let (few, full) = match known {
        true => (part(few, words.len()), part(full, words.len())),
        false => (0.0, 0.8),
    };
    sheet.share("layout.sparse_pages", "share of pages with few words", few);
    sheet.share("layout.full_pages", "share of pages full of words", full);
    sheet.count("layout.words", "words read", reading.words.len() as f32);
}

fn lines(reading: &Reading, sheet: &mut Sheet) {
    let all = reading.lines.len();
    let of = |test: &dyn Fn(&Line) -> bool| {
        part(reading.lines.iter().filter(|line| test(line)).count(), all)
    };
    let words = |line: &Line| line.end_word - line.first_word;
    sheet.share(
        "layout.long_lines",
        "share of lines of eight words or more",
        of(&|line| words(line) >= 8),
    );
    sheet.share(
        "layout.very_long_lines",
        "share of lines of fifteen words or more",
        of(&|line| words(line) >= 15),
    );
    sheet.share(
        "layout.short_lines",
        "share of lines of one or two words",
        of(&|line| words(line) <= 2),
    );
    sheet.share(
        "layout.lines_after_gap",
        "share of lines that stand after a gap",
        of(&|line| line.after_gap),
    );
    sheet.share(
        "layout.hyphenated",
        "share of lines that end with a hyphen",
        of(&|line| ends_hyphenated(reading, line)),
    );
    sheet.share(
        "layout.full_stops",
        "share of lines that end a sentence",
        of(&|line| reading.line(line).ends_with(['.', '。', '؟', '۔'])),
    );
    sheet.share(
        "layout.colons",
        "share of lines that end with a colon",
        of(&|line| reading.line(line).ends_with(':')),
    );
    sheet.share(
        "layout.upper_lines",
        "share of lines in capitals",
        of(&|line| is_upper(reading, line)),
    );
    sheet.share(
        "layout.bullets",
        "share of lines that begin with a bullet",
        of(&|line| begins_with_bullet(reading.line(line))),
    );
    sheet.share(
        "layout.numbered",
        "share of lines that begin with a number and a dot",
        of(&|line| begins_numbered(reading, line)),
    );
    sheet.share(
        "layout.lettered",
        "share of lines that begin with (a), (b) or a letter in brackets",
        of(&|line| begins_lettered(reading.line(line))),
    );
    sheet.share(
        "layout.numbers_alone",
        "share of lines that are a number alone",
        of(&|line| is_number_alone(reading, line)),
    );
    let lengths: Vec<f32> = reading
        .lines
        .iter()
        .map(|line| line.length as f32)
        .collect();
    let mean = lengths.iter().sum::<f32>() / lengths.len().max(1) as f32;
    sheet.count("layout.line_length", "characters on a line", mean);
    // Set paragraphs have lines of one length: the share of all characters that stand on lines near the longest usual one.
    let mut sorted = lengths.clone();
    sorted.sort_by(f32::total_cmp);
    let full = sorted
        .get(sorted.len() * 9 / 10)
        .copied()
        .unwrap_or_default();
    let near = lengths
        .iter()
        .filter(|length| **length > 0.8 * full && **length < 1.25 * full && full > 25.0);
    let total: f32 = lengths.iter().sum();
    sheet.share(
        "layout.set_text",
        "share of the text in lines of about one length",
        near.sum::<f32>() / total.max(1.0),
    );
    sheet.count("layout.full_line", "characters on a full line", full);
    sheet.count(
        "layout.paragraph",
        "lines in a paragraph",
        part(
            all,
            reading.lines.iter().filter(|line| line.after_gap).count(),
        ),
    );
    let longest_paragraphs = paragraph_share(reading);
    sheet.share(
        "layout.prose",
        "share of the text in paragraphs of four lines or more",
        longest_paragraphs,
    );
}

/// The share of words that stand in paragraphs of some lines.
fn paragraph_share(reading: &Reading) -> f32 {
    let (mut in_long, mut lines, mut words) = (0, 0, 0);
    for line in &reading.lines {
        if line.after_gap {
            in_long += if lines >= 4 { words } else { 0 };
            (lines, words) = (0, 0);
        }
        lines += 1;
        words += (line.end_word - line.first_word) as usize;
    }
    in_long += if lines >= 4 { words } else { 0 };
    part(in_long, reading.words.len())
}

/// Lines that stand on several pages: running titles of journals, and the frame of slides.
fn repeated(reading: &Reading, sheet: &mut Sheet) {
    let mut pages_with: HashMap<Hash, (usize, usize)> = HashMap::new();
    let mut first_lines: HashMap<Hash, usize> = HashMap::new();
    let mut pages = 0;
    for (page, lines) in reading.page_lines().enumerate() {
        pages += 1;
        for line in lines.iter().take(400) {
            let entry = pages_with
                .entry(line_key(reading, line))
                .or_insert((usize::MAX, 0));
            if entry.0 != page {
                *entry = (page, entry.1 + 1);
            }
        }
        if let Some(first) = lines.first() {
            *first_lines.entry(line_key(reading, first)).or_default() += 1;
        }
    }
    let many = pages_with
        .values()
        .filter(|(_, on)| *on >= 3 && *on * 2 > pages)
        .count();
    let some = pages_with
        .values()
        .filter(|(_, on)| *on >= 2)
        .map(|(_, on)| on)
        .sum::<usize>();
    let same_title = first_lines.values().filter(|on| **on >= 2).sum::<usize>();
    sheet.count(
        "layout.running_lines",
        "lines that stand on most pages",
        many as f32,
    );
    sheet.share(
        "layout.repeated_lines",
        "share of lines that stand on other pages too",
        part(some, reading.lines.len()).min(1.0),
    );
    sheet.share(
        "layout.same_first_line",
        "share of pages that begin like another",
        part(same_title, pages),
    );
}

fn line_key(reading: &Reading, line: &Line) -> Hash {
    let words = reading.line_words(line);
    words
        .iter()
        .fold(words.len() as u64, |key, word| hash::then(key, word.hash))
}

fn page_words(lines: &[Line]) -> usize {
    let first = lines.first().map_or(0, |line| line.first_word);
    let end = lines.last().map_or(0, |line| line.end_word);
    (end - first) as usize
}

fn ends_hyphenated(reading: &Reading, line: &Line) -> bool {
    let text = reading.line(line);
    let Some(rest) = text.strip_suffix(['-', '‐', '¬']) else {
        return false;
    };
    rest.ends_with(char::is_lowercase)
}

fn is_upper(reading: &Reading, line: &Line) -> bool {
    let words = reading.line_words(line);
    let letters = words.iter().filter(|word| word.kind != WordKind::Number);
    let (mut all, mut upper) = (0, 0);
    for word in letters {
        all += usize::from(word.length);
        upper += if word.kind == WordKind::Upper {
            usize::from(word.length)
        } else {
            0
        };
    }
    all >= 5 && upper * 10 >= all * 9
}

fn begins_with_bullet(line: &str) -> bool {
    line.starts_with([
        '•', '‣', '▪', '■', '●', '○', '◦', '►', '▶', '▸', '·', '∙', '✓', '➢', '➤', '❖', '◆', '◮',
        '\u{f0b7}', '\u{f0a7}', '\u{f0d8}', '\u{f0fc}', '♦', '⇒', '→', '⋆', '★', '*',
    ]) || line.starts_with("– ")
        || line.starts_with("- ")
        || line.starts_with("— ")
}

fn begins_numbered(reading: &Reading, line: &Line) -> bool {
    let first = reading.line_words(line).first();
    let starts = reading.line(line).starts_with(|c: char| c.is_ascii_digit());
    starts && first.is_some_and(|word| word.length <= 2 && matches!(word.next, '.' | ')'))
}

fn begins_lettered(line: &str) -> bool {
    let mut characters = line.chars();
    let first = characters.next();
    let second = characters.next();
    match (first, second, characters.next()) {
        (Some('('), Some(c), Some(')')) => c.is_alphabetic(),
        (Some(c), Some(')'), _) => c.is_ascii_lowercase(),
        _ => line.starts_with("(ii") || line.starts_with("(iv"),
    }
}

fn is_number_alone(reading: &Reading, line: &Line) -> bool {
    let words = reading.line_words(line);
    !words.is_empty() && line.length <= 12 && words.iter().all(|word| word.kind == WordKind::Number)
}
