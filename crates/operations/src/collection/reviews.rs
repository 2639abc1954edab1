//! The review queue: documents that the content filter rejected or was not sure of, until a person decides on them.

use std::io::Read;

use catalog::{ReviewEntry, ReviewQuery, Role};
use flows::ReviewPart;
pub use flows::{Explanation, ReviewLimits};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::documents::{Decision, kind};
use crate::{Actor, Context, Listed, Refusal, Time, page_limit};

/// Which documents of the queue are wanted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReviewFilter {
    /// Documents of one host.
    pub host: Option<String>,
    /// Documents with this decision of the content filter: `reject` or `unsure`.
    pub decision: Option<String>,
    /// Documents of one kind, as the content filter has it.
    pub kind: Option<String>,
    /// Documents with at least this probability of being academic.
    pub at_least: Option<f64>,
    /// Documents with at most this probability of being academic.
    pub at_most: Option<f64>,
    /// Documents with this text in their URL or title.
    pub text: Option<String>,
    /// Whether the documents come first that the content filter is least sure of, those of different hosts before more of
    /// one: their correction teaches a model most. Without it they come in the order of their numbers.
    pub uncertain: bool,
    /// For the next page: `next` of the page before.
    pub after: Option<i64>,
    /// Documents on a page, at most 1000; the default is 100.
    pub limit: Option<u64>,
}

/// A document of the queue.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Review {
    /// Its number in the queue.
    pub id: i64,
    /// Its URL.
    pub url: String,
    /// The title of its text, or else the name of its file.
    pub title: String,
    /// The language of its text, as a code of ISO 639-1.
    pub language: Option<String>,
    /// The host of its URL.
    pub host: String,
    /// The SHA-1 of its bytes.
    pub content_sha1: String,
    /// Its media type.
    pub media_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it came into the queue.
    pub added: Time,
    /// The document of the collection, if the content filter was not sure of it; it rejected the others.
    pub document: Option<i64>,
    /// The decision of the content filter.
    pub decision: Option<String>,
    /// The probability that it is academic.
    pub probability: Option<f64>,
    /// The most likely kind.
    pub kind: Option<String>,
}

/// Decisions on documents of the queue.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewDecision {
    /// The numbers of documents, at most 10000.
    pub documents: Vec<i64>,
    /// In place of numbers: all documents of this host.
    pub host: Option<String>,
    /// In place of numbers: all documents with this text in their URL or title.
    pub text: Option<String>,
    /// Whether they belong in the collection.
    pub decision: Option<Decision>,
    /// The kind that they are; without it the kind stays as it is.
    pub kind: Option<String>,
}

/// The outcome of decisions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Reviewed {
    /// Documents that were decided on.
    pub decided: u64,
    /// The import that brought accepted documents into the collection.
    pub import: Option<i64>,
    /// Documents that stay in the queue, and why.
    pub failed: Vec<ReviewFailure>,
    /// Whether more documents match than were decided on at once.
    pub is_more: bool,
}

/// A document that could not be decided on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ReviewFailure {
    /// Its number in the queue.
    pub id: i64,
    /// The reason of the failure.
    pub reason: String,
}

/// Documents of the queue; `next` is for `after`.
pub async fn list(context: &Context, filter: &ReviewFilter) -> Result<Listed<Review>, Refusal> {
    let limit = page_limit(filter.limit);
    let rows = context.catalog().reviews(&filter.query(limit + 1)?).await?;
    let rows: Vec<_> = rows.into_iter().map(Review::from).collect();
    let shown = filter
        .after
        .unwrap_or(0)
        .max(0)
        .saturating_add_unsigned(limit);
    Ok(Listed::page(rows, limit, |review: &Review| {
        if filter.uncertain { shown } else { review.id }
    }))
}

/// How many documents are in the queue, counted up to 10,000.
pub async fn count(context: &Context) -> Result<u64, Refusal> {
    Ok(context.catalog().count_reviews(10_000).await?)
}

/// A document of the queue.
pub async fn show(context: &Context, id: i64) -> Result<Review, Refusal> {
    entry(context, id).await.map(Review::from)
}

/// The beginning of the text of a document of the queue, and the reasons of the content filter.
pub async fn reasons(
    context: &Context,
    id: i64,
    limit: usize,
) -> Result<(Option<String>, Option<Explanation>), Refusal> {
    let entry = entry(context, id).await?;
    let read = move |holdings: &flows::Holdings| {
        let Some(text) = flows::review_file(holdings, &entry, &ReviewPart::Text)? else {
            return Ok((None, None));
        };
        let mut bytes = Vec::new();
        text.take(LONGEST_TEXT).read_to_end(&mut bytes)?;
        let text = flows::decoded(&bytes);
        let explanation = flows::explain_text(text.clone(), entry.judgement.as_ref(), limit);
        Ok((Some(text), Some(explanation)))
    };
    context.blocking(read).await
}

