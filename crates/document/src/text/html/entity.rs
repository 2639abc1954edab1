//! Character references, such as `&amp;` and `&#233;`. Of the two thousand names those that pages of text use.

/// The character that text beginning with `&` begins with, and how many bytes it takes up.
pub(super) fn decode(text: &str) -> (char, usize) {
    let ampersand = ('&', 1);
    let bytes = &text.as_bytes()[1..text.len().min(LONGEST)];
    if let Some(number) = bytes.strip_prefix(b"#") {
        return numeric(number).unwrap_or(ampersand);
    }
    let length = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let Ok(name) = std::str::from_utf8(&bytes[..length]) else {
        return ampersand;
    };
    let ends = usize::from(bytes.get(length) == Some(&b';'));
    match named(name) {
        Some(character) if ends == 1 || matches!(name, "amp" | "lt" | "gt" | "nbsp" | "quot") => {
            (character, 1 + length + ends)
        }
        _ => ampersand,
    }
}

fn numeric(number: &[u8]) -> Option<(char, usize)> {
    let (radix, digits, before) = match number {
        [b'x' | b'X', digits @ ..] => (16, digits, 3),
        digits => (10, digits, 2),
    };
    let length = digits
        .iter()
        .take_while(|byte| char::from(**byte).is_digit(radix))
        .count();
    let value = std::str::from_utf8(&digits[..length]).ok()?;
    if value.is_empty() {
        return None;
    }
    let value = u32::from_str_radix(value, radix).unwrap_or(u32::MAX);
    let character = match value {
        // Quirk: pages number these as Windows does, and browsers obey.
        0x80..=0x9F => windows(value),
        value => char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    let ends = usize::from(digits.get(length) == Some(&b';'));
    Some((character, before + length + ends))
}

fn windows(value: u32) -> char {
    let byte = u8::try_from(value).unwrap_or(b'?');
    let decoded = encoding_rs::WINDOWS_1252
        .decode_without_bom_handling(&[byte])
        .0
        .chars()
        .next();
    decoded.unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn named(name: &str) -> Option<char> {
    if let Some(at) = LATIN_1.iter().position(|known| *known == name) {
        return char::from_u32(0xA0 + u32::try_from(at).ok()?);
    }
    let greek = |names: &[&str], first: u32| {
        let at = names.iter().position(|known| *known == name)?;
        char::from_u32(first + u32::try_from(at).ok()?)
    };
    if let Some(letter) = greek(&GREEK, 0x3B1) {
        return Some(letter);
    }
    if let Some(letter) = greek(&CAPITAL_GREEK, 0x391) {
        return Some(letter);
    }
    let found = OTHERS.iter().find(|(known, _)| *known == name);
    found.map(|(_, character)| *character)
}

/// What is longer is none.
const LONGEST: usize = 16;

/// From U+00A0 to U+00FF.
#[rustfmt::skip]
const LATIN_1: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not", "shy",
    "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot", "cedil", "sup1", "ordm", "raquo",
    "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig", "Ccedil",
    "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve", "Oacute",
    "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN", "szlig",
    "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc", "euml",
    "igrave", "iacute", "icirc", "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml", "divide",
    "oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];

/// From U+03B1.
#[rustfmt::skip]
const GREEK: [&str; 25] = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "omicron", "pi", "rho", "sigmaf", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
];

/// From U+0391; U+03A2 is no letter.
#[rustfmt::skip]
const CAPITAL_GREEK: [&str; 25] = [
    "Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta", "Theta", "Iota", "Kappa", "Lambda", "Mu", "Nu", "Xi",
    "Omicron", "Pi", "Rho", "-", "Sigma", "Tau", "Upsilon", "Phi", "Chi", "Psi", "Omega",
];

#[rustfmt::skip]
const OTHERS: [(&str, char); 52] = [
    ("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("ndash", '–'), ("mdash", '—'),
    ("lsquo", '‘'), ("rsquo", '’'), ("sbquo", '‚'), ("ldquo", '“'), ("rdquo", '”'), ("bdquo", '„'), ("hellip", '…'),
    ("bull", '•'), ("dagger", '†'), ("Dagger", '‡'), ("trade", '™'), ("euro", '€'), ("permil", '‰'), ("prime", '′'),
    ("lsaquo", '‹'), ("rsaquo", '›'), ("OElig", 'Œ'), ("oelig", 'œ'), ("Scaron", 'Š'), ("scaron", 'š'), ("Yuml", 'Ÿ'),
    ("fnof", 'ƒ'), ("circ", 'ˆ'), ("tilde", '˜'), ("ensp", '\u{2002}'), ("emsp", '\u{2003}'), ("thinsp", '\u{2009}'),
    ("minus", '−'), ("larr", '←'), ("rarr", '→'), ("harr", '↔'), ("infin", '∞'), ("asymp", '≈'), ("ne", '≠'),
    ("le", '≤'), ("ge", '≥'), ("sum", '∑'), ("prod", '∏'), ("radic", '√'), ("part", '∂'), ("int", '∫'), ("isin", '∈'),
    ("cap", '∩'), ("cup", '∪'), ("sub", '⊂'),
];
