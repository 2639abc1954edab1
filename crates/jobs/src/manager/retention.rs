//! How long ended things are kept.

use flows::{Holdings, ReportName, ReviewLimits, message};

/// For how many days ended things are kept; for ever where nothing is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Entries of the history and of imports. Those that the next ones build upon are kept in any case, and so are
    /// documents.
    pub history_days: Option<u32>,
    /// Jobs that are over, with their logs.
    pub job_days: Option<u32>,
    /// Removed documents, in the trash.
    pub trash_days: Option<u32>,
    /// Rejected documents that wait for review.
    pub reviews: ReviewLimits,
}

impl Retention {
    pub(super) fn apply(&self, holdings: &Holdings) -> Result<(), catalog::Error> {
        let catalog = holdings.catalog();
        if let Some(days) = self.history_days {
            let removed = holdings.wait(catalog.remove_history(seconds(days), true))?;
            tell(removed, "entries of the history", days);
            let removed = holdings.wait(catalog.remove_imports(seconds(days)))?;
            let reports = removed.iter();
            let reports = reports.map(|import| ReportName::of_import(import.id, import.started));
            holdings.remove_reports(&reports.collect::<Vec<_>>());
            tell(removed.len() as u64, "entries of imports", days);
        }
        if let Some(days) = self.job_days {
            let removed = holdings.wait(catalog.remove_jobs(seconds(days)))?;
            tell(removed, "jobs", days);
        }
        holdings.wait(catalog.remove_empty_changes())?;
        if let Some(days) = self.trash_days {
            match flows::purge_trash(holdings, seconds(days)) {
                Ok(purged) => tell(purged, "documents from the trash", days),
                Err(error) => tracing::warn!("the trash is kept: {}", message(&error)),
            }
        }
        self.prune_reviews(holdings);
        holdings.wait(catalog.remove_old_sessions())?;
        flows::sweep_retrievals(holdings)?;
        flows::sweep_access(holdings)
    }
}

impl Retention {
    /// A review store that is away keeps nobody from removing the rest.
    fn prune_reviews(&self, holdings: &Holdings) {
        match flows::prune_reviews(holdings, self.reviews) {
            Ok(removed) => tell(removed, "rejected documents", self.reviews.days),
            Err(error) => tracing::warn!("rejected documents cannot be removed: {error:#}"),
        }
    }
}

fn seconds(days: u32) -> i64 {
    i64::from(days) * 86_400
}

fn tell(removed: u64, what: &str, days: u32) {
    if removed > 0 {
        tracing::info!("removed {removed} {what} that were over for more than {days} days");
    }
}
