//! The records of one item: what the formats say of a file.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use oai::format::{didl, dublin_core, http_header};
use oai::xml::Writer;
use provider::assets;

use crate::facts::TOO_YOUNG;
use crate::fixity::{Algorithm, Digester, digests_of};
use crate::headers;
use crate::index::RETRY;
use crate::plugin::{Plugin, PluginOutcome, PluginOutput};
use crate::view::{SiteItem, SiteView};
use crate::{DynamicPolicy, Facts};

/// Smaller files are read whole: then a change while reading can be mended by reading again.
const SMALL: u64 = 256 * 1024;
/// What a file that a server runs may return.
const LARGEST_PROCESSED: u64 = 1024 * 1024;
const PLUGIN_NAMESPACE: &str = "urn:x-garner:plugin";

/// Writes the metadata of one item.
pub(crate) struct Record<'a> {
    view: &'a SiteView<'a>,
    item: &'a SiteItem,
}

/// What is known of the resource at the moment of writing.
struct Resource {
    media_type: String,
    headers: Vec<(String, String)>,
    size: Option<u64>,
    mtime: Option<i64>,
    content: Content,
}

/// Where the resource's bytes are.
enum Content {
    /// By reference only; with the reason if it is worth a word.
    Reference(Option<String>),
    /// Read already.
    Bytes(Vec<u8>),
    /// To be read while it is written.
    File(File, Facts),
}

impl<'a> Record<'a> {
    pub(crate) fn new(view: &'a SiteView<'a>, item: &'a SiteItem) -> Self {
        Self { view, item }
    }

