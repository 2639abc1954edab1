//! setSpecs: colon-separated names of sets, and how a media type becomes one.

use std::fmt;

/// A syntactically legal setSpec.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetSpec(String);

impl SetSpec {
    /// Parses a setSpec: parts of one or more unreserved characters (RFC 2396) joined by colons.
    pub fn parse(text: &str) -> Option<Self> {
        let legal = text
            .split(':')
            .all(|part| !part.is_empty() && part.bytes().all(is_unreserved));
        legal.then(|| Self(text.to_owned()))
    }

    /// Makes `mime:TYPE:SUBTYPE` of a media type.
    ///
    /// Letters, digits, `-` and `.` stay; any other character becomes `_` and two hex digits, so that the media
    /// type can be read back. The other marks that a setSpec may hold are refused by some clients (HTTP::OAI
    /// refuses `~`) or mean something to shells.
    ///
    /// ```
    /// let set_spec = oai::SetSpec::of_media_type("image/svg+xml");
    /// assert_eq!(set_spec.as_str(), "mime:image:svg_2bxml");
    /// ```
    pub fn of_media_type(media_type: &str) -> Self {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        let (kind, subtype) = essence.split_once('/').unwrap_or((essence, ""));
        let mut spec = String::from("mime");
        for part in [kind, subtype] {
            if !part.is_empty() {
                spec.push(':');
                part.bytes().for_each(|byte| escape_into(&mut spec, byte));
            }
        }
        Self(spec)
    }

    /// The setSpec as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a member of `other` is a member of this set: sets are recursive.
    pub fn contains(&self, other: &SetSpec) -> bool {
        let rest = other.0.strip_prefix(self.0.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }

    /// The set one level up, if there is one.
    pub fn parent(&self) -> Option<SetSpec> {
        let (parent, _) = self.0.rsplit_once(':')?;
        Some(Self(parent.to_owned()))
    }

    /// The same set as [`SetSpec::of_media_type`] spells it now.
    ///
    /// Quirk: earlier versions of garner escaped with `~` instead of `_`, and left `_`, `!`, `(` and `)` as they are.
    /// Harvesters and schedules keep such names.
    ///
    /// ```
    /// let old = oai::SetSpec::parse("mime:image:svg~2bxml").unwrap();
    /// assert_eq!(old.respelled().as_str(), "mime:image:svg_2bxml");
    /// ```
    pub fn respelled(&self) -> SetSpec {
        let Some(rest) = self.0.strip_prefix("mime:") else {
            return self.clone();
        };
        let mut spec = String::from("mime");
        for part in rest.split(':') {
            spec.push(':');
            match is_spelled(part) {
                true => spec.push_str(part),
                false => decode_tildes(part).for_each(|byte| escape_into(&mut spec, byte)),
            }
        }
        Self(spec)
    }
}

impl fmt::Display for SetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(crate) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte)
}

fn escape_into(spec: &mut String, byte: u8) {
    let byte = byte.to_ascii_lowercase();
    if stays(byte) {
        spec.push(char::from(byte));
    } else {
        spec.push_str(&format!("_{byte:02x}"));
    }
}

/// Whether a character of a media type stands for itself in a setSpec.
fn stays(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-.".contains(&byte)
}

/// Whether `escape_into` can have written a part of a setSpec.
fn is_spelled(part: &str) -> bool {
    let mut escapes = part.split('_');
    let plain = |text: &str| text.bytes().all(stays);
    escapes.next().is_some_and(plain)
        && escapes.all(|text| {
            let escaped = text.get(..2).and_then(hex_byte);
            escaped.is_some_and(|byte| byte.is_ascii_graphic() && !stays(byte)) && plain(text)
        })
}

/// The bytes of a part in which `~` and two hex digits stand for one.
fn decode_tildes(part: &str) -> impl Iterator<Item = u8> + '_ {
    let mut rest = part;
    std::iter::from_fn(move || {
        let escaped = rest.strip_prefix('~').and_then(|rest| rest.get(..2));
        let (byte, length) = match escaped.and_then(hex_byte) {
            Some(byte) => (byte, 3),
            None => (*rest.as_bytes().first()?, 1),
        };
        rest = &rest[length..];
        Some(byte)
    })
}

fn hex_byte(digits: &str) -> Option<u8> {
    let hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_become_readable_set_specs() {
        for (media_type, expected) in [
            ("application/pdf", "mime:application:pdf"),
            ("application/vnd.ms-excel", "mime:application:vnd.ms-excel"),
            ("application/x-foo#1", "mime:application:x-foo_231"),
            ("Text/HTML; charset=utf-8", "mime:text:html"),
            ("a~b/c", "mime:a_7eb:c"),
            ("a_2b/c!", "mime:a_5f2b:c_21"),
            ("odd", "mime:odd"),
        ] {
            let set_spec = SetSpec::of_media_type(media_type);
            assert_eq!(set_spec.as_str(), expected);
            assert!(SetSpec::parse(set_spec.as_str()).is_some());
        }
    }

    /// Two media types never share a set, and every client tried takes the names (issue 18).
    #[test]
    fn set_specs_are_injective_and_hold_no_marks_but_the_escape() {
        let marks: Vec<char> = ('!'..='~')
            .filter(|c| !c.is_ascii_uppercase() && !"/;".contains(*c))
            .collect();
        let mut seen = std::collections::HashMap::new();
        for first in &marks {
            for second in &marks {
                for name in [format!("a/{first}{second}"), format!("a/_{first}{second}")] {
                    let spec = SetSpec::of_media_type(&name);
                    let plain = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
                    assert!(spec.as_str().chars().all(plain), "{spec}");
                    assert_eq!(spec.respelled(), spec);
                    assert_eq!(
                        seen.insert(spec.clone(), name.clone()),
                        None,
                        "{spec} {name}"
                    );
                }
            }
        }
    }

    #[test]
    fn old_spellings_are_the_same_sets() {
        for (old, expected) in [
            ("mime", "mime"),
            ("mime:image", "mime:image"),
            ("mime:image:svg~2bxml", "mime:image:svg_2bxml"),
            ("mime:a~7eb:c", "mime:a_7eb:c"),
            (
                "mime:application:vnd.dvb_ait",
                "mime:application:vnd.dvb_5fait",
            ),
            ("mime:application:x_y~2bz", "mime:application:x_5fy_2bz"),
            ("mime:application:x_abc", "mime:application:x_5fabc"),
            ("mime:application:x_4", "mime:application:x_5f4"),
            ("mime:application:a~", "mime:application:a_7e"),
            ("mime:application:a!b", "mime:application:a_21b"),
            ("mime:image:svg_2bxml", "mime:image:svg_2bxml"),
            ("other:a~2bb", "other:a~2bb"),
        ] {
            let set = SetSpec::parse(old).unwrap();
            assert_eq!(set.respelled().as_str(), expected, "{old}");
        }
    }

    #[test]
    fn refuses_illegal_characters_and_empty_parts() {
        for text in [
            "", ":", "a:", ":a", "a::b", "a/b", "a+b", "a%20", "a b", "ä",
        ] {
            assert!(SetSpec::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn sets_are_recursive_at_the_colon_only() {
        let image = SetSpec::parse("mime:image").unwrap();
        let png = SetSpec::parse("mime:image:png").unwrap();
        let imagery = SetSpec::parse("mime:imagery").unwrap();

        assert!(image.contains(&png));
        assert!(image.contains(&image));
        assert!(!image.contains(&imagery));
        assert!(!png.contains(&image));
        assert_eq!(png.parent(), Some(image));
    }
}
