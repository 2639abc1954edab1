//! The subcommands, one file or folder each, by subject; options that they share are in `options`.

pub(crate) mod account;
pub(crate) mod alert;
pub(crate) mod audit;
mod collection;
pub(crate) mod config;
pub(crate) mod expose;
pub(crate) mod extract;
pub(crate) mod harvesting;
pub(crate) mod import;
pub(crate) mod job;
mod judging;
pub(crate) mod load;
mod options;
pub(crate) mod run;
pub(crate) mod running;
pub(crate) mod shell;
pub(crate) mod status;
mod upkeep;
pub(crate) mod verify;
pub(crate) mod warc;

use self::collection::curation;
pub(crate) use self::collection::{documents, feed, retrieve, search, statistics};
pub(crate) use self::judging::{classifier, classify, filter, text};

pub(crate) use self::curation::{lists, parents, whitelist};
pub(crate) use self::expose::{check, explain, robots, serve};
pub(crate) use self::harvesting::{harvest, history, records, repository, schedule, with_quiet};
use self::options::{blacklist_options, paging, sorting, stopping, worker_options};
pub(crate) use self::options::{holdings_options, network_options, operating};
pub(crate) use self::running::{up, worker};
pub(crate) use self::shell::{completions, confine, man};
pub(crate) use self::upkeep::{backup, catalog, doctor, restore};

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

/// Reports a mistake in the options or the configuration of a command like one on the command line.
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
