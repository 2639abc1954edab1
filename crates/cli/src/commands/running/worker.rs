//! `garner worker`: runs jobs, beside other processes that do.

use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use jobs::Workers;

use crate::commands::running::{notify, serve_watch, watchdog};
use crate::commands::stopping::{self, Deadline};
use crate::commands::worker_options::WorkerFlags;
use crate::output::log;

/// Run jobs, beside garner up and other workers on the same catalog
///
/// For many harvests at once, on one machine or on several: give each worker the same catalog, a PostgreSQL database,
/// and a store (store = "s3://…" in the configuration) or a data directory that all of them see. Another worker resumes
/// the jobs of a worker that was killed.
#[derive(Debug, Args)]
pub(crate) struct Worker {
    #[command(flatten)]
    flags: WorkerFlags,
    /// Name of this worker in logs
    #[arg(long, value_name = "NAME", default_value = "worker")]
    name: String,
    /// Address for /metrics, /health and /ready [default: none]
    #[arg(long, value_name = "ADDR:PORT")]
    admin_listen: Option<SocketAddr>,
    /// Run imports and judge documents, and leave harvests to others
    ///
    /// Documents go to a store that all machines reach (s3://…), so such a worker needs no data directory in common with
    /// them.
    #[arg(long)]
    imports_only: bool,
}

impl Worker {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        crate::commands::allow_many_files();
        let config = self.flags.config()?;
        log(&config.log)?;
        let mut options = config.worker_options()?;
        if self.name.is_empty() || self.name.len() > 100 || self.name.contains(char::is_control) {
            bail!("a worker cannot be called that; give --name a short text");
        }
        options.name.clone_from(&self.name);
        let holdings = config.holdings()?;
        if self.imports_only {
            options = options.imports_only();
        } else if let Err(error) = holdings.check_directory() {
            // Records and documents go to where every machine reaches them; files do not.
            if !holdings.are_records_shared(0)? {
                return Err(error);
            }
            eprintln!(
                "this machine has a data directory of its own: it harvests repositories whose records lie in the store or \
                 in the catalog, and leaves jobs that need the catalog's directory to others"
            );
            options = options.without_directory();
        }
        let admin = self.admin_listen.or(config.admin.listen);
        if let Some(address) = admin {
            holdings.wait(serve_watch(address, &config, &holdings))?;
        }
        let threads = options.threads;
        let workers = Workers::start(holdings.clone(), options)?;
        eprintln!(
            "garner works: {threads} jobs at once, of the catalog {}",
            holdings.catalog().location()
        );
        notify("READY=1");
        holdings.spawn(watchdog());
        holdings.wait(crate::commands::stop_signal());
        notify("STOPPING=1");
        let deadline = Deadline::begin(&holdings);
        stopping::tell(workers.busy());
        workers.stop();
        deadline.met();
        Ok(ExitCode::SUCCESS)
    }
}
