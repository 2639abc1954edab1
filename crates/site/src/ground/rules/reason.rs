//! Why something is not offered, each with the setting that says so.

use std::fmt;

/// Why something is not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is explained by what it prints")]
pub enum Reason {
    Name { component: String, pattern: String },
    Directory { directory: String },
    Url { pattern: String },
    Pattern { pattern: String },
    Program { extension: String },
    Covered { path: String },
    Unreadable { path: String },
    SymlinkOutside { target: String },
    SymlinkNotFollowed { target: String },
    SymlinkToOffered { target: String },
    SymlinkToDirectory { target: String },
    SymlinkIntoArea { target: String },
    NotAFile,
    IsDirectory,
    Missing,
}

impl Reason {
    /// The reason without the single file: how many files share it can be counted.
    pub(crate) fn kind(&self) -> String {
        let kind = match self {
            Self::Name { pattern, .. } => {
                return format!("the name matches `{pattern}` (offer.skip_names)");
            }
            Self::Unreadable { .. } => "it cannot be read: its permissions forbid it",
            Self::SymlinkOutside { .. } => {
                "it is a symbolic link that leaves the site (offer.symlinks = \"inside\")"
            }
            Self::SymlinkNotFollowed { .. } => "it is a symbolic link (offer.symlinks = \"none\")",
            Self::SymlinkToOffered { .. } => {
                "it is a symbolic link to a file that is offered under its own URL"
            }
            Self::SymlinkToDirectory { .. } => {
                "it is a symbolic link to a directory; what lies there is not offered through it"
            }
            Self::SymlinkIntoArea { .. } => {
                "it is a symbolic link into a protected area of its own"
            }
            reason => return reason.to_string(),
        };
        kind.to_owned()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { component, pattern } => {
                write!(
                    f,
                    "the name `{component}` matches `{pattern}` (offer.skip_names)"
                )
            }
            Self::Directory { directory } => {
                write!(f, "it lies in `{directory}` (offer.skip_directories)")
            }
            Self::Url { pattern } => write!(f, "its URL matches `{pattern}` (offer.skip_urls)"),
            Self::Pattern { pattern } => {
                write!(f, "its URL matches `{pattern}` (offer.skip_patterns)")
            }
            Self::Program { extension } => write!(
                f,
                "a server would run `.{extension}` files instead of sending them (offer.dynamic = \"off\")"
            ),
            Self::Covered { path } => write!(f, "the server itself answers at `{path}`"),
            Self::Unreadable { path } => {
                write!(f, "`{path}` cannot be read: its permissions forbid it")
            }
            Self::SymlinkOutside { target } => write!(
                f,
                "it is a symbolic link that leaves the site, to `{target}` (offer.symlinks = \"inside\")"
            ),
            Self::SymlinkNotFollowed { target } => {
                write!(
                    f,
                    "it is a symbolic link to `{target}` (offer.symlinks = \"none\")"
                )
            }
            Self::SymlinkToOffered { target } => {
                write!(
                    f,
                    "it is a symbolic link to `{target}`, which is offered under its own URL"
                )
            }
            Self::SymlinkToDirectory { target } => write!(
                f,
                "it is a symbolic link to the directory `{target}`; what lies there is not offered through it"
            ),
            Self::SymlinkIntoArea { target } => write!(
                f,
                "it is a symbolic link to `{target}`, which lies in a protected area of its own"
            ),
            Self::NotAFile => f.write_str("it is neither a file nor a directory"),
            Self::IsDirectory => f.write_str("it is a directory; only the files in it are offered"),
            Self::Missing => f.write_str("there is no such file"),
        }
    }
}