/// Decides on documents of the queue: accepted ones come into the collection as an import would bring them, rejected ones
/// leave the queue, and documents that are in the collection are set aside.
pub async fn decide(
    context: &Context,
    actor: &Actor,
    order: &ReviewDecision,
) -> Result<Reviewed, Refusal> {
    actor.require(Role::Operator)?;
    let Some(decision) = order.decision else {
        return Err(Refusal::invalid("decision", "give accept or reject"));
    };
    let kind = order.kind.as_deref().map(kind).transpose()?;
    let (entries, mut reviewed) = wanted(context, order).await?;
    let correction = catalog::Correction {
        is_wanted: decision == Decision::Accept,
        kind: kind.map(str::to_owned),
        by: Some(actor.name.clone()),
    };
    let numbers: Vec<_> = entries.iter().map(|entry| entry.id).collect();
    match decision {
        Decision::Accept => {
            let accept = move |holdings: &flows::Holdings| {
                flows::accept_reviews(holdings, &entries, &correction)
            };
            let accepted = context.blocking(accept).await?;
            reviewed.decided = accepted.accepted.len() as u64;
            reviewed.import = accepted.import;
            let failed = accepted.failed.into_iter();
            reviewed
                .failed
                .extend(failed.map(|(id, reason)| ReviewFailure { id, reason }));
        }
        Decision::Reject => {
            for entry in &entries {
                context
                    .catalog()
                    .correct_bytes(&entry.sha1, &correction)
                    .await?;
            }
            context.catalog().end_reviews(&numbers).await?;
            reviewed.decided = numbers.len() as u64;
        }
    }
    let subject = match numbers[..] {
        [one] => format!("review {one}"),
        _ => format!("{} documents of the review queue", numbers.len()),
    };
    let mut details = decision.name().to_owned();
    details.extend(kind.map(|kind| format!(", {kind}")));
    details.extend(order.host.iter().map(|host| format!(", of {host}")));
    context
        .audit(actor, "review.decide", subject, Some(details))
        .await;
    Ok(reviewed)
}

/// The documents that an order names, at most [`MOST`].
async fn wanted(
    context: &Context,
    order: &ReviewDecision,
) -> Result<(Vec<ReviewEntry>, Reviewed), Refusal> {
    let mut reviewed = Reviewed::default();
    let number = order.documents.len();
    if number > MOST {
        let reason = format!("{number} are too many at once; send at most {MOST}");
        return Err(Refusal::invalid("documents", reason));
    }
    if number > 0 {
        let mut entries = Vec::with_capacity(number);
        for id in &order.documents {
            match context.catalog().review(*id).await? {
                Some(entry) => entries.push(entry),
                None => reviewed.failed.push(ReviewFailure {
                    id: *id,
                    reason: format!("there is no document {id} in the review queue"),
                }),
            }
        }
        return Ok((entries, reviewed));
    }
    if order.host.is_none() && order.text.is_none() {
        let reason = "name documents by their numbers, or by a host or a text";
        return Err(Refusal::invalid("documents", reason));
    }
    let query = ReviewQuery {
        host: order.host.as_deref().map(str::to_lowercase),
        text: order.text.clone(),
        limit: MOST as u64 + 1,
        ..ReviewQuery::default()
    };
    let mut entries = context.catalog().reviews(&query).await?;
    reviewed.is_more = entries.len() > MOST;
    entries.truncate(MOST);
    Ok((entries, reviewed))
}

/// Removes what waits for too long. A command calls this because no manager may be running.
pub async fn prune(context: &Context, limits: ReviewLimits) -> Result<u64, Refusal> {
    context
        .blocking(move |holdings| flows::prune_reviews(holdings, limits))
        .await
}

async fn entry(context: &Context, id: i64) -> Result<ReviewEntry, Refusal> {
    let entry = context.catalog().review(id).await?;
    entry
        .ok_or_else(|| Refusal::not_found(format!("there is no document {id} in the review queue")))
}

impl ReviewFilter {
    fn query(&self, limit: u64) -> Result<ReviewQuery, Refusal> {
        let kind = self.kind.as_deref().map(kind).transpose()?;
        let millionths = |probability: f64| (probability.clamp(0.0, 1.0) * 1e6).round() as i64;
        Ok(ReviewQuery {
            host: self.host.as_deref().map(str::to_lowercase),
            decision: self.decision.clone(),
            kind: kind.map(str::to_owned),
            at_least: self.at_least.map(millionths),
            at_most: self.at_most.map(millionths),
            text: self.text.clone(),
            uncertain: self.uncertain,
            after: self.after.unwrap_or(0),
            limit,
        })
    }
}

impl From<ReviewEntry> for Review {
    fn from(entry: ReviewEntry) -> Self {
        let judgement = entry.judgement.as_ref();
        let title = judgement.and_then(|judgement| judgement.title.clone());
        Self {
            id: entry.id,
            title: title.unwrap_or_else(|| flows::file_title(&entry.url)),
            language: judgement.and_then(|judgement| judgement.language.clone()),
            host: entry.host,
            media_type: entry.media_type,
            size: entry.size,
            added: Time(entry.added),
            document: entry.document,
            decision: judgement.and_then(|judgement| judgement.decision.clone()),
            probability: judgement
                .and_then(|judgement| judgement.probability.map(catalog::Probability::value)),
            kind: judgement.and_then(|judgement| judgement.kind.clone()),
            content_sha1: entry.sha1,
            url: entry.url,
        }
    }
}

/// Documents of one decision at most.
const MOST: usize = 10_000;
const LONGEST_TEXT: u64 = 1 << 20;
