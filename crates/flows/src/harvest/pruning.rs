//! Records that are held and that the filter does not accept: counted before a harvest, so that nobody loses them unawares.

use catalog::{RecordQuery, Repository, Validation};

use super::HarvestOrder;
use super::order::Parameters;
use crate::Holdings;
use crate::rules::RuleSource;

/// Records that are held, and how many of them the filter rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejected {
    /// How many it rejects.
    pub rejected: u64,
    /// How many are held.
    pub held: u64,
}

impl Rejected {
    /// In one line, with what becomes of them.
    pub fn said(&self, prune: bool) -> String {
        let fate = match prune {
            true => "these are removed",
            false => "these stay and are marked; --prune removes them",
        };
        let Self { rejected, held } = self;
        format!("the filter rejects {rejected} of {held} records that are held; {fate}")
    }
}

/// Counts the records that are held and that the filter of a harvest rejects. With the filter of the last harvest these
/// are marked already; with another one, the files of all records are read.
///
/// Filters look at records as they come, and files are as mappings made them, so that the count may be a little off where
/// a mapping adds what a filter looks for.
pub fn count_rejected(holdings: &Holdings, order: &HarvestOrder) -> anyhow::Result<Rejected> {
    let mut count = Rejected {
        rejected: 0,
        held: 0,
    };
    let (Some(source), _) = &order.rules(holdings)? else {
        return Ok(count);
    };
    let base_url = harvester::canonical_base_url(&order.base_url)?;
    let catalog = holdings.catalog();
    let Some(repository) = holdings.wait(catalog.repository_at(&base_url))? else {
        return Ok(count);
    };
    let mut query = marked(&repository, order);
    if is_last(holdings, order, &repository, source)? {
        count.rejected = holdings.wait(catalog.count_records(&query, u64::MAX >> 1))?;
        query.validation = None;
        count.held = holdings.wait(catalog.count_records(&query, u64::MAX >> 1))?;
        return Ok(count);
    }
    query.validation = None;
    let filters = source.filters()?;
    loop {
        let records = holdings.wait(catalog.records(&query))?;
        let Some(last) = records.last() else {
            return Ok(count);
        };
        query.after = last.id;
        for record in records.iter().filter(|record| record.is_held()) {
            count.held += 1;
            let file = record.file.as_deref();
            let read = |file| holdings.read_record(&repository, &order.metadata_prefix, file);
            let xml = file.and_then(|file| read(file).ok());
            // A record that cannot be read is not known to be rejected.
            let accepts = xml.is_none_or(|xml| filters.accepts(&xml).unwrap_or(true));
            count.rejected += u64::from(!accepts);
        }
    }
}

/// Whether the last harvest of the same had the same filter.
fn is_last(
    holdings: &Holdings,
    order: &HarvestOrder,
    repository: &Repository,
    source: &RuleSource,
) -> anyhow::Result<bool> {
    let (prefix, set) = (&order.metadata_prefix, order.set.as_deref());
    let last = holdings.catalog().last_finished(repository.id, prefix, set);
    let Some(last) = holdings.wait(last)? else {
        return Ok(false);
    };
    let Ok(last) = serde_json::from_str::<Parameters>(&last.parameters) else {
        return Ok(false);
    };
    let (_, said) = source.noted()?;
    Ok(last.making.filter.is_some_and(|(_, last)| last == said))
}

/// Records that an earlier harvest found to be rejected, and kept.
pub(super) fn marked(repository: &Repository, order: &HarvestOrder) -> RecordQuery {
    RecordQuery {
        repository: Some(repository.id),
        metadata_prefix: Some(order.metadata_prefix.clone()),
        set: order.set.clone(),
        deleted: Some(false),
        validation: Some(Validation::Filtered),
        ..RecordQuery::default()
    }
}
