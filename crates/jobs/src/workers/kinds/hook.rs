//! Hooks as jobs: put into the queue together with the end of a harvest, and run like other jobs. So each is run also if
//! the worker is killed in between.

use std::path::absolute;

use anyhow::Context;
use catalog::{JobEnd, JobKind, NewJob, State};
use flows::Ended;
use harvester::{AddressPolicy, ClientOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::work::{Work, finally};
use super::{Job, Ran};
use crate::hook::{self, HookEvent};

pub(super) struct RunHook;

/// The parameters of a hook's job.
#[derive(Serialize, Deserialize)]
struct HookParameters {
    hook: String,
    /// The identifier of a message: the same at every attempt, and unique.
    #[serde(default = "new_id")]
    id: String,
    facts: Value,
}

impl Job for RunHook {
    fn kind(&self) -> JobKind {
        JobKind::Hook
    }

    fn run(&self, work: &Work<'_>) -> anyhow::Result<Ran> {
        let parameters = serde_json::from_str::<HookParameters>(&work.claim.job.parameters)
            .context("the parameters of the hook cannot be read");
        let parameters = match parameters {
            Ok(parameters) => parameters,
            Err(error) => return Ok(Ran::Ends(finally(&error))),
        };
        let options = work.options();
        let mut hooks = options.hooks.iter();
        let hook = hooks.find(|hook| hook.name == parameters.hook);
        // Another worker may have it.
        let hook = hook.with_context(|| {
            let name = &parameters.hook;
            format!("the hook `{name}` is not in the configuration of this worker")
        })?;
        // Where hooks lead is said by the configuration, not by those who use the console.
        let client = ClientOptions {
            allow: AddressPolicy::Anything,
            ..options.client.clone()
        };
        work.log.info(&format!("running the hook `{}`", hook.name));
        let (id, facts) = (&parameters.id, &parameters.facts);
        let (confiner, stop) = (options.confiner.as_ref(), &work.running.stop);
        let output = hook::run(hook, id, facts, &client, confiner, stop)?;
        if !output.trim().is_empty() {
            work.log.info(output.trim());
        }
        Ok(Ran::Ends(JobEnd::Finished))
    }
}

/// The jobs that follow a harvest.
pub(super) fn hook_jobs(work: &Work<'_>, ended: &Ended) -> Vec<NewJob> {
    let job = &work.claim.job;
    let (Some(repository), Some(base_url)) = (job.repository, &job.base_url) else {
        return Vec::new();
    };
    let event = match ended.state {
        State::Ok => HookEvent::Finished,
        State::Incomplete => HookEvent::Incomplete,
        State::Failed | State::Cancelled | State::Running => HookEvent::Failed,
    };
    let hooks = work.options().hooks.iter();
    let wanted = hooks.filter(|hook| hook.wants(event, repository, base_url));
    let jobs = wanted.filter_map(|hook| {
        let parameters = HookParameters {
            hook: hook.name.clone(),
            id: new_id(),
            facts: facts(work, event, ended),
        };
        Some(NewJob {
            max_attempts: job.max_attempts,
            created_by: Some(format!("job {}", job.id)),
            ..NewJob::hook(Some(repository), serde_json::to_string(&parameters).ok()?)
        })
    });
    jobs.collect()
}

/// The facts that a hook receives.
fn facts(work: &Work<'_>, event: HookEvent, ended: &Ended) -> Value {
    let job = &work.claim.job;
    let data = work.holdings().directory();
    let data = absolute(data).unwrap_or_else(|_| data.to_owned());
    let counts = &ended.counts;
    json!({
        "job": job.id,
        "schedule": job.schedule,
        "repository": job.repository,
        "base_url": job.base_url,
        "repository_name": job.repository_name,
        "metadata_prefix": job.metadata_prefix,
        "set": job.set,
        "state": event,
        "reason": ended.reason,
        "harvest": ended.harvest,
        "data": data.to_string_lossy(),
        "new": counts.new,
        "updated": counts.updated,
        "deleted": counts.deleted,
        "counts": counts,
    })
}

fn new_id() -> String {
    let mut bytes = [0; 16];
    // Without randomness it is still told; receivers that remember ids may take two for one then.
    let _ = getrandom::fill(&mut bytes);
    format!("garner_{}", data_encoding::HEXLOWER.encode(&bytes))
}
