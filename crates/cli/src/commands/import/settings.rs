//! What is to be imported: the flags, on top of the configuration file, on top of what is usual.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};
use jobs::{DigestRule, ImportCrawl};
use store::Durability;

/// Which documents are taken, and what is kept of them.
#[derive(Debug, Default, PartialEq, Args)]
pub(crate) struct Taking {
    /// The media types that are taken [default: application/pdf,application/postscript]
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    types: Vec<String>,
    /// Containers that are opened for the documents in them: gzip, tar, zip, or none [default: gzip]
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    open: Vec<String>,
    /// A file of hosts and beginnings of URLs that are not wanted, one a line
    #[arg(long, value_name = "FILE")]
    blacklist: Option<PathBuf>,
    /// Longer URLs are refused [default: 2048]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(16..=1_000_000))]
    max_url_length: Option<u32>,
    /// What becomes of the older content of a document that changed [default: replace]
    #[arg(long, value_enum)]
    versions: Option<Versions>,
    /// What becomes of documents that do not have the digests that their archive says [default: mark]
    #[arg(long, value_enum)]
    digests: Option<Digests>,
    /// Where documents go, if not to DIR/documents: a directory, or s3://BUCKET/PREFIX. The first import decides
    #[arg(long, value_name = "DIR|URL")]
    collection: Option<String>,
    /// Do not wait until files have reached the disk: faster, and a loss of power can cost some
    #[arg(long)]
    no_sync: bool,
}

/// What is known beside the archives.
#[derive(Debug, Default, PartialEq, Args)]
pub(crate) struct Facts {
    /// The crawler's log: what archives lack is taken from it. With a directory of files it says which are imported
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// The format of the log: heritrix, list, ftp-list, pmc, or a TOML file that describes another [default: heritrix]
    #[arg(long, value_name = "NAME|FILE", requires = "log")]
    log_format: Option<String>,
    /// The directory that the files of the log lie in
    #[arg(long, value_name = "DIR", requires = "log")]
    root: Option<PathBuf>,
    /// What the URLs begin with, where a log only has paths. Without a log, those of all files below PATH
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The name of the crawler, for the .met files beside the documents
    #[arg(long, value_name = "NAME")]
    crawler: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Versions {
    /// The newer takes its place
    Replace,
    /// Both are kept
    Keep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Digests {
    /// They are imported and marked
    Mark,
    /// They are left out
    Skip,
    /// Digests are not looked at
    Ignore,
}

impl Taking {
    /// Puts what is given into an order.
    pub(crate) fn apply(&self, order: &mut ImportCrawl) -> anyhow::Result<()> {
        if !self.types.is_empty() {
            order.types = media_types(&self.types);
        }
        if !self.open.is_empty() {
            order.open = jobs::containers(&self.open).context("--open")?;
        }
        if let Some(file) = &self.blacklist {
            order.blacklist = Some(file.clone());
        }
        if let Some(length) = self.max_url_length {
            order.max_url_length = length as usize;
        }
        if let Some(versions) = self.versions {
            order.keep_versions = versions == Versions::Keep;
        }
        if let Some(digests) = self.digests {
            order.digests = match digests {
                Digests::Mark => DigestRule::Mark,
                Digests::Skip => DigestRule::Skip,
                Digests::Ignore => DigestRule::Ignore,
            };
        }
        change(&mut order.collection, &self.collection);
        if self.no_sync {
            order.durability = Durability::None;
        }
        Ok(())
    }
}

impl Facts {
    /// Whether a log is named, which may be all that there is to import.
    pub(crate) fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// Puts what is given into an order.
    pub(crate) fn apply(&self, order: &mut ImportCrawl) {
        change(&mut order.log, &self.log);
        change(&mut order.log_format, &self.log_format);
        change(&mut order.root, &self.root);
        change(&mut order.base_url, &self.base_url);
        change(&mut order.crawler, &self.crawler);
    }
}

fn change<T: Clone>(target: &mut Option<T>, given: &Option<T>) {
    if given.is_some() {
        target.clone_from(given);
    }
}

/// Media types as they are compared: in small letters, without spaces around them.
pub(crate) fn media_types(names: &[String]) -> Vec<String> {
    let name = |name: &String| name.trim().to_ascii_lowercase();
    names.iter().map(name).collect()
}
