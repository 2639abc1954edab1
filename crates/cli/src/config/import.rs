//! `[import]`: how crawls are imported, with the terms of the Crawl Document Importer that still make sense.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use console::ImportRules;
use document::classify::{CDI_2012, Kind, Policy};
use jobs::{DigestRule, ImportCrawl, TextOrder, Unsure};
use remote::{Access, Address};
use serde::Deserialize;

use crate::commands::import::media_types;

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
    /// The kinds of documents that it accepts.
    pub(crate) kinds: Vec<Kind>,
    /// The probability from which on it accepts a document.
    pub(crate) accept: Option<f64>,
    /// The probability below which it rejects one.
    pub(crate) reject: Option<f64>,
    /// What becomes of documents between the two: `import` or `set-aside`.
    pub(crate) unsure: Option<Unsure>,
    /// The model: a file, or `cdi-2012`.
    pub(crate) model: Option<String>,
    /// Whether the first pages of documents that consist of images are recognised.
    pub(crate) ocr: bool,
    /// The languages that they are in, by the names of tesseract.
    pub(crate) languages: Vec<String>,
    /// Whether texts are stored without the content filter, too.
    pub(crate) text: bool,
    /// The folder for documents if none go into the catalog (`toggle_save_to_db`, `toggle_save_doc_separate`).
    pub(crate) no_database: Option<PathBuf>,
    /// Where documents go, if not below the data directory (`outputdir`): a directory, or
    /// `s3://BUCKET/PREFIX`. The catalog keeps to the one of its first import.
    pub(crate) collection: Option<String>,
    /// Hosts and URLs that are not wanted.
    pub(crate) blacklist: Option<PathBuf>,
    /// Longer URLs are refused.
    pub(crate) max_url_length: Option<u32>,
    /// What becomes of older contents: `replace` or `keep`.
    versions: Option<String>,
    /// What becomes of documents that do not have the digests that their archive says: `mark`, `skip` or `ignore`.
    digests: Option<DigestRule>,
    /// How many threads read.
    pub(crate) jobs: Option<u16>,
    /// Directories that operators may have imported from by the console and the API; admins name any.
    pub(crate) roots: Vec<PathBuf>,
    /// A file of passwords for FTP and SFTP, if not ~/.netrc.
    netrc: Option<PathBuf>,
    /// The key for SFTP, instead of the agent and those in ~/.ssh.
    ssh_key: Option<PathBuf>,
    /// The keys of known SFTP servers, if not ~/.ssh/known_hosts.
    known_hosts: Option<PathBuf>,
    /// Certificates in PEM to trust beside those of the system, for FTPS.
    ca_file: Option<PathBuf>,
}

impl ImportConfig {
    /// An import as it is configured.
    pub(crate) fn order(&self) -> anyhow::Result<ImportCrawl> {
        self.check()?;
        let usual = ImportCrawl::default();
        Ok(ImportCrawl {
            paths: self.paths.clone(),
            log: self.log.clone(),
            log_format: self.log_format.clone(),
            root: self.root.clone(),
            base_url: self.base_url.clone(),
            types: match self.types.is_empty() {
                true => usual.types.clone(),
                false => media_types(&self.types),
            },
            open: match self.open.is_empty() {
                true => usual.open,
                false => ::jobs::containers(&self.open).context("import.open")?,
            },
            blacklist: self.blacklist.clone(),
            max_url_length: self
                .max_url_length
                .map_or(usual.max_url_length, |length| length as usize),
            keep_versions: self.keep_versions()?.unwrap_or(usual.keep_versions),
            digests: self.digests.unwrap_or(usual.digests),
            crawler: self.crawler.clone(),
            threads: self.jobs.map_or(usual.threads, usize::from),
            collection: self.collection.clone(),
            texts: self.texts(),
            access: self.access(usual.access),
            ..usual
        })
    }

    /// How documents are read for their text, as it is configured.
    fn texts(&self) -> TextOrder {
        let usual = Policy::default();
        TextOrder {
            content_filter: self.content_filter,
            store: self.text,
            model: self.model.clone(),
            policy: Policy {
                accept: self.accept.unwrap_or(usual.accept),
                reject: self.reject.unwrap_or(usual.reject),
                kinds: match self.kinds.is_empty() {
                    true => usual.kinds,
                    false => self.kinds.clone(),
                },
            },
            unsure: self.unsure.unwrap_or_default(),
            ocr: self.ocr,
            languages: self.languages.clone(),
        }
    }

    /// What the console lets people import. Workers may run elsewhere, so that all paths are whole.
    pub(crate) fn rules(&self) -> anyhow::Result<ImportRules> {
        let roots = self.roots.iter().map(std::path::absolute);
        Ok(ImportRules {
            roots: roots.collect::<Result<_, _>>()?,
            usual: ImportCrawl::parse(&self.order()?.text()?)?,
            no_database: self.no_database.clone(),
        })
    }

    /// Whether older contents are kept, if anything is said about them.
    fn keep_versions(&self) -> anyhow::Result<Option<bool>> {
        match self.versions.as_deref() {
            None => Ok(None),
            Some("replace") => Ok(Some(false)),
            Some("keep") => Ok(Some(true)),
            Some(other) => bail!("import.versions: `{other}` is neither replace nor keep"),
        }
    }

    /// What opens servers that sources are fetched from: what is configured, on top of the environment.
    pub(crate) fn access(&self, environment: Access) -> Access {
        let mut access = environment;
        for (configured, used) in [
            (&self.netrc, &mut access.netrc),
            (&self.ssh_key, &mut access.ssh_key),
            (&self.known_hosts, &mut access.known_hosts),
            (&self.ca_file, &mut access.ca_file),
        ] {
            if configured.is_some() {
                used.clone_from(configured);
            }
        }
        access
    }

    /// Finds what cannot work.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.keep_versions()?;
        if let Err(error) = self.texts().policy.check() {
            bail!("import.accept and import.reject: {error}");
        }
        if self.jobs == Some(0) {
            bail!("import.jobs: write a number from 1 on");
        }
        if self.max_url_length.is_some_and(|length| length < 16) {
            bail!("import.max_url_length: write a number from 16 on");
        }
        if let Some(place) = self
            .collection
            .as_deref()
            .filter(|place| place.contains("://") && !place.starts_with("s3://"))
        {
            bail!(
                "import.collection: documents cannot go to `{place}`; write a directory or s3://BUCKET/PREFIX"
            );
        }
        Ok(())
    }

    /// Lets paths be relative to the directory of the file.
    pub(super) fn relative_to(&mut self, directory: &Path) {
        let place = |path: &mut PathBuf| {
            if !Address::is_meant(path) {
                *path = directory.join(&*path);
            }
        };
        self.paths.iter_mut().for_each(place);
        self.roots.iter_mut().for_each(place);
        for path in [
            &mut self.log,
            &mut self.root,
            &mut self.no_database,
            &mut self.blacklist,
            &mut self.netrc,
            &mut self.ssh_key,
            &mut self.known_hosts,
            &mut self.ca_file,
        ] {
            path.as_mut().map(place);
        }
        if let Some(name) = &mut self.log_format
            && (name.contains('/') || name.ends_with(".toml"))
        {
            *name = directory.join(&*name).to_string_lossy().into_owned();
        }
        if let Some(model) = self.model.as_mut().filter(|model| *model != CDI_2012) {
            *model = directory.join(&*model).to_string_lossy().into_owned();
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
