//! Documents found by their words, with the passages that have them, and how a list is spread over its facets.

use catalog::{Passage, SearchQuery, Searched};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Document, DocumentFilter, DocumentSort, DocumentState, document, kind};
use crate::mirrored::mirrored;
use crate::time::{first_second, last_second};
use crate::{Context, Refusal, Time, page_limit};

/// A search for documents.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DocumentSearch {
    /// Words, `"a phrase"`, `begin*`, `-excluded`, and the fields `title:`, `host:`, `url:`, `kind:`, `language:`,
    /// `type:`, `state:`, `decision:` and `year:`.
    pub query: String,
    /// The order; the default is `rank`. All but the newest 1,000 documents are left out of any.
    #[param(inline)]
    pub sort: Option<DocumentSearchSort>,
    /// Documents that are passed over, for the next page.
    pub offset: Option<u64>,
    /// Documents on a page, at most 1000; the default is 100.
    pub limit: Option<u64>,
}

mirrored! {
    /// The order of what a search found.
    DocumentSearchSort = SearchOrder {
        /// The best first; the newest where the query has fields alone.
        Rank = "rank",
        /// By number, the largest first.
        Newest = "newest",
        /// By title, documents without one last.
        Title = "title",
        /// By host; a domain stands together.
        Host = "host",
    }
}

/// The documents that a search found.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Found {
    /// The documents of the page, the best first unless another order is asked for.
    pub items: Vec<FoundDocument>,
    /// The value of `offset` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
    /// The number of documents, counted up to 10,000.
    pub total: u64,
    /// Whether there are more than `total`.
    pub is_more: bool,
    /// Whether only the newest 1,000 of them are ranked, and given.
    pub is_partly_ranked: bool,
    /// Documents that cannot be found yet, because their texts wait to be indexed, counted up to 10,000.
    pub unindexed: u64,
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FoundDocument {
    /// The document.
    #[serde(flatten)]
    pub document: Document,
    /// How well it fits; only comparable within one search.
    pub score: f64,
    /// Its title, with the words of the query marked.
    pub marked_title: Vec<Piece>,
    /// The passages of its text with the words of the query.
    pub passages: Vec<Vec<Piece>>,
}

/// A piece of a passage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether the query asks for it.
    #[serde(rename = "match")]
    pub is_match: bool,
}

/// How many documents a list has, and how they are spread.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Facets {
    /// The number of documents, counted up to 10,000.
    pub total: u64,
    /// Whether there are more than `total`; then the counts of the values are those of a sample of `counted`.
    pub is_more: bool,
    /// The documents that the counts of the values are of.
    pub counted: u64,
    /// The facets: `host`, `type`, `kind`, `year`, `decision`, `state` and `language`.
    pub facets: Vec<Facet>,
}

/// The values of one facet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Facet {
    /// Its name.
    pub name: String,
    /// Its values, the most frequent first, years the last first; at most 12.
    pub values: Vec<FacetValue>,
}

/// A value of a facet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FacetValue {
    /// The value.
    pub value: String,
    /// How many documents have it.
    pub count: u64,
}

/// Searches documents by their words and fields, within those that `filter` leaves.
pub async fn search(
    context: &Context,
    search: &DocumentSearch,
    filter: &DocumentFilter,
) -> Result<Found, Refusal> {
    let limit = page_limit(search.limit);
    let offset = search.offset.unwrap_or(0);
    let (query, filter) = understood(&search.query, filter)?;
    let sort = search.sort.unwrap_or(DocumentSearchSort::Rank);
    let catalog = context.catalog();
    let unindexed = catalog.count_unread_texts(Searched::MOST_COUNTED).await?;
    let (entries, total, is_partly_ranked) = match query.has_words() {
        true => {
            let filter = filter.query(limit)?;
            let found = catalog
                .search_documents(&query, &filter, sort.into(), offset, limit)
                .await?;
            let entries = found.documents.into_iter();
            let entries: Vec<_> = entries.map(|found| (found.document, found.score)).collect();
            (entries, found.total, found.is_partly_ranked)
        }
        // Without words there is no rank: the newest first.
        false => {
            let filter = DocumentFilter {
                sort: Some(match sort {
                    DocumentSearchSort::Host => DocumentSort::Host,
                    DocumentSearchSort::Title => DocumentSort::Title,
                    DocumentSearchSort::Rank | DocumentSearchSort::Newest => DocumentSort::Newest,
                }),
                ..filter
            };
            let wanted = offset.saturating_add(limit).min(Searched::MOST_RANKED);
            let filter = filter.query(wanted)?;
            let most = Searched::MOST_COUNTED + 1;
            let number = catalog.count_documents(&filter, most).await?;
            super::can_be_sorted(&filter, number)?;
            let total = number.unwrap_or(most);
            let entries = catalog.documents(&filter).await?.into_iter();
            let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
            let entries: Vec<_> = entries.skip(skipped).map(|entry| (entry, 0)).collect();
            (entries, total, total > Searched::MOST_RANKED)
        }
    };
    let reachable = total.min(Searched::MOST_RANKED);
    let behind = offset.saturating_add(entries.len() as u64);
    let next = (behind < reachable && !entries.is_empty()).then_some(behind);
    let opened = context.clone();
    let described = move |holdings: &flows::Holdings| {
        let directory = flows::documents_directory(holdings)?;
        // A store that is away costs the passages, and not the search.
        let files = opened.document_files().ok();
        let found = entries.into_iter().map(|(entry, score)| {
            let text = files
                .as_ref()
                .and_then(|files| files.beginning(&entry, PASSAGES_OF).ok().flatten());
            let passages = query.passages(text.as_deref().unwrap_or_default(), MOST_PASSAGES);
            let document = document(&directory, entry);
            FoundDocument {
                marked_title: pieces(query.marked(&document.title)),
                passages: passages.into_iter().map(pieces).collect(),
                score: score as f64 / 1e6,
                document,
            }
        });
        Ok(found.collect())
    };
    Ok(Found {
        items: context.blocking(described).await?,
        next: next.and_then(|next| i64::try_from(next).ok()),
        total: total.min(Searched::MOST_COUNTED),
        is_more: total > Searched::MOST_COUNTED,
        is_partly_ranked,
        unindexed,
    })
}

