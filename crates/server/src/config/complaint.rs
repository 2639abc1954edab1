//! The mistake in a configuration file, in one line: where, what, and the key that was probably meant.

/// The complaint of the parser about a text.
pub fn complaint(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    let at = error
        .span()
        .map_or(String::new(), |span| place(text, span.start));
    match nearest_key(&message) {
        Some(nearest) => format!("{at}{message}; did you mean `{nearest}`?"),
        None => format!("{at}{message}"),
    }
}

/// The line that holds a byte of the text, by number and by what stands there.
fn place(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    let number = before.matches('\n').count() + 1;
    match text.lines().nth(number - 1).unwrap_or_default().trim() {
        "" => format!("line {number}: "),
        line => {
            let shown: String = line.chars().take(60).collect();
            format!("line {number}, `{shown}`: ")
        }
    }
}

/// The key nearest to the unknown one of a message such as "unknown field `a`, expected one of `b`, `c`".
fn nearest_key(message: &str) -> Option<String> {
    let (unknown, expected) = message.strip_prefix("unknown field `")?.split_once('`')?;
    let keys = expected.split('`').skip(1).step_by(2);
    let (distance, key) = keys
        .map(|key| (strsim::damerau_levenshtein(unknown, key), key))
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= unknown.len().max(3) / 2).then(|| key.to_owned())
}
