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
    /// A paper of at most four pages: a letter, an abstract of some length, a poster paper.
    ShortPaper,
    /// A thesis or dissertation.
    Thesis,
    /// A book or a large part of one.
    Book,
    /// A report of an authority, a company or a student.
    Report,
    /// A guideline or a recommendation.
    Guideline,
    /// A proposal of a project, a research plan.
    Proposal,
    /// Slides of a talk or a lecture.
    Slides,
    /// A poster.
    Poster,
    /// Lecture notes.
    LectureNotes,
    /// Exercises, homework, an exam.
    Homework,
    /// A manual, guide or reference card.
    Manual,
    /// A data sheet or a standard.
    Datasheet,
    /// A curriculum vitae.
    Cv,
    /// A form or an invoice.
    Form,
    /// Minutes or an agenda of a meeting.
    Minutes,
    /// A law, a judgment, a contract, a policy, bylaws.
    Legal,
    /// A newsletter, a magazine, a press release, an announcement.
    Periodical,
    /// The plan of a course.
    Syllabus,
    /// Anything else.
    Other,
}

impl Kind {
    /// All kinds; models keep their numbers in this order.
    pub const ALL: [Self; 20] = [
        Self::Paper,
        Self::ShortPaper,
        Self::Thesis,
        Self::Book,
        Self::Report,
        Self::Guideline,
        Self::Proposal,
        Self::Slides,
        Self::Poster,
        Self::LectureNotes,
        Self::Homework,
        Self::Manual,
        Self::Datasheet,
        Self::Cv,
        Self::Form,
        Self::Minutes,
        Self::Legal,
        Self::Periodical,
        Self::Syllabus,
        Self::Other,
    ];

    /// The kinds that are academic by themselves.
    pub const ACADEMIC: [Self; 3] = [Self::Paper, Self::ShortPaper, Self::Thesis];

    /// Its name, as in options and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::ShortPaper => "short_paper",
            Self::Thesis => "thesis",
            Self::Book => "book",
            Self::Report => "report",
            Self::Guideline => "guideline",
            Self::Proposal => "proposal",
            Self::Slides => "slides",
            Self::Poster => "poster",
            Self::LectureNotes => "lecture_notes",
            Self::Homework => "homework",
            Self::Manual => "manual",
            Self::Datasheet => "datasheet",
            Self::Cv => "cv",
            Self::Form => "form",
            Self::Minutes => "minutes",
            Self::Legal => "legal",
            Self::Periodical => "periodical",
            Self::Syllabus => "syllabus",
            Self::Other => "other",
        }
    }

    /// The kind of a `subtype` of training data; kinds are subtypes too.
    pub fn of_subtype(subtype: &str) -> Self {
        match subtype {
            "software_paper"
            | "case_report"
            | "report_paper"
            | "supplement"
            | "book_review_or_editorial" => Self::Paper,
            "government_report" | "finance_report" | "student_report" | "business_report"
            | "evaluation" | "whitepaper" => Self::Report,
            "guide" | "cheat_sheet" => Self::Manual,
            "standard" => Self::Datasheet,
            "invoice" => Self::Form,
            "homework_exam" => Self::Homework,
            "minutes_agenda" => Self::Minutes,
            "legal_court" | "policy_bylaws" => Self::Legal,
            "newsletter" | "magazine" | "press_release" | "announcement" | "brochure" => {
                Self::Periodical
            }
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
