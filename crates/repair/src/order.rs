//! Lines of Hebrew, Arabic and Persian whose letters came out from left to right, as they are drawn.

/// The text with such lines in reading order; `None` if its lines are in order.
pub(super) fn restored(text: &str) -> Option<String> {
    if !text.contains(is_right_to_left) || !is_reversed(text) {
        return None;
    }
    let mut restored = String::with_capacity(text.len());
    for line in text.split_inclusive(['\n', '\x0c']) {
        let end = line.trim_end_matches(['\n', '\x0c']).len();
        match line.contains(is_right_to_left) {
            true => reverse(&line[..end], &mut restored),
            false => restored.push_str(&line[..end]),
        }
        restored.push_str(&line[end..]);
    }
    Some(restored)
}

/// Words tell by letters that only end words, by the article that only begins them, and the commonest small ones by themselves.
fn is_reversed(text: &str) -> bool {
    let (mut forward, mut backward) = (0_usize, 0_usize);
    for word in text
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| word.contains(is_right_to_left))
    {
        let letters: Vec<char> = word.chars().take(40).collect();
        let [first, .., last] = letters[..] else {
            continue;
        };
        let turned: String = letters.iter().rev().collect();
        match (SMALL.contains(&word), SMALL.contains(&&*turned)) {
            (true, false) => forward += 1,
            (false, true) => backward += 1,
            _ => {}
        }
        backward += usize::from(is_final(first));
        forward += usize::from(is_final(last));
        if letters.len() > 3 {
            forward += usize::from(letters.starts_with(&['ا', 'ل']));
            backward += usize::from(letters.ends_with(&['ل', 'ا']));
        }
    }
    backward >= 5 && backward > 3 * forward
}

/// Turns a line round; numbers and words of other scripts keep their order.
fn reverse(line: &str, to: &mut String) {
    let characters: Vec<char> = line.chars().collect();
    let keeps = |c: char| !is_right_to_left(c) && (c.is_alphanumeric());
    let mut end = characters.len();
    while end > 0 {
        let mut start = end - 1;
        if keeps(characters[start]) {
            let inner = |c: char| keeps(c) || matches!(c, '.' | ',' | '/' | ':' | '-' | '@' | '_');
            while start > 0 && inner(characters[start - 1]) {
                start -= 1;
            }
            while !keeps(characters[start]) {
                start += 1;
            }
        }
        match end - start {
            1 => to.push(mirrored(characters[start])),
            _ => to.extend(&characters[start..end]),
        }
        end = start;
    }
}

fn mirrored(c: char) -> char {
    match c {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '«' => '»',
        '»' => '«',
        c => c,
    }
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{6ff}' | '\u{750}'..='\u{77f}')
}

/// Small words that are none when they are turned round: of Persian, Arabic, Urdu and Hebrew.
const SMALL: [&str; 28] = [
    "از", "به", "که", "این", "است", "را", "برای", "های", "شده", "شود", "یک", "بر", //
    "في", "من", "هذا", "التي", "عن", "أن", "إلى", "كان", //
    "میں", "کے", "ہے", //
    "של", "את", "על", "הוא", "זה",
];

fn is_final(c: char) -> bool {
    matches!(c, 'ם' | 'ן' | 'ץ' | 'ף' | 'ך' | 'ة' | 'ى')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reversed_lines_are_turned() {
        let well = "במאמר זה אנו מציגים שיטה חדשה לניתוח נתונים (2004) שנאספו במדינות רבות עם LaTeX לצורך מחקרים";
        let mut broken = String::new();
        reverse(well, &mut broken);
        assert_ne!(broken, well);
        assert_eq!(restored(&broken).as_deref(), Some(well));
        assert_eq!(restored(well), None);
        let well = "يهدف هذا البحث إلى دراسة العلاقة بين المتغيرات المستقلة في المؤسسات التعليمية والإدارة العامة";
        let mut broken = String::new();
        reverse(well, &mut broken);
        assert_eq!(restored(&broken).as_deref(), Some(well));
        assert_eq!(restored(well), None);
    }

    #[test]
    fn lines_of_persian_are_told_by_its_small_words() {
        let well = "در این مقاله روشی برای تحلیل داده های بزرگ که از منابع مختلف به دست آمده است معرفی می شود (2015)";
        let mut broken = String::new();
        reverse(well, &mut broken);
        assert_ne!(broken, well);
        assert_eq!(restored(&broken).as_deref(), Some(well));
        assert_eq!(restored(well), None);
    }
}
