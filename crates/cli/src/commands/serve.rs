//! `garner serve`: serves a site and answers OAI-PMH for it.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use server::{Addresses, Config};

/// Serve a directory as a web site and answer OAI-PMH 2.0 for it
///
/// The files of DIR are served at http://ADDR:PORT/ and offered as an OAI-PMH repository at
/// http://ADDR:PORT/modoai, in the formats oai_dc, http_header and oai_didl, in sets by media type. Changes
/// are seen within two seconds; what is removed leaves a tombstone.
///
/// With --origin another web server serves the files, and each is confirmed by asking it.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    site: SiteOptions,
    /// Where to answer [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
    /// The path of the repository on this server [default: /modoai]
    #[arg(long, value_name = "PATH")]
    base_path: Option<String>,
    /// The e-mail address of the administrator, for harvesters
    #[arg(long, value_name = "ADDRESS")]
    admin_email: Vec<String>,
    /// The name of the repository [default: the name of DIR]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Where /metrics and /health are [default: nowhere]
    #[arg(long, value_name = "ADDR:PORT")]
    admin_listen: Option<SocketAddr>,
    /// Make the index anew; tombstones and datestamps of the old one are kept
    #[arg(long)]
    rebuild: bool,
}

/// Options that say which site is meant.
#[derive(Debug, Args)]
pub(crate) struct SiteOptions {
    /// The directory of the site
    pub(crate) dir: Option<PathBuf>,
    /// Where the index is kept [default: DIR.garner]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: PlaceOptions,
}

/// Options that say how the site is set up and where it is seen.
#[derive(Debug, Args)]
pub(crate) struct PlaceOptions {
    /// A configuration file in TOML; flags win over it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where the repository answers, as harvesters see it [default: http://ADDR:PORT/modoai]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// What the URLs of the files begin with, as users see them [default: the origin, or the host of the base URL]
    #[arg(long, value_name = "URL")]
    pub(crate) site_url: Option<String>,
    /// The web server that serves DIR, such as http://127.0.0.1:8000/
    #[arg(long, value_name = "URL")]
    pub(crate) origin: Option<String>,
}

impl PlaceOptions {
    /// The configuration file with these options on top.
    pub(crate) fn config(&self, dir: Option<&PathBuf>) -> anyhow::Result<Config> {
        let mut config = match &self.config {
            Some(path) => Config::read(path)?,
            None => Config {
                relative_to: PathBuf::from("."),
                ..Config::default()
            },
        };
        set(&mut config.server.root, dir);
        set(&mut config.server.base_url, self.base_url.as_ref());
        set(&mut config.server.site_url, self.site_url.as_ref());
        set(&mut config.origin.url, self.origin.as_ref());
        Ok(config)
    }
}

impl Serve {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        log();
        let config = self.config()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .max_blocking_threads(128)
            .build()
            .context("the runtime cannot be started")?;
        let told = config.repository.admin_emails.is_empty();
        let bar = progress_bar();
        let progress = {
            let bar = bar.clone();
            move |files| bar.set_position(files)
        };
        let ready = move |addresses: &Addresses| {
            bar.finish_and_clear();
            announce(addresses, told);
        };
        let served = runtime.block_on(server::run(
            config,
            self.rebuild,
            progress,
            ready,
            stop_signal(),
        ));
        runtime.shutdown_timeout(Duration::from_secs(1));
        served?;
        Ok(ExitCode::SUCCESS)
    }

    fn config(&self) -> anyhow::Result<Config> {
        let mut config = self.site.place.config(self.site.dir.as_ref())?;
        set(&mut config.server.data, self.site.data.as_ref());
        if let Some(listen) = self.listen {
            config.server.listen = listen;
        }
        if let Some(path) = &self.base_path {
            config.server.base_path = path.clone();
        }
        if !self.admin_email.is_empty() {
            config.repository.admin_emails = self.admin_email.clone();
        }
        set(&mut config.repository.name, self.name.as_ref());
        if self.admin_listen.is_some() {
            config.admin.listen = self.admin_listen;
        }
        Ok(config)
    }
}

fn set<T: Clone>(target: &mut Option<T>, value: Option<&T>) {
    if let Some(value) = value {
        *target = Some(value.clone());
    }
}

/// The line for scripts, and the URLs for people.
fn announce(addresses: &Addresses, no_email: bool) {
    let Addresses {
        base_url,
        site_url,
        items,
        admin,
    } = addresses;
    eprintln!("garner is ready: {items} items at {base_url}?verb=Identify");
    eprintln!("the site is at {site_url}");
    if let Some(admin) = admin {
        eprintln!("metrics are at http://{admin}/metrics");
    }
    if no_email {
        eprintln!(
            "harvesters are told to write to webmaster@example.org; set your address with --admin-email"
        );
    }
}

fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template(
        "{spinner} scanning the site: {human_pos} files, {per_sec}, {elapsed}",
    );
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Lines for people on a terminal, plain ones elsewhere; `RUST_LOG` says how many.
fn log() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .init();
}

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
