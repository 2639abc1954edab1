//! Hooks as jobs: put into the queue together with the end of a harvest, and run like other jobs. So each is run also if
//! the worker is killed in between.

use std::path::absolute;
use std::sync::Arc;

use anyhow::Context as _;
use catalog::{JobEnd, JobKind, NewJob, State};
use flows::Ended;
use harvester::AddressPolicy;
use operations::Context;
use operations::hooks::saved;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::work::{Work, finally};
use super::{Job, Ran};
use crate::hook::{self, Hook, HookEvent};

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
        let mut hooks = hooks(work).into_iter();
        let hook = hooks.find(|(hook, _)| hook.name == parameters.hook);
        // Another worker may have it.
        let (hook, is_configured) = hook.with_context(|| {
            let name = &parameters.hook;
            format!("the hook `{name}` is neither in the configuration of this worker nor in the catalog")
        })?;
        let mut client = options.client.clone();
        // Where hooks of the configuration lead, those who use the console have no say in. They have in others.
        if is_configured {
            client.allow = AddressPolicy::Anything;
        }
        work.log.info(&format!("running the hook `{}`", hook.name));
        let (id, facts) = (&parameters.id, &parameters.facts);
        let (confiner, stop) = (options.confiner.as_ref(), &work.running.stop);
        let output = hook::run(&hook, id, facts, &client, confiner, stop)?;
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
    let hooks = hooks(work).into_iter();
    let wanted = hooks.filter(|(hook, _)| hook.wants(event, repository, base_url));
    let jobs = wanted.filter_map(|(hook, _)| {
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

/// The hooks of the configuration, and those of the catalog with other names; and whether each is of the configuration.
fn hooks(work: &Work<'_>) -> Vec<(Hook, bool)> {
    let configured = work.options().hooks.iter().cloned();
    let mut hooks: Vec<_> = configured.map(|hook| (hook, true)).collect();
    let context = Context::new(Arc::clone(&work.shared.holdings));
    let saved = match context.wait(saved(&context)) {
        Ok(saved) => saved,
        Err(refusal) => {
            let message = refusal.message();
            work.log
                .warning(&format!("hooks of the catalog cannot be read: {message}"));
            return hooks;
        }
    };
    for webhook in saved {
        if hooks.iter().any(|(hook, _)| hook.name == webhook.name) {
            continue;
        }
        let read = serde_json::to_value(&webhook).and_then(serde_json::from_value::<Hook>);
        match read {
            Ok(hook) => hooks.push((hook, false)),
            Err(error) => {
                let name = &webhook.name;
                work.log
                    .warning(&format!("the hook `{name}` cannot be read: {error}"));
            }
        }
    }
    hooks
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
