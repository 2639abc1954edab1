//! How a harvest begins: where it was interrupted, at what the last one left, or with everything.

use catalog::{HistoryEntry, NewRun, Repository, Run};
use harvester::{Quirk, Quirks};

use super::checkpoint::Checkpoint;
use super::order::Parameters;
use super::via::Via;
use super::{HarvestJob, HarvestOrder};
use crate::Holdings;

/// A harvest that the catalog has an entry of.
pub(super) struct Begun {
    pub(super) run: Run,
    pub(super) quirks: Quirks,
    pub(super) start: Start,
}

/// Where a harvest starts.
pub(super) enum Start {
    /// Where it was interrupted.
    GoOn(Checkpoint),
    /// At a date, or at the beginning.
    At {
        beginning: Beginning,
        /// How far WARC files are safe that an interrupted harvest left which is not gone on with.
        warc: Option<(String, u64)>,
        /// Whether the last harvest found completeListSize to be wrong.
        distrusts_sizes: bool,
    },
}

/// The harvests that a harvest builds upon.
#[derive(Default)]
pub(super) struct Beginning {
    /// Since when records are asked for.
    pub(super) from: Option<String>,
    /// The records that the last harvest could not obtain.
    pub(super) lost: Vec<String>,
}

/// Begins a harvest: goes on with one that was interrupted, builds upon the last one, or takes everything.
pub(super) fn begin(
    holdings: &Holdings,
    order: &HarvestOrder,
    repository: &Repository,
    parameters: &Parameters,
    job: Option<&HarvestJob>,
    notify: &dyn Fn(&str),
) -> anyhow::Result<Begun> {
    let catalog = holdings.catalog();
    let (prefix, set) = (&order.metadata_prefix, order.set.as_deref());
    let unfinished = holdings.wait(catalog.unfinished(repository.id, prefix, set))?;
    let interrupted = unfinished.and_then(|entry| {
        let checkpoint = Checkpoint::parse(entry.resume_state.as_deref()?)?;
        Some((entry, checkpoint))
    });
    let mut run = NewRun {
        set: order.set.clone(),
        parameters: parameters.with_order(order)?,
        job: job.map(|job| job.lease),
        ..NewRun::new(repository.id, prefix)
    };
    let warc = match interrupted {
        // A static repository is one file, which may have been replaced: records read from it before do not count as present.
        Some((entry, checkpoint))
            if order.via != Via::Static && has_same_parameters(&entry, parameters) =>
        {
            run.resume = Some(entry.id);
            let run = holdings.wait(catalog.begin(&run))?;
            notify(&format!(
                "resuming harvest {}, which was interrupted",
                entry.id
            ));
            let quirks = entry.quirks.as_deref().map(serde_json::from_str);
            return Ok(Begun {
                run,
                quirks: quirks.transpose().ok().flatten().unwrap_or_default(),
                start: Start::GoOn(checkpoint),
            });
        }
        Some((_, checkpoint)) => checkpoint.warc,
        None => None,
    };
    let beginning = beginning(holdings, order, repository, parameters, notify)?;
    let last = holdings.wait(catalog.last_finished(repository.id, prefix, set))?;
    Ok(Begun {
        run: holdings.wait(catalog.begin(&run))?,
        quirks: Quirks::default(),
        start: Start::At {
            beginning,
            warc,
            distrusts_sizes: last.is_some_and(|last| has_wrong_sizes(&last)),
        },
    })
}

/// Whether a harvest found completeListSize to be wrong again and again.
fn has_wrong_sizes(entry: &HistoryEntry) -> bool {
    let quirks = entry.quirks.as_deref().map(serde_json::from_str::<Quirks>);
    let quirks = quirks.and_then(Result::ok);
    quirks.is_some_and(|quirks| quirks.count(Quirk::SizesUnreliable) > 0)
}

/// Whether a harvest was begun with the same parameters.
fn has_same_parameters(entry: &HistoryEntry, parameters: &Parameters) -> bool {
    serde_json::from_str(&entry.parameters).ok().as_ref() == Some(parameters)
}

/// Where a harvest begins: at the date of its order, or where the last harvest of the same ended.
fn beginning(
    holdings: &Holdings,
    order: &HarvestOrder,
    repository: &Repository,
    parameters: &Parameters,
    notify: &dyn Fn(&str),
) -> anyhow::Result<Beginning> {
    if order.full || order.from.is_some() || order.until.is_some() {
        return Ok(Beginning {
            from: order.from.clone(),
            lost: Vec::new(),
        });
    }
    let (prefix, set) = (&order.metadata_prefix, order.set.as_deref());
    let last = holdings.catalog().last_finished(repository.id, prefix, set);
    let Some(last) = holdings.wait(last)? else {
        return Ok(Beginning::default());
    };
    let before: Option<Parameters> = serde_json::from_str(&last.parameters).ok();
    let difference = match &before {
        Some(before) => parameters.making.difference(&before.making),
        None => Some("the last harvest was made by another version"),
    };
    if let Some(difference) = difference {
        notify(&format!("{difference}, so everything is harvested again"));
        return Ok(Beginning::default());
    }
    Ok(Beginning {
        from: last.next_from,
        lost: holdings.wait(holdings.catalog().lost(last.id, MOST_LOST))?,
    })
}

/// Of as many records it is tried whether they can be had this time.
const MOST_LOST: u64 = 100_000;
