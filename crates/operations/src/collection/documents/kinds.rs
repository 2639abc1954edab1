//! The kinds of documents, for the search, for sets and for exports.
//!
//! The content filter tells all of them; a person may correct it.

use classifier::Kind;

use crate::Refusal;

/// The kinds.
pub const KINDS: [&str; 20] = [
    "paper",
    "short_paper",
    "thesis",
    "book",
    "report",
    "guideline",
    "proposal",
    "slides",
    "poster",
    "lecture_notes",
    "homework",
    "manual",
    "datasheet",
    "cv",
    "form",
    "minutes",
    "legal",
    "periodical",
    "syllabus",
    "other",
];

/// The kind of this name, with spaces and dashes for underscores as people write it.
pub fn kind(name: &str) -> Result<&'static str, Refusal> {
    let plain = name.trim().to_lowercase().replace([' ', '-'], "_");
    let known = KINDS.into_iter().find(|kind| *kind == plain);
    known.ok_or_else(|| {
        let reason = format!(
            "there is no kind `{name}`; the kinds are {}",
            KINDS.join(", ")
        );
        Refusal::invalid("kind", reason)
    })
}

/// The kind as the content filter knows it; `other` for a name from elsewhere.
pub fn nearest(kind: &str) -> Kind {
    kind.parse().unwrap_or(Kind::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_content_filter_is_a_kind() {
        assert_eq!(KINDS, Kind::ALL.map(Kind::name));
        for known in Kind::ALL {
            assert_eq!(kind(known.name()).unwrap(), known.name());
            assert_eq!(nearest(known.name()), known);
        }
        assert_eq!(kind("Lecture notes").unwrap(), "lecture_notes");
        assert!(kind("novel").is_err());
    }
}
