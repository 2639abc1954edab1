//! setSpecs: by repository, by the source's own sets under it, and by kind, media type and host of documents.

use oai::SetSpec;

/// All records.
pub(crate) const RECORDS: &str = "repository";
/// All documents.
pub(crate) const DOCUMENTS: &str = "document";
/// Sets of the operator's own.
pub(crate) const QUERIES: &str = "query";

/// The set of a repository.
pub(crate) fn of_repository(number: i64) -> SetSpec {
    join(&format!("{RECORDS}:{number}"), [])
}

/// A set of a repository, under that of the repository. A character that no setSpec may have becomes `_` and two digits.
pub(crate) fn of_source(number: i64, set_spec: &str) -> SetSpec {
    match SetSpec::parse(set_spec) {
        Some(legal) => join(&format!("{RECORDS}:{number}"), [legal.as_str()]),
        None => {
            let parts: Vec<_> = set_spec
                .split(':')
                .filter(|part| !part.is_empty())
                .map(escaped)
                .collect();
            join(
                &format!("{RECORDS}:{number}"),
                parts.iter().map(String::as_str),
            )
        }
    }
}

/// The documents of a kind.
pub(crate) fn of_kind(kind: &str) -> SetSpec {
    join(&format!("{DOCUMENTS}:kind"), [escaped(kind).as_str()])
}

/// The documents of a media type.
pub(crate) fn of_media_type(media_type: &str) -> SetSpec {
    join(DOCUMENTS, [SetSpec::of_media_type(media_type).as_str()])
}

/// The documents of a host, under those of its domain: `document:host:org:example:www`.
pub(crate) fn of_host(host: &str) -> SetSpec {
    let parts: Vec<_> = host
        .rsplit('.')
        .filter(|part| !part.is_empty())
        .map(escaped)
        .collect();
    join(
        &format!("{DOCUMENTS}:host"),
        parts.iter().map(String::as_str),
    )
}

/// The number of the repository that a set is of, if it is of one.
pub(crate) fn repository_of(set: &SetSpec) -> Option<i64> {
    let mut parts = set.as_str().split(':');
    (parts.next() == Some(RECORDS))
        .then(|| parts.next()?.parse().ok())
        .flatten()
}

fn join<'a>(first: &str, rest: impl IntoIterator<Item = &'a str>) -> SetSpec {
    let mut spec = first.to_owned();
    for part in rest {
        if !part.is_empty() {
            spec.push(':');
            spec.push_str(part);
        }
    }
    // Illegal characters were escaped.
    SetSpec::parse(&spec).unwrap_or_else(|| SetSpec::of_media_type("odd"))
}

fn escaped(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for byte in part.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => text.push(char::from(byte)),
            _ => text.push_str(&format!("_{byte:02x}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_named_by_what_they_hold() {
        for (set, expected) in [
            (of_repository(3), "repository:3"),
            (of_source(3, "a:b"), "repository:3:a:b"),
            (of_source(3, "a b/ü:"), "repository:3:a_20b_2f_c3_bc"),
            (of_source(3, ""), "repository:3"),
            (of_kind("paper"), "document:kind:paper"),
            (
                of_media_type("image/svg+xml"),
                "document:mime:image:svg_2bxml",
            ),
            (of_host("www.example.org"), "document:host:org:example:www"),
        ] {
            assert_eq!(set.as_str(), expected);
        }
        assert_eq!(repository_of(&of_source(3, "a")), Some(3));
        assert_eq!(repository_of(&of_kind("3")), None);
        assert!(of_host("example.org").contains(&of_host("www.example.org")));
    }
}
