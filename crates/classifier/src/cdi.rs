//! The rule of the Crawl Document Importer of 2012, for comparison: fifteen weights, a document is accepted if their sum
//! is above zero.
//!
//! The rule is applied as it was meant: pages are split at form feeds and patterns look at every line. The program that
//! applied it had slips in both. Two of its weights are for words in the address of a document (`research`, and `paper`
//! or `pub`), which is not known here.

use std::sync::LazyLock;

use regex::Regex;

use super::model::logistic;
use super::{Answer, Kind, Reason};

const INTERCEPT: f64 = 0.91;

/// The sum of the rule: how likely it finds a document to be a paper is not calibrated.
pub(super) fn answer(text: &str) -> Answer {
    let probability = logistic(sum(text));
    // It knows papers and others alone.
    Answer::of_kind(probability, Kind::Other)
}

fn sum(text: &str) -> f64 {
    let weighed = terms(text).into_iter();
    INTERCEPT + weighed.map(|term| term.weight * term.value).sum::<f64>()
}

/// The features of the rule, and their weights, the weightiest first.
pub(super) fn reasons(text: &str) -> Vec<Reason> {
    let reasons = terms(text).into_iter().map(|term| Reason {
        weight: term.weight * term.value,
        feature: Some(term.name.to_owned()),
        said: term.said.to_owned(),
        value: match term.value {
            -1.0 => "none".to_owned(),
            value => format!("{value:.3}"),
        },
    });
    let mut reasons: Vec<Reason> = reasons.collect();
    reasons.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    reasons
}

/// Something that the rule looks at.
struct Term {
    weight: f64,
    /// -1 for many of those that are not there.
    value: f64,
    name: &'static str,
    said: &'static str,
}

fn terms(text: &str) -> [Term; 13] {
    let text = bounded(text);
    let length = text.len().max(1) as f64;
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '.' | '-'))
        .filter(|word| !word.is_empty())
        .collect();
    let count = words.len().max(1) as f64;
    let place = |pattern: &Regex| {
        pattern
            .find(text)
            .map_or(-1.0, |found| found.start() as f64 / length)
    };
    // Counted as the pieces that a text falls into at each place.
    let pieces = |pattern: &Regex| match pattern.find_iter(text).count() {
        0 => -1.0,
        found => found as f64 + 1.0,
    };
    let abstract_place = match place(&ABSTRACT) {
        at if at >= 0.0 => at,
        _ => place(&INTRODUCTION),
    };
    let capitals = words.iter().filter(|word| {
        let mut characters = word.chars();
        characters.next().is_some_and(|c| c.is_ascii_uppercase()) && characters.next().is_some()
    });
    let first_page = text.split('\x0c').next().unwrap_or_default();
    let outline = pieces(&OUTLINE).max(0.0);
    let newsletter = match pieces(&NEWSLETTER) {
        found if found > 0.0 => found / count,
        none => none,
    };
    let term = |weight, value, name, said| Term {
        weight,
        value,
        name,
        said,
    };
    [
        term(
            0.79,
            abstract_place,
            "abstract_place",
            "where the abstract or the introduction begins, from 0 to 1",
        ),
        term(
            0.06,
            pieces(&FIGURE),
            "figures",
            "pieces that mentions of figures cut the text into",
        ),
        term(
            -1.64,
            newsletter,
            "newsletter",
            "mentions of a newsletter, against the words",
        ),
        term(
            -0.08,
            outline,
            "outline",
            "pieces that mentions of an outline cut the text into",
        ),
        term(
            -0.52,
            first_page_capitals(first_page),
            "first_page_capitals",
            "lines of the first page that end with a capitalised word",
        ),
        term(
            0.52,
            f64::from(u8::from(PROCEEDINGS.is_match(first_page))),
            "proceedings",
            "a line of the first page begins with Proceedings",
        ),
        term(
            0.49,
            place(&RELATED_WORK),
            "related_work_place",
            "where related or future work is spoken of, from 0 to 1",
        ),
        term(
            -0.08,
            pieces(&SLIDES),
            "slides",
            "pieces that mentions of slides cut the text into",
        ),
        term(
            -0.79,
            f64::from(u8::from(THIS_GUIDE.is_match(text))),
            "this_guide",
            "speaks of itself as this guide",
        ),
        term(
            0.06,
            pieces(&THIS_PAPER),
            "this_paper",
            "pieces that mentions of this paper cut the text into",
        ),
        term(
            0.62,
            place(&THIS_PAPER),
            "this_paper_place",
            "where this paper is first spoken of, from 0 to 1",
        ),
        term(
            -8.15,
            capitals.count() as f64 / count,
            "capitals",
            "words with a capital, against all words",
        ),
        term(
            -25.03,
            YOU.find_iter(text).count() as f64 / count,
            "you",
            "speaks to the reader as you, against all words",
        ),
    ]
}

/// Lines of the first page that end with a word in title case, against its lines.
fn first_page_capitals(page: &str) -> f64 {
    let lines = page.lines().count().max(1);
    let ending = page.lines().filter(|line| {
        let last = line.split_whitespace().next_back().unwrap_or_default();
        last.len() > 1 && last.starts_with(|c: char| c.is_ascii_uppercase())
    });
    ending.count() as f64 / lines as f64
}

/// No more is looked at than a long report has.
fn bounded(text: &str) -> &str {
    let mut end = text.len().min(1 << 20);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that tests use")
}

static ABSTRACT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\s*Abstract|ABSTRACT\b"));
static INTRODUCTION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^[0-9.\s]*Introduction|INTRODUCTION\b"));
static FIGURE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^\s*Figure\b|Fig\.|FIGURE|figure\s+"));
static NEWSLETTER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^[\w \t]*Newsletter|NEWSLETTER\b"));
static OUTLINE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bOutline|OUTLINE\b"));
static PROCEEDINGS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\s*Proceedings\b"));
static RELATED_WORK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:RELATED|FUTURE)\s+WORK\b|(?:Related|Future)\s+Work\b"));
static SLIDES: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\s*SLIDE|SLIDES|Slides?\b"));
static THIS_GUIDE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[Tt]his\s+[Gg]uide\b"));
static THIS_PAPER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[Tt]his\s+paper\b"));
static YOU: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\byou|your\b"));
