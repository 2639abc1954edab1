//! Filters accept or reject records by XPath and regular expressions, from the filter files of the UIUC harvester.
//!
//! A deleted record has no metadata that could be looked at: do not filter it, or deletions are lost.

mod explanation;
mod file;

use std::path::Path;

use regex::Regex;
use serde::Serialize;

pub use self::explanation::{Explanation, MatchedNode, Step};
use crate::xml::rule_file::compared;
use crate::xml::{self, Limits, LoadError, Malformed};
use crate::xpath::{Node, TooMuchWork, XPath};

/// The filters of one file.
///
/// ```
/// use rules::filter::Filters;
///
/// let filters = Filters::parse(br#"
///     <filters match="any">
///       <selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'</selectionNamespaces>
///       <filter invert="false" xpath="//dc:subject" regexp="cultural" ignoreCase="true" />
///       <filter invert="false" xpath="//dc:subject" regexp="heritage" ignoreCase="true" />
///     </filters>"#)?;
///
/// let record = br#"<dc:subject xmlns:dc="http://purl.org/dc/elements/1.1/">Cultural history</dc:subject>"#;
/// assert!(filters.accepts(record)?);
/// print!("{}", filters.explain(record)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Filters {
    matching: Match,
    filters: Vec<Filter>,
    limits: Limits,
}

/// The attribute `match`: it holds for the filters of a file and for the nodes of each filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// One filter is enough, and for a filter one node.
    Any,
    /// Every filter must hold, and for a filter every node must match.
    All,
}

#[derive(Debug, Clone)]
struct Filter {
    xpath: XPath,
    regexp: Regex,
    ignore_case: bool,
    invert: bool,
}

impl Filters {
    /// Reads a filter file. Anything in it that cannot be used is refused, with its place.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        xml::load(path, Self::parse)
    }

    /// Reads the content of a filter file.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        file::parse(bytes)
    }

    /// Reads records within other limits than the usual ones.
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Whether the record is to be kept.
    pub fn accepts(&self, record: &[u8]) -> Result<bool, Error> {
        let document = xml::parse(record, &self.limits)?;
        for filter in &self.filters {
            let nodes = filter.xpath.select(&document)?;
            let holds = filter.holds(self.matching, &nodes);
            if let Some(verdict) = self.matching.settled_by(holds) {
                return Ok(verdict);
            }
        }
        Ok(self.matching == Match::All)
    }

    /// The findings of each filter in the record, and what follows.
    pub fn explain(&self, record: &[u8]) -> Result<Explanation, Error> {
        let document = xml::parse(record, &self.limits)?;
        let mut steps = Vec::new();
        for filter in &self.filters {
            let nodes = filter.xpath.select(&document)?;
            steps.push(filter.step(self.matching, &nodes));
        }
        let verdict = steps
            .iter()
            .find_map(|step| self.matching.settled_by(step.holds));
        Ok(Explanation {
            matching: self.matching,
            accepted: verdict.unwrap_or(self.matching == Match::All),
            steps,
        })
    }
}

impl Filter {
    fn holds(&self, matching: Match, nodes: &[Node]) -> bool {
        self.matched(matching, nodes.iter().map(|node| self.matches(node))) != self.invert
    }

    fn matches(&self, node: &Node) -> bool {
        self.regexp.is_match(compared(&node.text()))
    }

    /// A missing field does not match, with `all` as with `any`: else `all` could never ask for a field to be there.
    fn matched(&self, matching: Match, mut nodes: impl ExactSizeIterator<Item = bool>) -> bool {
        match matching {
            Match::Any => nodes.any(|matches| matches),
            Match::All => nodes.len() > 0 && nodes.all(|matches| matches),
        }
    }

    fn step(&self, matching: Match, nodes: &[Node]) -> Step {
        let found: Vec<MatchedNode> = nodes
            .iter()
            .map(|node| MatchedNode {
                path: node.path(),
                text: compared(&node.text()).to_owned(),
                matches: self.matches(node),
            })
            .collect();
        Step {
            xpath: self.xpath.as_str().to_owned(),
            regexp: self.regexp.as_str().to_owned(),
            ignore_case: self.ignore_case,
            invert: self.invert,
            holds: self.matched(matching, found.iter().map(|node| node.matches)) != self.invert,
            found,
        }
    }
}

impl Match {
    /// The verdict, where one filter decides.
    fn settled_by(self, holds: bool) -> Option<bool> {
        match (self, holds) {
            (Self::Any, true) => Some(true),
            (Self::All, false) => Some(false),
            _ => None,
        }
    }
}

/// A record could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is not well-formed, or beyond the limits.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// It would keep an expression busy for too long.
    #[error(transparent)]
    TooMuchWork(#[from] TooMuchWork),
}
