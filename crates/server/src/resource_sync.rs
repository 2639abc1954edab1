//! The addresses of sitemaps and of the documents of ResourceSync: below the repository always, and below the root of the
//! site where nothing else answers.

use std::sync::Arc;

use http::{HeaderMap, Method, Response};
use provider::resource_sync::SyncDocument;
use site::Requester;

use crate::body::Body;
use crate::router::refuse_method;
use crate::streaming::{self, Answering, Question};

/// A request for a document.
pub(crate) struct DocumentRequest {
    document: SyncDocument,
    /// Whether it was asked for below the root.
    at_root: bool,
    method: Method,
    headers: HeaderMap,
}

impl DocumentRequest {
    /// The request for what lies at a path below the repository.
    pub(crate) fn below_repository<B>(path: &str, request: &http::Request<B>) -> Option<Self> {
        let document = SyncDocument::below_repository(path)?;
        Some(Self::new(document, false, request))
    }

    /// The request for what lies at a path, with its slash, below the root.
    pub(crate) fn below_root<B>(path: &str, request: &http::Request<B>) -> Option<Self> {
        let document = SyncDocument::below_site(path.strip_prefix('/')?)?;
        Some(Self::new(document, true, request))
    }

    fn new<B>(document: SyncDocument, at_root: bool, request: &http::Request<B>) -> Self {
        Self {
            document,
            at_root,
            method: request.method().clone(),
            headers: request.headers().clone(),
        }
    }

    /// Answers it.
    pub(crate) async fn answer<A: Answering>(
        self,
        state: &Arc<A>,
        requester: Requester,
    ) -> Response<Body> {
        if let Some(refusal) = refuse_method(&self.method, &[Method::GET, Method::HEAD]) {
            return refusal;
        }
        let question = Question::Document {
            document: self.document,
            at_root: self.at_root,
        };
        streaming::answer(state, &self.headers, requester, question).await
    }
}
