//! Captions, page counters, tables of contents, lines of code.

use super::super::reading::{Reading, Word, WordKind};
use super::{Sheet, part};

pub(super) fn measure(reading: &Reading, sheet: &mut Sheet) {
    let vocabulary = &*reading.vocabulary;
    let lists_of = NAMES.map(|(name, _)| vocabulary.list(name));
    let mut counts = [0; NAMES.len()];
    let (mut counters, mut contents, mut code, mut leaders) = (0, 0, 0, 0);
    for line in &reading.lines {
        let words = reading.line_words(line);
        let text = reading.line(line);
        code += usize::from(is_code(text));
        leaders += usize::from(has_leaders(text));
        let Some(first) = words.first() else {
            continue;
        };
        let second = words.get(1);
        let then_number =
            second.is_some_and(|word| word.kind == WordKind::Number || word.length <= 2);
        let lists = vocabulary.word(first.hash);
        for (count, list) in counts.iter_mut().zip(lists_of) {
            *count += usize::from(then_number && lists & list != 0);
        }
        counters += usize::from(is_counter(words, text));
        let last = words
            .last()
            .filter(|last| last.kind == WordKind::Number && last.number < 2_000);
        contents += usize::from(
            last.is_some()
                && words.len() >= 3
                && first.kind == WordKind::Number
                && words.len() < 14
                && !text.ends_with(['.', ',']),
        );
    }
    let all = reading.lines.len();
    for ((name, said), count) in NAMES.into_iter().zip(counts) {
        let name = sheet.name(format_args!("tables.{name}"));
        sheet.count(&name, said, count as f32);
    }
    sheet.count(
        "tables.counters",
        "page counters such as 3 / 24",
        counters as f32,
    );
    sheet.share(
        "tables.contents",
        "share of lines like those of a table of contents",
        part(contents, all),
    );
    sheet.share(
        "tables.leaders",
        "share of lines with rows of dots",
        part(leaders, all),
    );
    sheet.share(
        "tables.code",
        "share of lines that look like program code",
        part(code, all),
    );
    let pages = reading.page_lines().count();
    sheet.flag(
        "tables.counted_pages",
        "a page counter such as 3 / 24 on most pages",
        pages >= 3 && counters * 2 > pages,
    );
}

/// "3 / 24", "Page 3 of 24".
fn is_counter(words: &[Word], text: &str) -> bool {
    if words.len() > 12 || text.len() > 120 {
        return false;
    }
    let numbers: Vec<_> = words
        .iter()
        .rev()
        .take(3)
        .filter(|word| word.kind == WordKind::Number)
        .collect();
    let [last, before, ..] = numbers.as_slice() else {
        return false;
    };
    let tail_from = text.char_indices().rev().nth(15).map_or(0, |(at, _)| at);
    let tail = &text[tail_from..];
    before.number <= last.number
        && last.number < 2_000
        && (tail.contains('/')
            || tail.contains(" of ")
            || tail.contains(" von ")
            || tail.contains(" sur "))
}

/// Rows of dots, with spaces between or without.
fn has_leaders(line: &str) -> bool {
    let dots = memchr::memchr_iter(b'.', line.as_bytes()).take(4).count();
    dots >= 3 && (line.contains(". . .") || line.contains("...."))
}

fn is_code(line: &str) -> bool {
    let ends =
        line.ends_with([';', '{', '}', '\\']) || line.ends_with("()") || line.ends_with("*/");
    let begins = line.starts_with(['$', '#', '>', '%', '\\', '{', '}'])
        || line.starts_with("//")
        || line.starts_with("--")
        || line.starts_with("/*");
    let pairs = line.as_bytes().windows(2);
    let mut pairs = pairs.filter_map(|pair| <[u8; 2]>::try_from(pair).ok());
    let holds = pairs.any(|pair| matches!(&pair, b"==" | b"->" | b"::" | b"</"));
    ends || begins || holds
}

/// Lists of words that stand before a number at the beginning of a line.
const NAMES: [(&str, &str); 6] = [
    ("figure", "captions of figures"),
    ("table", "captions of tables"),
    ("theorem", "theorems, lemmas and definitions with a number"),
    ("problem", "problems and exercises with a number"),
    ("chapter", "chapters with a number"),
    ("lecture", "lectures and weeks with a number"),
];
