//! Answers of a GET: the record of an identifier in a format, and the file of a document.

use std::time::{Duration, SystemTime};

use catalog::{DocumentEntry, Subject};
use flows::DocumentPart;
use oai::Datestamp;
use provider::{Error, Listed, record_url};
use server::Download;
use site::{Requester, SitePath, Verdict};

use crate::aggregator::Aggregator;
use crate::exposure::{Exposure, is_told_document};
use crate::known::unavailable;
use crate::view::{CatalogItem, CatalogView};

/// The resource of an item. A record has no length and no digests: an answer tells the time at which it was given.
pub(crate) fn of(view: &CatalogView<'_>, item: &CatalogItem) -> Option<provider::Resource> {
    let base_url = &view.aggregator.settings.base_url;
    let changed = item.header().datestamp;
    match &item.subject {
        Subject::Document(document) => Some(provider::Resource {
            // A crawler's clock may have been ahead.
            modified: Some(Datestamp::from_seconds(document.crawl_date).min(changed)),
            media_type: Some(media_type(document).to_owned()),
            length: Some(document.size),
            digests: vec![
                ("sha-1", document.content_sha1.clone()),
                ("sha-256", document.content_sha256.clone()),
            ],
            // A resource that was crawled once and is told for the first time.
            is_new: document.discover_date == document.update_date,
            url: document_url(base_url, document.id),
        }),
        Subject::GoneDocument(gone) => Some(provider::Resource {
            url: document_url(base_url, gone.id),
            ..provider::Resource::default()
        }),
        Subject::Record { .. } | Subject::GoneRecord(_) => {
            let formats = view.formats_of(&item.subject);
            let prefix = formats.first()?;
            if !view.exposure.offers(prefix) {
                return None;
            }
            Some(provider::Resource {
                url: record_url(base_url, prefix, &item.header().identifier),
                modified: Some(changed),
                media_type: Some("text/xml".to_owned()),
                is_new: matches!(&item.subject, Subject::Record { is_new: true, .. }),
                ..provider::Resource::default()
            })
        }
    }
}

/// The number of the document at a path below the repository.
pub(crate) fn document_at(path: &str) -> Option<i64> {
    let number: i64 = path.strip_prefix(DOCUMENT)?.parse().ok()?;
    // One URL for one document.
    (format!("{DOCUMENT}{number}") == path).then_some(number)
}

fn document_url(base_url: &str, number: i64) -> String {
    format!("{base_url}/{DOCUMENT}{number}")
}

fn media_type(document: &DocumentEntry) -> &str {
    match document.media_type.as_str() {
        "" => "application/octet-stream",
        media_type => media_type,
    }
}

impl Aggregator {
    /// The file of a document, if the requester may have it.
    pub(crate) fn download(
        &self,
        requester: &Requester,
        number: i64,
    ) -> Result<server::Resource, Error> {
        let path = SitePath::from_url_path("/document").ok_or_else(|| unavailable("no path"))?;
        if let Verdict::Unauthorized(realm) = self.access.verdict(&path, requester) {
            return Ok(server::Resource::Closed(realm));
        }
        let known = self.known.read(&self.holdings)?;
        let exposure = Exposure::new(&self.settings, &self.access, requester, known);
        if !exposure.gives_files() {
            return Ok(server::Resource::Nothing);
        }
        let changed = self.holdings.catalog().changed_document(number);
        let changed = self.holdings.wait(changed).map_err(unavailable)?;
        let document = match changed.map(|changed| changed.subject) {
            Some(Subject::Document(document)) if is_told_document(&document) => document,
            _ => return Ok(server::Resource::Nothing),
        };
        let files = self.files()?;
        let bytes = files.read(&document, DocumentPart::Document);
        let bytes = bytes.map_err(|error| unavailable(format!("{error:#}")))?;
        let Some(bytes) = bytes.filter(|bytes| bytes.length() == document.size) else {
            return Err(unavailable(format!(
                "the file of document {number} is missing or damaged; garner verify names all such"
            )));
        };
        Ok(server::Resource::Found(Download {
            bytes: Box::new(bytes),
            length: document.size,
            media_type: media_type(&document).to_owned(),
            modified: time(document.crawl_date),
            version: document.content_sha256.clone(),
        }))
    }
}

fn time(seconds: i64) -> SystemTime {
    // Within the years that a header can tell.
    let seconds = Datestamp::from_seconds(seconds).seconds();
    SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

/// The path of documents below the repository.
const DOCUMENT: &str = "document/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_one_path() {
        assert_eq!(document_at("document/17"), Some(17));
        for path in [
            "document/",
            "document/017",
            "document/+1",
            "document/1/",
            "document/x",
        ] {
            assert_eq!(document_at(path), None, "{path}");
        }
    }
}
