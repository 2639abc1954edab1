//! One resource of a list.

use std::io::{self, Write};

use oai::Datestamp;
use oai::xml::Writer;

use super::SyncKind;
use crate::Resource;

/// Writes the entry of a resource in a list of a kind. `changed` is when its last change was noticed.
pub(super) fn write<W: Write>(
    xml: &mut Writer<W>,
    kind: SyncKind,
    resource: &Resource,
    changed: Datestamp,
    deleted: bool,
) -> io::Result<()> {
    xml.start("url", &[])?;
    xml.element("loc", &[], &resource.url)?;
    if let Some(modified) = resource.modified.filter(|_| !deleted) {
        xml.element("lastmod", &[], &modified.to_string())?;
    }
    if kind != SyncKind::Sitemap {
        write_facts(xml, kind, resource, changed, deleted)?;
    }
    xml.end("url")?;
    xml.newline()
}

fn write_facts<W: Write>(
    xml: &mut Writer<W>,
    kind: SyncKind,
    resource: &Resource,
    changed: Datestamp,
    deleted: bool,
) -> io::Result<()> {
    let mut facts: Vec<(&str, String)> = Vec::new();
    if kind == SyncKind::ChangeList {
        let change = match (deleted, resource.is_new) {
            (true, _) => "deleted",
            (false, true) => "created",
            (false, false) => "updated",
        };
        facts.push(("change", change.to_owned()));
        facts.push(("datetime", changed.to_string()));
    }
    if !deleted {
        let digests = resource.digests.iter();
        let digests: Vec<_> = digests
            .map(|(algorithm, digest)| format!("{algorithm}:{digest}"))
            .collect();
        if !digests.is_empty() {
            facts.push(("hash", digests.join(" ")));
        }
        facts.extend(resource.length.map(|length| ("length", length.to_string())));
        facts.extend(resource.media_type.clone().map(|name| ("type", name)));
    }
    if facts.is_empty() {
        return Ok(());
    }
    let attributes: Vec<_> = facts
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    xml.empty("rs:md", &attributes)
}

/// The most bytes that the entry of a resource takes, if its URL has so many.
pub(super) fn size_of_entry(url: u64) -> u64 {
    ENTRY + url
}

/// The tags, dates, three digests, a length and a long media type.
const ENTRY: u64 = 700;
