//! Choices on the command line and what they mean to the libraries.

use clap::ValueEnum;
use harvester::Method;
use harvester::validation::Level;
use jobs::Deleted;

/// How records are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub(crate) enum MethodName {
    /// Pages of records
    ListRecords,
    /// Pages of identifiers, and then each record by itself
    ListIdentifiers,
}

/// How strictly records are validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValidationName {
    /// Well-formed; other records are left out
    Strict,
    /// Valid by XML Schema; other records are left out
    VeryStrict,
    /// Records that are not well-formed are mended as far as that can be done
    Loose,
}

/// What becomes of the files of deleted records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeletedName {
    /// They are removed
    Remove,
    /// They are kept, under names that end in .deleted
    Keep,
}

impl From<MethodName> for Method {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::ListRecords => Self::ListRecords,
            MethodName::ListIdentifiers => Self::ListIdentifiers,
        }
    }
}

impl From<ValidationName> for Level {
    fn from(name: ValidationName) -> Self {
        match name {
            ValidationName::Strict => Self::Strict,
            ValidationName::VeryStrict => Self::VeryStrict,
            ValidationName::Loose => Self::Loose,
        }
    }
}

impl From<DeletedName> for Deleted {
    fn from(name: DeletedName) -> Self {
        match name {
            DeletedName::Remove => Self::Remove,
            DeletedName::Keep => Self::Keep,
        }
    }
}
