//! Characters that are no letters: mathematics, money, boxes, leaders, quotes.

use super::super::reading::{Reading, WordKind};
use super::{Sheet, part};

pub(super) fn measure(reading: &Reading, sheet: &mut Sheet) {
    let counts = Counts::of(reading.text());
    let all = counts.all.max(1);
    let of = |count: usize| 100.0 * part(count, all);
    sheet.count(
        "symbols.digits",
        "digits in a hundred characters",
        of(counts.digits),
    );
    sheet.count(
        "symbols.capitals",
        "capitals in a hundred characters",
        of(counts.upper),
    );
    sheet.count(
        "symbols.mathematics",
        "signs of mathematics in a hundred characters",
        of(counts.mathematics),
    );
    sheet.count(
        "symbols.greek",
        "Greek letters in a hundred characters",
        of(counts.greek),
    );
    sheet.count(
        "symbols.private",
        "characters of private fonts in a hundred characters",
        of(counts.private),
    );
    sheet.count(
        "symbols.brackets",
        "round brackets in a hundred characters",
        of(counts.round),
    );
    sheet.count(
        "symbols.square",
        "square brackets in a hundred characters",
        of(counts.square),
    );
    sheet.count(
        "symbols.code",
        "braces, backslashes and the like in a hundred characters",
        of(counts.code),
    );
    sheet.count(
        "symbols.commas",
        "commas in a hundred characters",
        of(counts.commas),
    );
    sheet.count(
        "symbols.semicolons",
        "semicolons in a hundred characters",
        of(counts.semicolons),
    );
    sheet.rate(
        "symbols.questions",
        "question marks in a thousand words",
        counts.questions as f32,
    );
    sheet.rate(
        "symbols.exclamations",
        "exclamation marks in a thousand words",
        counts.exclamations as f32,
    );
    sheet.rate(
        "symbols.quotes",
        "quotation marks in a thousand words",
        counts.quotes as f32,
    );
    sheet.rate(
        "symbols.money",
        "signs of money in a thousand words",
        counts.money as f32,
    );
    sheet.rate(
        "symbols.boxes",
        "boxes and lines to fill in, in a thousand words",
        counts.boxes as f32,
    );
    sheet.rate(
        "symbols.leaders",
        "rows of dots, as in tables of contents, in a thousand words",
        counts.leaders as f32,
    );
    sheet.rate(
        "symbols.paragraph",
        "signs of paragraphs of law in a thousand words",
        counts.paragraph as f32,
    );
    sheet.rate(
        "symbols.percent",
        "percent signs in a thousand words",
        counts.percent as f32,
    );
    sheet.rate(
        "symbols.plus_minus",
        "plus-minus signs in a thousand words",
        counts.plus_minus as f32,
    );
    sheet.count(
        "symbols.marks",
        "marks of footnotes at names at the beginning",
        head_marks(reading) as f32,
    );
    words(reading, sheet);
}

fn words(reading: &Reading, sheet: &mut Sheet) {
    let all = reading.words.len();
    let of = |test: &dyn Fn(WordKind, u8) -> bool| {
        part(
            reading
                .words
                .iter()
                .filter(|word| test(word.kind, word.length))
                .count(),
            all,
        )
    };
    sheet.share(
        "words.numbers",
        "share of numbers among the words",
        of(&|kind, _| kind == WordKind::Number),
    );
    sheet.share(
        "words.title_case",
        "share of words with a capital",
        of(&|kind, length| kind == WordKind::Title && length > 1),
    );
    sheet.share(
        "words.upper_case",
        "share of words in capitals",
        of(&|kind, length| kind == WordKind::Upper && length > 1),
    );
    sheet.share(
        "words.single_letters",
        "share of single letters",
        of(&|kind, length| kind != WordKind::Number && kind != WordKind::Ideograph && length == 1),
    );
    sheet.share(
        "words.long",
        "share of words of nine letters or more",
        of(&|kind, length| kind != WordKind::Number && length >= 9),
    );
    let letters = reading
        .words
        .iter()
        .filter(|word| word.kind != WordKind::Number);
    let (mut count, mut length) = (0, 0);
    for word in letters {
        count += 1;
        length += usize::from(word.length);
    }
    sheet.number("words.length", "letters in a word", part(length, count));
    // Title words in the first part: title, authors and affiliations of papers, but also forms and letters.
    let head = &reading.words[..all.min(300)];
    let title = head.iter().filter(|word| word.kind.begins_upper()).count();
    sheet.share(
        "words.title_case_first",
        "share of words with a capital at the beginning",
        part(title, head.len()),
    );
}

