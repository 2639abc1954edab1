//! `GET /documents/{id}`: one document: where it is from, what it is, where its file lies. `POST …/state` says what became
//! of it elsewhere.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use catalog::{DocumentEntry, DocumentQuery, DocumentState, VersionEntry};
use jobs::{Explanation, Holdings};
use serde::Deserialize;

use crate::documents::{document, path, set_state, state_words};
use crate::dress::{done, page};
use crate::extract::{Form, Path};
use crate::filters;
use crate::pages::documents::list::STATES;
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

#[derive(Template)]
#[template(path = "document.html")]
struct DocumentPage {
    who: Who,
    document: DocumentEntry,
    file: String,
    /// Other URLs with the same content.
    others: Vec<DocumentEntry>,
    /// Contents that it had before and that were kept.
    versions: Vec<VersionEntry>,
    /// Whether the import that brought it is still in the history.
    import_known: bool,
    /// What spoke for and against it, if its text is stored.
    explanation: Option<Explanation>,
    errors: Errors,
}

impl DocumentPage {
    fn states(&self) -> &'static [(&'static str, &'static str)] {
        &STATES[1..4]
    }

    /// What is chosen in the form of corrections.
    fn corrected(&self) -> (&str, &str) {
        let judgement = self.document.judgement.as_ref();
        let corrected = judgement.and_then(|judgement| judgement.corrected.as_ref());
        let decision = corrected.map(|corrected| corrected.decision.as_str());
        let kind = corrected.and_then(|corrected| corrected.kind.as_deref());
        (decision.unwrap_or("accept"), kind.unwrap_or_default())
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let document = document(&state, id).await?;
    let catalog = state.catalog();
    let same = DocumentQuery {
        content: Some(document.content),
        limit: MOST_OTHERS,
        ..DocumentQuery::default()
    };
    let mut others = catalog.documents(&same).await?;
    others.retain(|other| other.id != id);
    let explanation = match document.judgement {
        Some(_) => {
            let (explained, files) = (document.clone(), state.clone());
            let explain = move |_: &Holdings| {
                let files = files.document_files()?;
                jobs::explain(&files, &explained, REASONS)
            };
            // A store that is away keeps nobody from seeing what the catalog knows.
            state.blocking(explain).await?.unwrap_or_else(|error| {
                tracing::warn!("the text of document {id} cannot be read: {error:#}");
                None
            })
        }
        None => None,
    };
    page(&DocumentPage {
        who,
        explanation,
        file: path(&state, &document).await?.display().to_string(),
        others,
        versions: catalog.versions(id).await?,
        import_known: catalog.import(document.import).await?.is_some(),
        document,
        errors: Errors::default(),
    })
}

#[derive(Debug, Deserialize)]
pub(crate) struct NewState {
    state: String,
}

pub(crate) async fn change_state(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(new): Form<NewState>,
) -> Result<Response, Problem> {
    document(&state, id).await?;
    let unknown = || Problem::invalid(format!("there is no state `{}`", new.state));
    let to = DocumentState::parse(&new.state).ok_or_else(unknown)?;
    set_state(&state, &who, &[id], to).await?;
    let said = format!("Document {id} is {}.", state_words(&to));
    Ok(done(&format!("/documents/{id}"), said))
}

const MOST_OTHERS: u64 = 100;
/// So many reasons are shown of each side.
const REASONS: usize = 12;
