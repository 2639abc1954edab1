//! Typical phrases of papers, manuals, courses, forms and others, in many languages.

use super::super::hash::{self, Hash};
use super::super::reading::{Reading, WordKind};
use super::super::vocabulary::{Bits, LONGEST_PHRASE, Vocabulary};
use super::Sheet;

/// Number of words from the beginning that are counted by themselves,
const HEAD: usize = 250;
/// and so many at the end.
const TAIL: usize = 300;

const SAID: [(&str, &str); 40] = [
    ("self_paper", "calls itself a paper or an article"),
    ("self_study", "reports what was studied and found"),
    ("self_thesis", "words of theses"),
    (
        "self_manual",
        "calls itself a manual, a guide or a document",
    ),
    ("self_course", "calls itself a course, a lecture or notes"),
    ("self_book", "calls itself a book or a chapter"),
    ("self_report", "calls itself a report"),
    ("journal", "words of journals and proceedings"),
    ("citation", "et al. and other words of citing"),
    ("bibliography", "words of bibliographies"),
    ("affiliation", "universities, institutes and departments"),
    ("theorem", "words of theorems and proofs"),
    (
        "reasoning",
        "words of reasoning such as however and therefore",
    ),
    (
        "research",
        "words of research such as hypothesis and significant",
    ),
    ("you", "speaks to the reader as you"),
    ("we", "speaks as we"),
    ("first_person", "speaks as I"),
    ("instruct", "words of instructions such as click and select"),
    ("program", "words of programming"),
    ("exercise", "words of exercises and exams"),
    ("course", "words of teaching"),
    ("slides", "words of talks and slides"),
    ("cv", "words of CVs"),
    ("form", "words of forms"),
    ("legal", "words of law and bylaws"),
    ("minutes", "words of meetings"),
    ("money", "words of invoices and accounts"),
    ("letter", "words of letters"),
    ("news", "words of news and events"),
    ("government", "words of authorities"),
    ("music", "words of music"),
    ("repository", "words of repositories and working papers"),
    ("support", "thanks and support by grants"),
    ("statement", "words of applications and statements"),
    ("guideline", "words of guidelines and recommendations"),
    ("proposal", "words of proposals and work plans"),
    ("poster", "words of posters"),
    ("datasheet", "words of data sheets and specifications"),
    ("student", "words of reports by students"),
    ("bylaws", "words of policies and bylaws"),
];

pub(super) fn measure(reading: &Reading, sheet: &mut Sheet) {
    let vocabulary = &*reading.vocabulary;
    let count = vocabulary.phrases.len();
    let (mut all, mut head, mut tail) =
        (vec![0_u32; count], vec![0_u32; count], vec![0_u32; count]);
    let words: Vec<[Option<Hash>; 2]> = reading
        .words
        .iter()
        .map(|word| {
            let is_long = word.length > 3 && word.kind != WordKind::Number;
            let stem = is_long.then(|| vocabulary.stem(reading.word(word)));
            [Some(word.hash), stem.flatten()]
        })
        .collect();
    for at in 0..words.len() {
        let mut bits = match words[at] {
            // Most words begin no phrase at all.
            [Some(hash), None] if vocabulary.phrase(hash).is_none() => 0,
            _ => follow(vocabulary, None, &words[at..], LONGEST_PHRASE),
        };
        while bits != 0 {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            all[bit] += 1;
            head[bit] += u32::from(at < HEAD);
            tail[bit] += u32::from(at + TAIL >= words.len());
        }
    }
    for (index, name) in vocabulary.phrases.iter().enumerate() {
        let said = SAID.iter().find(|(known, _)| known == name);
        let said = said.map_or(name.as_str(), |(_, said)| said);
        let (full, in_words) = (
            sheet.name(format_args!("phrase.{name}")),
            sheet.name(format_args!("{said}, in a thousand words")),
        );
        sheet.rate(&full, &in_words, all[index] as f32);
        let (first, in_words) = (
            sheet.name(format_args!("phrase.{name}.first")),
            sheet.name(format_args!("{said}, at the beginning")),
        );
        sheet.count(&first, &in_words, head[index] as f32);
        if LAST.contains(&name.as_str()) {
            let (last, in_words) = (
                sheet.name(format_args!("phrase.{name}.last")),
                sheet.name(format_args!("{said}, at the end")),
            );
            sheet.count(&last, &in_words, tail[index] as f32);
        }
    }
}

/// The phrases that begin with the first of these words, each taken as it is or by its beginning.
fn follow(
    vocabulary: &Vocabulary,
    before: Option<Hash>,
    words: &[[Option<Hash>; 2]],
    left: usize,
) -> Bits {
    let Some((first, rest)) = words.split_first().filter(|_| left > 0) else {
        return 0;
    };
    let mut bits = 0;
    for word in first.iter().flatten() {
        let key = before.map_or(*word, |before| hash::then(before, *word));
        let entry = vocabulary.phrase(key);
        bits |= entry.phrases;
        if entry.goes_on {
            bits |= follow(vocabulary, Some(key), rest, left - 1);
        }
    }
    bits
}

/// Of these the end of a text tells something of its own.
const LAST: [&str; 8] = [
    "bibliography",
    "citation",
    "you",
    "exercise",
    "slides",
    "legal",
    "instruct",
    "research",
];
