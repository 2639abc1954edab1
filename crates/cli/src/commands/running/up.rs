//! `garner up`: everything in one process.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use console::{Console, ConsoleConfig, Outside};
use flows::Holdings;
use jobs::{Manager, ManagerOptions, Workers};
use operations::Settings;
use operations::sites::ServedSites;
use server::ServedSite;
use tokio::net::TcpListener;
use tokio::sync::watch::{self as signal, Receiver};
use tokio::task::JoinSet;

use crate::commands::running::{notify, watch, watchdog};
use crate::commands::stopping::{self, Deadline};
use crate::commands::worker_options::WorkerFlags;
use crate::config::Config;
use crate::config::layers::set_by_option;
use crate::output::log;
use crate::text::plain;

/// Start everything in one process: manager, workers, console, API and sites
///
/// Harvests run by themselves from then on, as schedules say, and are steered in a browser. The first start prints a
/// link that makes the first account.
///
/// Repositories at private addresses, this machine's among them, are asked only if --allow or network.allow in the
/// configuration file says so.
#[derive(Debug, Args)]
pub(crate) struct Up {
    #[command(flatten)]
    flags: WorkerFlags,
    /// Address of the console [default: 127.0.0.1:8090]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
    /// No console and no API: only what is scheduled
    #[arg(long, conflicts_with = "listen")]
    no_console: bool,
}

impl Up {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        crate::commands::allow_many_files();
        let mut config = self.flags.config()?;
        log(&config.log)?;
        if let Some(listen) = self.listen {
            config.console.listen = listen;
            let shown = listen.to_string();
            set_by_option(&mut config.effective, "console.listen", shown, "--listen");
        }
        let sites = config.sites()?;
        if config.aggregator.enabled {
            config.aggregator.check()?;
        }
        let holdings = config.holdings()?;
        holdings.check_directory()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .max_blocking_threads(128)
            .build()
            .context("the runtime cannot be started")?;
        let ran = runtime.block_on(self.serve(&config, sites, &holdings));
        runtime.shutdown_timeout(Duration::from_secs(1));
        ran.map(|()| ExitCode::SUCCESS)
    }

    async fn serve(
        &self,
        config: &Config,
        sites: Vec<server::Config>,
        holdings: &Arc<Holdings>,
    ) -> anyhow::Result<()> {
        let (stopping, stopped) = signal::channel(());
        let mut servers = JoinSet::new();
        let served = ServedSites::default();
        // A taken port is found before anything runs.
        if !self.no_console {
            let settings = Settings {
                served: served.clone(),
                ..config.settings()?
            };
            self.open_console(config, settings, holdings, &mut servers, &stopped)
                .await?;
        }
        for (site, number) in sites.into_iter().zip(1..) {
            let served = served.clone();
            let ready = move |site: ServedSite| served.add(number, Served(site));
            servers.spawn(serve_site(site, ready, told(stopped.clone())));
        }
        if config.aggregator.enabled {
            let (aggregator, holdings) = (config.aggregator.clone(), Arc::clone(holdings));
            let stop = told(stopped.clone());
            servers.spawn(aggregator.serve(holdings, "aggregator.listen", stop));
        }
        let running = Running::start(config, holdings).await?;
        notify("READY=1");
        tokio::spawn(watchdog());
        eprintln!(
            "garner is up: {} jobs at once, of the catalog {}",
            config.jobs.workers,
            holdings.catalog().location()
        );
        let failed = tokio::select! {
            () = crate::commands::stop_signal() => None,
            Some(ended) = servers.join_next() => Some(ended),
        };

        notify("STOPPING=1");
        let deadline = Deadline::begin(holdings);
        stopping::tell(running.workers.busy());
        drop(stopping);
        let stop = tokio::task::spawn_blocking(move || running.stop());
        let mut ended = Vec::from_iter(failed);
        while let Some(server) = servers.join_next().await {
            ended.push(server);
        }
        stop.await.context("the workers did not stop in order")?;
        deadline.met();
        ended.into_iter().try_for_each(|server| server?)
    }

    async fn open_console(
        &self,
        config: &Config,
        operations: Settings,
        holdings: &Arc<Holdings>,
        servers: &mut JoinSet<anyhow::Result<()>>,
        stopped: &Receiver<()>,
    ) -> anyhow::Result<()> {
        let settings = ConsoleConfig {
            retention: config.history.retention(),
            operations,
            ..config.console.clone()
        };
        let outside = Outside {
            client: config.network.client_options()?,
            friends: config.friends.source.clone(),
        };
        let console = Console::with_outside(Arc::clone(holdings), settings, outside)?;
        let console = console.watched(watch(config, holdings)?);
        let address = config.console.listen;
        let listener = TcpListener::bind(address).await.with_context(|| {
            format!(
                "cannot listen at {address}; choose another address with --listen or console.listen"
            )
        })?;
        let listening = listener.local_addr()?;
        eprintln!("the console is at http://{listening}/");
        if let Some(link) = console.setup_link(listening).await? {
            eprintln!("make the first account with this link, which works once: {link}");
        }
        if let Some(warning) = console.warning(listening) {
            eprintln!("warning: {}", plain(&warning));
        }
        let stop = told(stopped.clone());
        servers.spawn(async move {
            console.serve(listener, stop).await;
            Ok(())
        });
        Ok(())
    }
}

/// The parts that run on threads of their own.
struct Running {
    manager: Manager,
    workers: Workers,
}

impl Running {
    async fn start(config: &Config, holdings: &Arc<Holdings>) -> anyhow::Result<Self> {
        let options = config.worker_options()?;
        let (attempts, retention) = (config.jobs.attempts, config.history.retention());
        let alerts = config.alerts()?;
        let holdings = Arc::clone(holdings);
        let start = move || {
            let workers = Workers::start(Arc::clone(&holdings), options)?;
            let manager = Manager::start(
                holdings,
                ManagerOptions {
                    attempts,
                    retention,
                    bell: Some(workers.bell()),
                    alerts,
                },
            )?;
            Ok(Self { manager, workers })
        };
        tokio::task::spawn_blocking(start).await?
    }

    /// First nothing new is planned, then harvests are given back.
    fn stop(self) {
        self.manager.stop();
        self.workers.stop();
    }
}

/// A site as the console sees it.
#[derive(Debug)]
struct Served(ServedSite);

impl operations::sites::ServedSite for Served {
    fn site(&self) -> &site::Site {
        self.0.site()
    }

    fn listening(&self) -> SocketAddr {
        self.0.listening()
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn base_url(&self) -> &str {
        self.0.base_url()
    }

    fn robots(&self) -> String {
        self.0.robots()
    }

    fn answers_robots(&self) -> bool {
        self.0.answers_robots()
    }
}

async fn serve_site(
    mut site: server::Config,
    served: impl FnOnce(ServedSite),
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    site.confiner = Some(crate::commands::confine::confiner());
    let address = site.server.listen;
    let ready = move |addresses: &server::Addresses| {
        eprintln!(
            "the site at {} has {} items; harvesters ask {}",
            addresses.site_url, addresses.items, addresses.base_url
        );
        served(addresses.site.clone());
    };
    let served = server::run(site, false, |_| {}, ready, stop).await;
    served.with_context(|| format!("the site that was to answer at {address}"))
}

/// Ready when the sender is dropped.
async fn told(mut stopped: Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}
