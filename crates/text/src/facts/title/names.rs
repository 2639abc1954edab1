//! Lines with the names of people.

/// Whether a line is a list of names: each word with a capital, parted by commas or by `and`.
pub(super) fn is_names(line: &str) -> bool {
    let words: Vec<_> = line
        .split([' ', ',', ';'])
        .filter(|word| !word.is_empty())
        .collect();
    let is_capital = |word: &&&str| word.chars().next().is_some_and(char::is_uppercase);
    let joined = words
        .iter()
        .filter(|word| matches!(**word, "and" | "und" | "et" | "y" | "&"))
        .count();
    let capitals = words.iter().filter(is_capital).count();
    let initials = words
        .iter()
        .filter(|word| word.ends_with('.') && word.chars().count() == 2)
        .count();
    let commas = line.matches(',').count();
    if capitals + joined < words.len() {
        return false;
    }
    let is_long = words.iter().any(|word| word.chars().count() > 13);
    initials > 0
        || (!is_long
            && (commas >= 2
                || (commas + joined >= 1 && words.len() <= 9 && words.len() >= 4 && commas > 0)))
        || (words.len() == 2 || words.len() == 3)
            && !is_long
            && commas == 0
            && joined == 0
            && is_person(&words)
}

/// Whether two or three words look like the name of one person, not like a title: none is a word of titles.
fn is_person(words: &[&str]) -> bool {
    let is_name = |word: &&str| {
        let mut letters = word
            .trim_end_matches(['*', '†', '∗', '1', '2', '3', '.'])
            .chars();
        let first = letters.next().is_some_and(char::is_uppercase);
        let rest: Vec<_> = letters.collect();
        first
            && rest.len() < 10
            && rest
                .iter()
                .all(|letter| letter.is_lowercase() || matches!(letter, '-' | '’' | '\''))
    };
    let endings = [
        "ing", "ion", "ics", "ogy", "ory", "ism", "ory", "ity", "ies", "ems", "sis", "als", "tes",
        "ods",
    ];
    words.iter().all(is_name)
        && !words
            .iter()
            .any(|word| endings.iter().any(|end| word.ends_with(end)))
}
