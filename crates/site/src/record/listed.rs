//! An item in a list of resources: what the index knows of it, for nothing is opened or asked for the sake of a list.

use std::time::SystemTime;

use oai::Datestamp;

use super::Record;
use super::fixity::Algorithm;
use crate::{DynamicPolicy, Origin, headers};

impl Record<'_> {
    /// Whether a GET of the item's URL can be answered with 200: not where the source of a program is given in records
    /// alone, and no server runs it.
    pub(crate) fn is_listed(&self) -> bool {
        let is_source = self.item.dynamic == Some(DynamicPolicy::Source);
        let nobody_runs_it = self.view.origin.is_none()
            && self.view.site.config.offer.policy(false) == DynamicPolicy::Off;
        self.item.header.deleted || !is_source || !nobody_runs_it
    }

    /// The result of a GET of the item's URL, as far as the index knows it.
    pub(crate) fn listed(&self) -> provider::Resource {
        let row = &self.item.row;
        let mut listed = provider::Resource {
            url: self.item.header.identifier.clone(),
            is_new: row.is_new,
            ..provider::Resource::default()
        };
        if self.item.header.deleted {
            return listed;
        }
        listed.media_type = Some(self.media_type()).filter(|name| !name.is_empty());
        // Nothing is told of the file of a program, not even its size.
        if self.item.dynamic.is_some() {
            return listed;
        }
        listed.modified = Some(modified(row.mtime));
        listed.length = Some(row.size);
        // A server may give other bytes for a file.
        if !self.view.origin.is_some_and(Origin::fetches_files) {
            let digests = self.kept_digests().into_iter();
            listed.digests = digests.map(|(name, digest)| (told(name), digest)).collect();
        }
        listed
    }
}

/// The time that a GET gives; it is never later than now.
fn modified(mtime: i64) -> Datestamp {
    let told = headers::last_modified(mtime, SystemTime::now());
    let since = told.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let seconds = since.and_then(|since| i64::try_from(since.as_secs()).ok());
    Datestamp::from_seconds(seconds.unwrap_or(mtime))
}

/// The names that ResourceSync uses.
fn told(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Md5 => "md5",
        Algorithm::Sha1 => "sha-1",
        Algorithm::Sha256 => "sha-256",
    }
}
