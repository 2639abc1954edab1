//! Imports: the list, one of them with its warnings and report, and removal.

mod browse;
pub(super) mod rules;
mod templates;
mod trial;

use catalog::{ImportCounters, RemovedImport, Role};
use flows::{Holdings, ReportName};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Reader;
use utoipa::{IntoParams, ToSchema};

pub use self::browse::{SourceDirectory, SourceFile, browse};
pub use self::templates::{ImportTemplate, remove_template, save_template, template, templates};
pub use self::trial::{ImportTrial, TriedCapture, try_first};
use crate::harvests::{Removed, WarningFilter, days, parameters};
use crate::mirrored::mirrored;
use crate::{Actor, Context, FilePath, Listed, Refusal, Time, page_limit};

/// An import of a crawl into the collection.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Import {
    /// Its number.
    pub id: i64,
    /// The job that it belongs to.
    pub job: Option<i64>,
    /// The schedule that it belongs to.
    pub schedule: Option<i64>,
    /// Its state.
    pub state: ImportState,
    /// The process that runs it, or ran it last.
    pub worker: String,
    /// When it began.
    pub started: Time,
    /// When it ended.
    pub ended: Option<Time>,
    /// How often it was started: more than once if it was resumed.
    pub attempts: i64,
    /// The counters of the Crawl Document Importer, by its names, and ours.
    #[schema(value_type = Object)]
    pub counters: ImportCounters,
    /// Why it failed, or what is missing.
    pub reason: Option<String>,
    /// Whether it came to its end and kept no document: none is new, and none was known.
    pub kept_nothing: bool,
    /// Its parameters.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// Its sources, and how far each was read.
    pub sources: Vec<SourceProgress>,
    /// The report, a line for each capture, if it is on this machine.
    pub report: Option<FilePath>,
}

mirrored! {
    /// The state of an import.
    ImportState = ImportState {
        /// It has begun and not ended, or its process was killed.
        Running = "running",
        /// All sources were read.
        Ok = "ok",
        /// It reached its end, but captures were skipped or failed.
        Incomplete = "incomplete",
        /// It did not reach its end, and can be resumed.
        Failed = "failed",
        /// Somebody cancelled it.
        Cancelled = "cancelled",
    }
}

/// How far a source was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SourceProgress {
    /// The file, directory or address.
    pub source: String,
    /// The position in bytes.
    pub position: u64,
    /// Whether it was read to its end.
    pub done: bool,
}

/// A capture that an import skipped or repaired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ImportWarning {
    /// Its number.
    pub id: i64,
    /// The file of the crawl.
    pub file: String,
    /// The position in that file, in bytes.
    pub offset: Option<u64>,
    /// The event, in words.
    pub reason: String,
    /// The count of the run that it belongs to, by its code.
    pub kind: Option<String>,
}

/// Which imports are wanted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportFilter {
    /// Imports in this state.
    pub state: Option<ImportState>,
    /// Imports of one job.
    pub job: Option<i64>,
    /// Imports of one schedule.
    pub schedule: Option<i64>,
    /// Imports that began then or later.
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Time>,
    /// Imports that began then or earlier.
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// Imports with this text in their reason.
    pub text: Option<String>,
    /// Imports with a smaller number, for the next page.
    pub before: Option<i64>,
    /// Imports on a page, at most 1000; the default is 100.
    pub limit: Option<u64>,
}

/// Imports, the newest first.
pub async fn list(context: &Context, filter: &ImportFilter) -> Result<Listed<Import>, Refusal> {
    let limit = page_limit(filter.limit);
    let entries = context.catalog().imports(&filter.query(limit + 1)).await?;
    let with_reports = |holdings: &Holdings| {
        let imports = entries.into_iter();
        imports.map(|entry| import(holdings, entry)).collect()
    };
    let imports: Vec<Import> = context.blocking(with_reports).await?;
    Ok(Listed::page(imports, limit, |import| import.id))
}

/// One import.
pub async fn show(context: &Context, id: i64) -> Result<Import, Refusal> {
    let entry = context.catalog().import(id).await?;
    let missing = || Refusal::not_found(format!("there is no import {id} in the history"));
    let entry = entry.ok_or_else(missing)?;
    let made = |holdings: &Holdings| with_report(holdings, import(holdings, entry)?);
    context.blocking(made).await
}

/// The captures that an import skipped or repaired, in the order of their numbers.
pub async fn warnings(
    context: &Context,
    id: i64,
    filter: &WarningFilter,
) -> Result<Listed<ImportWarning>, Refusal> {
    show(context, id).await?;
    let (after, limit) = (filter.after.unwrap_or(0), page_limit(filter.limit));
    let rows = context.catalog().import_warnings(id, after, limit + 1);
    Ok(Listed::page(rows.await?, limit, |(id, _)| *id))
}

/// Opens the report of an import, JSON Lines, wherever it is kept.
pub async fn report(context: &Context, id: i64) -> Result<Reader, Refusal> {
    let import = show(context, id).await?;
    if import.ended.is_none() {
        let message = format!("import {id} is running; its report is written when it ends");
        return Err(Refusal::not_found(message));
    }
    let started = import.started.0;
    let open = move |holdings: &Holdings| flows::open_import_report(holdings, id, started);
    let report = context.blocking(open).await?;
    let nothing = || format!("import {id} has no report: nothing was skipped or repaired");
    report.ok_or_else(|| Refusal::not_found(nothing()))
}

