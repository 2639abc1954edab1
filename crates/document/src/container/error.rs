//! Why a container cannot be opened, or not to its end.

use std::io;

/// An error of a container. Members that were handed over before it are good.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not one of the containers that were asked for.
    #[error("it is not a container of a kind that is opened")]
    NoContainer,
    /// It unfolds too far.
    #[error(
        "it expands to more than {limit} times its size, as bombs do; raise the limit on the ratio if it is none"
    )]
    Ratio {
        /// How many times its size would have been allowed.
        limit: u64,
    },
    /// Too many bytes came out.
    #[error("it expands to more than {limit} bytes; raise the limit on the size if it is no bomb")]
    Size {
        /// How many would have been allowed.
        limit: u64,
    },
    /// There are too many members.
    #[error("it has more than {limit} members; raise the limit on members if it is no bomb")]
    Members {
        /// How many would have been allowed.
        limit: u64,
    },
    /// Its bytes cannot be read.
    #[error("it is damaged: {0}")]
    Damaged(io::Error),
}

impl Error {
    /// Whether it went beyond a limit, as bombs do.
    pub fn is_bomb(&self) -> bool {
        matches!(
            self,
            Self::Ratio { .. } | Self::Size { .. } | Self::Members { .. }
        )
    }
}
