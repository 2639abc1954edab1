//! Finds what is wrong with an installation, cheaply: nothing is read as a whole.

mod holdings;
mod system;

pub use self::holdings::{PlaceDisk, check_holdings, disk, disks};
pub use self::system::SystemProbe;

/// A fact about the installation.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The area: `disk`, `catalog` and so on.
    pub check: &'static str,
    /// How it is.
    pub state: CheckState,
    /// The result.
    pub message: String,
    /// The remedy, if something is wrong.
    pub remedy: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    /// Nothing is wrong.
    Ok,
    /// garner works, but not with all that it can do.
    Warning,
    /// Something does not work, or soon will not.
    Problem,
}

impl CheckState {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

impl Checked {
    /// Nothing is wrong.
    pub fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self {
            check,
            state: CheckState::Ok,
            message: message.into(),
            remedy: None,
        }
    }

    /// Something is missing that garner can do without.
    pub fn warning(
        check: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            state: CheckState::Warning,
            remedy: Some(remedy.into()),
            ..Self::ok(check, message)
        }
    }

    /// Something is wrong.
    pub fn problem(
        check: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            state: CheckState::Problem,
            ..Self::warning(check, message, remedy)
        }
    }
}
