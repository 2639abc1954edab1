//! The state of documents in a search engine, and corrections by librarians.

use catalog::Role;
use classifier::Kind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Document, DocumentState, entry, kind, missing, nearest, show};
use crate::{Actor, Context, Refusal};

/// The state of documents in the search engine that ingests them.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStates {
    /// The numbers of documents, at most 10000.
    pub documents: Vec<i64>,
    /// Their state; `set_aside` is a correction instead.
    pub state: DocumentState,
}

/// How many documents changed their state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct StatesChanged {
    /// The numbers that are those of documents.
    pub changed: u64,
    /// Of these, the documents that stay set aside.
    pub set_aside: u64,
}

/// A correction by a librarian.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Correction {
    /// Without it, what a person decided before stays; else papers and theses are accepted and other kinds are rejected.
    pub decision: Option<Decision>,
    /// The kind, such as `paper`; without it the kind stays as it is.
    pub kind: Option<String>,
}

/// Whether a document belongs in the collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It belongs in the collection.
    Accept,
    /// It is set aside.
    Reject,
}

/// Sets the state of documents in the search engine that ingests them.
pub async fn set_state(
    context: &Context,
    actor: &Actor,
    new: &NewStates,
) -> Result<StatesChanged, Refusal> {
    actor.require(Role::Operator)?;
    let number = new.documents.len();
    if number > MAX_DOCUMENTS {
        let reason = format!("{number} are too many at once; send at most {MAX_DOCUMENTS}");
        return Err(Refusal::invalid("documents", reason));
    }
    if new.state == DocumentState::SetAside {
        let reason = "a document is set aside by a correction that rejects it";
        return Err(Refusal::invalid("state", reason));
    }
    let catalog = context.catalog();
    let changed = catalog.set_state(&new.documents, new.state.into()).await?;
    let subject = match new.documents[..] {
        [one] => format!("document {one}"),
        _ => format!("{number} documents"),
    };
    let details = Some(new.state.name().to_owned());
    context
        .audit(actor, "document.state", subject, details)
        .await;
    Ok(StatesChanged {
        changed,
        set_aside: catalog.count_aside(&new.documents).await?,
    })
}

/// Corrects the decision or the kind of a document, and of all with the same content.
pub async fn correct(
    context: &Context,
    actor: &Actor,
    id: i64,
    correction: &Correction,
) -> Result<Document, Refusal> {
    actor.require(Role::Operator)?;
    let kind = correction.kind.as_deref().map(kind).transpose()?;
    if correction.decision.is_none() && kind.is_none() {
        let reason = "give accept or reject, or a kind";
        return Err(Refusal::invalid("decision", reason));
    }
    let before = entry(context, id).await?.judgement;
    let before = before.and_then(|judgement| judgement.corrected);
    let before = before.and_then(|corrected| Decision::parse(&corrected.decision));
    let is_academic = kind.is_some_and(|kind| Kind::ACADEMIC.contains(&nearest(kind)));
    let decision = match (correction.decision.or(before), is_academic) {
        (Some(decision), _) => decision,
        (None, true) => Decision::Accept,
        (None, false) => Decision::Reject,
    };
    let row = catalog::Correction {
        is_wanted: decision == Decision::Accept,
        kind: kind.map(str::to_owned),
        by: Some(actor.name.clone()),
    };
    let corrected = context.catalog().correct(id, &row).await?;
    corrected.ok_or_else(|| missing(id))?;
    let mut details = decision.name().to_owned();
    details.extend(kind.map(|kind| format!(", {kind}")));
    let subject = format!("document {id}");
    context
        .audit(actor, "document.correct", subject, Some(details))
        .await;
    show(context, id).await
}

/// Writes the .met files of documents whose state or decision changed. The manager does it by itself; a command calls
/// this because none may be running.
pub async fn update_metadata(context: &Context) -> Result<(), Refusal> {
    let update = |holdings: &flows::Holdings| flows::update_metadata(holdings, u64::MAX);
    context.blocking(update).await?;
    Ok(())
}

impl Decision {
    /// The decision with this word in JSON.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Accept, Self::Reject]
            .into_iter()
            .find(|decision| decision.name() == word)
    }

    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
        }
    }
}

/// Documents of one change at most.
const MAX_DOCUMENTS: usize = 10_000;
