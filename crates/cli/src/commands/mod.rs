//! The subcommands, one file each, and what they share.

pub(crate) mod account;
pub(crate) mod audit;
pub(crate) mod classifier;
pub(crate) mod classify;
pub(crate) mod completions;
pub(crate) mod confine;
pub(crate) mod documents;
pub(crate) mod explain;
pub(crate) mod filter;
pub(crate) mod harvest;
pub(crate) mod history;
pub(crate) mod holdings_options;
pub(crate) mod import;
pub(crate) mod job;
pub(crate) mod man;
pub(crate) mod network_options;
pub(crate) mod operating;
mod options;
mod paging;
pub(crate) mod records;
pub(crate) mod repository;
pub(crate) mod robots;
pub(crate) mod schedule;
pub(crate) mod serve;
mod sorting;
pub(crate) mod statistics;
mod stopping;
pub(crate) mod text;
pub(crate) mod up;
pub(crate) mod verify;
pub(crate) mod with_quiet;
pub(crate) mod worker;
mod worker_options;

use std::io::Write;
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Writes data to stdout; a reader that has gone away, such as `head`, is no error.
fn print(text: &[u8]) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// What is wrong with the options or the configuration of a command: told like a slip on the command line.
fn usage(command: &str, error: &anyhow::Error) -> ExitCode {
    let message = flows::message(error);
    crate::output::failed("usage", &message);
    eprintln!("garner: {}", crate::text::plain(&message));
    eprintln!("\nFor more information, try 'garner {command} --help'.");
    ExitCode::from(USAGE)
}

/// Waits for SIGTERM or SIGINT.
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Lets this process have as many files open as the system allows: bodies that are too many for memory wait in files.
pub(crate) fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // If not, the usual number has to do.
    let _ = setrlimit(Resource::Nofile, most);
}

/// The exit code if the command was not called as it has to be.
const USAGE: u8 = 2;
/// The exit code if all was done, but records had to be left out.
pub(crate) const LEFT_OUT: u8 = 3;