    /// About how many bytes the metadata will have.
    pub(crate) fn size(&self, prefix: &str) -> u64 {
        let identifier = self.item.header.identifier.len() as u64;
        let headers = match &self.item.origin_headers {
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
                let by_value =
                    !row.dynamic && row.size <= self.by_value_limit(&self.indexed_media_type());
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
                let resource = self.resource(false);
                self.write_headers(xml, &resource)
            }
            dublin_core::PREFIX => {
                let resource = self.resource(false);
                let outcomes = self.plugin_outcomes();
                dublin_core::write(xml, &self.dublin_core(&resource, &outcomes))
            }
            _ => self.write_didl(xml),
        }
    }

    fn write_headers<W: Write>(&self, xml: &mut Writer<W>, resource: &Resource) -> io::Result<()> {
        let schema = assets::url(&self.view.site.config.base_url, assets::HTTP_HEADER_SCHEMA);
        http_header::write(xml, &schema, 200, &resource.headers)
    }

    fn write_didl<W: Write>(&self, xml: &mut Writer<W>) -> io::Result<()> {
        let resource = self.resource(true);
        let outcomes = self.plugin_outcomes();
        let header = &self.item.header;
        let document_id = format!("{}#{}", header.identifier, header.datestamp);
        let mut didl = didl::Didl::begin(xml, &document_id, &header.identifier)?;
        if let Some(mtime) = resource.mtime {
            didl.modified(&oai::Datestamp::from_seconds(mtime).to_string())?;
        }
        let dublin_core = self.dublin_core(&resource, &outcomes);
        didl.descriptor(|xml| dublin_core::write(xml, &dublin_core))?;
        didl.descriptor(|xml| self.write_headers(xml, &resource))?;
        for (plugin, outcome) in &outcomes {
            didl.descriptor(|xml| write_outcome(xml, plugin.name(), outcome))?;
        }
        if let Content::Reference(Some(reason)) = &resource.content {
            let note = PluginOutcome::Failed {
                reason: reason.clone(),
                told: reason.clone(),
            };
            didl.descriptor(|xml| write_outcome(xml, "by-value", &note))?;
        }

        didl.begin_component()?;
        let digests = self.digests(&resource);
        if !digests.is_empty() {
            let pairs: Vec<_> = digests
                .iter()
                .map(|(name, hex)| (name.name(), hex.as_str()))
                .collect();
            didl.digests(&pairs)?;
        }
        let media_type = essence(&resource.media_type);
        match resource.content {
            Content::Reference(_) => {}
            Content::Bytes(bytes) => {
                didl.by_value(media_type, bytes.as_slice(), bytes.len() as u64)?
            }
            Content::File(file, facts) => self.stream(&mut didl, media_type, &file, &facts)?,
        }
        didl.finish_by_reference(media_type, &header.identifier)
    }

    /// Streams a file. If it changes under way the bytes cannot be called back: the answer breaks off, and
    /// for a while the file goes by reference, so that the harvest gets past it.
    fn stream<W: Write>(
        &self,
        didl: &mut didl::Didl<'_, W>,
        media_type: &str,
        file: &File,
        facts: &Facts,
    ) -> io::Result<()> {
        let mut reader = WatchedReader { file, broke: false };
        let written = didl.by_value(media_type, &mut reader, facts.size);
        let broke = reader.broke
            || written
                .as_ref()
                .is_err_and(|error| error.kind() == io::ErrorKind::UnexpectedEof);
        let changed = Facts::of_file(file).map_or(true, |now| now.mark != facts.mark);
        if broke || (written.is_ok() && changed) {
            self.view.site.note_trouble(self.item.row.id);
            let message = format!(
                "`{}` changed while it was read",
                self.item.header.identifier
            );
            return Err(io::Error::other(message));
        }
        written
    }

    /// What the resource is like now; for a record with its bytes, if it is to have them.
    fn resource(&self, with_bytes: bool) -> Resource {
        let row = &self.item.row;
        if row.dynamic {
            return self.dynamic_resource(with_bytes);
        }
        let site = self.view.site;
        let media_type = self.media_type();
        let opened = site
            .ground
            .root
            .open_file(&row.path, site.ground.rules.symlinks());
        let (file, facts) = match opened {
            Ok(opened) => (Some(opened.file), opened.facts),
            // Gone a moment ago; its tombstone follows.
            Err(_) => (None, self.indexed_facts()),
        };
        let content = match file {
            Some(file) if with_bytes => self.content(file, facts, &media_type),
            _ => (Content::Reference(None), facts),
        };
        let (content, facts) = content;
        let headers = match &self.item.origin_headers {
            Some(headers) => headers.clone(),
            None => headers::of_file(&facts, &media_type),
        };
        Resource {
            media_type,
            headers,
            size: Some(facts.size),
            mtime: Some(facts.mtime),
            content,
        }
    }

    fn content(&self, mut file: File, facts: Facts, media_type: &str) -> (Content, Facts) {
        if facts.size > self.by_value_limit(media_type) {
            return (Content::Reference(None), facts);
        }
        if self.view.site.is_trouble(self.item.row.id) {
            let reason = "the file changes while it is read; fetch it by its reference";
            return (Content::Reference(Some(reason.to_owned())), facts);
        }
        let content = match facts.size > SMALL {
            true => rested(&file, facts).map(|facts| (Content::File(file, facts), facts)),
            false => {
                read_steadily(&mut file, facts).map(|(bytes, facts)| (Content::Bytes(bytes), facts))
            }
        };
        match content {
            Ok(content) => content,
            Err(error) => {
                tracing::warn!(
                    "`{}` cannot be given by value: {error}",
                    self.item.header.identifier
                );
                let reason = "the file could not be read as a whole; fetch it by its reference";
                (Content::Reference(Some(reason.to_owned())), facts)
            }
        }
    }

    /// A file that a server runs: nothing of its source, not even its size, is told.
    fn dynamic_resource(&self, with_bytes: bool) -> Resource {
        let site = self.view.site;
        let mut resource = Resource {
            media_type: self.media_type(),
            headers: self.item.origin_headers.clone().unwrap_or_else(|| {
                let server = ("Server".to_owned(), headers::SERVER.to_owned());
                vec![server]
            }),
            size: None,
            mtime: None,
            content: Content::Reference(None),
        };
        let (DynamicPolicy::Processed, Some(origin), true) =
            (site.config.offer.dynamic, &site.origin, with_bytes)
        else {
            return resource;
        };
        let limit = LARGEST_PROCESSED.min(self.by_value_limit(&resource.media_type));
        match origin.fetch(&self.view.requester, &self.item.row.path, limit) {
            Ok(fetched) => {
                resource.size = Some(fetched.body.len() as u64);
                resource.media_type = content_type(&fetched.headers).unwrap_or(resource.media_type);
                resource.headers = fetched.headers;
                resource.content = Content::Bytes(fetched.body);
            }
            Err(reason) => resource.content = Content::Reference(Some(reason)),
        }
        resource
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
            values.push(("date", oai::Datestamp::from_seconds(mtime).to_string()));
        }
        values.extend(dcmi_type(&resource.media_type).map(|name| ("type", name.to_owned())));
        values.push(("format", resource.media_type.clone()));
        if let Some(size) = resource.size {
            values.push(("format", format!("{size} bytes")));
        }
        values
    }

    fn plugins(&self) -> impl Iterator<Item = &'a Plugin> {
        let path = format!("/{}", self.item.row.path.to_url_path());
        let media_type = self.indexed_media_type();
        let dynamic = self.item.row.dynamic;
        let plugins = self.view.site.plugins.iter();
        plugins.filter(move |plugin| !dynamic && plugin.applies_to(essence(&media_type), &path))
    }

    /// What the plug-ins say, from the index where they were asked before.
    fn plugin_outcomes(&self) -> Vec<(&'a Plugin, PluginOutcome)> {
        self.plugins()
            .map(|plugin| (plugin, self.plugin_outcome(plugin)))
            .collect()
    }

    fn plugin_outcome(&self, plugin: &Plugin) -> PluginOutcome {
        let site = self.view.site;
        let key = format!("{} {}", plugin.name(), plugin.fingerprint());
        if let Some(outcome) = self.kept(&key) {
            return outcome;
        }
        let root = site.ground.root.path();
        let outcome = plugin.run(
            &self.item.row.path.below(&root),
            &self.item.header.identifier,
        );
        if let PluginOutcome::Failed { reason, .. } = &outcome {
            tracing::warn!(
                "plug-in {}: {}: {reason}",
                plugin.name(),
                self.item.header.identifier
            );
        }
        let mended = matches!(outcome, PluginOutcome::Output(_)) && self.is_to_be_retried(&key);
        self.keep(&key, &outcome);
        if mended && let Err(error) = site.index.touch(&self.item.row.path) {
            tracing::warn!("{error}");
        }
        outcome
    }

    /// Whether this plug-in failed on this file in an earlier run of the server: the record is then another one
    /// from now on.
    fn is_to_be_retried(&self, key: &str) -> bool {
        let row = &self.item.row;
        let stored = self.view.reader.plugin_result(row.id, key, row.mark);
        stored.is_ok_and(|stored| stored.as_deref() == Some(RETRY))
    }

    /// The digests of the bytes that are given or referred to.
    fn digests(&self, resource: &Resource) -> Vec<(Algorithm, String)> {
        let site = self.view.site;
        let algorithms = &site.config.fixity.algorithms;
        if algorithms.is_empty() || resource.size.is_none() {
            return Vec::new();
        }
        let names: Vec<_> = algorithms
            .iter()
            .map(|algorithm| algorithm.name())
            .collect();
        let key = format!("fixity {}", names.join(" "));
        if !self.item.row.dynamic
            && let Some(digests) = self.kept(&key)
        {
            return digests;
        }
        let row = &self.item.row;
        let (digests, mark) = match &resource.content {
            Content::Bytes(bytes) => {
                let mut digester = Digester::new(algorithms);
                digester.update(bytes);
                (Ok(digester.finish()), None)
            }
            Content::File(file, facts) => {
                let mut reader = file;
                let digests = digests_of(&mut reader, algorithms).and_then(|digests| {
                    reader.rewind()?;
                    Ok(digests)
                });
                (digests, Some((file.try_clone(), *facts)))
            }
            Content::Reference(_) => {
                let opened = site
                    .ground
                    .root
                    .open_file(&row.path, site.ground.rules.symlinks());
                let Ok(mut opened) = opened else {
                    return Vec::new();
                };
                let digests = digests_of(&mut opened.file, algorithms);
                (digests, Some((Ok(opened.file), opened.facts)))
            }
        };
        let Ok(digests) = digests else {
            return Vec::new();
        };
        // A file that changed under the digest has none that is right.
        if let Some((file, facts)) = mark {
            let now = file.and_then(|file| Facts::of_file(&file));
            if now.map_or(true, |now| now.mark != facts.mark) {
                return Vec::new();
            }
        }
        if !row.dynamic && self.is_as_indexed() {
            self.keep(&key, &digests);
        }
        digests
    }

    /// Whether the file is still the one that the index knows, so that a result may be kept under its mark.
    fn is_as_indexed(&self) -> bool {
        let site = self.view.site;
        let opened = site
            .ground
            .root
            .open_file(&self.item.row.path, site.ground.rules.symlinks());
        opened.is_ok_and(|opened| opened.facts.mark == self.item.row.mark)
    }

    fn kept<T: serde::de::DeserializeOwned>(&self, key: &str) -> Option<T> {
        let row = &self.item.row;
        if !self.is_as_indexed() {
            return None;
        }
        let text = self
            .view
            .reader
            .plugin_result(row.id, key, row.mark)
            .ok()??;
        serde_json::from_str(&text).ok()
    }

    fn keep<T: serde::Serialize>(&self, key: &str, value: &T) {
        let row = &self.item.row;
        let Ok(text) = serde_json::to_string(value) else {
            return;
        };
        if self.is_as_indexed()
            && let Err(error) = self
                .view
                .site
                .index
                .keep_plugin_result(row.id, key, row.mark, &text)
        {
            tracing::warn!("a result could not be kept and will be made again: {error}");
        }
    }

    /// What the origin says it is, else what the table says.
    fn media_type(&self) -> String {
        let headers = self.item.origin_headers.as_deref().unwrap_or_default();
        content_type(headers).unwrap_or_else(|| self.indexed_media_type())
    }

    fn indexed_media_type(&self) -> String {
        let types = self.view.site.index.media_types();
        let entry = types.get(self.item.row.media_type);
        entry.map_or_else(
            || "application/octet-stream".to_owned(),
            |entry| entry.name.clone(),
        )
    }

    fn by_value_limit(&self, media_type: &str) -> u64 {
        self.view.site.config.by_value.limit_of(media_type)
    }

    fn indexed_facts(&self) -> Facts {
        let row = &self.item.row;
        Facts {
            size: row.size,
            mtime: row.mtime,
            ctime_ns: 0,
            mark: row.mark,
        }
    }
}

