//! The URLs that a harvest found to be new or changed: seeds for a crawler.

use catalog::{HistoryEntry, RecordEntry, RecordQuery, Validation};
use harvester::unpack;
use roxmltree::Document;

use super::resources::is_url;
use crate::Holdings;

/// Tells the URLs of all records that a harvest found to be new or changed, each once a record. They come from the
/// catalog, so that a harvest that was interrupted has those of its first part too.
pub fn write_urls(
    holdings: &Holdings,
    entry: &HistoryEntry,
    tell: &mut dyn FnMut(&str) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let Some(repository) = holdings.wait(holdings.catalog().repository(entry.repository))? else {
        return Ok(0);
    };
    let read = |file: &str| {
        holdings
            .read_record(&repository, &entry.metadata_prefix, file)
            .ok()
    };
    let mut query = RecordQuery {
        repository: Some(entry.repository),
        metadata_prefix: Some(entry.metadata_prefix.clone()),
        changed_by: Some(entry.id),
        deleted: Some(false),
        ..RecordQuery::default()
    };
    let mut written = 0;
    loop {
        let records = holdings.wait(holdings.catalog().records(&query))?;
        let Some(last) = records.last() else {
            return Ok(written);
        };
        query.after = last.id;
        // One that the filter rejects now is marked, and has not changed.
        let is_wanted =
            |record: &&RecordEntry| record.is_held() && record.validation != Validation::Filtered;
        for record in records.iter().filter(is_wanted) {
            for url in urls(record, &read) {
                tell(&url)?;
                written += 1;
            }
        }
    }
}

/// Where the thing is that a record describes: its identifier if that is a URL, else what the record says.
fn urls(record: &RecordEntry, read: &dyn Fn(&str) -> Option<Vec<u8>>) -> Vec<String> {
    if is_url(&record.identifier) {
        return vec![record.identifier.clone()];
    }
    let Some(xml) = record.file.as_deref().and_then(read) else {
        return Vec::new();
    };
    let resources = unpack::resources(&xml).unwrap_or_default();
    let mut urls: Vec<_> = resources.into_iter().map(|resource| resource.url).collect();
    if urls.is_empty() {
        urls = identifiers(&xml);
    }
    urls.retain(|url| is_url(url));
    urls.dedup();
    urls
}

/// The elements `identifier` of Dublin Core, simple or qualified.
fn identifiers(xml: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(xml).unwrap_or_default();
    let Ok(document) = Document::parse(text) else {
        return Vec::new();
    };
    let elements = document.descendants().filter(|node| {
        let name = node.tag_name();
        name.name() == "identifier" && name.namespace().is_some_and(|it| DUBLIN_CORE.contains(&it))
    });
    elements
        .filter_map(|node| node.text())
        .map(|text| text.trim().to_owned())
        .collect()
}

const DUBLIN_CORE: [&str; 2] = [
    "http://purl.org/dc/elements/1.1/",
    "http://purl.org/dc/terms/",
];
