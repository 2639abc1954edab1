//! How an order names rules.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Context;
use catalog::RulesKind;
use serde::{Deserialize, Serialize};

use super::RuleSource;
use crate::Holdings;

/// Rules by their number in the catalog, or by a file of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RulesName {
    /// The number in the catalog.
    Number(i64),
    /// A file, which only the command line may name.
    File(PathBuf),
}

impl RulesName {
    /// The number, unless it is a file.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::File(_) => None,
        }
    }

    /// The rules as they are now.
    pub(crate) fn source(
        &self,
        holdings: &Holdings,
        kind: RulesKind,
    ) -> anyhow::Result<RuleSource> {
        let number = match self {
            Self::Number(number) => *number,
            Self::File(file) => return Ok(RuleSource::File(file.clone())),
        };
        let rules = holdings.wait(holdings.catalog().rules_of(number))?;
        let rules = rules.filter(|rules| rules.kind == kind);
        let rules = rules.with_context(|| {
            let kind = kind.name();
            format!("there is no {kind} with the number {number}; choose another")
        })?;
        Ok(RuleSource::Text {
            name: rules.name,
            content: rules.content,
        })
    }
}

impl FromStr for RulesName {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.parse() {
            Ok(number) => Self::Number(number),
            Err(_) => Self::File(PathBuf::from(text)),
        })
    }
}

impl std::fmt::Display for RulesName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(out),
            Self::File(file) => file.display().fmt(out),
        }
    }
}
