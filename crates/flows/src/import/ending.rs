//! How an import ends: its state, its report, and what is told of it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use catalog::{FinishImport, ImportCounters, ImportState, JobEnd};

use super::flow::Read;
use super::job::{ImportEnded, ImportJob};
use super::keeping::Keeping;
use super::report;
use super::verification::Verification;
use crate::harvest::is_away;
use crate::message;

/// How an import ended.
#[derive(Debug, Clone)]
pub struct Imported {
    /// Its number in the catalog, if it is there.
    pub id: Option<i64>,
    /// How it ended.
    pub state: ImportState,
    /// The reason that it is not complete.
    pub reason: Option<String>,
    /// The counts, also of earlier runs of the import.
    pub counters: ImportCounters,
    /// How many documents went to a folder of their own, without the database.
    pub separate: Option<u64>,
    /// Where it is listed what was left out.
    pub report: Option<PathBuf>,
    /// Whether rows and files agree.
    pub verification: Option<Verification>,
    /// How long it took, this time.
    pub took: Duration,
}

/// An import whose sources were read, or that was stopped.
pub(super) struct Done {
    pub(super) read: Read,
    pub(super) verification: Option<Verification>,
}

/// Writes down how an import ended.
pub(super) fn finish(
    keeping: Keeping<'_>,
    job: Option<&ImportJob<'_>>,
    worked: anyhow::Result<Done>,
    began: Instant,
) -> anyhow::Result<Imported> {
    let (holdings, import) = (keeping.holdings, keeping.into_import());
    let (state, reason, verification, error) = match worked {
        Ok(Done { read, verification }) => {
            let counters = import.counters();
            let (state, reason) = outcome(
                &counters,
                counters.kept_nothing(),
                &read,
                verification.as_ref(),
            );
            (state, reason, verification, None)
        }
        // Another process goes on with it, and writes down how it ends.
        Err(error) if is_lost(&error) => return Err(error),
        Err(error) if job.is_some() && is_away(&error) => return Err(error),
        Err(error) => (
            ImportState::Failed,
            Some(message(&error)),
            None,
            Some(error),
        ),
    };
    let verdict = job.map(|job| {
        (job.decide)(&ImportEnded {
            state,
            error: error.as_ref(),
        })
    });
    let (end, said) = verdict.map_or((None, None), |verdict| (Some(verdict.end), verdict.reason));
    let reason = said.or(reason);
    let state = match (state, &end) {
        (ImportState::Failed | ImportState::Cancelled, Some(JobEnd::Cancelled)) => {
            ImportState::Cancelled
        }
        // Its worker stops, and another goes on with it.
        (ImportState::Cancelled, Some(_)) => ImportState::Failed,
        (state, _) => state,
    };
    let id = import.id();
    let finish = FinishImport {
        reason: reason.clone(),
        job: end,
        ..FinishImport::new(state)
    };
    let written = holdings.wait(holdings.catalog().finish_import(import, &finish));
    let entry = written.with_context(|| match &error {
        // A report that could not be written must not hide why the import failed.
        Some(error) => format!(
            "the import failed: {}; and its end cannot be written down",
            message(error)
        ),
        None => "the end of the import cannot be written down".to_owned(),
    })?;
    let (report, reason) = match report::write(holdings, id, entry.started) {
        Ok(report) => (report, reason),
        // The catalog has all of it, and how the import ended is more important.
        Err(error) => {
            let said = reason.into_iter().chain([message(&error)]);
            (None, Some(said.collect::<Vec<_>>().join("; ")))
        }
    };
    Ok(Imported {
        id: Some(id),
        state,
        reason,
        counters: entry.counters,
        separate: None,
        report,
        verification,
        took: began.elapsed(),
    })
}

impl Imported {
    /// How an import with these counters ends, if it is read to its end.
    pub(super) fn state_of(counters: &ImportCounters) -> (ImportState, Option<String>) {
        outcome(counters, counters.kept_nothing(), &Read::default(), None)
    }

