//! Letters with spaces between them: `A b s t r a c t`, `预 测 时`.

/// The text with such words closed up; `None` if there are none.
pub(super) fn closed(text: &str) -> Option<String> {
    let ideographs = has_spaced_ideographs(text);
    if !ideographs && !text.lines().any(|line| runs(line).next().is_some()) {
        return None;
    }
    let mut closed = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut done = 0;
        for (start, end) in runs(line) {
            push(&line[done..start], ideographs, &mut closed);
            closed.extend(line[start..end].chars().filter(|c| *c != ' '));
            done = end;
        }
        push(&line[done..], ideographs, &mut closed);
    }
    Some(closed)
}

/// Copies a part of a line, without the spaces between its ideographs where the whole text has them.
fn push(part: &str, ideographs: bool, to: &mut String) {
    if !ideographs {
        to.push_str(part);
        return;
    }
    let mut characters = part.chars().peekable();
    let mut before = '\0';
    while let Some(character) = characters.next() {
        let after = characters.peek().copied().unwrap_or('\0');
        if character != ' ' || !is_ideograph(before) || !is_ideograph(after) {
            to.push(character);
        }
        before = character;
    }
}

/// Whether every fifth ideograph or more has a space behind it and another ideograph behind that.
fn has_spaced_ideographs(text: &str) -> bool {
    if text.is_ascii() {
        return false;
    }
    let (mut all, mut spaced) = (0_usize, 0_usize);
    let mut last = ['\0'; 2];
    for character in text.chars() {
        if is_ideograph(character) {
            all += 1;
            spaced += usize::from(last[1] == ' ' && is_ideograph(last[0]));
        }
        last = [last[1], character];
    }
    spaced >= 3 && spaced * 5 >= all
}

/// Where words of single letters begin and end in a line: at least five letters with one space between each two.
fn runs(line: &str) -> impl Iterator<Item = (usize, usize)> {
    // Most lines have no three single letters after each other.
    let mut tokens = line
        .split(' ')
        .map(|token| (token.as_ptr() as usize - line.as_ptr() as usize, token));
    let mut pending: Option<(usize, &str)> = None;
    std::iter::from_fn(move || {
        loop {
            let (start, first) = pending.take().or_else(|| tokens.next())?;
            let Some(letter) = single(first) else {
                continue;
            };
            let (mut end, mut letters, mut in_order) = (start + first.len(), 1, 0);
            let mut mixed = false;
            let mut last = letter;
            for (at, token) in tokens.by_ref() {
                let Some(letter) = single(token) else {
                    pending = Some((at, token));
                    break;
                };
                in_order += usize::from(letter as u32 == last as u32 + 1 || letter == last);
                mixed |= script(letter) != script(last);
                last = letter;
                letters += 1;
                end = at + token.len();
            }
            // "A B C D E" are columns of a table or answers to tick.
            // Formulas mix Latin and Greek ones.
            if letters >= FEWEST && in_order * 2 < letters && !mixed {
                return Some((start, end));
            }
            pending.as_ref()?;
        }
    })
}

fn single(token: &str) -> Option<char> {
    let token = token.trim_end_matches(['\n', '\r', '\x0c']);
    let mut characters = token.chars();
    let letter = characters
        .next()
        .filter(|c| c.is_alphabetic() && !is_ideograph(*c))?;
    characters.next().is_none().then_some(letter)
}

/// Letters of one block of 256 belong together, and so do those of Latin.
fn script(letter: char) -> u32 {
    match u32::from(letter) {
        number if number < 0x250 => 0,
        number => number >> 8,
    }
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{3002}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff0c}' | '\u{ff1a}')
}

const FEWEST: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_single_letters_are_closed() {
        for (broken, well) in [
            ("A b s t r a c t\nWe study", "Abstract\nWe study"),
            ("1  В в е д е н и е", "1  Введение"),
            ("R E F E R E N C E S\n", "REFERENCES\n"),
            (
                "拟合航迹 预 测 时，为 各 个 预 测",
                "拟合航迹预测时，为各个预测",
            ),
        ] {
            assert_eq!(closed(broken).as_deref(), Some(well));
        }
    }

    #[test]
    fn columns_formulas_and_prose_stay() {
        for text in [
            "A B C D E F",
            "dx = i j θ j k",
            "a b = c d",
            "I am a b",
            "方法 与 结果。本文提出了一种新的方法",
        ] {
            assert!(closed(text).is_none_or(|closed| closed == text), "{text}");
        }
    }
}