/// How the documents that a filter leaves are spread, also within those that a query finds.
pub async fn facets(
    context: &Context,
    query: Option<&str>,
    filter: &DocumentFilter,
) -> Result<Facets, Refusal> {
    let (query, filter) = match query {
        Some(query) => {
            let (query, filter) = understood(query, filter)?;
            (Some(query), filter)
        }
        None => (None, filter.clone()),
    };
    let filter = filter.query(1)?;
    let found = context
        .catalog()
        .facets_of_documents(query.as_ref(), &filter)
        .await?;
    let facet = |name: &str| {
        let values = found.values.get(name)?;
        let value = |(value, count): &(String, u64)| FacetValue {
            value: value.clone(),
            count: *count,
        };
        Some(Facet {
            name: name.to_owned(),
            values: values.iter().map(value).collect(),
        })
    };
    Ok(Facets {
        total: found.total.min(Searched::MOST_COUNTED),
        is_more: found.total > Searched::MOST_COUNTED,
        counted: found.counted.min(Searched::MOST_COUNTED),
        facets: catalog::Facets::NAMES
            .into_iter()
            .filter_map(facet)
            .collect(),
    })
}

/// The words of a query, and the filter with its fields.
pub(crate) fn understood(
    text: &str,
    filter: &DocumentFilter,
) -> Result<(SearchQuery, DocumentFilter), Refusal> {
    let query =
        SearchQuery::parse(text).map_err(|error| Refusal::invalid("query", error.to_string()))?;
    let mut filter = filter.clone();
    for (field, value, at) in &query.fields {
        let place =
            |refusal: Refusal| Refusal::invalid("query", format!("character {at}: {refusal}"));
        let given = || Some(value.clone());
        match *field {
            "host" => filter.domain = given(),
            "url" => filter.text = given(),
            "kind" => filter.kind = Some(kind(value).map_err(place)?.to_owned()),
            "language" => filter.language = Some(language(value).map_err(place)?.to_owned()),
            "type" => filter.media_type = given(),
            "state" => filter.state = Some(state(value).map_err(place)?),
            "year" => {
                let [since, until] = year(value).map_err(place)?;
                (filter.since, filter.until) = (Some(since), Some(until));
            }
            _ => filter.decision = Some(decision(value).map_err(place)?.to_owned()),
        }
    }
    Ok((query, filter))
}

/// The code of a language that people name by either of its codes.
pub(crate) fn language(name: &str) -> Result<&'static str, Refusal> {
    flows::language_code(name).ok_or_else(|| {
        let reason = format!("there is no language `{name}`; write a code such as en, de or fr");
        Refusal::invalid("language", reason)
    })
}

fn state(name: &str) -> Result<DocumentState, Refusal> {
    DocumentState::parse(&name.to_lowercase().replace('-', "_")).ok_or_else(|| {
        let reason = format!("there is no state `{name}`; the states are not-ingested, ingested, failed and set-aside");
        Refusal::invalid("state", reason)
    })
}

/// The first and the last second of a year.
fn year(name: &str) -> Result<[Time; 2], Refusal> {
    let wrong = |_| Refusal::invalid("year", format!("`{name}` is not a year; write year:2011"));
    let is_year = name.len() == 4 && name.bytes().all(|digit| digit.is_ascii_digit());
    if !is_year {
        return Err(wrong(String::new()));
    }
    let first = first_second(&format!("{name}-01-01")).map_err(wrong)?;
    let last = last_second(&format!("{name}-12-31")).map_err(wrong)?;
    Ok([first, last])
}

fn decision(name: &str) -> Result<&'static str, Refusal> {
    let known = ["accept", "unsure", "reject"]
        .into_iter()
        .find(|known| *known == name);
    known.ok_or_else(|| {
        let reason =
            format!("there is no decision `{name}`; the decisions are accept, unsure and reject");
        Refusal::invalid("decision", reason)
    })
}

fn pieces(passage: Passage) -> Vec<Piece> {
    let piece = |segment: catalog::Segment| Piece {
        text: segment.text,
        is_match: segment.is_match,
    };
    passage.segments.into_iter().map(piece).collect()
}

const MOST_PASSAGES: usize = 3;
/// Bytes of a text that passages are taken from.
const PASSAGES_OF: u64 = 256 * 1024;
