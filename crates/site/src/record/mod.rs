//! The records of one item: what the formats say of a file.

mod dcmi_type;
mod fetched;
pub mod fixity;
pub mod headers;
pub(crate) mod helpers;
mod listed;
mod prepared;
pub(crate) mod programs;
mod reading;
mod resource;
mod results;
mod streaming;

use std::io::{self, Write};

use oai::Datestamp;
use oai::format::{didl, dublin_core, http_header};
use oai::xml::Writer;
use provider::{Obtained, assets};
use sha2::{Digest, Sha256};

use self::dcmi_type::dcmi_type;
pub(crate) use self::prepared::Prepared;
pub(crate) use self::resource::Resource;
use self::resource::{Content, Wanted};
use crate::ground::media_types::essence;
use crate::ground::root::Sighting;
use crate::plugin::{Plugin, PluginOutcome, PluginOutput};
use crate::view::{SiteItem, SiteView};
use crate::{DynamicPolicy, Error, NotFetched};

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
            prefix if prefix != didl::PREFIX => 4000,
            _ => {
                let row = &self.item.row;
                let by_value = matches!(self.item.dynamic, None | Some(DynamicPolicy::Source))
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
                let resource = self.obtained(Wanted::Headers);
                self.write_headers(xml, &resource.headers.unwrap_or_default())
            }
            dublin_core::PREFIX => {
                let resource = self.resource_or_reference(Wanted::Description);
                let outcomes = self.plugin_outcomes(&resource);
                dublin_core::write(xml, &self.dublin_core(&resource, &outcomes))
            }
            didl::PREFIX => self.write_didl(xml),
            // A value that cannot be obtained is not written.
            prefix => match self.printed(prefix) {
                Some(element) => xml.raw(element.as_bytes()),
                None => Err(io::Error::other("the record changed while it was written")),
            },
        }
    }

    /// The plug-in that prints the record of this item in a format.
    fn format_plugin(&self, prefix: &str) -> Option<&'a Plugin> {
        let is_for = |plugin: &&Plugin| {
            plugin
                .format()
                .is_some_and(|format| format.prefix == prefix)
        };
        self.plugins().find(is_for)
    }

    /// The record that a plug-in prints in a format, if it is about the file that this requester is given.
    fn printed(&self, prefix: &str) -> Option<String> {
        let plugin = self.format_plugin(prefix)?;
        let resource = self.resource_or_reference(Wanted::Description);
        let outcomes = self.plugin_outcomes(&resource).into_iter();
        let mut outcome = outcomes.filter(|(other, _)| std::ptr::eq(*other, plugin));
        match outcome.next_back()?.1 {
            PluginOutcome::Output(PluginOutput::Xml(element)) => Some(element),
            _ => None,
        }
    }

    /// Fetches what a record needs that can turn out not to be there: the headers, and what a program makes.
    pub(crate) fn obtain(&self, prefix: &str) -> Result<Obtained, Error> {
        let wanted = match prefix {
            http_header::PREFIX => Wanted::Headers,
            didl::PREFIX if self.runs_program(prefix) => Wanted::Bytes,
            dublin_core::PREFIX | didl::PREFIX => return Ok(Obtained::Ready),
            // A record that its program cannot print now is told as deleted; it is stamped anew when it can.
            prefix => {
                return Ok(match self.printed(prefix) {
                    Some(_) => Obtained::Ready,
                    None => Obtained::Gone,
                });
            }
        };
        match self.resource(wanted) {
            Ok(resource) if resource.headers.is_some() || wanted != Wanted::Headers => {
                let id = self.item.row.id;
                self.view.obtained.replace(Some((id, resource)));
                Ok(Obtained::Ready)
            }
            Err(NotFetched::Busy) => Ok(Obtained::Busy),
            _ if self.view.origin.is_some() => {
                // It is stamped anew when it is served again.
                self.view.site.index.note_missed(&[self.item.row.id])?;
                Ok(Obtained::Gone)
            }
            // A file that is gone will be noticed; one that is still there must not be told as deleted.
            _ => match self.view.site.ground.look(&self.item.row.path) {
                Sighting::File { .. } if self.item.dynamic.is_none() => {
                    Err(Error::Origin(format!(
                        "`{}` cannot be opened just now",
                        self.item.header.identifier
                    )))
                }
                _ => Ok(Obtained::Gone),
            },
        }
    }

    /// Whether a program is run for the record.
    pub(crate) fn runs_program(&self, prefix: &str) -> bool {
        let fetched =
            self.item.dynamic == Some(DynamicPolicy::Processed) && self.view.origin.is_some();
        match prefix {
            http_header::PREFIX => fetched && self.known_headers().is_none(),
            didl::PREFIX => fetched,
            _ => false,
        }
    }

    /// Whether there is a record in a format: nobody knows the headers of a program that is not run, and formats of
    /// plug-ins are for some files only.
    pub(crate) fn has_format(&self, prefix: &str) -> bool {
        if !matches!(
            prefix,
            http_header::PREFIX | dublin_core::PREFIX | didl::PREFIX
        ) {
            return self.format_plugin(prefix).is_some();
        }
        prefix != http_header::PREFIX
            || self.item.header.deleted
            || self.item.dynamic.is_none()
            || self.known_headers().is_some()
            || self.runs_program(prefix)
    }

    /// The resource that was obtained for this record, else the resource as it is now.
    fn obtained(&self, wanted: Wanted) -> Resource {
        let obtained = self.view.obtained.take();
        let own = obtained.filter(|(id, _)| *id == self.item.row.id);
        own.map_or_else(
            || self.resource_or_reference(wanted),
            |(_, resource)| resource,
        )
    }

    fn write_headers<W: Write>(
        &self,
        xml: &mut Writer<W>,
        headers: &[(String, String)],
    ) -> io::Result<()> {
        let schema = assets::url(&self.view.addresses.base_url, assets::HTTP_HEADER_SCHEMA);
        http_header::write(xml, &schema, 200, headers)
    }

    /// Names one content: the datestamp stands for the version that the index knows, so another one is named apart.
    fn document_id(&self, resource: &Resource) -> String {
        let header = &self.item.header;
        let document_id = format!("{}#{}", header.identifier, header.datestamp);
        match (resource.mark, &resource.content) {
            (Some(mark), _) if mark != self.item.row.mark => format!("{document_id}/{mark:016x}"),
            (None, Content::Bytes(bytes)) => {
                let digest: [u8; 32] = Sha256::digest(bytes).into();
                let number = u64::from_be_bytes(std::array::from_fn(|at| digest[at]));
                format!("{document_id}/{number:016x}")
            }
            _ => document_id,
        }
    }

    fn write_didl<W: Write>(&self, xml: &mut Writer<W>) -> io::Result<()> {
        let begun = self.view.prepared.take(self.item.row.id);
        let resource = begun.unwrap_or_else(|| self.obtained(Wanted::Bytes));
        let resource = self.arrived(resource);
        let outcomes = self.plugin_outcomes(&resource);
        let header = &self.item.header;
        let document_id = self.document_id(&resource);
        let mut didl = didl::Didl::begin(xml, &document_id, &header.identifier)?;
        if let Some(mtime) = resource.mtime {
            didl.modified(&Datestamp::from_seconds(mtime).to_string())?;
        }
        let dublin_core = self.dublin_core(&resource, &outcomes);
        didl.descriptor(|xml| dublin_core::write(xml, &dublin_core))?;
        if let Some(headers) = &resource.headers {
            didl.descriptor(|xml| self.write_headers(xml, headers))?;
        }
        for (plugin, outcome) in &outcomes {
            didl.descriptor(|xml| write_outcome(xml, plugin, outcome))?;
        }
        if let Content::Reference {
            reason: Some(reason),
            ..
        } = &resource.content
        {
            didl.descriptor(|xml| write_note(xml, "by-value", "failed", reason))?;
        }

        let is_source = self.item.dynamic == Some(DynamicPolicy::Source);
        if is_source {
            didl.descriptor(|xml| write_note(xml, "source", "text", SOURCE))?;
        }
        didl.begin_component()?;
        let is_by_reference = matches!(resource.content, Content::Reference { .. });
        // A reference leads to what the program prints.
        let digests = match is_source && is_by_reference {
            true => Vec::new(),
            false => self.digests(&resource),
        };
        if !digests.is_empty() {
            let pairs = digests
                .iter()
                .map(|(algorithm, digest)| (algorithm.name(), digest.as_str()));
            didl.digests(&pairs.collect::<Vec<_>>())?;
        }
        // DIDL wants a type; this one says nothing (RFC 2046, 4.5.1).
        let media_type = resource.media_type.as_deref().map(essence);
        let media_type = media_type.unwrap_or("application/octet-stream");
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
        if is_source && !is_by_reference {
            return didl.finish();
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
        if let Some(media_type) = &resource.media_type {
            values.extend(dcmi_type(media_type).map(|name| ("type", name.to_owned())));
            values.push(("format", media_type.clone()));
        }
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

/// A note on the bytes, in the form of what a plug-in prints: why they are missing, or that they are a source.
fn write_note<W: Write>(
    xml: &mut Writer<W>,
    name: &str,
    element: &str,
    text: &str,
) -> io::Result<()> {
    xml.start("plugin", &[("xmlns", PLUGIN_NAMESPACE), ("name", name)])?;
    xml.element(element, &[], text)?;
    xml.end("plugin")
}

/// The note on a source.
const SOURCE: &str = "the source of a program; a GET of its URL returns what the program prints";

const PLUGIN_NAMESPACE: &str = "urn:x-garner:plugin";
