//! The collection judged again, for a job.

use catalog::{Claim, JobEnd};

use super::Shared;
use super::ends::finally;
use super::log::Log;
use super::running::Running;
use crate::import::{Classified, ClassifyCollection, classify_collection};

impl Shared {
    pub(super) fn run_classify(
        &self,
        claim: &Claim,
        running: &Running,
        log: &Log,
    ) -> anyhow::Result<()> {
        let order = match ClassifyCollection::parse(&claim.job.parameters) {
            Ok(order) => ClassifyCollection {
                confiner: self.options.confiner.clone(),
                ..order
            },
            Err(error) => return self.end_job(claim, running, log, finally(&error), &[]),
        };
        let total = self.holdings.wait(self.holdings.catalog().count_contents());
        let total = total.unwrap_or_default();
        // While the catalog is away it waits, and passes quickly over what is judged.
        let classified = self.insist(running, || {
            let mut tell = |classified: &Classified| running.classify(classified, total);
            classify_collection(&self.holdings, &order, &running.stop, &mut tell)
        });
        let end = match classified {
            Ok(classified) => {
                log.info(&classified.said());
                match classified.stopped {
                    // Whoever stopped it says what becomes of it.
                    true => JobEnd::GivenBack,
                    false => JobEnd::Finished,
                }
            }
            Err(error) => self.failed(claim, &error),
        };
        self.end_job(claim, running, log, end, &[])
    }
}