/// Tells a file that cannot be read from an output that cannot be written.
struct WatchedReader<'a> {
    file: &'a File,
    broke: bool,
}

impl Read for WatchedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.file.read(buffer);
        self.broke |= result
            .as_ref()
            .is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        result
    }
}

/// Waits a moment for a file that changed just now: a further change might not show in its times.
fn rested(file: &File, facts: Facts) -> io::Result<Facts> {
    if !facts.is_young() {
        return Ok(facts);
    }
    std::thread::sleep(TOO_YOUNG);
    let now = Facts::of_file(file)?;
    match now.is_young() {
        true => Err(io::Error::other("it is being written")),
        false => Ok(now),
    }
}

/// Reads a small file until two looks at it agree.
fn read_steadily(file: &mut File, mut facts: Facts) -> io::Result<(Vec<u8>, Facts)> {
    for _ in 0..3 {
        facts = rested(file, facts)?;
        let mut bytes = Vec::with_capacity(usize::try_from(facts.size).unwrap_or(0) + 1);
        file.rewind()?;
        file.take(SMALL + 1).read_to_end(&mut bytes)?;
        let now = Facts::of_file(file)?;
        if now.mark == facts.mark && bytes.len() as u64 == facts.size {
            return Ok((bytes, facts));
        }
        facts = now;
    }
    Err(io::Error::other("it changes while it is read"))
}

