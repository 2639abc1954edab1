//! Hooks as jobs: put into the queue together with the end of a harvest, and run like other jobs. So each is run also if
//! the worker is killed in between.

use std::path::absolute;

use anyhow::Context;
use catalog::{Claim, JobEnd, NewJob, State};
use harvester::{AddressPolicy, ClientOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Shared;
use super::ends::finally;
use super::log::Log;
use super::running::Running;
use crate::harvest::Ended;
use crate::hook::{self, HookEvent};

/// What the job of a hook has to know.
#[derive(Serialize, Deserialize)]
struct HookParameters {
    hook: String,
    /// What receivers know a message by: the same each time that it is tried, and no other's.
    #[serde(default = "new_id")]
    id: String,
    facts: Value,
}

impl Shared {
    /// The jobs that follow a harvest.
    pub(super) fn hook_jobs(&self, claim: &Claim, ended: &Ended) -> Vec<NewJob> {
        let job = &claim.job;
        let (Some(repository), Some(base_url)) = (job.repository, &job.base_url) else {
            return Vec::new();
        };
        let event = match ended.state {
            State::Ok => HookEvent::Finished,
            State::Incomplete => HookEvent::Incomplete,
            State::Failed | State::Cancelled | State::Running => HookEvent::Failed,
        };
        let hooks = self.options.hooks.iter();
        let wanted = hooks.filter(|hook| hook.wants(event, repository, base_url));
        let jobs = wanted.filter_map(|hook| {
            let parameters = HookParameters {
                hook: hook.name.clone(),
                id: new_id(),
                facts: self.facts(claim, event, ended),
            };
            Some(NewJob {
                max_attempts: job.max_attempts,
                created_by: Some(format!("job {}", job.id)),
                ..NewJob::hook(Some(repository), serde_json::to_string(&parameters).ok()?)
            })
        });
        jobs.collect()
    }

    pub(super) fn run_hook(
        &self,
        claim: &Claim,
        running: &Running,
        log: &Log,
    ) -> anyhow::Result<()> {
        let parameters = serde_json::from_str::<HookParameters>(&claim.job.parameters)
            .context("the parameters of the hook cannot be read");
        let parameters = match parameters {
            Ok(parameters) => parameters,
            Err(error) => return self.end_job(claim, running, log, finally(&error), &[]),
        };
        let mut hooks = self.options.hooks.iter();
        let Some(hook) = hooks.find(|hook| hook.name == parameters.hook) else {
            let error = anyhow::anyhow!(
                "the hook `{}` is not in the configuration of this worker",
                parameters.hook
            );
            // Another worker may have it.
            return self.end_job(claim, running, log, self.failed(claim, &error), &[]);
        };
        // Where hooks lead is said by the configuration, not by those who use the console.
        let client = ClientOptions {
            allow: AddressPolicy::Anything,
            ..self.options.client.clone()
        };
        log.info(&format!("running the hook `{}`", hook.name));
        let confiner = self.options.confiner.as_ref();
        let (id, facts) = (&parameters.id, &parameters.facts);
        let ran = hook::run(hook, id, facts, &client, confiner, &running.stop);
        let end = match ran {
            Ok(said) => {
                if !said.trim().is_empty() {
                    log.info(said.trim());
                }
                JobEnd::Finished
            }
            Err(error) => self.failed(claim, &error),
        };
        self.end_job(claim, running, log, end, &[])
    }

    /// What a hook is told.
    fn facts(&self, claim: &Claim, event: HookEvent, ended: &Ended) -> Value {
        let job = &claim.job;
        let data = self.holdings.directory();
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
}

fn new_id() -> String {
    let mut bytes = [0; 16];
    // Without randomness it is still told; receivers that remember ids may take two for one then.
    let _ = getrandom::fill(&mut bytes);
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("garner_{digits}")
}
