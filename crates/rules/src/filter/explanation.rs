//! Why a record is accepted or rejected, for people.

use std::fmt;

use serde::Serialize;

use super::Match;

/// The decision of filters on one record. Its `Display` is the text for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Whether one filter is enough or all must hold.
    #[serde(rename = "match")]
    pub matching: Match,
    /// The filters, in the order of the file. All are listed, also those after the one that decided.
    #[serde(rename = "filters")]
    pub steps: Vec<Step>,
    /// Whether the record is kept.
    pub accepted: bool,
}

/// The findings of one filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The expression that chose the nodes.
    pub xpath: String,
    /// The expression that their texts are compared with.
    pub regexp: String,
    /// Whether letter case is ignored.
    pub ignore_case: bool,
    /// Whether the outcome is turned round.
    pub invert: bool,
    /// The nodes that were found.
    #[serde(rename = "nodes")]
    pub found: Vec<MatchedNode>,
    /// Whether the filter holds, after turning round.
    pub holds: bool,
}

/// A node that a filter looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchedNode {
    /// Where it is in the record.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Whether the text matches.
    pub matches: bool,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            writeln!(f, "filter {}: {step}", index + 1)?;
        }
        let held = self.steps.iter().filter(|step| step.holds).count();
        let (total, needed) = match self.matching {
            Match::Any => (self.steps.len(), "any of them"),
            Match::All => (self.steps.len(), "all of them"),
        };
        let verdict = match self.accepted {
            true => "accepted",
            false => "rejected",
        };
        writeln!(
            f,
            "{verdict}: {held} of {total} filters hold, needed is {needed}"
        )
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} ~ /{}/", self.xpath, self.regexp)?;
        if self.ignore_case {
            write!(f, "i")?;
        }
        if self.invert {
            write!(f, ", inverted")?;
        }
        writeln!(f)?;
        if self.found.is_empty() {
            writeln!(f, "  no such node, which counts as no match")?;
        }
        for node in &self.found {
            let verdict = match node.matches {
                true => "matches",
                false => "does not match",
            };
            writeln!(f, "  {} = {:?} {verdict}", node.path, shortened(&node.text))?;
        }
        match self.holds {
            true => write!(f, "  the filter holds"),
            false => write!(f, "  the filter does not hold"),
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

const LONGEST: usize = 80;
