//! `garner serve`: serves a site and answers OAI-PMH for it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use server::{Addresses, Config};

use crate::commands::confine::confiner;
use crate::commands::options::holdings_options::HoldingsOptions;
use crate::commands::options::{PlaceOptions, set};
use crate::commands::running::{notify, serve_watch, watchdog};
use crate::commands::stop_signal;
use crate::output::log;

/// Serve a directory as a web site and answer OAI-PMH 2.0 for it
///
/// The files of DIR are served at http://ADDR:PORT/ and offered as an OAI-PMH repository at
/// http://ADDR:PORT/modoai, in the formats oai_dc, http_header and oai_didl, in sets by media type. Changes
/// are seen within two seconds; what is removed leaves a tombstone.
///
/// With --origin another web server serves the files, and each is confirmed by asking it.
///
/// With --records DIR each XML file below DIR is a record, in the format that the namespace of its root element says:
/// oai_dc, marc21, mods and others, or your own by [[records.format]]. An empty or removed file is a deleted record.
///
/// With --catalog LOCATION --data DIR it is what was harvested and imported that is offered, at http://ADDR:PORT/oai.
/// The table [aggregator] of the file that --config names says which content is exposed, and to whom.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The directory of the site
    #[arg(conflicts_with = "catalog")]
    dir: Option<PathBuf>,
    /// Expose this catalog instead of a site: postgres://USER@HOST/DATABASE, or a SQLite file; --data names its files
    #[arg(long, value_name = "URL|FILE")]
    catalog: Option<String>,
    /// Expose the metadata files of this directory as records, one record a file, instead of a site
    #[arg(long, value_name = "DIR", conflicts_with_all = ["dir", "catalog"])]
    records: Option<PathBuf>,
    /// Directory of the index [default: DIR.garner, or ~/.local/share/garner/sites if that cannot be written]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    place: PlaceOptions,
    /// Address to listen on [default: 127.0.0.1:8080]
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
    /// Address for /metrics, /health and /ready [default: none]
    #[arg(long, value_name = "ADDR:PORT")]
    admin_listen: Option<SocketAddr>,
    /// Make the index anew; tombstones and datestamps of the old one are kept
    #[arg(long)]
    rebuild: bool,
}

impl Serve {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        if let Some(catalog) = &self.catalog {
            return self.serve_catalog(catalog);
        }
        log(&self.place.log_config(self.dir.is_some())?)?;
        let config = self.config()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .max_blocking_threads(128)
            .build()
            .context("the runtime cannot be started")?;
        let hints = Hints {
            no_email: config.repository.admin_emails.is_empty(),
            no_host: config.server.listen.ip().is_unspecified() && config.server.base_url.is_none(),
            base_path: config.server.base_path.clone(),
            are_records: config.records.enabled,
            elsewhere: match config.is_data_elsewhere() {
                true => config.data().ok(),
                false => None,
            },
        };
        let bar = progress_bar();
        let progress = {
            let bar = bar.clone();
            move |files| bar.set_position(files)
        };
        let ready = move |addresses: &Addresses| {
            bar.finish_and_clear();
            announce(addresses, &hints);
            notify("READY=1");
            tokio::spawn(watchdog());
        };
        let served = runtime.block_on(server::run(
            config,
            self.rebuild,
            progress,
            ready,
            stop_signal(),
        ));
        notify("STOPPING=1");
        runtime.shutdown_timeout(Duration::from_secs(1));
        served?;
        Ok(ExitCode::SUCCESS)
    }

    fn serve_catalog(&self, catalog: &str) -> anyhow::Result<ExitCode> {
        let is_of_sites = self.rebuild || self.base_path.is_some();
        if is_of_sites || self.place.is_of_sites() {
            bail!(
                "--rebuild, --base-path, --site-url and --origin are for sites; with --catalog leave them out"
            );
        }
        let mut config = self.place.configuration()?;
        log(&self.place.log_config(false)?)?;
        let aggregator = &mut config.aggregator;
        if let Some(listen) = self.listen {
            aggregator.listen = listen;
        }
        set(&mut aggregator.base_url, self.place.base_url());
        set(&mut aggregator.name, self.name.as_ref());
        if !self.admin_email.is_empty() {
            aggregator.admin_emails.clone_from(&self.admin_email);
        }
        aggregator.check()?;
        let place = config.place(self.data.as_deref(), Some(catalog))?;
        let holdings = HoldingsOptions::at(place).open()?;
        let holdings = Arc::new(holdings);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .max_blocking_threads(128)
            .build()
            .context("the runtime cannot be started")?;
        let admin = self.admin_listen.or(config.admin.listen);
        // They have a runtime of their own, which must not end in a task of this one.
        let kept = Arc::clone(&holdings);
        let served = runtime.block_on(async {
            if let Some(address) = admin {
                serve_watch(address, &config, &holdings).await?;
            }
            notify("READY=1");
            tokio::spawn(watchdog());
            let aggregator = config.aggregator.clone();
            aggregator.serve(holdings, "--listen", stop_signal()).await
        });
        notify("STOPPING=1");
        runtime.shutdown_timeout(Duration::from_secs(1));
        drop(kept);
        served.map(|()| ExitCode::SUCCESS)
    }

    fn config(&self) -> anyhow::Result<Config> {
        let directory = self.records.as_ref().or(self.dir.as_ref());
        let mut config = self.place.config(directory)?;
        config.records.enabled |= self.records.is_some();
        config.confiner = Some(confiner());
        set(&mut config.server.data, self.data.as_ref());
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

/// Warnings about the configuration.
struct Hints {
    /// Nobody is named to write to.
    no_email: bool,
    /// The base URL names no host, because every address of this one is listened at.
    no_host: bool,
    base_path: String,
    /// Whether the files are records.
    are_records: bool,
    /// The directory of the index, if it cannot be beside the site.
    elsewhere: Option<PathBuf>,
}

/// The line for scripts, and the URLs for people.
fn announce(addresses: &Addresses, hints: &Hints) {
    let Addresses {
        refused,
        base_url,
        site_url,
        items,
        admin,
        ..
    } = addresses;
    if *refused > 0 {
        eprintln!(
            "warning: {refused} files are no records and are not told; the lines above name them"
        );
    }
    match hints.are_records {
        true => eprintln!("garner is ready: {items} records of files at {base_url}?verb=Identify"),
        false => {
            eprintln!("garner is ready: {items} items at {base_url}?verb=Identify");
            eprintln!("the site is at {site_url}");
        }
    }
    if let Some(admin) = admin {
        eprintln!("metrics are at http://{admin}/metrics");
    }
    if let Some(index) = &hints.elsewhere {
        eprintln!(
            "the index is in {}, because the directory of the site is not yours to write beside; --data names another place",
            index.display()
        );
    }
    if hints.no_host {
        let place = match base_url.starts_with(site_url) {
            true => format!("identifiers begin with {site_url}"),
            false => format!("the base URL is {base_url}"),
        };
        eprintln!(
            "warning: {place}, which other machines cannot reach; name this host with --base-url http://HOST{}",
            hints.base_path
        );
    }
    if hints.no_email {
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
