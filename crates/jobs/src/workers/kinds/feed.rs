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
            let mut name = |warning: String| {
                named += 1;
                if named <= MOST_NAMED {
                    work.log.warning(&warning);
                }
            };
            let mut tell = |event: SolrEvent<'_>| match event {
                SolrEvent::Progress(pushed) => running.feed(pushed),
                SolrEvent::Refused { id, url, reason } => {
                    name(format!("document {id} ({url}) is refused: {reason}"));
                }
                SolrEvent::Incomplete { id, url, problem } => {
                    name(format!("document {id} ({url}): {problem}"));
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
        running.conclude(pushed.said());
        match (pushed.refused, pushed.without_text) {
            (0, 0) => work.log.info(&pushed.said()),
            (0, _) => work.log.warning(&format!(
                "{}; garner verify --repair reads them again",
                pushed.said()
            )),
            _ => work.log.warning(&format!(
                "{}; garner documents list --state failed lists them",
                pushed.said()
            )),
        }
        Ok(Ran::Ends(JobEnd::Finished))
    }
}

/// Documents with a problem that the log of a job names.
const MOST_NAMED: usize = 100;
