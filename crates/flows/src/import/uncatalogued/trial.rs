//! A trial: everything is read, filtered, digested and counted, and nothing is written.

use std::sync::atomic::AtomicU64;
use std::time::Instant;

use catalog::ImportCounters;
use harvester::Stop;
use store::{Collection, Durability};

use super::seen::Seen;
use crate::import::events::ImportEvent;
use crate::import::flow::{Flow, Kept};
use crate::import::group::Group;
use crate::import::keeping::fates;
use crate::import::order::ImportOrder;
use crate::import::sources::Sources;
use crate::import::spool::Spool;
use crate::import::{Imported, examiner, judging, rules};

/// Imports into nothing: the counters are those of an import into an empty collection. Only the first `most` captures are
/// read, or all of them.
pub fn try_import(
    order: &ImportOrder,
    most: Option<u64>,
    stop: &Stop,
    tell: &(dyn Fn(ImportEvent<'_>) + Sync),
) -> anyhow::Result<Imported> {
    let began = Instant::now();
    let limits = order.limits();
    let sources = Sources::open(order, &limits)?;
    // An import that reads documents for their text needs their bytes for a while, and a place for long ones.
    let place = match order.texts.is_wanted() {
        true => Some(tempfile::tempdir()?),
        false => None,
    };
    let collection = match &place {
        Some(place) => Some(Collection::open(place.path(), Durability::None)?),
        None => None,
    };
    let spool = Spool::new(collection.as_ref(), stop);
    let judging = judging(order, &spool, None)?;
    judging
        .iter()
        .for_each(|judging| judging.judge().tell_missing(tell));
    let examiner = examiner(order, rules(order)?, &spool, judging.as_ref());
    let flow = Flow {
        order,
        sources: &sources,
        examiner: &examiner,
        judging: judging.as_ref(),
        is_resumed: false,
        stop,
        limits,
        left: most.map(AtomicU64::new),
        tell,
        undated: None,
        settles: true,
    };
    let mut seen = Seen::default();
    let mut counters = ImportCounters::default();
    let mut read = flow.run(
        &[],
        &mut |group| count(group, &mut seen, &mut counters),
        &|| {},
    )?;
    // To read no more than was asked for is no interruption.
    read.stopped &= most.is_none() || stop.is_set();
    Ok(Imported::without_catalog(counters, None, &read, began))
}

fn count(group: Group, seen: &mut Seen, counters: &mut ImportCounters) -> anyhow::Result<Kept> {
    *counters += group.counters;
    let mut outcomes = Vec::with_capacity(group.rows.len());
    for row in &group.rows {
        let outcome = seen.see(row);
        counters.count(row, outcome);
        outcomes.push(outcome);
    }
    let numbers = vec![None; group.rows.len()];
    let fates = fates(group.told, &group.rows, &outcomes, &numbers);
    Ok((fates, *counters))
}
