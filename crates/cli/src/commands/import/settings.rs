//! What is to be imported: the flags, on top of the configuration file, on top of what is usual.

use std::path::Path;

use anyhow::bail;
use document::container::Containers;
use jobs::ImportCrawl;
use store::Durability;

use super::{Import, Switch, Versions};
use crate::config::ImportConfig;

/// The order that is meant.
pub(super) fn order(options: &Import, config: &ImportConfig) -> anyhow::Result<ImportCrawl> {
    config.check()?;
    let (taking, facts) = (&options.taking, &options.facts);
    let usual = ImportCrawl::default();
    let content_filter = match taking.content_filter {
        Some(switch) => switch == Switch::On,
        None => config.content_filter,
    };
    if content_filter {
        bail!("--content-filter on: this build has no classifier yet; leave it off");
    }
    let open = chosen(&taking.open, &config.open);
    let types = chosen(&taking.types, &config.types);
    let keep = match taking.versions {
        Some(versions) => Some(versions == Versions::Keep),
        None => config.keep_versions()?,
    };
    let length = taking.max_url_length.or(config.max_url_length);
    let order = ImportCrawl {
        paths: match options.paths.is_empty() {
            true => config.paths.clone(),
            false => options.paths.clone(),
        },
        log: either(&facts.log, &config.log),
        log_format: either(&facts.log_format, &config.log_format),
        root: either(&facts.root, &config.root),
        base_url: either(&facts.base_url, &config.base_url),
        types: match types {
            Some(types) => media_types(types)?,
            None => usual.types,
        },
        open: match open {
            Some(names) => containers(names)?,
            None => usual.open,
        },
        blacklist: either(&taking.blacklist, &config.blacklist),
        max_url_length: length.map_or(usual.max_url_length, |length| length as usize),
        keep_versions: keep.unwrap_or(usual.keep_versions),
        crawler: either(&facts.crawler, &config.crawler),
        threads: options
            .jobs
            .or(config.jobs)
            .map_or(usual.threads, usize::from),
        collection: config.collection.clone(),
        durability: match taking.no_sync {
            true => Durability::None,
            false => Durability::Page,
        },
    };
    if order.paths.is_empty() && order.log.is_none() {
        bail!("nothing to import; name archives, directories, or a log with --log");
    }
    for path in &order.paths {
        refuse_urls(path)?;
    }
    Ok(order)
}

fn either<T: Clone>(flag: &Option<T>, configured: &Option<T>) -> Option<T> {
    flag.as_ref().or(configured.as_ref()).cloned()
}

fn chosen<'a>(flags: &'a [String], configured: &'a [String]) -> Option<&'a [String]> {
    [flags, configured]
        .into_iter()
        .find(|list| !list.is_empty())
}

fn refuse_urls(path: &Path) -> anyhow::Result<()> {
    if path.to_string_lossy().contains("://") {
        bail!(
            "`{}` is a URL where a file or directory is due",
            path.display()
        );
    }
    Ok(())
}

/// Media types as they are compared: in small letters, without parameters.
fn media_types(names: &[String]) -> anyhow::Result<Vec<String>> {
    let mut types = Vec::new();
    for name in names {
        let name = name.trim().to_ascii_lowercase();
        let Some((kind, subtype)) = name.split_once('/') else {
            bail!("`{name}` is not a media type; write one such as application/pdf");
        };
        let plain = |part: &str| {
            let odd = |c: char| !(c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c));
            !part.is_empty() && !part.contains(odd)
        };
        if !plain(kind) || !plain(subtype) {
            bail!("`{name}` is not a media type; write one such as application/pdf");
        }
        types.push(name);
    }
    Ok(types)
}

/// The containers that are named; `none` is none.
fn containers(names: &[String]) -> anyhow::Result<Containers> {
    let mut open = Containers {
        gzip: false,
        tar: false,
        zip: false,
    };
    for name in names {
        match name.trim() {
            "gzip" => open.gzip = true,
            "tar" => open.tar = true,
            "zip" => open.zip = true,
            "none" if names.len() == 1 => {}
            name => {
                bail!("`{name}` is no container that can be opened; write gzip, tar, zip or none")
            }
        }
    }
    Ok(open)
}
