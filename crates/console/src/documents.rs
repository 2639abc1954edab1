//! Documents: what pages and API do alike. Every change ends up in the audit trail.

use std::path::PathBuf;

use catalog::{Correction, DocumentEntry, DocumentQuery, DocumentState};
use serde::Deserialize;

use crate::pages::documents::correct::KINDS;
use crate::parts::{Errors, Link};
use crate::problem::Problem;
use crate::schedules::moment;
use crate::state::ConsoleState;
use crate::who::Who;

/// The filters of a list; empty ones mean nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DocumentFilter {
    pub(crate) text: String,
    pub(crate) host: String,
    pub(crate) media_type: String,
    pub(crate) state: String,
    pub(crate) decision: String,
    pub(crate) kind: String,
    pub(crate) since: String,
    pub(crate) until: String,
    pub(crate) parent: String,
    pub(crate) content: String,
    pub(crate) import: String,
    pub(crate) after: String,
}

impl DocumentFilter {
    /// The query, and what cannot be read of the filters.
    pub(crate) fn query(&self, limit: u64) -> (DocumentQuery, Errors) {
        let mut errors = Errors::default();
        let mut time = |field: &'static str, text: &str| {
            let text = text.trim();
            let time = moment(text);
            if time.is_none() && !text.is_empty() {
                errors.add(field, format!("`{text}` is not a date"));
            }
            time
        };
        let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let query = DocumentQuery {
            host: text(&self.host).map(|host| host.to_lowercase()),
            state: DocumentState::parse(&self.state),
            media_type: text(&self.media_type).map(|name| name.to_lowercase()),
            since: time("since", &self.since),
            until: time("until", &self.until).map(|until| match self.until.trim().len() {
                // A day includes its last second.
                10 => until + 86_399,
                _ => until,
            }),
            parent: self.parent.parse().ok(),
            content: self.content.parse().ok(),
            import: self.import.parse().ok(),
            decision: text(&self.decision),
            kind: text(&self.kind),
            text: text(&self.text),
            after: self.after.parse().unwrap_or(0),
            limit,
        };
        (query, errors)
    }

    /// The list with the same filters, from its first page.
    pub(crate) fn link(&self) -> Link {
        Link::to("/documents")
            .with("text", &self.text)
            .with("host", &self.host)
            .with("media_type", &self.media_type)
            .with("state", &self.state)
            .with("decision", &self.decision)
            .with("kind", &self.kind)
            .with("since", &self.since)
            .with("until", &self.until)
            .with("parent", &self.parent)
            .with("content", &self.content)
            .with("import", &self.import)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.link().parameters().is_empty()
    }
}

/// The document with this number.
pub(crate) async fn document(state: &ConsoleState, id: i64) -> Result<DocumentEntry, Problem> {
    let found = state.catalog().document(id).await?;
    found.ok_or_else(|| Problem::not_found(format!("there is no document {id}")))
}

/// Its file, as the collection names it.
pub(crate) fn file(document: &DocumentEntry) -> String {
    jobs::document_file(document)
}

/// Where its file is on this machine.
pub(crate) async fn path(
    state: &ConsoleState,
    document: &DocumentEntry,
) -> Result<PathBuf, Problem> {
    let directory = state.blocking(jobs::documents_directory).await??;
    Ok(directory.join(file(document)))
}

/// Says what became of documents, and tells how many of the numbers are known.
pub(crate) async fn set_state(
    state: &ConsoleState,
    who: &Who,
    documents: &[i64],
    new: DocumentState,
) -> Result<u64, Problem> {
    if documents.len() > MOST_AT_ONCE {
        let message = format!("{} documents are too many at once", documents.len());
        return Err(Problem::invalid(format!(
            "{message}; send at most {MOST_AT_ONCE}"
        )));
    }
    if new == DocumentState::SetAside {
        let message = "what is set aside is said by a correction of the document";
        return Err(Problem::invalid(message.to_owned()));
    }
    let changed = state.catalog().set_state(documents, new).await?;
    let subject = match documents {
        [one] => format!("document {one}"),
        many => format!("{} documents", many.len()),
    };
    let details = Some(new.name().to_owned());
    state.audit(who, "document.state", subject, details).await;
    Ok(changed)
}

/// Writes down what a librarian says of a document.
pub(crate) async fn correct(
    state: &ConsoleState,
    who: &Who,
    id: i64,
    decision: &str,
    kind: Option<&str>,
) -> Result<Correction, Problem> {
    let is_wanted = match decision {
        "accept" => true,
        "reject" => false,
        other => {
            let message = format!("`{other}` is neither accept nor reject");
            return Err(Problem::invalid(message));
        }
    };
    let is_known = |kind: &&str| KINDS.iter().any(|(name, _)| name == kind);
    if let Some(kind) = kind.filter(|kind| kind.is_empty() || !is_known(kind)) {
        return Err(Problem::invalid(format!("there is no kind `{kind}`")));
    }
    let correction = Correction {
        is_wanted,
        kind: kind.map(str::to_owned),
        by: Some(who.account.name.clone()),
    };
    let corrected = state.catalog().correct(id, &correction).await?;
    if corrected.is_none() {
        return Err(Problem::not_found(format!("there is no document {id}")));
    }
    let details = match kind {
        Some(kind) => format!("{decision}, {kind}"),
        None => decision.to_owned(),
    };
    let subject = format!("document {id}");
    state
        .audit(who, "document.correct", subject, Some(details))
        .await;
    Ok(correction)
}

/// The words for states, to choose from and to show.
pub(crate) fn state_words(state: &DocumentState) -> &'static str {
    match state {
        DocumentState::NotIngested => "not ingested",
        DocumentState::Ingested => "ingested",
        DocumentState::Failed => "failed",
        DocumentState::SetAside => "set aside",
    }
}

const MOST_AT_ONCE: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_taken_over_and_empty_ones_mean_nothing() {
        let filter = DocumentFilter {
            host: " WWW.Example.org ".to_owned(),
            state: "ingested".to_owned(),
            until: "1970-01-01".to_owned(),
            ..DocumentFilter::default()
        };

        let (query, errors) = filter.query(5);

        assert!(errors.is_empty());
        assert_eq!(query.host.as_deref(), Some("www.example.org"));
        assert_eq!(query.state, Some(DocumentState::Ingested));
        assert_eq!(query.until, Some(86_399));
        assert!(query.text.is_none() && query.media_type.is_none());
        assert!(DocumentFilter::default().is_empty() && !filter.is_empty());
    }
}
