//! Which documents are retrieved: the same for the command line, the API, forms and what is saved.

use catalog::{DocumentQuery, SearchQuery};
use clap::Args;
use flows::Pick;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::documents::{DocumentFilter, DocumentState, kind, language, understood};
use crate::time::{first_second, last_second};
use crate::{Context, Mistake, Refusal, Time};

/// Documents that meet all conditions: all of them, the first, or a random sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema, Args)]
#[serde(default, deny_unknown_fields)]
pub struct Selection {
    /// Only documents of this media type; image/* stands for all images. Can be given several times
    #[arg(long = "type", value_name = "TYPE")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media_types: Vec<String>,
    /// Only documents on this host; can be given several times
    #[arg(long = "host", value_name = "NAME")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Only documents that this page links to
    #[arg(long, value_name = "URL|NUMBER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Only documents last crawled on this day or at this moment, or later
    #[arg(long, value_name = "DATE", value_parser = first_second)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Only documents last crawled on this day or at this moment, or earlier
    #[arg(long, value_name = "DATE", value_parser = last_second)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Only documents in this state: not-ingested, ingested, failed or set-aside; can be given several times
    #[arg(long = "state", value_name = "STATE", value_parser = state)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<DocumentState>,
    /// Only documents of this kind, such as paper or lecture_notes; can be given several times
    #[arg(long = "kind", value_name = "KIND")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// Only documents with this decision of a librarian, or else of the content filter: accept, unsure or reject; can be
    /// given several times
    #[arg(long = "decision", value_name = "DECISION")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// Only documents at least this probable to be academic, from 0 to 1
    #[arg(long, value_name = "P")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_probability: Option<f64>,
    /// Only documents whose content this import brought
    #[arg(long, value_name = "NUMBER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import: Option<i64>,
    /// Only documents with this text in their URL
    #[arg(long, value_name = "TEXT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_url: Option<String>,
    /// Only documents in this language, such as en or deu; can be given several times
    #[arg(long = "language", value_name = "CODE")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<String>,
    /// Only documents that this query finds, in the language of garner documents search: words, "a phrase", begin*,
    /// -excluded, title:coast
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// A random sample of N documents
    #[arg(long, value_name = "N", conflicts_with = "limit")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
    /// Any text; the same seed gives the same sample of the same collection [default: a random one, which is told]
    #[arg(long, value_name = "S", requires = "sample")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The first N documents, in the order of their numbers
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

impl Selection {
    /// Gives a sample without a seed one, so that it can be repeated.
    pub(super) fn settle(&mut self) -> Result<(), Refusal> {
        if self.sample.is_some() && self.seed.is_none() {
            let mut bytes = [0; 8];
            getrandom::fill(&mut bytes).map_err(anyhow::Error::from)?;
            self.seed = Some(data_encoding::HEXLOWER.encode(&bytes));
        }
        Ok(())
    }

    /// The conditions as the catalog has them, and which of the documents are wanted.
    pub(super) async fn resolve(
        &self,
        context: &Context,
    ) -> Result<(catalog::Selection, Pick), Refusal> {
        Refusal::unless_empty(self.mistakes())?;
        let lower = |texts: &[String]| {
            let texts = texts.iter().map(|text| text.trim().to_lowercase());
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>()
        };
        let parent = match self.parent.as_deref().map(str::trim) {
            None | Some("") => None,
            Some(name) => Some(parent(context, name).await?),
        };
        let probability = self.min_probability.map(|p| (p * MILLION) as i64);
        let selection = catalog::Selection {
            media_types: lower(&self.media_types),
            hosts: lower(&self.hosts),
            parent,
            since: self.since.map(|time| time.0),
            until: self.until.map(|time| time.0),
            states: self.states.iter().map(|state| (*state).into()).collect(),
            kinds: self.known_kinds(),
            decisions: lower(&self.decisions),
            min_probability: probability,
            import: self.import,
            text: self.in_url.clone().filter(|text| !text.is_empty()),
            languages: self.known_languages(),
            search: self.search()?,
        };
        let pick = match (self.sample, self.limit) {
            (Some(size), _) => Pick::Sample(size, self.seed.clone().unwrap_or_default()),
            (None, Some(limit)) => Pick::First(limit),
            (None, None) => Pick::All,
        };
        Ok((selection, pick))
    }

