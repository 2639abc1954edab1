//! Retrieval: documents of the collection, selected by conditions or at random, as a directory, an archive or lines.

mod lines;
mod saved;
mod selection;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalog::{JobKind, JobState, NewJob, Role};
use flows::{Format, Holdings, Lines, Retrieval, RetrievalEvent, Retrieved};
use harvester::Stop;
use serde::{Deserialize, Serialize};
use store::Reader;
use utoipa::ToSchema;

use self::lines::{CsvLines, JsonLines};
pub use self::saved::{SavedRetrieval, remove_saved, save, saved, saved_all};
pub use self::selection::Selection;
use crate::jobs::{Job, add};
use crate::{Actor, Code, Context, Refusal};

/// Documents to be retrieved, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetrievalOrder {
    /// Which documents.
    #[serde(default)]
    pub selection: Selection,
    /// `tar`, `zip`, `warc`, `csv` or `jsonl`; on the command line `directory` as well.
    #[schema(value_type = String, example = "zip")]
    pub format: Format,
    /// Whether their texts are retrieved, too.
    #[serde(default)]
    pub text: bool,
}

/// How many documents a selection has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Selected {
    /// The number, counted up to 10,000.
    pub documents: u64,
    /// Whether there may be more.
    pub is_capped: bool,
    /// Documents that the query cannot find yet, because their texts wait to be indexed, counted up to 10,000.
    pub unindexed: u64,
}

/// The outcome of a retrieval, and the seed that repeats it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RetrievalOutcome {
    /// How much was retrieved, and what was not.
    #[serde(flatten)]
    pub retrieved: Retrieved,
    /// The seed of the sample.
    pub seed: Option<String>,
    /// Documents that the query could not find, because their texts wait to be indexed, counted up to 10,000.
    pub unindexed: u64,
}

/// A file that a job retrieved.
#[derive(Debug)]
pub struct RetrievedFile {
    path: PathBuf,
    format: Format,
    job: i64,
}

impl RetrievalOrder {
    /// Reads the parameters of a job.
    pub fn parse(json: &str) -> anyhow::Result<Self> {
        use anyhow::Context as _;
        serde_json::from_str(json).context("the parameters of the retrieval cannot be read")
    }

    fn lines(&self) -> Box<dyn Lines> {
        match self.format {
            Format::Csv => Box::new(CsvLines {
                with_text: self.text,
            }),
            _ => Box::new(JsonLines),
        }
    }
}

/// Counts the documents that a selection has, up to 10,000.
pub async fn count(context: &Context, selection: &Selection) -> Result<Selected, Refusal> {
    let (conditions, _) = selection.resolve(context).await?;
    let number = context
        .catalog()
        .count_selected(&conditions, MOST_COUNTED + 1)
        .await?;
    Ok(Selected {
        documents: number.min(MOST_COUNTED),
        is_capped: number > MOST_COUNTED,
        unindexed: unindexed(context, selection).await?,
    })
}

/// How many texts a query cannot find yet; none without a query.
async fn unindexed(context: &Context, selection: &Selection) -> Result<u64, Refusal> {
    match selection.query {
        Some(_) => Ok(context.catalog().count_unread_texts(MOST_COUNTED).await?),
        None => Ok(0),
    }
}

/// Retrieves documents into `target`; this blocks. A file that exists is replaced if `replaces` is set.
pub fn retrieve(
    context: &Context,
    actor: &Actor,
    mut order: RetrievalOrder,
    target: &Path,
    replaces: bool,
    stop: &Stop,
    tell: &mut dyn FnMut(RetrievalEvent<'_>),
) -> Result<RetrievalOutcome, Refusal> {
    actor.require(Role::Operator)?;
    order.selection.settle()?;
    let unindexed = context.wait(unindexed(context, &order.selection))?;
    let retrieved = run(context, &order, target, replaces, stop, tell)?;
    let details = format!("{}, as {}", retrieved.said(), order.format.name());
    context.wait(context.audit(actor, "documents.retrieve", "the collection", Some(details)));
    Ok(RetrievalOutcome {
        retrieved,
        seed: order.selection.seed,
        unindexed,
    })
}

/// Puts a retrieval into the queue. Its file is kept in the data directory as long as its job is.
pub async fn queue(
    context: &Context,
    actor: &Actor,
    mut order: RetrievalOrder,
) -> Result<Job, Refusal> {
    actor.require(Role::Operator)?;
    if order.format == Format::Directory {
        let reason = "a job retrieves one file; write tar, zip, warc, csv or jsonl";
        return Err(Refusal::invalid("format", reason));
    }
    order.selection.settle()?;
    order.selection.resolve(context).await?;
    let parameters = serde_json::to_string(&order).map_err(anyhow::Error::from)?;
    let details = Some(parameters.clone());
    add(context, actor, NewJob::retrieve(parameters), None, details).await
}

/// Does what a job of the queue is to do; this blocks. One that was interrupted begins anew.
pub fn retrieve_for(
    holdings: &Arc<Holdings>,
    job: i64,
    order: &RetrievalOrder,
    stop: &Stop,
    tell: &mut dyn FnMut(RetrievalEvent<'_>),
) -> Result<Retrieved, Refusal> {
    let context = Context::new(Arc::clone(holdings));
    let target = flows::retrieval_file(holdings, job, order.format);
    if let Some(directory) = target.parent() {
        std::fs::create_dir_all(directory).map_err(anyhow::Error::from)?;
    }
    run(&context, order, &target, true, stop, tell)
}

/// The file that a job retrieved.
pub async fn file(context: &Context, job: i64) -> Result<RetrievedFile, Refusal> {
    let row = context.catalog().job(job).await?;
    let row = row.filter(|row| row.kind == JobKind::Retrieve);
    let row = row.ok_or_else(|| Refusal::not_found(format!("there is no retrieval {job}")))?;
    let format = RetrievalOrder::parse(&row.parameters)?.format;
    if row.state != JobState::Finished {
        let state = row.state.name();
        return Err(Refusal::not_found(format!(
            "retrieval {job} has no file: it is {state}"
        )));
    }
    Ok(RetrievedFile {
        path: flows::retrieval_file(context.holdings(), job, format),
        format,
        job,
    })
}

impl RetrievedFile {
    /// Opens it; this blocks.
    pub fn open(&self) -> Result<Reader, Refusal> {
        let opened = File::open(&self.path).and_then(|file| {
            let length = file.metadata()?.len();
            Ok(Reader::new(Box::new(file), length))
        });
        opened.map_err(|error| {
            let reason = format!(
                "the file of retrieval {} cannot be read: {error}; retrieve it again",
                self.job
            );
            Refusal::new(Code::Gone, reason)
        })
    }

    /// Its name.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Its media type.
    pub fn media_type(&self) -> &'static str {
        self.format.media_type()
    }
}

fn run(
    context: &Context,
    order: &RetrievalOrder,
    target: &Path,
    replaces: bool,
    stop: &Stop,
    tell: &mut dyn FnMut(RetrievalEvent<'_>),
) -> Result<Retrieved, Refusal> {
    let (selection, pick) = context.wait(order.selection.resolve(context))?;
    let retrieval = Retrieval {
        selection,
        pick,
        format: order.format,
        with_text: order.text,
        replaces,
    };
    let (holdings, lines) = (context.holdings(), order.lines());
    Ok(flows::retrieve(
        holdings, &retrieval, target, &*lines, stop, tell,
    )?)
}

/// More are not counted for somebody who waits.
const MOST_COUNTED: u64 = 10_000;
