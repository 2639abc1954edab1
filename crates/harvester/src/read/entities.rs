//! Entities that a document type declares itself: small ones are followed, and nothing outside of the answer.

use std::collections::HashMap;

use super::references::resolve;

/// The texts of entities, by name.
#[derive(Debug, Default)]
pub(super) struct Entities {
    texts: HashMap<String, String>,
    /// How many bytes the page may still grow by them.
    room: usize,
}

impl Entities {
    /// Reads what a document type declares. Entities with markup, from outside, or longer than `LONGEST` are left out.
    pub(super) fn declared(doctype: &str) -> Self {
        let mut entities = Self {
            texts: HashMap::new(),
            room: MOST_GROWTH,
        };
        let mut rest = match doctype.split_once('[') {
            Some((_, subset)) => subset,
            None => return entities,
        };
        while let Some(at) = rest.find('<') {
            rest = &rest[at..];
            let end = match rest.starts_with("<!--") {
                true => rest.find("-->").map(|end| end + 3),
                false => end_of_declaration(rest),
            };
            let Some(end) = end else {
                break;
            };
            if let Some(declaration) = rest[..end].strip_prefix("<!ENTITY") {
                entities.declare(declaration.trim_end_matches('>'));
            }
            rest = &rest[end..];
        }
        entities
    }

    /// The text of an entity, unless the page has grown too much by entities already.
    pub(super) fn text(&mut self, name: &str) -> Option<&str> {
        let text = self.texts.get(name)?;
        self.room = self.room.checked_sub(text.len())?;
        Some(text)
    }

    /// Puts the texts of entities into the value of an attribute, escaped.
    pub(super) fn expand(&mut self, value: &str) -> Option<String> {
        if self.texts.is_empty() || !value.contains('&') {
            return None;
        }
        let mut out = String::new();
        let mut rest = value;
        let mut is_changed = false;
        while let Some((before, name, after)) = next_reference(rest) {
            out.push_str(before);
            match resolve(name).is_none().then(|| self.text(name)).flatten() {
                Some(text) => {
                    out.push_str(&escaped(text));
                    is_changed = true;
                }
                None => out.extend(["&", name, ";"]),
            }
            rest = after;
        }
        out.push_str(rest);
        is_changed.then_some(out)
    }

    fn declare(&mut self, declaration: &str) {
        let declaration = declaration.trim();
        let Some((name, value)) = declaration.split_once(char::is_whitespace) else {
            return;
        };
        let value = value.trim();
        let quote = value
            .chars()
            .next()
            .filter(|quote| ['"', '\''].contains(quote));
        let literal = quote.and_then(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
        let Some(literal) = literal.filter(|_| name != "%" && self.texts.len() < MOST) else {
            return;
        };
        // References to characters count when an entity is declared, others when it is used.
        let Some(replacement) = replaced(literal, |name| match name.starts_with('#') {
            true => resolve(name).map(String::from),
            false => Some(format!("&{name};")),
        }) else {
            return;
        };
        let text = replaced(&replacement, |name| match resolve(name) {
            Some(c) => Some(c.to_string()),
            None => self.texts.get(name).cloned(),
        });
        if let Some(text) = text.filter(|_| !replacement.contains('<')) {
            // The first declaration counts.
            self.texts.entry(name.to_owned()).or_insert(text);
        }
    }
}

/// Text as it is written in XML.
pub(super) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// Replaces all references; `None` if one means nothing, or the text becomes too long.
fn replaced(text: &str, meaning: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, name, after)) = next_reference(rest) {
        out.push_str(before);
        out.push_str(&meaning(name)?);
        rest = after;
        if out.len() > LONGEST {
            return None;
        }
    }
    out.push_str(rest);
    (out.len() <= LONGEST && !rest.contains('&')).then_some(out)
}

/// The text before a reference, its name, and the text behind it.
fn next_reference(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('&')?;
    let (name, after) = rest.split_once(';')?;
    Some((before, name, after))
}

/// Where a declaration ends: `>` within quotes does not count.
fn end_of_declaration(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return Some(at + 1),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

const MOST: usize = 300;
const LONGEST: usize = 256;
const MOST_GROWTH: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn text(doctype: &str, name: &str) -> Option<String> {
        Entities::declared(doctype).text(name).map(str::to_owned)
    }

    #[test]
    fn small_entities_mean_what_xml_says() {
        let doctype = "OAI-PMH [<!ENTITY lt2 '&#38;#60;'> <!-- <!ENTITY no 'x'> --> <!ELEMENT a (b)>\
            <!ENTITY who \"R&#38;#38;D > 'x' &lt2;\"><!ENTITY who 'second'>]";
        assert_eq!(text(doctype, "lt2").as_deref(), Some("<"));
        assert_eq!(text(doctype, "who").as_deref(), Some("R&D > 'x' <"));
        assert_eq!(text(doctype, "no"), None);
    }

    #[test]
    fn markup_files_bombs_and_circles_are_left_out() {
        let long = format!("a [<!ENTITY a '{}'>]", "x".repeat(300));
        for doctype in [
            "a [<!ENTITY a '<b/>'>]",
            "a [<!ENTITY a '&#60;b/>'>]",
            "a [<!ENTITY a SYSTEM 'file:///etc/passwd'>]",
            "a [<!ENTITY % a 'x'>]",
            "a [<!ENTITY a '&a;'>]",
            "a [<!ENTITY a '&b;'><!ENTITY b '&a;'>]",
            "a [<!ENTITY a '&'>]",
            "a [<!ENTITY a 'x",
            "a [<!ENTITY",
            "a",
            long.as_str(),
        ] {
            assert_eq!(text(doctype, "a"), None, "{doctype}");
        }
    }

    #[test]
    fn a_page_grows_by_entities_within_a_limit() {
        let mut entities = Entities::declared(&format!("a [<!ENTITY a '{}'>]", "x".repeat(256)));
        let used = (0..10_000).take_while(|_| entities.text("a").is_some());
        assert_eq!(used.count(), MOST_GROWTH / 256);
    }
}
