//! Options of those commands that run jobs, and the configuration file beneath them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use flows::Holdings;
use jobs::WorkerOptions;
use remote::Access;
use toml::Value;

use crate::commands::confine::confiner;
use crate::commands::holdings_options::{warn, warn_of_password};
use crate::config::layers::set_by_option;
use crate::config::{Config, LogFormat};
use crate::text::plain;

/// The catalog of the jobs, and how they run. Flags win over the configuration file.
#[derive(Debug, Args)]
pub(crate) struct WorkerFlags {
    /// A configuration file in TOML, on top of /etc/garner/garner.toml and ~/.config/garner/garner.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data directory [default: $GARNER_DATA, else ./garner-data if it is there, else ~/.local/share/garner]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The catalog, if it is not in that directory: postgres://USER@HOST/DATABASE, or a SQLite file
    #[arg(long, value_name = "URL|FILE")]
    catalog: Option<String>,
    /// How many jobs run at once [default: 4]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// Tags of the workers: imports that need one of these (garner import --queue --needs) run nowhere else
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    tags: Vec<String>,
    /// Seconds without a sign of life after which another process takes a job over [default: 60]
    #[arg(long, value_name = "SECONDS")]
    lease: Option<u64>,
    /// How many harvests may run at one host; 0 is no limit [default: as last given, or 1]
    #[arg(long, value_name = "N")]
    per_host: Option<u32>,
    /// An address, network or host that may be asked although it is not public, such as 127.0.0.1 or 10.0.0.0/8; can be
    /// given several times
    #[arg(long, value_name = "NETWORK")]
    allow: Vec<String>,
    /// Form of the log: lines for people, or one JSON object a line [default: text]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
}

impl WorkerFlags {
    /// The configuration file with these options on top.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        let mut config = Config::load(self.config.as_deref())?;
        warn_of_password(self.catalog.as_deref());
        let place = config.place(self.data.as_deref(), self.catalog.as_deref())?;
        self.tell_options(&mut config);
        config.log.format = self.log_format.unwrap_or(config.log.format);
        config.place = place;
        let jobs = &mut config.jobs;
        jobs.workers = self.workers.unwrap_or(jobs.workers);
        jobs.lease_seconds = self.lease.unwrap_or(jobs.lease_seconds);
        if !self.tags.is_empty() {
            jobs.tags.clone_from(&self.tags);
        }
        jobs.per_host = self.per_host.or(jobs.per_host);
        config.network.allow.extend(self.allow.iter().cloned());
        config.jobs.check()?;
        Ok(config)
    }

    /// Says in the settings that are shown which of them were given as options.
    fn tell_options(&self, config: &mut Config) {
        let effective = &mut config.effective;
        let number = |number: u64| Value::Integer(number.try_into().unwrap_or(i64::MAX));
        let list = |list: &[String]| Value::from(list.to_vec());
        let data = self.data.as_ref().map(|data| data.display().to_string());
        let lease = self.lease.map(number);
        let mut allow = config.network.allow.clone();
        allow.extend(self.allow.iter().cloned());
        for (key, value, option) in [
            ("data", data.map(Value::from), "--data"),
            (
                "catalog",
                self.catalog.clone().map(Value::from),
                "--catalog",
            ),
            (
                "jobs.workers",
                self.workers.map(|count| number(count as u64)),
                "--workers",
            ),
            (
                "jobs.tags",
                (!self.tags.is_empty()).then(|| list(&self.tags)),
                "--tags",
            ),
            ("jobs.lease_seconds", lease, "--lease"),
            (
                "jobs.per_host",
                self.per_host.map(|count| number(count.into())),
                "--per-host",
            ),
            (
                "network.allow",
                (!self.allow.is_empty()).then(|| list(&allow)),
                "--allow and the configuration",
            ),
        ] {
            if let Some(value) = value {
                set_by_option(effective, key, value, option);
            }
        }
    }
}

impl Config {
    /// Opens the holdings, and makes them if need be. A database that is away is waited for: after a power cut it may
    /// start later than this.
    pub(crate) fn holdings(&self) -> anyhow::Result<Arc<Holdings>> {
        let place = &self.place;
        place.announce();
        let mut told = false;
        loop {
            match Holdings::create(&place.data, place.catalog.as_deref()) {
                Err(error) if flows::is_away(&error) => {
                    if !std::mem::replace(&mut told, true) {
                        let reason = flows::message(&error);
                        eprintln!("waiting for the catalog: {}", plain(&reason));
                    }
                    std::thread::sleep(A_SECOND);
                }
                holdings => {
                    let holdings = holdings.inspect(warn)?;
                    place.settle(&holdings)?;
                    return Ok(Arc::new(holdings));
                }
            }
        }
    }

    /// As workers have it.
    pub(crate) fn worker_options(&self) -> anyhow::Result<WorkerOptions> {
        Ok(WorkerOptions {
            threads: self.jobs.workers,
            tags: self.jobs.tags.clone(),
            lease: self.jobs.lease(),
            per_host: self.jobs.per_host,
            client: self.network.client_options()?,
            access: self.import.access(Access::of_environment()),
            import_roots: self.import.rules()?.within(),
            backoff: self.jobs.backoff(),
            hooks: self.hook.clone(),
            confiner: Some(confiner()),
            ..WorkerOptions::default()
        })
    }
}

/// How often a database that is away is asked for.
const A_SECOND: Duration = Duration::from_secs(1);
