//! `garner with-quiet`: runs a command while no harvest of a repository may run.

use std::io::IsTerminal;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Context;
use catalog::{Answer, Beat, JobEnd, JobLease, JobProgress};
use clap::Args;
use jobs::Holdings;
use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use super::holdings_options::HoldingsOptions;
use crate::text::plain;

/// Run a command while no harvest of a repository may run
///
/// For indexers and back-ups that want to see a repository's records at rest: waits until no harvest of it runs, keeps
/// others from beginning, and runs the command. Harvests that are due meanwhile run afterwards.
///
/// Exits as the command does: with its code, or with 128 and the number of the signal that ended it. If the command could
/// not be begun, exits with 125.
#[derive(Debug, Args)]
pub(crate) struct WithQuiet {
    /// Its base URL, or its number in garner repository list
    #[arg(value_name = "URL|NUMBER")]
    repository: String,
    /// How long a harvest that runs is waited for [default: as long as it takes]
    #[arg(long, value_name = "SECONDS")]
    wait: Option<u64>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<std::ffi::OsString>,
}

impl WithQuiet {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.try_run() {
            Ok(status) => Ok(code(status)),
            // The command's own codes are told apart from this one.
            Err(error) => {
                eprintln!("garner: {}", plain(&jobs::message(&error)));
                Ok(ExitCode::from(NOT_BEGUN))
            }
        }
    }

    fn try_run(&self) -> anyhow::Result<ExitStatus> {
        let holdings = self.holdings.open()?;
        let repository = holdings.repository(&self.repository)?;
        let quiet = self.acquire(&holdings, repository.id)?;
        // Not earlier: who presses Ctrl-C while it waits wants nothing more of it.
        let signals = Signals::listen(&holdings)?;
        let lease = quiet.lease;
        let ran = self.run_command(&holdings, &quiet, signals);
        let end = match &ran {
            Ok(_) => JobEnd::Finished,
            Err(error) => JobEnd::Failed {
                reason: jobs::message(error),
                retry_in: None,
            },
        };
        if let Err(error) = holdings.wait(holdings.catalog().end_job(&lease, &end, &[])) {
            // Nobody waits for it for longer than the lease.
            eprintln!(
                "the quiet time cannot be ended: {}",
                plain(&error.to_string())
            );
        }
        ran
    }

    /// Waits until the repository is at rest.
    fn acquire(&self, holdings: &Holdings, repository: i64) -> anyhow::Result<Quiet> {
        let give_up = self
            .wait
            .map(|wait| Instant::now() + Duration::from_secs(wait));
        // Everybody may read it, and arguments may be secrets.
        let program = Path::new(&self.command[0]).file_name();
        let why = program.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut told = false;
        loop {
            let quiet = holdings.catalog().quiet(repository, &why, LEASE, None);
            let busy = match holdings.wait(quiet) {
                Ok(lease) => return Ok(Quiet { lease, why }),
                Err(error @ catalog::Error::Busy { .. }) => error,
                Err(error) => return Err(error.into()),
            };
            if give_up.is_some_and(|give_up| Instant::now() >= give_up) {
                return Err(busy.into());
            }
            if !told {
                told = true;
                eprintln!("waiting: {}", plain(&busy.to_string()));
            }
            std::thread::sleep(BEAT);
        }
    }

    fn run_command(
        &self,
        holdings: &Holdings,
        quiet: &Quiet,
        signals: Signals,
    ) -> anyhow::Result<ExitStatus> {
        let (program, arguments) = self.command.split_first().context("no command is given")?;
        let mut child = Command::new(program)
            .args(arguments)
            .spawn()
            .with_context(|| format!("`{}` cannot be run", program.to_string_lossy()))?;
        let over = signals.pass_on(holdings, &child)?;
        let (ended, end) = mpsc::channel();
        std::thread::spawn(move || {
            let status = child.wait();
            over.store(true, Ordering::Relaxed);
            // Nobody listens only if this process is about to end.
            let _ = ended.send(status);
        });
        let mut is_kept = true;
        loop {
            match end.recv_timeout(BEAT) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(status) => return Ok(status?),
                Err(error) => return Err(error.into()),
            }
            if is_kept && !quiet.beat(holdings) {
                is_kept = false;
                eprintln!(
                    "warning: the repository is not kept quiet any more; a harvest may begin"
                );
            }
        }
    }
}

/// A quiet time that this process has.
struct Quiet {
    lease: JobLease,
    why: String,
}

impl Quiet {
    /// Tells the catalog that it is still wanted. Whether it is still kept.
    fn beat(&self, holdings: &Holdings) -> bool {
        let beats = [Beat {
            lease: self.lease,
            progress: JobProgress {
                note: Some(self.why.clone()),
                ..JobProgress::default()
            },
        }];
        let catalog = holdings.catalog();
        // A catalog that is away for a moment is asked again.
        let heard = holdings
            .wait(catalog.beat(&beats, LEASE))
            .unwrap_or_default();
        match heard.first().map(|heard| heard.answer) {
            None | Some(Answer::GoOn) => true,
            Some(Answer::LeaseLost) => false,
            Some(Answer::CancelRequested) => {
                let ended = catalog.end_job(&self.lease, &JobEnd::Cancelled, &[]);
                // If that fails, it is over when the lease is.
                let _ = holdings.wait(ended);
                false
            }
        }
    }
}

/// Signals that are meant to end the command. They are listened to before it begins, so that none is lost to it.
struct Signals(Vec<(tokio::signal::unix::Signal, Signal)>);

impl Signals {
    fn listen(holdings: &Holdings) -> anyhow::Result<Self> {
        let kinds = [
            (SignalKind::terminate(), Signal::TERM),
            (SignalKind::hangup(), Signal::HUP),
            (SignalKind::interrupt(), Signal::INT),
        ];
        let signals = kinds.map(|(kind, sent)| {
            let listening = holdings.wait(async { signal(kind) })?;
            Ok((listening, sent))
        });
        let signals: std::io::Result<_> = signals.into_iter().collect();
        Ok(Self(signals?))
    }

    /// Lets signals reach the command; how it ends is then its own matter. What is pressed on a terminal reaches it by
    /// itself. Until the flag is set that is returned.
    fn pass_on(self, holdings: &Holdings, child: &Child) -> anyhow::Result<Arc<AtomicBool>> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.context("the command has no process number")?;
        let over = Arc::new(AtomicBool::new(false));
        let on_terminal = std::io::stdin().is_terminal();
        for (mut signals, sent) in self.0 {
            let over = Arc::clone(&over);
            holdings.spawn(async move {
                while signals.recv().await.is_some() {
                    let comes_by_itself = on_terminal && sent == Signal::INT;
                    if !comes_by_itself && !over.load(Ordering::Relaxed) {
                        // It may have ended in this moment.
                        let _ = kill_process(pid, sent);
                    }
                }
            });
        }
        Ok(over)
    }
}

fn code(status: ExitStatus) -> ExitCode {
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => u8::try_from(code).unwrap_or(1),
        (None, Some(signal)) => u8::try_from(128 + signal).unwrap_or(1),
        (None, None) => 1,
    };
    ExitCode::from(code)
}

const LEASE: Duration = Duration::from_secs(60);
const BEAT: Duration = Duration::from_secs(1);
const NOT_BEGUN: u8 = 125;
