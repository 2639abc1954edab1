//! `garner confine`: becomes another program within limits. Not for people, and not in the help: garner starts itself so.

use std::process::ExitCode;

use process::Confiner;
use text::PDF_READER;

/// Becomes another program if that is what this process was started for.
///
/// The arguments are those of `process` and not read by clap: it would take some for its own, and this runs
/// once for every document.
pub(crate) fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let is_asked = arguments.next().is_some_and(|first| first == NAME);
    is_asked.then(|| process::enter(arguments, &[PDF_READER]))
}

/// How garner starts itself to become another program.
pub(crate) fn confiner() -> Confiner {
    Confiner::this_program(NAME)
}

const NAME: &str = "confine";
