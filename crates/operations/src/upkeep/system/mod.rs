//! The installation as a whole: versions, workers, configuration, disks, programs, and what is wrong, with remedies.
//! `garner doctor`, the page System and the API show the same object.

mod configuration;
mod facts;
mod probe;

use std::time::Duration;

use catalog::Role;
use serde::Serialize;
use utoipa::ToSchema;

pub use self::configuration::{Configuration, ConfiguredSetting};
use self::facts::Facts;
pub use self::facts::{CatalogFacts, DiskFacts, StoreFacts, WorkerFacts};
use self::probe::Findings;
pub(crate) use self::probe::KeptFindings;
use crate::{Actor, Context, Refusal, Settings, Time};

/// The installation as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SystemReport {
    /// The version of garner.
    #[schema(example = "0.2.0")]
    pub version: String,
    /// The version of the kernel.
    pub kernel: String,
    /// `problems` if a finding is one; else `ok`.
    #[schema(example = "ok")]
    pub state: String,
    /// When programs, confinement and files were looked at; that is done once and on request.
    pub checked: Option<Time>,
    /// The findings, with remedies.
    pub checks: Vec<Check>,
    /// The programs that read documents.
    pub programs: Vec<Program>,
    /// The languages in which scans are recognised.
    pub languages: Vec<String>,
    /// The protections that this system lacks for these programs, in words; none if all hold.
    pub confinement_gaps: Vec<String>,
    /// The catalog, if it can be opened.
    pub catalog: Option<CatalogFacts>,
    /// The places of records and documents.
    pub store: Option<StoreFacts>,
    /// The disks of the data directory, of the catalog and of documents.
    pub disks: Vec<DiskFacts>,
    /// Processes with workers, on all machines.
    pub workers: Vec<WorkerFacts>,
    /// The settings that were made.
    pub configuration: Configuration,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Check {
    /// The area: `disk`, `catalog` and so on.
    #[schema(example = "disk")]
    pub check: String,
    /// `ok`, `warning` or `problem`.
    #[schema(example = "ok")]
    pub state: String,
    /// The finding.
    pub message: String,
    /// The remedy, if something is wrong.
    pub remedy: Option<String>,
}

/// A program that reads documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Program {
    /// Its name.
    #[schema(example = "pdftotext")]
    pub name: String,
    /// Where it is, if it is installed.
    pub path: Option<String>,
    /// Its version, if it tells.
    pub version: Option<String>,
    /// The package of Debian that has it.
    pub package: String,
    /// The consequence of its absence.
    pub without: String,
}

impl Check {
    /// Whether garner cannot work as it should.
    pub fn is_problem(&self) -> bool {
        self.state == PROBLEM
    }
}

impl SystemReport {
    /// Whether a finding is a problem.
    pub fn has_problems(&self) -> bool {
        self.checks.iter().any(Check::is_problem)
    }

    fn new(facts: Facts, findings: Option<&Findings>, configuration: Configuration) -> Self {
        let checked = findings.map(|findings| findings.at);
        let findings = findings.cloned().unwrap_or_default();
        let mut checks = vec![configuration.version_check()];
        checks.extend(findings.system);
        checks.extend(configuration.checks());
        checks.extend(findings.holdings);
        let is_wrong = checks.iter().any(Check::is_problem);
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: configuration::kernel(),
            state: if is_wrong { "problems" } else { "ok" }.to_owned(),
            checked,
            checks,
            programs: findings.programs,
            languages: findings.languages,
            confinement_gaps: findings.gaps,
            catalog: facts.catalog,
            store: facts.store,
            disks: facts.disks,
            workers: facts.workers,
            configuration,
        }
    }
}

/// The installation: workers, disks and settings as they are now, findings as they were last looked for. The first time
/// they are looked for now.
pub async fn show(context: &Context, actor: &Actor) -> Result<SystemReport, Refusal> {
    actor.require(Role::Admin)?;
    let findings = probe::kept(context).await?;
    report(context, Some(&findings)).await
}

/// The same for somebody who does not wait: findings that are not there yet are left out, and looked for meanwhile.
pub async fn glance(context: &Context, actor: &Actor) -> Result<SystemReport, Refusal> {
    actor.require(Role::Admin)?;
    let findings = tokio::time::timeout(PATIENCE, probe::kept(context)).await;
    let findings = findings.ok().transpose()?;
    report(context, findings.as_deref()).await
}

/// The same with findings that are looked for now.
pub async fn check(context: &Context, actor: &Actor) -> Result<SystemReport, Refusal> {
    actor.require(Role::Admin)?;
    let findings = probe::anew(context).await?;
    report(context, Some(&findings)).await
}

/// The same where there is no catalog, or where it cannot be opened; this blocks. `error` says why.
pub fn check_without_catalog(settings: &Settings, error: &anyhow::Error) -> SystemReport {
    let findings = Findings::without_catalog(settings, error);
    let configuration = settings.configuration.clone();
    SystemReport::new(Facts::default(), Some(&findings), configuration)
}

async fn report(context: &Context, findings: Option<&Findings>) -> Result<SystemReport, Refusal> {
    let facts = Facts::gather(context).await?;
    let configuration = context.settings().configuration.clone();
    Ok(SystemReport::new(facts, findings, configuration))
}

const PROBLEM: &str = "problem";
/// How long somebody waits for findings who does not wait.
const PATIENCE: Duration = Duration::from_millis(80);
