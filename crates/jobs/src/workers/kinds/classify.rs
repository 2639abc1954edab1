//! The collection judged again, for a job.

use catalog::{JobEnd, JobKind};
use flows::{Classified, ClassifyCollection, classify_collection};

use super::super::work::{Work, finally};
use super::{Job, Ran};

pub(super) struct Classify;

impl Job for Classify {
    fn kind(&self) -> JobKind {
        JobKind::Classify
    }

    fn needs_data_directory(&self) -> bool {
        false
    }

    fn run(&self, work: &Work<'_>) -> anyhow::Result<Ran> {
        let order = match ClassifyCollection::parse(&work.claim.job.parameters) {
            Ok(order) => ClassifyCollection {
                confiner: work.options().confiner.clone(),
                ..order
            },
            Err(error) => return Ok(Ran::Ends(finally(&error))),
        };
        let (holdings, running) = (work.holdings(), work.running);
        let total = holdings.wait(holdings.catalog().count_contents());
        let total = total.unwrap_or_default();
        // While the catalog is away it waits, and passes quickly over what is judged.
        let classified = work.insist(|| {
            let mut tell = |classified: &Classified| running.classify(classified, total);
            classify_collection(holdings, &order, &running.stop, &mut tell)
        })?;
        work.log.info(&classified.said());
        Ok(Ran::Ends(match classified.stopped {
            // The reason of the stop decides the end of the job.
            true => JobEnd::GivenBack,
            false => JobEnd::Finished,
        }))
    }
}