fn write_outcome<W: Write>(
    xml: &mut Writer<W>,
    name: &str,
    outcome: &PluginOutcome,
) -> io::Result<()> {
    xml.start("plugin", &[("xmlns", PLUGIN_NAMESPACE), ("name", name)])?;
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

fn content_type(headers: &[(String, String)]) -> Option<String> {
    let header = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    header.map(|(_, value)| value.clone())
}

/// A media type without its parameters.
fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

/// The nearest of the DCMI types, where one is near.
fn dcmi_type(media_type: &str) -> Option<&'static str> {
    let essence = essence(media_type);
    Some(match essence.split('/').next().unwrap_or_default() {
        "text" => "Text",
        "image" => "StillImage",
        "video" => "MovingImage",
        "audio" => "Sound",
        _ => match essence {
            "application/pdf"
            | "application/postscript"
            | "application/rtf"
            | "application/msword"
            | "application/epub+zip"
            | "application/xhtml+xml" => "Text",
            "application/zip" | "application/gzip" | "application/x-tar" | "application/warc" => {
                "Collection"
            }
            "application/json" | "application/xml" => "Dataset",
            "application/wasm" | "application/java-archive" => "Software",
            other if other.contains("spreadsheet") || other.contains("excel") => "Dataset",
            other if other.contains("document") || other.contains("presentation") => "Text",
            _ => return None,
        },
    })
}
