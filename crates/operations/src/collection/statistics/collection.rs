//! Figures on the documents of the collection, or on those that one import brought.

use catalog::{DocumentFigures, Figure};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{Context, Refusal, Time};

/// The documents that figures are about.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CollectionFilter {
    /// Those whose content one import brought; the default is all.
    pub import: Option<i64>,
}

/// Figures on documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CollectionStatistics {
    /// When they were taken. Those of the whole collection may be some minutes old.
    pub computed: Time,
    /// Documents.
    pub documents: u64,
    /// Contents: documents with the same bytes share one.
    pub contents: u64,
    /// Bytes of the contents.
    pub bytes: u64,
    /// Documents that have the bytes of another one.
    pub duplicates: u64,
    /// Bytes that would be stored twice if documents did not share them.
    pub bytes_saved: u64,
    /// Contents whose texts can be searched.
    pub searchable: u64,
    /// Groups of contents whose texts say nearly the same.
    pub near_duplicate_groups: u64,
    /// Contents in these groups.
    pub near_duplicates: u64,
    /// By media type, the most frequent first.
    pub types: Vec<DocumentCount>,
    /// By host; the 100 most frequent.
    pub hosts: Vec<DocumentCount>,
    /// By the year of the last crawl.
    pub years: Vec<DocumentCount>,
    /// By the month of the last crawl, such as `2011-06`.
    pub months: Vec<DocumentCount>,
    /// By kind; an empty value for those without one.
    pub kinds: Vec<DocumentCount>,
    /// By decision.
    pub decisions: Vec<DocumentCount>,
    /// By language.
    pub languages: Vec<DocumentCount>,
    /// By the state in the search engine.
    pub states: Vec<DocumentCount>,
    /// Documents whose declared type is not their real one, by both: `text/html → application/pdf`.
    pub declared: Vec<DocumentCount>,
}

/// How many documents have a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DocumentCount {
    /// The value.
    pub value: String,
    /// How many documents have it.
    pub documents: u64,
}

/// Figures on the collection as they were last taken, or on the documents of an import.
pub async fn collection(
    context: &Context,
    filter: &CollectionFilter,
) -> Result<CollectionStatistics, Refusal> {
    let catalog = context.catalog();
    if let Some(import) = filter.import {
        if catalog.import(import).await?.is_none() {
            return Err(Refusal::not_found(format!("there is no import {import}")));
        }
        return Ok(catalog.figures_on_documents(Some(import)).await?.into());
    }
    if let Some(figures) = catalog.known_figures().await? {
        return Ok(figures.into());
    }
    refresh(context).await
}

/// Figures on the collection as it is now: a pass over all documents.
pub async fn refresh(context: &Context) -> Result<CollectionStatistics, Refusal> {
    let catalog = context.catalog();
    catalog.refresh_figures().await?;
    let figures = catalog.known_figures().await?;
    Ok(figures.unwrap_or_default().into())
}

impl From<DocumentFigures> for CollectionStatistics {
    fn from(figures: DocumentFigures) -> Self {
        let all = |figures: Vec<Figure>| {
            figures
                .into_iter()
                .map(DocumentCount::from)
                .collect::<Vec<_>>()
        };
        let mut years: Vec<DocumentCount> = Vec::new();
        for month in &figures.months {
            let year = month.value.split('-').next().unwrap_or_default();
            match years.last_mut().filter(|last| last.value == year) {
                Some(last) => last.documents += month.documents,
                None => years.push(DocumentCount {
                    value: year.to_owned(),
                    documents: month.documents,
                }),
            }
        }
        Self {
            computed: Time(figures.computed),
            documents: figures.documents,
            contents: figures.contents,
            bytes: figures.bytes,
            duplicates: figures.documents.saturating_sub(figures.contents),
            bytes_saved: figures.bytes_saved,
            searchable: figures.searchable,
            near_duplicate_groups: figures.near_groups,
            near_duplicates: figures.near_contents,
            types: all(figures.types),
            hosts: all(figures.hosts),
            years,
            months: all(figures.months),
            kinds: all(figures.kinds),
            decisions: all(figures.decisions),
            languages: all(figures.languages),
            states: all(figures.states),
            declared: all(figures.declared),
        }
    }
}

impl From<Figure> for DocumentCount {
    fn from(figure: Figure) -> Self {
        Self {
            value: figure.value,
            documents: figure.documents,
        }
    }
}
