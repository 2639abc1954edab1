//! Lists of references, and what cites them.

use super::super::reading::{Line, Reading, Word, WordKind};
use super::super::vocabulary::Bits;
use super::headings::Headings;
use super::{Sheet, part};

/// Number of lines that are looked at together: a list of references is dense.
const WINDOW: usize = 40;

pub(super) fn measure(reading: &Reading, headings: &Headings, sheet: &mut Sheet) {
    let vocabulary = &*reading.vocabulary;
    let bibliographic = vocabulary.list("bibliographic");
    let signs = reading.lines.iter();
    let signs: Vec<Signs> = signs
        .map(|line| Signs::of(reading, line, bibliographic))
        .collect();
    let likely: Vec<bool> = signs.iter().map(Signs::is_reference).collect();
    list(&likely, headings, sheet);
    entries(&signs, headings, sheet);
    citations(reading, &likely, sheet);
}

/// Where lines that look like references stand.
fn list(likely: &[bool], headings: &Headings, sheet: &mut Sheet) {
    let all = likely.len();
    let count = |lines: &[bool]| lines.iter().filter(|is| **is).count();
    let (half, end) = (&likely[all / 2..], &likely[all - all / 7..]);
    let (mut best, mut now) = (0, 0);
    for (index, is) in likely.iter().enumerate() {
        now += usize::from(*is);
        if index >= WINDOW {
            now -= usize::from(likely[index - WINDOW]);
        }
        best = best.max(now);
    }
    sheet.count(
        "references.lines",
        "lines that look like references",
        count(likely) as f32,
    );
    sheet.share(
        "references.share",
        "share of lines that look like references",
        part(count(likely), all),
    );
    sheet.share(
        "references.late",
        "share of lines that look like references in the second half",
        part(count(half), half.len()),
    );
    sheet.share(
        "references.end",
        "share of lines that look like references at the end",
        part(count(end), end.len()),
    );
    sheet.share(
        "references.densest",
        "how dense the densest list of references is",
        part(best, WINDOW),
    );
    let after = headings
        .references
        .map_or(&[][..], |line| &likely[(line + 1).min(all)..]);
    let near = &after[..after.len().min(60)];
    sheet.share(
        "references.below_heading",
        "how dense references are below their heading",
        part(count(near), near.len().max(10)),
    );
    sheet.share(
        "references.rest",
        "share of the text below the heading of the references",
        part(after.len(), all),
    );
}

/// Labels such as [12] at the beginning of lines that count up.
fn entries(signs: &[Signs], headings: &Headings, sheet: &mut Sheet) {
    let in_order = |signs: &[Signs]| {
        signs.iter().fold(1, |next, sign| {
            if sign.label == Some(next) {
                next + 1
            } else {
                next
            }
        }) - 1
    };
    let after = headings
        .references
        .map_or(&[][..], |line| &signs[(line + 1).min(signs.len())..]);
    let bracketed = signs.iter().filter(|sign| sign.bracket_label).count();
    sheet.count(
        "references.labels",
        "lines that begin with a label in square brackets",
        bracketed as f32,
    );
    sheet.count(
        "references.in_order",
        "labels of references or notes that count up",
        in_order(signs) as f32,
    );
    sheet.count(
        "references.numbered_below",
        "numbered references below their heading",
        in_order(after) as f32,
    );
    let years = signs.iter().filter(|sign| sign.year).count();
    sheet.share(
        "references.years",
        "share of lines with a year",
        part(years, signs.len()),
    );
    let initials = signs.iter().filter(|sign| sign.initials >= 2).count();
    sheet.share(
        "references.initials",
        "share of lines with initials of names",
        part(initials, signs.len()),
    );
}

