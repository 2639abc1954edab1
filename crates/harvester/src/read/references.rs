//! References in text and attributes: what they mean, and what is written for those that XML lacks.

use rules::xml::html_entity;

use super::text::is_legal;

/// The text of a reference without `&` and `;`, if XML knows it.
pub(super) fn resolve(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) if plain(hex, 16) => u32::from_str_radix(hex, 16).ok()?,
                None if plain(number, 10) => number.parse().ok()?,
                _ => return None,
            };
            char::from_u32(code).filter(|c| is_legal(*c))
        }
    }
}

/// The most likely meaning of a reference that XML does not know.
pub(super) fn mended(name: &str) -> String {
    let number = name.strip_prefix('#');
    if number.is_some_and(|n| plain(n, 10) || n.strip_prefix('x').is_some_and(|h| plain(h, 16))) {
        return '\u{fffd}'.to_string();
    }
    match html_entity(name) {
        Some(characters) => characters.to_owned(),
        None => format!("&amp;{};", name.replace('&', "&amp;")),
    }
}

/// Escapes what is no reference in an attribute value; `None` if all is right.
pub(super) fn mend_value(value: &str) -> Option<String> {
    let mut out = String::new();
    let mut wrong = false;
    let mut rest = value;
    while let Some(at) = rest.find(['&', '<']) {
        out.push_str(&rest[..at]);
        if rest.as_bytes()[at] == b'<' {
            wrong = true;
            out.push_str("&lt;");
            rest = &rest[at + 1..];
            continue;
        }
        let name = rest[at + 1..]
            .find(';')
            .map(|end| &rest[at + 1..at + 1 + end]);
        match name {
            Some(name) if resolve(name).is_some() => {
                out.push_str(&rest[at..at + name.len() + 2]);
                rest = &rest[at + name.len() + 2..];
            }
            Some(name) if is_reference(name) => {
                wrong = true;
                out.push_str(&mended(name));
                rest = &rest[at + name.len() + 2..];
            }
            _ => {
                wrong = true;
                out.push_str("&amp;");
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    wrong.then_some(out)
}

/// The plain text of an attribute value or of text that is known to be right.
pub(super) fn unescape(value: &str) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let name = rest[at + 1..]
            .find(';')
            .map(|end| &rest[at + 1..at + 1 + end]);
        match name.and_then(|name| Some((name.len(), resolve(name)?))) {
            Some((length, c)) => {
                out.push(c);
                rest = &rest[at + length + 2..];
            }
            None => {
                out.push('&');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn is_reference(name: &str) -> bool {
    let name = name.strip_prefix('#').unwrap_or(name);
    !name.is_empty() && name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn plain(digits: &str, radix: u32) -> bool {
    !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_of_xml_are_resolved_and_no_others() {
        assert_eq!(resolve("amp"), Some('&'));
        assert_eq!(resolve("#xE9"), Some('é'));
        assert_eq!(resolve("#233"), Some('é'));
        for wrong in [
            "nbsp", "#", "#x", "#x1A", "#26", "#xD800", "#+65", "#X41", "",
        ] {
            assert_eq!(resolve(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn attribute_values_are_mended_only_where_they_are_wrong() {
        assert_eq!(mend_value("http://a/?b=1&amp;c=2"), None);
        assert_eq!(mend_value("&Oslash;&fjlig;").as_deref(), Some("Øfj"));
        assert_eq!(
            mend_value("?b=1&c=2&eacute;<").as_deref(),
            Some("?b=1&amp;c=2é&lt;")
        );
    }
}
