//! Lines with the names of people.

/// Whether a line is a list of names: each word with a capital, parted by commas or by `and`, or with the marks of
/// footnotes and affiliations.
pub(super) fn is_names(line: &str) -> bool {
    let line = line.trim_end_matches([',', ';', ' ']);
    let words: Vec<_> = line
        .split([' ', ',', ';', '·'])
        .filter(|word| !is_mark(word))
        .collect();
    let is_capital = |word: &&&str| bare(word).chars().next().is_some_and(char::is_uppercase);
    let joined = words.iter().filter(|word| joins(word)).count();
    let capitals = words.iter().filter(is_capital).count();
    let initials = words
        .iter()
        .filter(|word| word.ends_with('.') && word.chars().count() == 2)
        .count();
    let commas = line.matches(',').count();
    let particles = words.iter().filter(|word| PARTICLES.contains(word)).count();
    let begins = words.first().is_some_and(|word| is_capital(&word));
    if !begins || capitals + joined + particles < words.len() {
        return false;
    }
    if words.len() > 1 && words.iter().any(|word| is_degree(word)) {
        return true;
    }
    let is_long = words.iter().any(|word| word.chars().count() > 13);
    initials > 0
        || (!is_long
            && (commas >= 2
                || (commas + joined >= 1 && words.len() <= 9 && words.len() >= 4 && commas > 0)))
        || is_marked(&words)
        || (2..=3 + particles).contains(&words.len())
            && !is_long
            && commas == 0
            && joined == 0
            && is_person(&words, SHORT_NAME)
}

/// Whether a line below a title names its authors, also without a sign but `and`: `Ada Lovelace and Charles Babbage`.
pub(super) fn is_authors(line: &str) -> bool {
    let people: Vec<_> = line.split([',', ';', '·']).flat_map(people).collect();
    let are_people =
        |words: &Vec<&str>| (2..=4).contains(&words.len()) && is_person(words, LONG_NAME);
    // One line of a title may be like a name as well, if it is longer.
    let is_enough = people.len() > 1 || people.iter().all(|words| words.len() == 2);
    is_names(line) || !people.is_empty() && is_enough && people.iter().all(are_people)
}

/// Whether a line is a list of names beyond doubt, not two or three words that may be another thing.
pub(super) fn is_many_names(line: &str) -> bool {
    is_authors(line)
        && (line.split(' ').count() > 3 || line.contains(|letter: char| letter.is_ascii_digit()))
}

/// The words of each person of a line without commas.
fn people(part: &str) -> Vec<Vec<&str>> {
    let words: Vec<_> = part
        .split(' ')
        .filter(|word| word.chars().any(char::is_alphabetic) || joins(word))
        .collect();
    let people = words.split(|word| joins(word)).map(<[&str]>::to_vec);
    people.filter(|words| !words.is_empty()).collect()
}

/// Whether several words have the mark of a footnote or an affiliation, and are no words of titles: `Ely1,2`.
fn is_marked(words: &[&str]) -> bool {
    let is_marked = |word: &&&str| {
        let name = bare(word);
        let is_name = match name.chars().all(char::is_uppercase) {
            true => name.chars().count() > 4,
            false => name.chars().count() > 1 && name.ends_with(char::is_lowercase),
        };
        is_name && name.len() < word.len() && !word.ends_with(['.', ':', ')'])
    };
    let marked = words.iter().filter(is_marked).count();
    words.len() > 1 && marked > 0 && !words.iter().any(|word| has_ending_of_titles(bare(word)))
}

/// Whether words look like the name of one person, not like a title: none is a word of titles.
fn is_person(words: &[&str], longest: usize) -> bool {
    let is_name = |(at, word): (usize, &&str)| {
        if PARTICLES.contains(word) || is_initial(word) && (at > 0 || word.ends_with('.')) {
            return true;
        }
        let word = bare(word);
        let mut letters = word.chars();
        let first = letters.next().is_some_and(char::is_uppercase);
        let mut before = ' ';
        first
            && !SMALL_WORDS.contains(&&*word.to_lowercase())
            && word.chars().count() <= longest
            && letters.all(|letter| {
                let is_fit = letter.is_lowercase()
                    || matches!(letter, '-' | '’' | '\'')
                    || matches!(before, '-' | '’' | '\'') && letter.is_uppercase();
                before = letter;
                is_fit
            })
    };
    let mut names = words.iter().enumerate();
    names.all(is_name) && !words.iter().any(|word| has_ending_of_titles(bare(word)))
}

/// Whether a word ends like a common noun.
fn has_ending_of_titles(word: &str) -> bool {
    const ENDINGS: [&str; 21] = [
        "ing", "ion", "ions", "ics", "ogy", "ory", "ism", "ity", "ies", "ems", "sis", "als", "tes",
        "ods", "ure", "ures", "ment", "ments", "ence", "nces", "ness",
    ];
    ENDINGS.iter().any(|end| word.ends_with(end))
}

/// A word without the marks of footnotes and affiliations at its end.
fn bare(word: &str) -> &str {
    word.trim_end_matches(|letter: char| {
        letter.is_ascii_digit() || "*†∗‡§¶.#✉".contains(letter) || ('¹'..='³').contains(&letter)
    })
}

/// Whether what stands between spaces or commas is the mark of an affiliation.
fn is_mark(word: &str) -> bool {
    !word.chars().any(char::is_alphabetic) && word.chars().count() < 3
}

fn is_initial(word: &str) -> bool {
    let mut letters = word.trim_end_matches('.').chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_none()
}

fn joins(word: &str) -> bool {
    matches!(word, "and" | "und" | "et" | "y" | "e" | "&" | "AND")
}

fn is_degree(word: &str) -> bool {
    matches!(
        word.trim_end_matches('.'),
        "MD" | "M.D" | "PhD" | "Ph.D" | "MPH" | "MSc" | "BSc" | "FRCS" | "DVM" | "RN" | "Esq"
    )
}

/// Letters of a name that stands alone, and of one among others.
const SHORT_NAME: usize = 10;
const LONG_NAME: usize = 16;

const SMALL_WORDS: [&str; 16] = [
    "a", "an", "the", "on", "in", "of", "for", "to", "from", "with", "by", "at", "as", "part",
    "case", "study",
];

const PARTICLES: [&str; 12] = [
    "de", "del", "della", "di", "da", "van", "von", "der", "den", "la", "le", "bin",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authors_are_told_from_the_last_line_of_a_title() {
        for line in [
            "Matthias Ehrgotta,∗, Allen Holderb , Omid Nohadanic",
            "Omid Nohadani1,2 and Thomas Bortfeld1",
            "Tara Slough†‡",
            "Mark A Fisher1, 2",
            "Per Martin-Löf",
            "Andrew French, MD",
            "Sander van der Burg",
            "Vikrant Vijan, Anjith Vupputuri, and Rajiv Chandrasekharan Nair",
            "Tamas Vicsek,",
            "Philipp Mayr & Vivien Petras",
        ] {
            assert!(is_authors(line), "{line}");
        }
        for line in [
            "Sign-Congruence, External Validity, and Replication*",
            "and Prediction Problems1",
            "A Host and Guest Language Independent Approach",
            "On Discrete and Continuous Domains",
            "PHY517 / AST443: Observational Techniques",
            "Fifth-order Shallow Water-wave Models",
        ] {
            assert!(!is_authors(line), "{line}");
        }
    }
}
