//! Judgements, as they are handed over and as they are read.

use serde::Serialize;

use super::Probability;
use crate::Error;
use crate::database::Row;

/// Findings about the text of a content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgementRow {
    /// The SHA-1 of the content, in hexadecimal.
    pub sha1: String,
    /// The URL that it was met under.
    pub url: String,
    /// The outcome of reading it: `text`, `empty`, `encrypted`, `damaged`, `image-only` and so on.
    pub outcome: String,
    /// Which programs read it, with their versions.
    pub engine: Option<String>,
    /// How many pages it has.
    pub pages: Option<u32>,
    /// The problem, if there was one.
    pub note: Option<String>,
    /// The decision: `accept`, `unsure` or `reject`; nothing without the content filter.
    pub decision: Option<String>,
    /// How likely it is academic.
    pub probability: Option<Probability>,
    /// The kind that it most likely is.
    pub kind: Option<String>,
    /// How likely it is of each kind, in the order of the classifier.
    pub kinds: Vec<Probability>,
    /// The version of the model that judged it.
    pub model: Option<String>,
    /// Whether it is kept, but not for search engines.
    pub is_aside: bool,
    /// The title of the text, if one is plausible.
    pub title: Option<String>,
    /// The language of the text, as a code of ISO 639-1.
    pub language: Option<String>,
    /// The sketch of the text, by which others that say the same are found.
    pub sketch: Option<String>,
}

/// The judgement of the text of a content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// The outcome of reading it: `text`, `empty`, `encrypted`, `damaged`, `image-only` and so on.
    pub outcome: String,
    /// Which programs read it, with their versions.
    pub engine: Option<String>,
    /// How many pages it has.
    pub pages: Option<u32>,
    /// The problem, if there was one.
    pub note: Option<String>,
    /// The decision: `accept`, `unsure` or `reject`; nothing without the content filter.
    pub decision: Option<String>,
    /// How likely it is academic.
    pub probability: Option<Probability>,
    /// The kind that it most likely is.
    pub kind: Option<String>,
    /// How likely it is of each kind, in the order of the classifier.
    #[serde(skip)]
    pub kinds: Vec<Probability>,
    /// The version of the model that judged it.
    pub model: Option<String>,
    /// Whether it is kept, but not for search engines.
    #[serde(rename = "set_aside")]
    pub is_aside: bool,
    /// The title of the text, if one is plausible.
    #[serde(skip)]
    pub title: Option<String>,
    /// The language of the text, as a code of ISO 639-1.
    #[serde(skip)]
    pub language: Option<String>,
    /// The sketch of the text, by which others that say the same are found.
    #[serde(skip)]
    pub sketch: Option<String>,
    /// The librarian's correction.
    pub corrected: Option<Corrected>,
}

/// A librarian's correction of a content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Corrected {
    /// Whether it is wanted: `accept` or `reject`.
    pub decision: String,
    /// Which kind it is.
    pub kind: Option<String>,
    /// When that was said, in seconds.
    pub at: i64,
    /// By whom.
    pub by: Option<String>,
}

/// Facts about bytes that were met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownContent {
    /// The judgement of their text.
    pub judgement: Judgement,
    /// Whether they are in the collection.
    pub is_stored: bool,
}

/// The columns of a judgement.
pub(crate) const COLUMNS: &str = "judgement.outcome, judgement.engine, judgement.pages, judgement.note, \
     judgement.decision, judgement.probability, judgement.kind, judgement.kinds, judgement.model, judgement.aside, \
     judgement.corrected_decision, judgement.corrected_kind, judgement.corrected_at, judgement.corrected_by, \
     judgement.title, judgement.language, judgement.sketch";

/// The judgement of a row that may have none.
pub(crate) fn maybe(row: &Row) -> Result<Option<Judgement>, Error> {
    let Some(outcome) = row.maybe_text("outcome")? else {
        return Ok(None);
    };
    let pages = row.maybe_integer("pages")?;
    let kinds = row.maybe_text("kinds")?.unwrap_or_default();
    let kinds: Vec<i64> = serde_json::from_str(&kinds).unwrap_or_default();
    Ok(Some(Judgement {
        outcome,
        engine: row.maybe_text("engine")?,
        pages: pages.and_then(|pages| pages.try_into().ok()),
        note: row.maybe_text("note")?,
        decision: row.maybe_text("decision")?,
        probability: row.maybe_integer("probability")?.map(Probability::of),
        kind: row.maybe_text("kind")?,
        kinds: kinds.into_iter().map(Probability::of).collect(),
        model: row.maybe_text("model")?,
        is_aside: row.maybe_integer("aside")? == Some(1),
        title: row.maybe_text("title")?,
        language: row.maybe_text("language")?,
        sketch: row.maybe_text("sketch")?,
        corrected: corrected(row)?,
    }))
}

fn corrected(row: &Row) -> Result<Option<Corrected>, Error> {
    let decision = row.maybe_text("corrected_decision")?;
    let at = row.maybe_integer("corrected_at")?;
    let (Some(decision), Some(at)) = (decision, at) else {
        return Ok(None);
    };
    Ok(Some(Corrected {
        decision,
        kind: row.maybe_text("corrected_kind")?,
        at,
        by: row.maybe_text("corrected_by")?,
    }))
}