/// Asterisks, daggers and the like in the first lines.
fn head_marks(reading: &Reading) -> usize {
    let lines = reading.lines.iter().take(30).map(|line| reading.line(line));
    let marks = lines.map(|line| {
        line.chars()
            .filter(|c| matches!(c, '∗' | '*' | '†' | '‡' | '§' | '¶' | '⋆' | '✉'))
            .count()
    });
    marks.sum::<usize>().min(12)
}

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    digits: usize,
    upper: usize,
    mathematics: usize,
    greek: usize,
    private: usize,
    round: usize,
    square: usize,
    code: usize,
    commas: usize,
    semicolons: usize,
    questions: usize,
    exclamations: usize,
    quotes: usize,
    money: usize,
    boxes: usize,
    leaders: usize,
    paragraph: usize,
    percent: usize,
    plus_minus: usize,
}

impl Counts {
    fn of(text: &str) -> Self {
        let mut counts = Self::default();
        let (mut dots, mut underscores) = (0, 0);
        for c in text.chars() {
            if c.is_ascii_lowercase() {
                (dots, underscores) = (0, 0);
                counts.all += 1;
                continue;
            }
            if c == '\n' || c == '\x0c' {
                continue;
            }
            // Leaders and blanks to fill in are counted by the run; spaces between their dots do not end it.
            match c {
                '.' => dots += 1,
                ' ' => (),
                _ => dots = 0,
            }
            underscores = if c == '_' { underscores + 1 } else { 0 };
            counts.leaders += usize::from(dots == 4);
            counts.boxes += usize::from(underscores == 4);
            if c == ' ' {
                continue;
            }
            counts.all += 1;
            counts.add(c);
        }
        counts
    }

    fn add(&mut self, c: char) {
        match c {
            'a'..='z' => (),
            'A'..='Z' => self.upper += 1,
            '0'..='9' => self.digits += 1,
            ',' | '，' | '、' | '،' => self.commas += 1,
            ';' | '；' => self.semicolons += 1,
            '(' => self.round += 1,
            '[' => self.square += 1,
            '{' | '}' | '\\' | '|' | '#' | '~' | '`' | '<' | '>' => self.code += 1,
            '=' | '+' => self.mathematics += 1,
            '?' | '？' | '؟' => self.questions += 1,
            '!' | '！' => self.exclamations += 1,
            '"' | '“' | '”' | '„' | '»' | '«' => self.quotes += 1,
            '$' | '€' | '£' | '¥' | '₹' => self.money += 1,
            '☐' | '□' | '❑' | '❏' | '☑' | '☒' | '◻' => self.boxes += 1,
            '§' => self.paragraph += 1,
            '%' => self.percent += 1,
            '±' => self.plus_minus += 1,
            '\0'..='\x7f' => (),
            'α'..='ω' | 'Α'..='Ω' | 'ϕ' | 'ϵ' | 'ϑ' => self.greek += 1,
            '\u{2190}'..='\u{22ff}'
            | '\u{1d400}'..='\u{1d7ff}'
            | '\u{27e8}'..='\u{27ef}'
            | '\u{2a00}'..='\u{2aff}'
            | '×'
            | '÷' => {
                self.mathematics += 1;
            }
            '\u{e000}'..='\u{f8ff}' | '\u{fffd}' => self.private += 1,
            c => self.upper += usize::from(c.is_uppercase()),
        }
    }
}
