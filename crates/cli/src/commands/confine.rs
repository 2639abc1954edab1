//! `garner confine`: becomes another program within limits. Not for people: garner starts itself so.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

/// Become another program within limits; garner runs it by itself
#[derive(Debug, Args)]
pub(crate) struct Confine {
    /// Limits, `--`, and the command
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    orders: Vec<OsString>,
}

impl Confine {
    pub(crate) fn run(self) -> ExitCode {
        document::confine::enter(self.orders)
    }
}
