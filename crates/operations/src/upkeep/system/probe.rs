//! Findings that take a while: programs are started and files looked at. They are kept until somebody asks for new ones.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use flows::{Checked, Failure, Holdings, SystemProbe};

use super::{Check, Program};
use crate::{Context, Refusal, Settings, Time};

/// The findings, and their time.
#[derive(Debug, Clone, Default)]
pub(super) struct Findings {
    pub(super) at: Time,
    pub(super) system: Vec<Check>,
    pub(super) holdings: Vec<Check>,
    pub(super) programs: Vec<Program>,
    pub(super) languages: Vec<String>,
    pub(super) gaps: Vec<String>,
}

/// The findings that a process keeps. Whoever looks holds the lock, so that two do not look at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeptFindings(Arc<Mutex<Option<Arc<Findings>>>>);

/// The findings as they were last looked for; now if they never were.
pub(super) async fn kept(context: &Context) -> Result<Arc<Findings>, Refusal> {
    look(context, |_| true).await
}

/// The findings of now. Those that somebody else found while this waited are of now as well.
pub(super) async fn anew(context: &Context) -> Result<Arc<Findings>, Refusal> {
    let asked = now();
    look(context, move |known| known.at > asked).await
}

/// Looks on a thread of its own, to the end, even if nobody waits for it any more.
async fn look(
    context: &Context,
    is_good: impl Fn(&Findings) -> bool + Send + 'static,
) -> Result<Arc<Findings>, Refusal> {
    let (kept, settings) = (context.kept_findings().clone(), context.settings().clone());
    let look = move |holdings: &Holdings| {
        let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.as_ref().filter(|known| is_good(known)) {
            return Ok(Arc::clone(known));
        }
        let checked = flows::check_holdings(holdings);
        let found = Arc::new(Findings::new(&settings, checked));
        *kept = Some(Arc::clone(&found));
        Ok(found)
    };
    context.blocking(look).await
}

impl Findings {
    /// Where the catalog cannot be opened.
    pub(super) fn without_catalog(settings: &Settings, error: &anyhow::Error) -> Self {
        let is_new = flows::failure_code(error) == Failure::NO_CATALOG;
        let checked = match is_new {
            true => Checked::warning(
                "catalog",
                flows::message(error),
                "start with garner up, garner harvest or garner import",
            ),
            false => Checked::problem(
                "catalog",
                flows::message(error),
                "see that the database runs, that its disk has room, and that this user may use it",
            ),
        };
        Self::new(settings, vec![checked])
    }

    fn new(settings: &Settings, holdings: Vec<Checked>) -> Self {
        let probe = settings.confiner.clone().map(SystemProbe::take);
        let probe = probe.unwrap_or_default();
        Self {
            at: now(),
            system: probe.checks().into_iter().map(Check::from).collect(),
            holdings: holdings.into_iter().map(Check::from).collect(),
            programs: probe.programs.into_iter().map(Program::from).collect(),
            languages: probe.languages.unwrap_or_default(),
            gaps: probe.lacks,
        }
    }
}

fn now() -> Time {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Time(now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX)))
}
