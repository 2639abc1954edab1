//! Texts with fields in them, such as `ftp://example.org/{file}`.

use super::field::{Field, Fields};
use super::location::Location;

/// A text with places for what a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(Field),
    Part(Part),
}

/// A part of the URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Host,
    Path,
    Name,
    Query,
    Directory,
}

const PARTS: [(&str, Part); 5] = [
    ("host", Part::Host),
    ("path", Part::Path),
    ("name", Part::Name),
    ("query", Part::Query),
    ("directory", Part::Directory),
];

impl Template {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (before, behind) = rest.split_at(open);
            let Some((name, behind)) = behind[1..].split_once('}') else {
                return Err(format!("`{text}` has a brace that is not closed"));
            };
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            pieces.push(named(name)?);
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self { pieces })
    }

    /// Whether it asks for a part of the URL, so that it cannot be the URL itself.
    pub(super) fn needs_url(&self) -> bool {
        let needs = |piece: &Piece| matches!(piece, Piece::Part(_) | Piece::Field(Field::Url));
        self.pieces.iter().any(needs)
    }

    /// Fills it in; `None` if something that it asks for is not there. In a URL, what fields hold is percent-encoded.
    pub(super) fn fill(&self, fields: &Fields<'_>, url: &str, in_url: bool) -> Option<Vec<u8>> {
        let location = Location::of(url.as_bytes());
        let mut filled = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => filled.extend(text.as_bytes()),
                Piece::Field(Field::Url) => filled.extend(url.as_bytes()),
                Piece::Field(field) if in_url => escape(fields.get(*field)?, &mut filled),
                Piece::Field(field) => filled.extend(fields.get(*field)?),
                Piece::Part(part) => filled.extend(part.of(location.as_ref()?)),
            }
        }
        Some(filled)
    }
}

impl Part {
    fn of<'u>(self, location: &Location<'u>) -> &'u [u8] {
        match self {
            Self::Host => location.host,
            Self::Path => location.path.strip_prefix(b"/").unwrap_or(location.path),
            Self::Name => location.name(),
            Self::Query => location.query.unwrap_or_default(),
            Self::Directory => location.directory,
        }
    }
}

fn named(name: &str) -> Result<Piece, String> {
    if let Some(field) = Field::named(name) {
        return Ok(Piece::Field(field));
    }
    let part = PARTS.iter().find(|(known, _)| *known == name);
    let (_, part) = part.ok_or_else(|| {
        let parts = PARTS.map(|(known, _)| known).join(", ");
        format!(
            "`{{{name}}}` is not known; there are {}, and of the URL {parts}",
            Field::names()
        )
    })?;
    Ok(Piece::Part(*part))
}

/// Percent-encodes what cannot stand in the path of a URL.
fn escape(bytes: &[u8], filled: &mut Vec<u8>) {
    for &byte in bytes {
        match byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) {
            true => filled.push(byte),
            false => filled.extend(format!("%{byte:02X}").into_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_with_fields_and_parts_of_the_url() {
        let mut fields = Fields::default();
        fields.set(Field::File, &b"a b/c.pdf"[..]);
        let fill = |template: &str, in_url| {
            let template = Template::parse(template).unwrap();
            let filled = template.fill(&fields, "http://u@H:80/p/q/n.pdf?x=1#y", in_url);
            filled.map(|filled| String::from_utf8(filled).unwrap())
        };

        assert_eq!(fill("ftp://h/{file}", true).unwrap(), "ftp://h/a%20b/c.pdf");
        assert_eq!(fill("{file}", false).unwrap(), "a b/c.pdf");
        assert_eq!(
            fill("{host}/{path}|{name}|{query}", false).unwrap(),
            "H/p/q/n.pdf|n.pdf|x=1"
        );
        assert_eq!(fill("{directory}", true).unwrap(), "http://u@H:80/p/q/");
        assert_eq!(fill("{digest}", false), None);
        assert!(Template::parse("{url").is_err());
        assert!(
            Template::parse("{urll}")
                .unwrap_err()
                .contains("`{urll}` is not known; there are url,")
        );
    }
}
