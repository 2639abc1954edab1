//! Becomes another program within limits, for the tests of this crate; `garner confine` does so for garner.

use std::process::ExitCode;

fn main() -> ExitCode {
    document::confine::enter(std::env::args_os().skip(1))
}