    fn known_kinds(&self) -> Vec<String> {
        let kinds = self.kinds.iter().filter_map(|name| kind(name).ok());
        kinds.map(str::to_owned).collect()
    }

    fn known_languages(&self) -> Vec<String> {
        let languages = self.languages.iter();
        let codes = languages.filter_map(|name| language(name).ok());
        codes.map(str::to_owned).collect()
    }

    /// The words and fields of the query, as the catalog has them.
    fn search(&self) -> Result<Option<(SearchQuery, DocumentQuery)>, Refusal> {
        let text = self.query.as_deref().map(str::trim);
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let (words, filter) = understood(text, &DocumentFilter::default())?;
        Ok(Some((words, filter.query(1)?)))
    }

    fn mistakes(&self) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        let mut wrong = |field, reason: String| {
            mistakes.push(Mistake {
                field: Some(field),
                reason,
            });
        };
        for name in &self.media_types {
            if name.split('/').count() != 2 {
                let reason =
                    format!("`{name}` is not a media type; write application/pdf, image/* or */*");
                wrong("media_types", reason);
            }
        }
        let unknown = self.kinds.iter().filter_map(|name| kind(name).err());
        for refusal in unknown {
            wrong("kinds", refusal.reasons());
        }
        let unknown = self
            .languages
            .iter()
            .filter_map(|name| language(name).err());
        for refusal in unknown {
            wrong("languages", refusal.reasons());
        }
        if let Err(refusal) = self.search() {
            wrong("query", refusal.reasons());
        }
        for name in &self.decisions {
            if !["accept", "unsure", "reject"].contains(&&*name.trim().to_lowercase()) {
                wrong(
                    "decisions",
                    format!("`{name}` is not a decision; write accept, unsure or reject"),
                );
            }
        }
        if self
            .min_probability
            .is_some_and(|p| !(0.0..=1.0).contains(&p))
        {
            wrong("min_probability", "write a number from 0 to 1".to_owned());
        }
        if self
            .since
            .zip(self.until)
            .is_some_and(|(since, until)| since > until)
        {
            wrong("until", "this is before the beginning".to_owned());
        }
        if self
            .sample
            .is_some_and(|size| size == 0 || size > MOST_SAMPLED)
        {
            wrong("sample", format!("write a number from 1 to {MOST_SAMPLED}"));
        }
        if self.limit == Some(0) {
            wrong("limit", "write a number from 1".to_owned());
        }
        if self.sample.is_some() && self.limit.is_some() {
            wrong("limit", "give a sample or a limit, not both".to_owned());
        }
        if self.seed.is_some() && self.sample.is_none() {
            wrong("seed", "only a sample has a seed".to_owned());
        }
        mistakes
    }
}

/// The number of a page that links to documents.
async fn parent(context: &Context, name: &str) -> Result<i64, Refusal> {
    if let Ok(id) = name.parse() {
        return Ok(id);
    }
    let found = match document::url::normalise(name) {
        Ok(url) => context.catalog().parent_at(&url.md5).await?,
        Err(_) => None,
    };
    found
        .map(|parent| parent.id)
        .ok_or_else(|| Refusal::invalid("parent", format!("no document is linked to by `{name}`")))
}

fn state(name: &str) -> Result<DocumentState, String> {
    let state = DocumentState::parse(&name.replace('-', "_"));
    state.ok_or_else(|| "write not-ingested, ingested, failed or set-aside".to_owned())
}

/// The numbers of a sample are held in memory, 16 bytes each.
const MOST_SAMPLED: u64 = 10_000_000;
const MILLION: f64 = 1_000_000.0;
