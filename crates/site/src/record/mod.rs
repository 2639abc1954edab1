//! The records of one item: what the formats say of a file.

mod dcmi_type;
mod fetched;
mod prepared;
mod reading;
mod resource;
mod results;
mod streaming;

use std::io::{self, Write};

use oai::Datestamp;
use oai::format::{didl, dublin_core, http_header};
use oai::xml::Writer;
use provider::assets;

use self::dcmi_type::dcmi_type;
pub(crate) use self::prepared::Prepared;
use self::resource::{Content, Resource, Wanted};
use crate::media_types::essence;
use crate::plugin::{Plugin, PluginOutcome, PluginOutput};
use crate::view::{SiteItem, SiteView};

/// Writes the metadata of one item.
pub(crate) struct Record<'a> {
    view: &'a SiteView<'a>,
    item: &'a SiteItem,
}

impl<'a> Record<'a> {
    pub(crate) fn new(view: &'a SiteView<'a>, item: &'a SiteItem) -> Self {
        Self { view, item }
    }

    /// About how many bytes the metadata will have; the numbers stand for what surrounds the values.
    pub(crate) fn size(&self, prefix: &str) -> u64 {
        let identifier = self.item.header.identifier.len() as u64;
        let headers = match self.known_headers() {
            Some(headers) => headers
                .iter()
                .map(|(name, value)| name.len() + value.len() + 24)
                .sum::<usize>() as u64,
            None => 480,
        };
        let plugins = self.plugins().count() as u64 * 600;
        let dc = 560 + identifier + plugins;
        match prefix {
            dublin_core::PREFIX => dc,
            http_header::PREFIX => 260 + headers,
            _ => {
                let row = &self.item.row;
                let by_value = self.item.dynamic.is_none()
                    && row.size <= self.by_value_limit(&self.indexed_media_type());
                let bytes = if by_value {
                    didl::base64_length(row.size)
                } else {
                    0
                };
                1500 + 3 * identifier + dc + headers + 2 * plugins + bytes
            }
        }
    }

    /// Writes the metadata in a format.
    pub(crate) fn write<W: Write>(&self, prefix: &str, xml: &mut Writer<W>) -> io::Result<()> {
        match prefix {
            http_header::PREFIX => {
                let resource = self.resource(Wanted::Headers);
                self.write_headers(xml, &resource)
            }
            dublin_core::PREFIX => {
                let resource = self.resource(Wanted::Description);
                let outcomes = self.plugin_outcomes(&resource);
                dublin_core::write(xml, &self.dublin_core(&resource, &outcomes))
            }
            _ => self.write_didl(xml),
        }
    }

    fn write_headers<W: Write>(&self, xml: &mut Writer<W>, resource: &Resource) -> io::Result<()> {
        let schema = assets::url(&self.view.addresses.base_url, assets::HTTP_HEADER_SCHEMA);
        http_header::write(xml, &schema, 200, &resource.headers)
    }

    fn write_didl<W: Write>(&self, xml: &mut Writer<W>) -> io::Result<()> {
        let begun = self.view.prepared.take(self.item.row.id);
        let resource = begun.unwrap_or_else(|| self.resource(Wanted::Bytes));
        let resource = self.arrived(resource);
        let outcomes = self.plugin_outcomes(&resource);
        let header = &self.item.header;
        let document_id = format!("{}#{}", header.identifier, header.datestamp);
        let mut didl = didl::Didl::begin(xml, &document_id, &header.identifier)?;
        if let Some(mtime) = resource.mtime {
            didl.modified(&Datestamp::from_seconds(mtime).to_string())?;
        }
        let dublin_core = self.dublin_core(&resource, &outcomes);
        didl.descriptor(|xml| dublin_core::write(xml, &dublin_core))?;
        didl.descriptor(|xml| self.write_headers(xml, &resource))?;
        for (plugin, outcome) in &outcomes {
            didl.descriptor(|xml| write_outcome(xml, plugin, outcome))?;
        }
        if let Content::Reference {
            reason: Some(reason),
            ..
        } = &resource.content
        {
            didl.descriptor(|xml| write_by_value_failed(xml, reason))?;
        }

        didl.begin_component()?;
        let digests = self.digests(&resource);
        if !digests.is_empty() {
            let pairs = digests
                .iter()
                .map(|(algorithm, digest)| (algorithm.name(), digest.as_str()));
            didl.digests(&pairs.collect::<Vec<_>>())?;
        }
        let media_type = essence(&resource.media_type);
        match resource.content {
            Content::Reference { .. } | Content::Coming(_) => {}
            Content::Encoded(text) => {
                didl.by_encoded_value(media_type, |out| out.write_all(&text))?;
            }
            Content::Bytes(bytes) => {
                didl.by_value(media_type, bytes.as_slice(), bytes.len() as u64)?;
            }
            Content::File(file, facts) => self.stream(&mut didl, media_type, &file, &facts)?,
        }
        didl.finish_by_reference(media_type, &header.identifier)
    }

    /// Technical metadata from the headers, and what plug-ins found.
    fn dublin_core(
        &self,
        resource: &Resource,
        outcomes: &[(&Plugin, PluginOutcome)],
    ) -> Vec<(&'static str, String)> {
        let mut values = Vec::new();
        for (plugin, outcome) in outcomes {
            values.extend(outcome.dublin_core(plugin));
        }
        values.push(("identifier", self.item.header.identifier.clone()));
        if let Some(mtime) = resource.mtime {
            values.push(("date", Datestamp::from_seconds(mtime).to_string()));
        }
        values.extend(dcmi_type(&resource.media_type).map(|name| ("type", name.to_owned())));
        values.push(("format", resource.media_type.clone()));
        if let Some(size) = resource.size {
            values.push(("format", format!("{size} bytes")));
        }
        values
    }
}

fn write_outcome<W: Write>(
    xml: &mut Writer<W>,
    plugin: &Plugin,
    outcome: &PluginOutcome,
) -> io::Result<()> {
    let attributes = [("xmlns", PLUGIN_NAMESPACE), ("name", plugin.name())];
    xml.start("plugin", &attributes)?;
    match outcome {
        PluginOutcome::Output(PluginOutput::Xml(element)) => xml.raw(element.as_bytes())?,
        PluginOutcome::Output(PluginOutput::Text(text)) => xml.element("text", &[], text)?,
        PluginOutcome::Output(PluginOutput::KeyValue(pairs)) => {
            for (key, value) in pairs {
                xml.element("value", &[("name", key)], value)?;
            }
        }
        // Where the site lies on this machine is nobody's business: the reason is for the log.
        PluginOutcome::Failed { told, .. } => xml.element("failed", &[], told)?,
    }
    xml.end("plugin")
}

/// Why the bytes are missing is told in the form of a plug-in that failed.
fn write_by_value_failed<W: Write>(xml: &mut Writer<W>, reason: &str) -> io::Result<()> {
    let attributes = [("xmlns", PLUGIN_NAMESPACE), ("name", "by-value")];
    xml.start("plugin", &attributes)?;
    xml.element("failed", &[], reason)?;
    xml.end("plugin")
}

const PLUGIN_NAMESPACE: &str = "urn:x-garner:plugin";
