//! The filter of the list of documents, as forms and addresses have it.

use operations::documents::{DocumentFilter, DocumentState};
use serde::Deserialize;

use crate::parts::filter::{given, since, until};
use crate::parts::{Errors, Link};

/// The filters of a list; empty ones mean nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DocumentForm {
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

impl DocumentForm {
    /// The filter of the operation, and which fields cannot be read.
    pub(crate) fn parse(&self) -> (DocumentFilter, Errors) {
        let mut errors = Errors::default();
        let parsed = DocumentFilter {
            host: given(&self.host),
            state: DocumentState::parse(&self.state),
            media_type: given(&self.media_type),
            since: since("since", &self.since, &mut errors),
            until: until("until", &self.until, &mut errors),
            parent: self.parent.parse().ok(),
            content: self.content.parse().ok(),
            import: self.import.parse().ok(),
            decision: given(&self.decision),
            kind: given(&self.kind),
            text: given(&self.text),
            after: self.after.parse().ok(),
            limit: None,
        };
        (parsed, errors)
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

#[cfg(test)]
mod tests {
    use operations::Time;

    use super::*;

    #[test]
    fn filters_are_taken_over_and_empty_ones_mean_nothing() {
        let filter = DocumentForm {
            host: " WWW.Example.org ".to_owned(),
            state: "ingested".to_owned(),
            until: "1970-01-01".to_owned(),
            ..DocumentForm::default()
        };

        let (query, errors) = filter.parse();

        assert!(errors.is_empty());
        assert_eq!(query.host.as_deref(), Some("WWW.Example.org"));
        assert_eq!(query.state, Some(DocumentState::Ingested));
        assert_eq!(query.until, Some(Time(86_399)));
        assert!(query.text.is_none() && query.media_type.is_none());
        assert!(DocumentForm::default().is_empty() && !filter.is_empty());
    }
}
