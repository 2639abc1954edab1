//! Which items a requester may see, as a condition that the database can check.

use std::fmt::Write as _;

use crate::SitePath;

/// Which paths a requester may see: the longest of the listed directories decides, all else is open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Visibility {
    /// Directories, each with whether it is open to this requester.
    pub(crate) areas: Vec<(SitePath, bool)>,
    /// Whether programs are not for this requester.
    pub(crate) hides_programs: bool,
    /// Whether all rows are wanted, withdrawn ones too, because somebody else decides.
    pub(crate) undecided: bool,
}

impl Visibility {
    /// Whether everything is open, or somebody else decides.
    pub(super) fn is_open(&self) -> bool {
        self.areas.is_empty() && !self.hides_programs
    }

    /// The visibility as a condition on the table `i`: what is open and not withdrawn, or withdrawn and not open.
    pub(super) fn condition(&self) -> String {
        if self.undecided {
            return "true".to_owned();
        }
        if self.areas.iter().all(|(_, open)| *open) && !self.hides_programs {
            return "i.state <> 2".to_owned();
        }
        format!("({}) = (i.state <> 2)", self.case())
    }

    /// Whether a path is open, 1 or 0.
    pub(super) fn case(&self) -> String {
        let mut areas: Vec<_> = self.areas.iter().collect();
        areas.sort_by_key(|(area, _)| std::cmp::Reverse(area.as_bytes().len()));
        let mut case = String::from("CASE");
        if self.hides_programs {
            case.push_str(" WHEN i.dynamic THEN 0");
        }
        for (area, open) in areas {
            let _ = write!(case, " WHEN {} THEN {}", within(area), i32::from(*open));
        }
        case.push_str(" ELSE 1 END");
        case
    }

    /// A condition that holds for every path this visibility speaks of, and that the path index can serve.
    pub(super) fn concerned(&self) -> String {
        let areas: Vec<_> = self.areas.iter().map(|(area, _)| within(area)).collect();
        format!("({})", areas.join(" OR "))
    }
}

/// A condition for the paths of a directory and all below it. Paths go in as hex, so nothing can escape.
fn within(path: &SitePath) -> String {
    if path.as_bytes().is_empty() {
        return "i.path >= x''".to_owned();
    }
    let hex = |bytes: &[u8]| data_encoding::HEXLOWER.encode(bytes);
    let (first, last) = path.bounds_below();
    format!(
        "(i.path = x'{}' OR (i.path >= x'{}' AND i.path < x'{}'))",
        hex(path.as_bytes()),
        hex(&first),
        hex(&last)
    )
}
