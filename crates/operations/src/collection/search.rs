//! One search over repositories, records and documents.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::documents::{self, Document, DocumentFilter};
use crate::records::{self, Record, RecordFilter};
use crate::repositories::{self, Repository, RepositoryQuery};
use crate::{Code, Context, Listed, Refusal};

/// A search over everything.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// Words, a name, or a part of a URL.
    pub text: String,
    /// At most this many hits of each kind, up to 100; the default is 5.
    pub limit: Option<u64>,
}

/// The hits of a search.
#[derive(Debug, Serialize, ToSchema)]
pub struct Hits {
    /// The text that was searched for.
    pub text: String,
    /// Repositories with the text in their name, base URL or identifier.
    pub repositories: HitList<Repository>,
    /// Records with all words of the text, the newest first.
    pub records: HitList<Record>,
    /// Documents of the collection.
    pub documents: HitList<Document>,
}

/// The hits of one kind.
#[derive(Debug, Serialize, ToSchema)]
pub struct HitList<T> {
    /// The first hits.
    pub items: Vec<T>,
    /// Whether there are more.
    pub is_more: bool,
    /// Why this kind could not be searched; the other kinds are complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Searches repositories, records and documents. A kind that takes too long to search has a `failure` in the place of hits.
pub async fn everywhere(context: &Context, query: &SearchQuery) -> Result<Hits, Refusal> {
    let text = query.text.trim();
    if text.is_empty() {
        return Err(Refusal::invalid("text", "type a text to search for"));
    }
    let limit = Some(query.limit.unwrap_or(HITS).clamp(1, MAX_HITS));
    let words = Some(text.to_owned());
    let repositories = RepositoryQuery {
        text: words.clone(),
        limit,
        ..RepositoryQuery::default()
    };
    let records = RecordFilter {
        text: words.clone(),
        limit,
        ..RecordFilter::default()
    };
    let documents = DocumentFilter {
        text: words,
        limit,
        ..DocumentFilter::default()
    };
    Ok(Hits {
        text: text.to_owned(),
        repositories: HitList::of(repositories::list(context, &repositories).await)?,
        records: HitList::of(records::list(context, &records).await)?,
        documents: HitList::of(documents::list(context, &documents).await)?,
    })
}

impl Hits {
    /// Whether nothing was found, everywhere.
    pub fn is_empty(&self) -> bool {
        self.repositories.is_empty() && self.records.is_empty() && self.documents.is_empty()
    }
}

impl<T> HitList<T> {
    fn of(listed: Result<Listed<T>, Refusal>) -> Result<Self, Refusal> {
        match listed {
            Ok(listed) => Ok(Self {
                is_more: listed.next.is_some(),
                items: listed.items,
                failure: None,
            }),
            // One slow or refused kind does not hide the others.
            Err(refusal) if matches!(refusal.code, Code::TooLong | Code::Invalid) => Ok(Self {
                items: Vec::new(),
                is_more: false,
                failure: Some(refusal.reasons()),
            }),
            Err(refusal) => Err(refusal),
        }
    }

    fn is_empty(&self) -> bool {
        self.items.is_empty() && self.failure.is_none()
    }
}

const HITS: u64 = 5;
const MAX_HITS: u64 = 100;
