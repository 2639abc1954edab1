//! What is imported, and how, as programs say it. It becomes a [`jobs::ImportCrawl`] on top of what is configured.

use std::path::PathBuf;

use jobs::{DigestRule, ImportCrawl, TextOrder};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::imports::{opened, permitted};
use crate::parts::Errors;
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Who;

/// What is imported, and how. What is not said is as it is configured.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportParameters {
    /// Archives, directories of archives, or the directory of a mirror: whole paths, as workers see them.
    #[serde(default)]
    #[schema(example = json!(["/crawls/2026"]))]
    paths: Vec<String>,
    /// The crawler's log: what archives lack is taken from it. With a directory of files it says which are imported.
    log: Option<String>,
    /// Its format: `heritrix`, `list`, `ftp-list`, `pmc`, or the path of a TOML file.
    log_format: Option<String>,
    /// The directory that the files of the log lie in.
    root: Option<String>,
    /// What URLs begin with, where a log, or a directory, only has paths.
    base_url: Option<String>,
    /// The media types that are taken.
    types: Option<Vec<String>>,
    /// Containers that are opened: `gzip`, `tar`, `zip`.
    open: Option<Vec<String>>,
    /// A file of hosts and beginnings of URLs that are not wanted.
    blacklist: Option<String>,
    /// Longer URLs are refused.
    #[schema(minimum = 16)]
    max_url_length: Option<u32>,
    /// Whether the older content of a changed document is kept.
    keep_versions: Option<bool>,
    /// What becomes of documents that do not have the digests that their archive says: `mark`, `skip` or `ignore`.
    #[schema(value_type = Option<String>)]
    digests: Option<DigestRule>,
    /// Whether documents are judged by what they say, by the model and for the kinds that are configured.
    content_filter: Option<bool>,
    /// The name of the crawler.
    crawler: Option<String>,
}

impl ImportParameters {
    /// All that is said of an import.
    pub(crate) fn of(order: &ImportCrawl) -> Self {
        let shown = |path: &PathBuf| path.to_string_lossy().into_owned();
        Self {
            paths: order.paths.iter().map(shown).collect(),
            log: order.log.as_ref().map(shown),
            log_format: order.log_format.clone(),
            root: order.root.as_ref().map(shown),
            base_url: order.base_url.clone(),
            types: Some(order.types.clone()),
            open: Some(opened(order)),
            blacklist: order.blacklist.as_ref().map(shown),
            max_url_length: u32::try_from(order.max_url_length).ok(),
            keep_versions: Some(order.keep_versions),
            digests: Some(order.digests),
            content_filter: Some(order.texts.content_filter),
            crawler: order.crawler.clone(),
        }
    }

    /// The import that is meant, if nothing is wrong with it and this one may have it. `before` is what a schedule
    /// imported until now.
    pub(crate) async fn permitted(
        self,
        state: &ConsoleState,
        who: &Who,
        before: Option<&ImportCrawl>,
    ) -> Result<ImportCrawl, Problem> {
        let mut usual = state.config().imports.usual.clone();
        // What programs cannot say stays as it was.
        if let Some(before) = before {
            usual.threads = before.threads;
            usual.collection.clone_from(&before.collection);
            usual.durability = before.durability;
            usual.texts.clone_from(&before.texts);
            usual.blacklist.clone_from(&before.blacklist);
            usual.crawler.clone_from(&before.crawler);
        }
        let order = self.order(usual)?;
        let mut errors = Errors::default();
        let order = permitted(state, who, order, before, &mut errors).await?;
        errors.into_problem()?;
        Ok(order)
    }

    /// What is said on top of what is usual. Facts about a crawl are those of this one alone.
    fn order(self, usual: ImportCrawl) -> Result<ImportCrawl, Problem> {
        let names = |names: Vec<String>| {
            let name = |name: String| name.trim().to_ascii_lowercase();
            names.into_iter().map(name).collect()
        };
        let open = self.open.map(|open| jobs::containers(&open)).transpose();
        let open = open.map_err(|error| {
            let message = jobs::message(&error);
            Problem::invalid(format!("open: {message}"))
        })?;
        Ok(ImportCrawl {
            paths: self.paths.into_iter().map(PathBuf::from).collect(),
            log: self.log.map(PathBuf::from),
            log_format: self.log_format,
            root: self.root.map(PathBuf::from),
            base_url: self.base_url,
            types: self.types.map_or(usual.types, names),
            open: open.unwrap_or(usual.open),
            blacklist: self.blacklist.map(PathBuf::from).or(usual.blacklist),
            max_url_length: self
                .max_url_length
                .map_or(usual.max_url_length, |length| length as usize),
            keep_versions: self.keep_versions.unwrap_or(usual.keep_versions),
            digests: self.digests.unwrap_or(usual.digests),
            texts: TextOrder {
                content_filter: self.content_filter.unwrap_or(usual.texts.content_filter),
                ..usual.texts.clone()
            },
            crawler: self.crawler.or(usual.crawler),
            ..usual
        })
    }
}
