//! A cleaning, for a job.

use std::sync::Arc;

use catalog::{JobEnd, JobKind, Role};
use operations::documents::{self, Cleaned};
use operations::parents::{self, CleanRun};
use operations::{Actor, Channel, CleanOrder, Code, Context};

use super::super::work::{Work, finally};
use super::{Job, Ran};

pub(super) struct Clean;

impl Job for Clean {
    fn kind(&self) -> JobKind {
        JobKind::Clean
    }

    fn run(&self, work: &Work<'_>) -> anyhow::Result<Ran> {
        let order = match CleanOrder::parse(&work.claim.job.parameters) {
            Ok(order) => order,
            Err(error) => return Ok(Ran::Ends(finally(&error))),
        };
        let context = Context::new(Arc::clone(&work.shared.holdings));
        let created_by = work.claim.job.created_by.as_deref();
        // The order was checked when it was made.
        let actor = Actor {
            name: created_by.unwrap_or("(worker)").to_owned(),
            role: Role::Operator,
            account: None,
            channel: Channel::CommandLine,
        };
        let running = work.running;
        let stop = &running.stop;
        let tell = |done: u64, note: String| running.note(done, None, note);
        let cleaned = work.insist(|| match &order {
            CleanOrder::Documents(order) => {
                let mut told = |cleaned: &Cleaned| tell(cleaned.failed, cleaned.said());
                let cleaned = documents::clean(&context, &actor, order, stop, &mut told)?;
                Ok((cleaned.said(), cleaned.stopped))
            }
            CleanOrder::Parents(order) => {
                let run = CleanRun {
                    client: &work.options().client,
                    stop,
                    tell: &tell,
                };
                let cleaned = parents::clean_for_job(&context, &actor, order, run)?;
                Ok((cleaned.said(), cleaned.stopped))
            }
        });
        let (said, stopped) = match cleaned {
            Err(error) if is_mistake(&error) => return Ok(Ran::Ends(finally(&error))),
            cleaned => cleaned?,
        };
        work.log.info(&said);
        running.conclude(said);
        Ok(Ran::Ends(match stopped {
            // The reason of the stop decides the end of the job.
            true => JobEnd::GivenBack,
            false => JobEnd::Finished,
        }))
    }
}

/// Whether the order is wrong, so that no other attempt can help: a list that was removed.
fn is_mistake(error: &anyhow::Error) -> bool {
    let refusal = error.downcast_ref::<operations::Refusal>();
    refusal.is_some_and(|refusal| matches!(refusal.code, Code::Invalid | Code::NotFound))
}
