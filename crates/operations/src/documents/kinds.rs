//! The kinds of documents, for the search, for sets and for exports.
//!
//! The content filter tells some of them; the others stay under the nearest kind that it knows until a person corrects
//! them.

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

/// The nearest kind that the content filter knows.
pub fn nearest(kind: &str) -> Kind {
    if let Ok(known) = kind.parse() {
        return known;
    }
    match kind {
        "short_paper" => Kind::Paper,
        "guideline" | "proposal" => Kind::Report,
        "poster" => Kind::Slides,
        "homework" | "syllabus" => Kind::LectureNotes,
        "datasheet" => Kind::Manual,
        "periodical" => Kind::Book,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_content_filter_is_a_kind() {
        for known in Kind::ALL {
            assert_eq!(kind(known.name()).unwrap(), known.name());
            assert_eq!(nearest(known.name()), known);
        }
        assert_eq!(kind("Lecture notes").unwrap(), "lecture_notes");
        assert!(kind("novel").is_err());
    }
}
