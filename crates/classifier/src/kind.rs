//! Kinds of documents.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The kind of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An article, a paper, a preprint, a research report in the form of a paper.
    Paper,
    /// A thesis or dissertation.
    Thesis,
    /// A book or a large part of one.
    Book,
    /// A report of an authority, a company or a student.
    Report,
    /// Slides of a talk or a lecture.
    Slides,
    /// Lecture notes.
    LectureNotes,
    /// A manual, guide, data sheet or reference card.
    Manual,
    /// A curriculum vitae.
    Cv,
    /// A form or an invoice.
    Form,
    /// Anything else.
    Other,
}

impl Kind {
    /// All kinds; models keep their numbers in this order.
    pub const ALL: [Self; 10] = [
        Self::Paper,
        Self::Thesis,
        Self::Book,
        Self::Report,
        Self::Slides,
        Self::LectureNotes,
        Self::Manual,
        Self::Cv,
        Self::Form,
        Self::Other,
    ];

    /// The kinds that are academic by themselves.
    pub const ACADEMIC: [Self; 2] = [Self::Paper, Self::Thesis];

    /// Its name, as in options and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Thesis => "thesis",
            Self::Book => "book",
            Self::Report => "report",
            Self::Slides => "slides",
            Self::LectureNotes => "lecture_notes",
            Self::Manual => "manual",
            Self::Cv => "cv",
            Self::Form => "form",
            Self::Other => "other",
        }
    }

    /// The kind of a `subtype` of training data; kinds are subtypes too.
    pub fn of_subtype(subtype: &str) -> Self {
        match subtype {
            "short_paper"
            | "software_paper"
            | "case_report"
            | "report_paper"
            | "supplement"
            | "book_review_or_editorial" => Self::Paper,
            "government_report" | "finance_report" | "student_report" => Self::Report,
            "guide" | "datasheet" | "cheat_sheet" => Self::Manual,
            "invoice" => Self::Form,
            name => name.parse().unwrap_or(Self::Other),
        }
    }

    pub(crate) fn is_academic(self) -> bool {
        Self::ACADEMIC.contains(&self)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| UnknownKind {
            name: name.to_owned(),
        })
    }
}

/// There is no such kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind of document `{name}`; kinds are {}", Kind::ALL.map(Kind::name).join(", "))]
pub struct UnknownKind {
    name: String,
}
