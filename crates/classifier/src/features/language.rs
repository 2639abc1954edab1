//! How much of the text is prose, and in which languages: lists, tables and slides have few small words.

use super::super::reading::{Reading, WordKind};
use super::{Sheet, part};

pub(super) fn measure(reading: &Reading, sheet: &mut Sheet) {
    let vocabulary = &*reading.vocabulary;
    let mut small = vec![0_usize; vocabulary.languages.len()];
    for word in &reading.words {
        let Some(languages) = vocabulary.small_word(word.hash) else {
            continue;
        };
        for (index, count) in small.iter_mut().enumerate() {
            *count += usize::from(languages & (1 << index) != 0);
        }
    }
    let all = reading
        .words
        .iter()
        .filter(|word| word.kind != WordKind::Number)
        .count();
    let most = small.iter().copied().max().unwrap_or_default();
    let ideographs = reading
        .words
        .iter()
        .filter(|word| word.kind == WordKind::Ideograph)
        .count();
    let letters = reading.words.iter().filter(|word| {
        matches!(
            word.kind,
            WordKind::Lower | WordKind::Title | WordKind::Mixed
        )
    });
    let plain = letters.filter(|word| reading.word(word).is_ascii()).count();
    sheet.share(
        "language.small_words",
        "share of small words such as articles and prepositions",
        part(most, all),
    );
    sheet.share(
        "language.english",
        "share of small words of English",
        part(small.first().copied().unwrap_or_default(), all),
    );
    let best = small.iter().position(|count| *count == most);
    sheet.flag(
        "language.other",
        "another language than English",
        most * 20 > all && best != Some(0),
    );
    let starts_with = |range: std::ops::RangeInclusive<char>| {
        let words = reading.words.iter();
        words
            .filter(|word| reading.word(word).starts_with(|c: char| range.contains(&c)))
            .count()
    };
    sheet.share(
        "language.cyrillic",
        "share of words in Cyrillic letters",
        part(starts_with('\u{400}'..='\u{52f}'), reading.words.len()),
    );
    sheet.share(
        "language.right_to_left",
        "share of words in Arabic or Hebrew letters",
        part(starts_with('\u{590}'..='\u{6ff}'), reading.words.len()),
    );
    sheet.share(
        "language.ideographs",
        "share of Chinese and Japanese characters",
        part(ideographs, reading.words.len()),
    );
    sheet.share(
        "language.latin",
        "share of words in plain Latin letters",
        part(plain, all),
    );
    sentences(reading, sheet);
}

/// Long sentences are a mark of papers, of laws too.
fn sentences(reading: &Reading, sheet: &mut Sheet) {
    let (mut ends, mut long, mut since) = (0_usize, 0_usize, 0_usize);
    for line in &reading.lines {
        let words = reading.line_words(line);
        // A line of its own breaks a sentence that has no end.
        if line.after_gap && since > 0 && words.first().is_some_and(|word| word.kind.begins_upper())
        {
            since = 0;
        }
        for word in words {
            since += 1;
            if matches!(word.next, '.' | '?' | '!' | '。')
                && word.length > 1
                && word.kind != WordKind::Number
            {
                ends += usize::from(since >= 4);
                long += usize::from(since >= 18);
                since = 0;
            }
        }
    }
    sheet.rate(
        "language.sentences",
        "whole sentences in a thousand words",
        ends as f32,
    );
    sheet.rate(
        "language.long_sentences",
        "long sentences in a thousand words",
        long as f32,
    );
}
