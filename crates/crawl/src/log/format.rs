//! The format of a log: the meaning of its lines.

use std::ops::RangeInclusive;

use super::entry::{self, Meaning};
use super::field::{COUNT, Field};
use super::format_file;
use super::layout::Layout;
use super::template::Template;
use crate::Error;

/// How a log is read: how its lines are taken apart, what stands in for what they lack, and where their files are.
///
/// The formats of crawlers that are not known here are described in TOML:
///
/// ```
/// use crawl::LogFormat;
///
/// let format = LogFormat::parse(r#"
///     line = '^(?<date>\S+) (?<status>\d+) (?<url>\S+) from (?<parent>\S+)$'
///     date = "%d.%m.%Y-%H:%M"
///     path = "{host}/{path}"
/// "#)?;
/// # Ok::<(), crawl::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LogFormat {
    pub(super) layout: Layout,
    /// The placeholder of an empty field.
    pub(super) none: String,
    /// The beginning of a comment line.
    pub(super) comment: Option<String>,
    /// How many lines at the beginning are none.
    pub(super) header_lines: u64,
    pub(super) dates: Vec<String>,
    pub(super) path: PathRule,
    /// The statuses of lines that stand for a document; all if there are none.
    pub(super) statuses: Vec<RangeInclusive<i32>>,
    /// Templates for fields that a line does not have.
    pub(super) values: [Option<Template>; COUNT],
}

/// The rule that finds the file of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathRule {
    /// At the path that Heritrix's MirrorWriter makes of the URL.
    Mirror,
    /// At the path in the field `file`.
    Field,
    /// At the path that a template makes.
    Template(Template),
}

impl LogFormat {
    /// The names of the formats that are built in.
    pub const NAMES: [&str; 4] = ["heritrix", "list", "ftp-list", "pmc"];

    /// The `crawl.log` of Heritrix 1 and 3, with the mirror tree that its MirrorWriter makes.
    pub fn heritrix() -> Self {
        Self {
            layout: Layout::Heritrix,
            none: "-".to_owned(),
            comment: None,
            header_lines: 0,
            dates: Vec::new(),
            path: PathRule::Mirror,
            // Of HTTP. Others are look-ups of names, or say why nothing was got.
            statuses: vec![100..=599],
            values: Default::default(),
        }
    }

    /// A format that is built in.
    pub fn named(name: &str) -> Result<Self, Error> {
        if name == "heritrix" {
            return Ok(Self::heritrix());
        }
        let built_in = BUILT_IN.iter().find(|(known, _)| *known == name);
        let (_, toml) = built_in.ok_or_else(|| Error::LogFormat {
            reason: format!(
                "there is none called `{name}`, but {}",
                Self::NAMES.join(", ")
            ),
        })?;
        Self::parse(toml)
    }

    /// A format that is described in TOML.
    pub fn parse(toml: &str) -> Result<Self, Error> {
        format_file::parse(toml).map_err(|reason| Error::LogFormat { reason })
    }

    /// Parses a line.
    pub(super) fn read(&self, line: &[u8]) -> Meaning {
        let is_comment = |mark: &String| line.starts_with(mark.as_bytes());
        if line.trim_ascii().is_empty() || self.comment.as_ref().is_some_and(is_comment) {
            return Meaning::Nothing;
        }
        match self.layout.split(line, self.none.as_bytes()) {
            Ok(fields) => entry::of(fields, self),
            Err(reason) => Meaning::Broken(reason),
        }
    }

    pub(super) fn value(&self, field: Field) -> Option<&Template> {
        self.values[field as usize].as_ref()
    }
}

const BUILT_IN: [(&str, &str); 3] = [
    (
        "list",
        r##"
        columns = ["file", "url", "parent", "date"]
        separator = "tab or comma"
        comment = "#"
        path = "field"
        "##,
    ),
    (
        "ftp-list",
        r##"
        line = '^(?<file>.+)$'
        comment = "#"
        path = "field"
        [values]
        url = "file:///{file}"
        parent = "{directory}"
        "##,
    ),
    (
        "pmc",
        r##"
        columns = ["file", "", "", "date"]
        separator = "tab or comma"
        header_lines = 1
        path = "field"
        [values]
        url = "https://ftp.ncbi.nlm.nih.gov/pub/pmc/{file}"
        parent = "{directory}"
        depth = 3
        "##,
    ),
];