/// Citations in the text: [3, 4], (Smith, 2004), Smith (2004), text.12
fn citations(reading: &Reading, likely: &[bool], sheet: &mut Sheet) {
    let vocabulary = &*reading.vocabulary;
    let [figure, table, section, theorem, equation, join] =
        ["figure", "table", "section", "theorem", "equation", "join"]
            .map(|name| vocabulary.list(name));
    let mut count = [0_usize; 6];
    for (line, is_reference) in reading.lines.iter().zip(likely) {
        let words = reading.line_words(line);
        for (at, word) in words.iter().enumerate() {
            if word.kind != WordKind::Number {
                continue;
            }
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            let lists = before.map_or(0, |before| vocabulary.word(before.hash));
            count[0] += usize::from(lists & (figure | table) != 0);
            count[1] += usize::from(lists & (section | theorem) != 0);
            count[2] += usize::from(lists & equation != 0);
            if *is_reference {
                continue;
            }
            let bracketed = word.previous == '[' && at > 0 && word.length <= 3;
            count[3] += usize::from(bracketed && matches!(word.next, ']' | ',' | '-' | '–' | ';'));
            let name = before.is_some_and(|before| before.kind.begins_upper() || lists & join != 0);
            count[4] += usize::from(
                is_year(word) && name && matches!(word.next, ')' | ';' | ',' | 'a' | 'b' | ':'),
            );
            // Raised numbers of notes follow a word or its full stop without a space.
            let raised = before.is_some_and(|before| {
                before.kind == WordKind::Lower
                    && before.length >= 3
                    && matches!(before.next, '.' | ',')
                    && word.previous == before.next
            });
            count[5] += usize::from(
                raised && word.length <= 3 && matches!(word.next, ' ' | ',' | '-' | '–'),
            );
        }
    }
    let count = count.map(|count| count as f32);
    sheet.rate(
        "citations.figures",
        "figures and tables that the text speaks of, in a thousand words",
        count[0],
    );
    sheet.rate(
        "citations.sections",
        "sections and theorems that the text speaks of, in a thousand words",
        count[1],
    );
    sheet.rate(
        "citations.equations",
        "equations that the text speaks of, in a thousand words",
        count[2],
    );
    sheet.rate(
        "citations.numbers",
        "citations such as [12] in a thousand words",
        count[3],
    );
    sheet.rate(
        "citations.author_year",
        "citations such as (Smith, 2004) in a thousand words",
        count[4],
    );
    sheet.rate(
        "citations.notes",
        "raised numbers of notes in a thousand words",
        count[5],
    );
    sheet.count(
        "citations.all",
        "citations of any kind",
        count[3] + count[4] + count[5],
    );
}

/// The usual parts of a line of references.
#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    label: Option<u32>,
    bracket_label: bool,
    year: bool,
    initials: u8,
    pages: bool,
    place: bool,
}

impl Signs {
    fn of(reading: &Reading, line: &Line, bibliographic: Bits) -> Self {
        let text = reading.line(line);
        let words = reading.line_words(line);
        let mut signs = Self::default();
        if let Some(first) = words.first() {
            let number = first.kind == WordKind::Number && first.length <= 3;
            signs.bracket_label =
                text.starts_with('[') && line.length > 3 && text.chars().take(40).any(|c| c == ']');
            let plain = text.starts_with(|c: char| c.is_ascii_digit())
                && matches!(first.next, '.' | ')' | ' ');
            signs.label = Some(first.number).filter(|_| number && (signs.bracket_label || plain));
        }
        let vocabulary = &*reading.vocabulary;
        // "Title [J]" is the style of China, "Title // Journal" that of Russia.
        signs.place = has_type_mark(text) || (text.contains(" // ") && !text.is_ascii());
        let is_persian = text.contains(|c: char| ('\u{600}'..='\u{6ff}').contains(&c));
        for (at, word) in words.iter().enumerate() {
            if word.kind == WordKind::Number {
                signs.year |= is_year(word);
                // Years of the Iranian calendar.
                signs.year |= is_persian && (1330..=1410).contains(&word.number);
                signs.pages |= is_page_range(words, at);
                continue;
            }
            signs.initials = signs
                .initials
                .saturating_add(u8::from(is_initial(words, at)));
            signs.place |= vocabulary.word(word.hash) & bibliographic != 0;
        }
        signs
    }

    fn is_reference(&self) -> bool {
        let names = u8::from(self.initials >= 1) + u8::from(self.initials >= 3);
        let others = [self.year, self.pages, self.place, self.bracket_label];
        names + others.into_iter().map(u8::from).sum::<u8>() >= 2
    }
}

/// "J." of "J. Smith" and "Smith, J."; "AB," of "Smith AB, Jones C".
fn is_initial(words: &[Word], at: usize) -> bool {
    let word = words[at];
    if word.kind != WordKind::Upper {
        return false;
    }
    if word.length == 1 && word.next == '.' {
        return true;
    }
    let after_name = at > 0 && words[at - 1].kind == WordKind::Title && words[at - 1].next == ' ';
    word.length <= 3 && after_name && matches!(word.next, ',' | '.')
}

/// "123–145" and "12(3):45-67".
fn is_page_range(words: &[Word], at: usize) -> bool {
    let word = words[at];
    let Some(next) = words
        .get(at + 1)
        .filter(|next| next.kind == WordKind::Number)
    else {
        return false;
    };
    match word.next {
        '-' | '–' | '—' | '−' => {
            word.length >= 2 && next.number != u32::MAX && !is_year(&word)
        }
        ':' | '(' => matches!(next.next, '-' | '–' | ')') && word.length <= 4,
        _ => false,
    }
}

fn has_type_mark(text: &str) -> bool {
    ["[J]", "[C]", "[M]", "[D]", "[R]", "[EB/OL]"]
        .iter()
        .any(|mark| text.contains(mark))
}

fn is_year(word: &Word) -> bool {
    word.kind == WordKind::Number && word.length == 4 && (1850..=2035).contains(&word.number)
}
