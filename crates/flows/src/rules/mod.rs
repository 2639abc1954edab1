//! Rules of filters and mappings, wherever they are kept: read, tried out, and noted by what they say.

mod live;
mod name;
mod source;
mod trial;

use anyhow::bail;
use catalog::RulesKind;
use rules::filter::Filters;
use rules::normalise::Mappings;
use rules::xml::{self, Limits};

pub use self::live::live_record;
pub use self::name::RulesName;
pub use self::source::RuleSource;
pub use self::trial::{Mapped, Trial, try_rules};

/// Rules that can be used.
#[derive(Debug, Clone)]
pub enum ReadRules {
    /// They say which records are kept.
    Filter(Filters),
    /// They say what is added to records.
    Mapping(Mappings),
}

impl ReadRules {
    /// Reads rules. The root element tells which they are, unless it is said.
    pub fn parse(content: &[u8], kind: Option<RulesKind>) -> anyhow::Result<Self> {
        let kind = match kind {
            Some(kind) => kind,
            None => kind_of(content)?,
        };
        Ok(match kind {
            RulesKind::Filter => Self::Filter(Filters::parse(content)?),
            RulesKind::Mapping => Self::Mapping(Mappings::parse(content)?),
        })
    }

    /// Which they are.
    pub fn kind(&self) -> RulesKind {
        match self {
            Self::Filter(_) => RulesKind::Filter,
            Self::Mapping(_) => RulesKind::Mapping,
        }
    }
}

fn kind_of(content: &[u8]) -> anyhow::Result<RulesKind> {
    // Windows editors begin files with a byte order mark.
    let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content);
    let document = xml::parse(content, &Limits::default())?;
    let root = document.root_element().tag_name().name();
    if MAPPING_ROOTS.contains(&root) {
        return Ok(RulesKind::Mapping);
    }
    if root != "filters" {
        bail!(
            "the root element is <{root}>; that of a filter file is <filters>, that of a mapping file <normalize>"
        );
    }
    Ok(RulesKind::Filter)
}

const MAPPING_ROOTS: [&str; 3] = ["normalize", "normalise", "mappings"];
