//! `garner with-quiet`: runs a command while no harvest of a repository may run.

use std::io::IsTerminal;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use catalog::JobEnd;
use clap::Args;
use flows::Holdings;
use operations::repositories::quiet::{self, HeldQuiet, NewQuiet, RenewedQuiet};
use operations::{Actor, Code, Context, Refusal};
use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use crate::commands::holdings_options::HoldingsOptions;
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
                eprintln!("garner: {}", plain(&flows::message(&error)));
                Ok(ExitCode::from(NOT_BEGUN))
            }
        }
    }

    fn try_run(&self) -> anyhow::Result<ExitStatus> {
        let context = self.holdings.context()?;
        let holdings = context.holdings();
        let repository = holdings.repository(&self.repository)?.id;
        let quiet = self.acquire(context.clone(), repository)?;
        // Not earlier: Ctrl-C while it waits ends this command.
        let signals = Signals::listen(holdings)?;
        let ran = self.run_command(holdings, &quiet, signals);
        let end = match &ran {
            Ok(_) => JobEnd::Finished,
            Err(error) => JobEnd::Failed {
                reason: flows::message(error),
                retry_in: None,
            },
        };
        if let Err(refusal) = quiet.end(&end) {
            // It ends with its lease.
            eprintln!(
                "the quiet time cannot be ended: {}",
                plain(&refusal.message())
            );
        }
        ran
    }

    /// Waits until the repository is at rest.
    fn acquire(&self, context: Context, repository: i64) -> anyhow::Result<Quiet> {
        let give_up = self
            .wait
            .map(|wait| Instant::now() + Duration::from_secs(wait));
        // Everybody may read it, and arguments may be secrets.
        let program = Path::new(&self.command[0]).file_name();
        let why = program.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let (seconds, actor) = (LEASE, Actor::command_line());
        let new = NewQuiet { why, seconds };
        let mut told = false;
        loop {
            let begun = context.wait(quiet::begin(&context, &actor, repository, &new));
            let busy = match begun {
                Ok(quiet) => {
                    let (job, token) = (quiet.job, quiet.token);
                    return Ok(Quiet {
                        context,
                        actor,
                        repository,
                        held: HeldQuiet { job, token },
                    });
                }
                Err(refusal) if refusal.code == Code::Busy => refusal,
                Err(refusal) => return Err(refusal.into()),
            };
            if give_up.is_some_and(|give_up| Instant::now() >= give_up) {
                return Err(busy.into());
            }
            if !told {
                told = true;
                eprintln!("waiting: {}", plain(&busy.message()));
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
            if is_kept && !quiet.renew() {
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
    context: Context,
    actor: Actor,
    repository: i64,
    held: HeldQuiet,
}

impl Quiet {
    /// Makes it longer. Whether it is still kept.
    fn renew(&self) -> bool {
        let HeldQuiet { job, token } = self.held;
        let seconds = LEASE;
        let renewed = RenewedQuiet {
            job,
            token,
            seconds,
        };
        let renewal = quiet::renew(&self.context, &self.actor, self.repository, &renewed);
        match self.context.wait(renewal) {
            Ok(_) => true,
            Err(refusal) if matches!(refusal.code, Code::Conflict | Code::NotFound) => {
                // If that fails, it is over when the lease is.
                let _ = self.end(&JobEnd::Cancelled);
                false
            }
            // A catalog that is away for a moment is asked again.
            Err(_) => true,
        }
    }

    fn end(&self, end: &JobEnd) -> Result<(), Refusal> {
        let ended = quiet::end(&self.context, &self.actor, self.repository, self.held, end);
        self.context.wait(ended)
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

/// Seconds until a quiet time ends that is not renewed.
const LEASE: u64 = 60;
const BEAT: Duration = Duration::from_secs(1);
const NOT_BEGUN: u8 = 125;