    /// One that the catalog knows nothing of. `separate` counts the documents that went to a folder.
    pub(super) fn without_catalog(
        counters: ImportCounters,
        separate: Option<u64>,
        read: &Read,
        began: Instant,
    ) -> Self {
        let kept_nothing = counters.kept_nothing() && separate.is_none_or(|kept| kept == 0);
        let (state, reason) = outcome(&counters, kept_nothing, read, None);
        Self {
            id: None,
            state,
            reason,
            counters,
            separate,
            report: None,
            verification: None,
            took: began.elapsed(),
        }
    }

    /// Whether it came to its end and kept no document.
    pub fn kept_nothing(&self) -> bool {
        let is_at_end = matches!(self.state, ImportState::Ok | ImportState::Incomplete);
        is_at_end && self.counters.kept_nothing() && self.separate.is_none_or(|kept| kept == 0)
    }
}

fn outcome(
    counters: &ImportCounters,
    kept_nothing: bool,
    read: &Read,
    verification: Option<&Verification>,
) -> (ImportState, Option<String>) {
    if read.stopped {
        let reason = "stopped; what came so far is kept".to_owned();
        return (ImportState::Cancelled, Some(reason));
    }
    let mut reasons = Vec::new();
    let scans = &read.recognition.unread;
    let left_out = left_out(counters, scans);
    if left_out > 0 {
        reasons.push(format!(
            "{left_out} records or documents could not be obtained"
        ));
    }
    if counters.digest_mismatch > 0 {
        reasons.push(match counters.digest_mismatch {
            1 => "1 capture is not what its archive has a digest of".to_owned(),
            count => format!("{count} captures are not what their archive has digests of"),
        });
    }
    let unread = scans.text_limit + scans.text_engine_missing + scans.text_failed;
    if unread > 0 {
        let why = read.recognition.why.iter().map(|why| format!(": {why}"));
        let why: String = why.collect();
        reasons.push(format!("{unread} scans could not be recognised{why}"));
    }
    if let Some(verification) = verification.filter(|found| !found.is_well()) {
        reasons.push(verification.said());
    }
    let state = match reasons.is_empty() {
        true => ImportState::Ok,
        false => ImportState::Incomplete,
    };
    if read.unresolved > 0 {
        let count = read.unresolved;
        reasons.push(format!("the originals of {count} revisits are nowhere"));
    }
    if kept_nothing {
        reasons.push(why_nothing(counters));
    }
    for name in &read.still_written {
        reasons.push(format!(
            "`{name}` is still being written; import it again for the rest"
        ));
    }
    (
        state,
        Some(reasons.join("; ")).filter(|said| !said.is_empty()),
    )
}

/// Why no document was kept.
fn why_nothing(counters: &ImportCounters) -> String {
    let all = counters.all;
    let why = match (counters.filtered_dcf, counters.filtered_mtf) {
        _ if all == 0 => "there is no capture in it".to_owned(),
        (0, 0) => format!("the counts tell what became of {all} captures"),
        (0, other) => format!(
            "{other} of {all} captures are of other media types; name those wanted with --types"
        ),
        (rejected, _) => format!(
            "the content filter rejected all {rejected} documents; garner documents review shows them"
        ),
    };
    format!("nothing was kept: {why}")
}

/// The documents that should have been kept and were not, beside scans, which are kept. A filtered one is not missed.
fn left_out(counters: &ImportCounters, scans: &ImportCounters) -> u64 {
    counters.skipped_records
        + counters.failed_read
        + counters.failed_save
        + counters.failed_file_not_found
        + without_text(counters, scans)
}

/// Documents that a program was missing for, crashed on or took too long with. Those that are encrypted, damaged, empty or
/// scanned are what they are.
fn without_text(counters: &ImportCounters, scans: &ImportCounters) -> u64 {
    let missing = counters.text_engine_missing - scans.text_engine_missing;
    let limit = counters.text_limit - scans.text_limit;
    let ours = limit + missing + counters.text_failed - scans.text_failed;
    let failed = counters.failed_text_extract.min(ours);
    failed.max(missing)
}

fn is_lost(error: &anyhow::Error) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| {
        let error = cause.downcast_ref::<catalog::Error>();
        matches!(error, Some(catalog::Error::ImportLost { .. }))
    })
}
