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
    /// Characters that a setSpec cannot hold, and `~`, become `~` and two hex digits, so that the media
    /// type can be read back. `'` and `*` are legal but trouble shells and old clients: escaped too.
    ///
    /// ```
    /// let set_spec = oai::SetSpec::of_media_type("image/svg+xml");
    /// assert_eq!(set_spec.as_str(), "mime:image:svg~2bxml");
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
    if is_unreserved(byte) && !b"~'*".contains(&byte) {
        spec.push(char::from(byte));
    } else {
        spec.push_str(&format!("~{byte:02x}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_become_readable_set_specs() {
        for (media_type, expected) in [
            ("application/pdf", "mime:application:pdf"),
            ("application/vnd.ms-excel", "mime:application:vnd.ms-excel"),
            ("application/x-foo#1", "mime:application:x-foo~231"),
            ("Text/HTML; charset=utf-8", "mime:text:html"),
            ("a~b/c", "mime:a~7eb:c"),
            ("odd", "mime:odd"),
        ] {
            let set_spec = SetSpec::of_media_type(media_type);
            assert_eq!(set_spec.as_str(), expected);
            assert!(SetSpec::parse(set_spec.as_str()).is_some());
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
