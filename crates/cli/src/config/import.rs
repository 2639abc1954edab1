//! `[import]`: how crawls are imported, with the terms of the Crawl Document Importer that still make sense.

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde::Deserialize;

/// What `garner import` is told by flags otherwise.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ImportConfig {
    /// Archives, directories of archives, or the directory of a mirror (`inputdir`).
    pub(crate) paths: Vec<PathBuf>,
    /// The crawler's log (`logfile`).
    pub(crate) log: Option<PathBuf>,
    /// Its format (`logparser`): a name, or a TOML file that describes it.
    pub(crate) log_format: Option<String>,
    /// The directory that the files of the log lie in.
    pub(crate) root: Option<PathBuf>,
    /// What URLs begin with, where the log only has paths.
    pub(crate) base_url: Option<String>,
    /// The name of the crawler (`crawler`).
    pub(crate) crawler: Option<String>,
    /// The media types that are taken (`allow_doc_type`).
    pub(crate) types: Vec<String>,
    /// Containers that are opened.
    pub(crate) open: Vec<String>,
    /// Whether documents are judged by what they say (`toggle_doc_content_filter`).
    pub(crate) content_filter: bool,
    /// The folder for documents if none go into the catalog (`toggle_save_to_db`, `toggle_save_doc_separate`).
    pub(crate) no_database: Option<PathBuf>,
    /// Where documents go, if not below the data directory (`outputdir`): a directory. The catalog keeps to
    /// the one of its first import.
    pub(crate) collection: Option<String>,
    /// Hosts and URLs that are not wanted.
    pub(crate) blacklist: Option<PathBuf>,
    /// Longer URLs are refused.
    pub(crate) max_url_length: Option<u32>,
    /// What becomes of older contents: `replace` or `keep`.
    versions: Option<String>,
    /// How many threads read.
    pub(crate) jobs: Option<u16>,
}

impl ImportConfig {
    /// Whether older contents are kept, if anything is said about them.
    pub(crate) fn keep_versions(&self) -> anyhow::Result<Option<bool>> {
        match self.versions.as_deref() {
            None => Ok(None),
            Some("replace") => Ok(Some(false)),
            Some("keep") => Ok(Some(true)),
            Some(other) => bail!("import.versions: `{other}` is neither replace nor keep"),
        }
    }

    /// Finds what cannot work.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.keep_versions()?;
        if self.jobs == Some(0) {
            bail!("import.jobs: write a number from 1 on");
        }
        if self.max_url_length.is_some_and(|length| length < 16) {
            bail!("import.max_url_length: write a number from 16 on");
        }
        if let Some(place) = self
            .collection
            .as_deref()
            .filter(|place| place.contains("://"))
        {
            bail!("import.collection: documents cannot go to `{place}` yet; write a directory");
        }
        Ok(())
    }

    /// Lets paths be relative to the directory of the file.
    pub(super) fn relative_to(&mut self, directory: &Path) {
        let place = |path: &mut PathBuf| *path = directory.join(&*path);
        self.paths.iter_mut().for_each(place);
        for path in [
            &mut self.log,
            &mut self.root,
            &mut self.no_database,
            &mut self.blacklist,
        ] {
            path.as_mut().map(place);
        }
        if let Some(name) = &mut self.log_format
            && (name.contains('/') || name.ends_with(".toml"))
        {
            *name = directory.join(&*name).to_string_lossy().into_owned();
        }
        if let Some(place) = &mut self.collection
            && !place.contains("://")
        {
            // A worker elsewhere goes by it as well.
            let path = directory.join(&*place);
            let path = std::path::absolute(&path).unwrap_or(path);
            *place = path.to_string_lossy().into_owned();
        }
    }
}
