//! Changes sent to a search engine, for a job.

use catalog::{JobEnd, JobKind};
use operations::feed::{SolrEvent, SolrOrder, push_for};

use super::super::work::{Work, finally};
use super::{Job, Ran};

pub(super) struct Feed;

impl Job for Feed {
    fn kind(&self) -> JobKind {
        JobKind::Feed
    }

    fn run(&self, work: &Work<'_>) -> anyhow::Result<Ran> {
        let job = &work.claim.job;
        let order = match SolrOrder::parse(&job.parameters) {
            Ok(order) => order,
            Err(error) => return Ok(Ran::Ends(finally(&error))),
        };
        let (holdings, running) = (&work.shared.holdings, work.running);
        // While the catalog is away it waits, and goes on behind what was sent.
        let pushed = work.insist(|| {
            let mut named = 0_usize;
            let mut tell = |event: SolrEvent<'_>| match event {
                SolrEvent::Progress(pushed) => running.feed(pushed),
                SolrEvent::Refused { id, url, reason } => {
                    named += 1;
                    if named <= MOST_NAMED {
                        work.log
                            .warning(&format!("document {id} ({url}) is refused: {reason}"));
                    }
                }
            };
            let client = &work.options().client;
            Ok(push_for(
                holdings,
                &order,
                client,
                &running.stop,
                &mut tell,
            )?)
        })?;
        if pushed.stopped {
            // The reason of the stop decides the end of the job.
            return Ok(Ran::Ends(JobEnd::GivenBack));
        }
        match pushed.refused {
            0 => work.log.info(&pushed.said()),
            _ => work.log.warning(&format!(
                "{}; garner documents list --state failed lists them",
                pushed.said()
            )),
        }
        Ok(Ran::Ends(JobEnd::Finished))
    }
}

/// As many documents that are refused are in the log of a job.
const MOST_NAMED: usize = 100;