/// Removes imports from the history with their reports, all or none; documents stay. A running one is refused.
pub async fn remove(context: &Context, actor: &Actor, ids: &[i64]) -> Result<Removed, Refusal> {
    actor.require(Role::Operator)?;
    let mut imports = Vec::new();
    for id in ids {
        let import = show(context, *id).await?;
        if import.state == ImportState::Running {
            let message = format!("import {id} is running; cancel it first");
            return Err(Refusal::conflict(message));
        }
        imports.push(import);
    }
    let mut removed = Vec::new();
    for import in imports {
        if context.catalog().remove_import(import.id).await? {
            removed.push(RemovedImport {
                id: import.id,
                started: import.started.0,
            });
        }
    }
    if !removed.is_empty() {
        let numbers: Vec<_> = removed.iter().map(|import| import.id.to_string()).collect();
        let subject = format!("import {}", numbers.join(", "));
        context.audit(actor, "import.remove", subject, None).await;
    }
    remove_reports(context, removed).await
}

/// Removes imports that ended more than `older_than_days` ago, except those that can be resumed and the last of each
/// schedule.
pub async fn remove_old(
    context: &Context,
    actor: &Actor,
    older_than_days: u32,
) -> Result<Removed, Refusal> {
    actor.require(Role::Operator)?;
    let removed = context
        .catalog()
        .remove_imports(days(older_than_days)?)
        .await?;
    let subject = format!("imports older than {older_than_days} days");
    let details = Some(format!("{} removed", removed.len()));
    context
        .audit(actor, "import.remove", subject, details)
        .await;
    remove_reports(context, removed).await
}

async fn remove_reports(
    context: &Context,
    removed: Vec<RemovedImport>,
) -> Result<Removed, Refusal> {
    let forget = move |holdings: &Holdings| {
        let reports = removed.iter();
        let reports = reports.map(|import| ReportName::of_import(import.id, import.started));
        holdings.remove_reports(&reports.collect::<Vec<_>>());
        Ok(removed.len() as u64)
    };
    let removed = context.blocking(forget).await?;
    Ok(Removed { removed })
}

/// The import with its report: the worker that did it may have another data directory, and the catalog has all that a report
/// tells.
pub(crate) fn with_report(holdings: &Holdings, mut import: Import) -> anyhow::Result<Import> {
    if import.report.is_none() && import.ended.is_some() {
        let written = match holdings.are_reports_stored()? {
            // The store has it, or gets it when it is read.
            true => None,
            false => flows::write_report(holdings, import.id, import.started.0)?,
        };
        import.report = written.map(FilePath);
    }
    Ok(import)
}

pub(crate) fn import(holdings: &Holdings, entry: catalog::ImportEntry) -> anyhow::Result<Import> {
    let report = flows::import_report(holdings, &entry)?;
    let sources = entry.sources.into_iter();
    let state = ImportState::from(entry.state);
    let is_at_end = matches!(state, ImportState::Ok | ImportState::Incomplete);
    Ok(Import {
        kept_nothing: is_at_end && entry.counters.kept_nothing(),
        id: entry.id,
        job: entry.job,
        schedule: entry.schedule,
        state,
        worker: entry.worker,
        started: Time(entry.started),
        ended: entry.ended.map(Time),
        attempts: entry.attempts,
        counters: entry.counters,
        reason: entry.reason,
        parameters: parameters(&entry.parameters),
        sources: sources
            .map(|source| SourceProgress {
                source: source.source,
                position: source.position,
                done: source.done,
            })
            .collect(),
        report: report.map(FilePath),
    })
}

impl Import {
    /// How long it took, in seconds.
    pub fn seconds(&self) -> Option<i64> {
        self.ended.map(|ended| ended.0 - self.started.0)
    }

    /// Its state in words, with a warning if it kept nothing.
    pub fn state_in_words(&self) -> String {
        match self.kept_nothing {
            true => format!("{}, {KEPT_NOTHING}", self.state.name()),
            false => self.state.name().to_owned(),
        }
    }

    /// Its sources, for people: the first one and how many more.
    pub fn sources_in_words(&self) -> String {
        match &self.sources[..] {
            [] => String::new(),
            [source] => source.source.clone(),
            [source, others @ ..] => format!("{} and {} more", source.source, others.len()),
        }
    }

    /// The parameters that were set, as pairs of name and value for people.
    pub fn parameters_in_words(&self) -> Vec<(String, String)> {
        crate::runs::settings_in_words(&self.parameters)
    }
}

/// The warning about an import that kept no document.
pub const KEPT_NOTHING: &str = "kept nothing";

impl ImportFilter {
    fn query(&self, limit: u64) -> catalog::ImportQuery {
        catalog::ImportQuery {
            state: self.state.map(Into::into),
            job: self.job,
            schedule: self.schedule,
            since: self.since.map(|time| time.0),
            until: self.until.map(|time| time.0),
            text: self.text.clone(),
            before: self.before,
            limit,
        }
    }
}

impl From<(i64, catalog::ImportWarning)> for ImportWarning {
    fn from((id, warning): (i64, catalog::ImportWarning)) -> Self {
        Self {
            id,
            file: warning.file,
            offset: warning.offset,
            reason: warning.reason,
            kind: Some(warning.kind).filter(|kind| !kind.is_empty()),
        }
    }
}
