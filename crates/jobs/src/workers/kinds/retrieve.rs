//! Documents retrieved into a file, for a job.

use catalog::{JobEnd, JobKind};
use flows::RetrievalEvent;
use operations::retrieve::{RetrievalOrder, retrieve_for};

use super::super::work::{Work, finally};
use super::{Job, Ran};

pub(super) struct Retrieve;

impl Job for Retrieve {
    fn kind(&self) -> JobKind {
        JobKind::Retrieve
    }

    fn run(&self, work: &Work<'_>) -> anyhow::Result<Ran> {
        let job = &work.claim.job;
        let order = match RetrievalOrder::parse(&job.parameters) {
            Ok(order) => order,
            Err(error) => return Ok(Ran::Ends(finally(&error))),
        };
        let (holdings, running) = (&work.shared.holdings, work.running);
        // While the catalog is away it waits, and begins anew.
        let retrieved = work.insist(|| {
            let mut lost = 0_usize;
            let mut tell = |event: RetrievalEvent<'_>| match event {
                RetrievalEvent::Progress(retrieved, total) => running.retrieve(retrieved, total),
                RetrievalEvent::Lost { id, url, problem } => {
                    lost += 1;
                    if lost <= MOST_NAMED {
                        work.log
                            .warning(&format!("document {id} ({url}): {problem}"));
                    }
                }
            };
            Ok(retrieve_for(
                holdings,
                job.id,
                &order,
                &running.stop,
                &mut tell,
            )?)
        })?;
        if retrieved.stopped {
            // The reason of the stop decides the end of the job.
            return Ok(Ran::Ends(JobEnd::GivenBack));
        }
        running.conclude(retrieved.said());
        match retrieved.problems() {
            0 => work.log.info(&retrieved.said()),
            _ => work
                .log
                .warning(&format!("{}; the file names them all", retrieved.said())),
        }
        Ok(Ran::Ends(JobEnd::Finished))
    }
}

/// As many documents that are lost are in the log of a job; the file that is retrieved has them all.
const MOST_NAMED: usize = 100;
