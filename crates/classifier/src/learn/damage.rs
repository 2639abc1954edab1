//! Damages that the text layers of documents have, done to documents that are learnt from: a model that has seen them is not
//! misled by them.

/// Damages a text; `chance` chooses how.
pub(super) fn damaged(text: &str, chance: u8) -> String {
    let damage = DAMAGES[usize::from(chance) % DAMAGES.len()];
    damage(text)
}

const DAMAGES: [fn(&str) -> String; 8] = [
    without_spaces,
    without_some_spaces,
    without_pages,
    paragraph_lines,
    word_lines,
    wide_lines,
    running_heads,
    spaced_letters,
];

/// Fonts without a width for the space.
fn without_spaces(text: &str) -> String {
    text.replace(' ', "")
}

fn without_some_spaces(text: &str) -> String {
    let mut number = 0_u32;
    let mut is_kept = |c: char| {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        c != ' ' || number >> 31 == 0
    };
    text.chars().filter(|c| is_kept(*c)).collect()
}

/// Readers that do not tell where pages end.
fn without_pages(text: &str) -> String {
    text.replace('\x0c', "\n")
}

/// Readers that join the lines of a paragraph.
fn paragraph_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.split('\n') {
        let ends = line.trim().is_empty() || line.starts_with('\x0c');
        match ends {
            true => joined.push_str("\n\n"),
            false if !joined.ends_with('\n') => joined.push(' '),
            false => {}
        }
        joined.push_str(line);
    }
    joined
}

/// Readers that make a line of each word, as of text that is set word by word.
fn word_lines(text: &str) -> String {
    text.replace(' ', "\n")
}

/// Readers that make a paragraph of each line.
fn wide_lines(text: &str) -> String {
    text.replace('\n', "\n\n")
}

/// A line of a journal at the top of each page.
fn running_heads(text: &str) -> String {
    let pages = text.split_inclusive('\x0c').enumerate();
    let headed = pages.map(|(number, page)| format!("A. N. Other 12 (2010) 100 {number}\n{page}"));
    headed.collect()
}

/// Fonts whose letters are set one by one.
fn spaced_letters(text: &str) -> String {
    let mut spaced = String::with_capacity(2 * text.len());
    for c in text.chars() {
        spaced.push(c);
        if !matches!(c, '\n' | '\x0c') {
            spaced.push(' ');
        }
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_damage_is_another_and_the_same_each_time() {
        let text = "A title of it\nSome words stand\nhere.\n\nMore words\n\x0cA page\n";
        let all: Vec<String> = (0..8).map(|chance| damaged(text, chance)).collect();

        for (index, damaged_text) in all.iter().enumerate() {
            assert_ne!(damaged_text, text);
            assert_eq!(*damaged_text, damaged(text, index as u8 + 8));
            assert!(!all[..index].contains(damaged_text), "{damaged_text}");
        }
        assert!(all[3].contains("Some words stand here."), "{}", all[3]);
        assert!(all[7].starts_with("A   t i t l e "), "{}", all[7]);
    }
}
