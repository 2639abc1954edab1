//! A trial of an import: what would become of its first captures. Nothing is written.

use std::sync::Mutex;
use std::time::Duration;

use catalog::ImportCounters;
use flows::{Fate, ImportEvent};
use harvester::Stop;
use serde::Serialize;
use utoipa::ToSchema;

use crate::jobs::ordered_import;
use crate::runs::{RunCount, counts_of_import};
use crate::{Actor, Context, ImportPatch, Refusal};

/// The outcome of trying the first captures of an import.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ImportTrial {
    /// The counts in words, as if the collection were empty.
    pub counts: Vec<RunCount>,
    /// The counters, by the names of imports.
    #[schema(value_type = Object)]
    pub counters: ImportCounters,
    /// The captures in the order of the crawl, at most 1000.
    pub captures: Vec<TriedCapture>,
    /// The captures that would be missing.
    pub reason: Option<String>,
    /// Whether it was ended because it took too long.
    pub is_cut: bool,
}

/// A capture, and what would become of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TriedCapture {
    /// `new`, `new URL`, `changed`, `duplicate`, `seen again`, `filtered`, `failed` or `skipped`.
    #[schema(value_type = String)]
    pub outcome: &'static str,
    /// Its URL, or its place in the crawl.
    pub url: String,
    /// Its media type, or why it would not be kept.
    pub detail: String,
}

/// Reads the first captures of an import and says what would become of them.
pub async fn try_first(
    context: &Context,
    actor: &Actor,
    patch: &ImportPatch,
    captures: Option<u64>,
) -> Result<ImportTrial, Refusal> {
    let captures = captures.unwrap_or(USUAL);
    if !(1..=MOST).contains(&captures) {
        let reason = format!("write a number from 1 to {MOST}");
        return Err(Refusal::invalid("captures", reason));
    }
    let order = ordered_import(context, actor, patch).await?;
    for (field, path) in order.files() {
        if matches!(flows::is_remote(path), Ok(true)) {
            let reason = format!(
                "`{}` would have to be fetched first; try files of this machine, or garner import --dry-run",
                path.display()
            );
            return Err(Refusal::invalid(field, reason));
        }
    }
    let tried = move |holdings: &flows::Holdings| {
        let mut order = order;
        order.read_lists(holdings)?;
        run(&order, captures)
    };
    // Sources that cannot be read are a mistake of the order.
    let tried = context
        .blocking(move |holdings| Ok(tried(holdings)))
        .await?;
    tried.map_err(|error| Refusal::invalid("paths", flows::message(&error)))
}

fn run(order: &flows::ImportOrder, captures: u64) -> anyhow::Result<ImportTrial> {
    let stop = Stop::default();
    let (ended, over) = std::sync::mpsc::channel::<()>();
    let stopping = stop.clone();
    let watch = std::thread::spawn(move || {
        if over
            .recv_timeout(LONGEST)
            .is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            stopping.set();
        }
    });
    let told = Mutex::new(Vec::new());
    let tell = |event: ImportEvent<'_>| {
        let ImportEvent::Fates(fates) = event else {
            return;
        };
        let mut told = told
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let room = SHOWN.saturating_sub(told.len());
        told.extend(fates.iter().take(room).map(TriedCapture::from));
    };
    let tried = flows::try_import(order, Some(captures), &stop, &tell);
    drop(ended);
    let _ = watch.join();
    let tried = tried?;
    Ok(ImportTrial {
        counts: counts_of_import(&tried.counters),
        counters: tried.counters,
        captures: told.into_inner().unwrap_or_default(),
        is_cut: stop.is_set(),
        reason: tried.reason.filter(|_| !stop.is_set()),
    })
}

impl From<&Fate> for TriedCapture {
    fn from(fate: &Fate) -> Self {
        Self {
            outcome: fate.kind.name(),
            url: fate.name.clone(),
            detail: fate.detail.clone(),
        }
    }
}

const USUAL: u64 = 100;
const MOST: u64 = 10_000;
const SHOWN: usize = 1000;
/// Somebody waits for it.
const LONGEST: Duration = Duration::from_secs(30);
