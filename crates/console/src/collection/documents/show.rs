//! `GET /documents/{id}`: one document. `POST …/state` sets its state in the search engine.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use catalog::VersionEntry;
use operations::FilePath;
use operations::documents::{
    self, Document, DocumentFilter, DocumentState, Explanation, NearDuplicate, NewStates,
};
use serde::Deserialize;

use super::correct::kinds;
use super::file::viewed;
use super::list::STATES;
use super::words;
use crate::dress::{done, page};
use crate::extract::{Form, Path};
use crate::filters;
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

#[derive(Template)]
#[template(path = "document.html")]
struct DocumentPage {
    who: Who,
    document: Document,
    /// Other URLs with the same content.
    others: Vec<Document>,
    /// Earlier contents that are kept.
    versions: Vec<(VersionEntry, FilePath)>,
    /// Whether the import that brought it is still in the history.
    import_known: bool,
    /// The reasons for and against it, if its text is stored.
    explanation: Option<Explanation>,
    /// The beginning of its text.
    text: Option<String>,
    /// Documents whose texts say nearly the same.
    near: Vec<NearDuplicate>,
    errors: Errors,
}

impl DocumentPage {
    /// Whether the document is shown in a frame, and whether the frame is a sandbox.
    fn viewed(&self) -> Option<bool> {
        viewed(&self.document.media_type).map(|(media_type, _)| media_type != "application/pdf")
    }

    fn states(&self) -> &'static [(&'static str, &'static str)] {
        &STATES[1..4]
    }

    /// The kinds of the form of corrections.
    fn kinds(&self) -> Vec<(String, String)> {
        kinds("automatic")
    }

    /// The decision and the kind that the form of corrections begins with.
    fn corrected(&self) -> (&str, &str) {
        let judgement = self.document.judgement.as_ref();
        let corrected = judgement.and_then(|judgement| judgement.corrected.as_ref());
        let decision = corrected.map(|corrected| corrected.decision.as_str());
        let kind = corrected.and_then(|corrected| corrected.kind.as_deref());
        (decision.unwrap_or_default(), kind.unwrap_or_default())
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let context = state.context();
    let document = documents::show(context, id).await?;
    let same = DocumentFilter {
        content: Some(document.content),
        limit: Some(MOST_OTHERS),
        ..DocumentFilter::default()
    };
    let mut others = documents::list(context, &same).await?.items;
    others.retain(|other| other.id != id);
    // A store that is away keeps nobody from seeing the catalog's part.
    let explanation = documents::explain(context, id, REASONS).await;
    let explanation = explanation.unwrap_or_else(|refusal| {
        tracing::warn!("the text of document {id} cannot be read: {refusal}");
        None
    });
    let import = state.catalog().import(document.import).await?;
    page(&DocumentPage {
        who,
        explanation,
        others,
        versions: documents::versions(context, id).await?,
        import_known: import.is_some(),
        document,
        text: documents::beginning(context, id, MOST_TEXT)
            .await
            .unwrap_or_default(),
        near: documents::near_duplicates(context, id).await?.items,
        errors: Errors::default(),
    })
}

#[derive(Debug, Deserialize)]
pub(crate) struct StateForm {
    state: DocumentState,
}

pub(crate) async fn change_state(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(form): Form<StateForm>,
) -> Result<Response, Problem> {
    documents::show(state.context(), id).await?;
    let new = NewStates {
        documents: vec![id],
        state: form.state,
    };
    documents::set_state(state.context(), &who.actor(), &new).await?;
    let message = format!("Document {id} is {}.", form.state.words());
    Ok(done(&format!("/documents/{id}"), message))
}

const MOST_OTHERS: u64 = 100;
/// Bytes of the text that are shown.
const MOST_TEXT: u64 = 20_000;
/// Reasons of each side at most.
const REASONS: usize = 12;
