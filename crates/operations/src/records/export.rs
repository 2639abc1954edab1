//! All records of a query as one stream: XML, JSON Lines or CSV. A record at a time is in memory.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read};

use oai::RecordHeader;
use oai::format::dublin_core::ELEMENTS;
use oai::xml::Writer;
use oai::{Datestamp, SetSpec};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Element, Record, RecordFilter, dublin_core, list};
use crate::{Context, Refusal, csv_cell};

/// How records are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// The records as they were harvested, in one XML document.
    #[default]
    Xml,
    /// One JSON object a line: the record, and its Dublin Core elements.
    Jsonl,
    /// A table with a column for each element of Dublin Core.
    Csv,
}

/// Counts of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportCounts {
    /// Records with their metadata.
    pub records: u64,
    /// Deleted records, as headers.
    pub deleted: u64,
    /// Records whose files cannot be read; their headers are there.
    pub unreadable: u64,
}

/// A record with its Dublin Core elements.
#[derive(Debug, Serialize)]
struct Exported<'a> {
    #[serde(flatten)]
    record: &'a Record,
    /// The values of each element; `null` if there is no Dublin Core in it.
    dublin_core: Option<BTreeMap<String, Vec<String>>>,
    /// Why its file cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<&'a str>,
}

/// An export that is being read.
#[derive(Debug)]
pub struct Export {
    context: Context,
    filter: RecordFilter,
    format: ExportFormat,
    /// Records of a page that are not written yet.
    queue: VecDeque<Record>,
    /// The number behind which the next page begins; none after the last.
    next: Option<i64>,
    begun: bool,
    ended: bool,
    buffer: Vec<u8>,
    at: usize,
    counts: ExportCounts,
}

/// How many records are looked up at once.
const PAGE: u64 = 500;

/// Begins an export of the records that `filter` selects, from the oldest on. Reading it blocks.
pub fn export(context: &Context, filter: RecordFilter, format: ExportFormat) -> Export {
    Export {
        context: context.clone(),
        next: Some(filter.after.unwrap_or_default()),
        filter,
        format,
        queue: VecDeque::new(),
        begun: false,
        ended: false,
        buffer: Vec::new(),
        at: 0,
        counts: ExportCounts::default(),
    }
}

impl ExportFormat {
    /// Its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Xml => "application/xml",
            Self::Jsonl => "application/jsonl",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }

    /// How names of its files end, without a dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Xml => "xml",
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
        }
    }
}

impl Export {
    /// The counts so far.
    pub fn counts(&self) -> ExportCounts {
        self.counts
    }

    /// Makes the next part; an empty one is the end.
    fn fill(&mut self) -> Result<(), Refusal> {
        self.buffer.clear();
        self.at = 0;
        if !std::mem::replace(&mut self.begun, true) {
            match self.format {
                ExportFormat::Xml => self.buffer.extend_from_slice(XML_HEAD.as_bytes()),
                ExportFormat::Csv => self.buffer.extend_from_slice(csv_head().as_bytes()),
                ExportFormat::Jsonl => {}
            }
        }
        while self.buffer.is_empty() && !self.ended {
            if let Some(record) = self.queue.pop_front() {
                self.write(&record)?;
            } else if let Some(after) = self.next {
                let filter = RecordFilter {
                    after: Some(after),
                    limit: Some(PAGE),
                    // An export has an order of its own.
                    items: None,
                    sort: None,
                    descending: None,
                    behind: None,
                    count: None,
                    before: None,
                    ..self.filter.clone()
                };
                let page = self.context.wait(list(&self.context, &filter))?;
                self.queue = page.items.into();
                self.next = page.next;
            } else {
                self.ended = true;
                if self.format == ExportFormat::Xml {
                    self.buffer.extend_from_slice(XML_TAIL.as_bytes());
                }
            }
        }
        Ok(())
    }

    /// Writes a record that is held, or the header of a deleted one. Nothing is known of others but that they were
    /// skipped.
    fn write(&mut self, record: &Record) -> Result<(), Refusal> {
        if !record.deleted && (!record.is_held() || record.file.is_none()) {
            return Ok(());
        }
        let mut xml = Vec::new();
        let mut unreadable = None;
        if record.deleted {
            self.counts.deleted += 1;
        } else {
            match self.read_file(record) {
                Ok(bytes) => {
                    xml = bytes;
                    self.counts.records += 1;
                }
                Err(reason) => {
                    unreadable = Some(reason);
                    self.counts.unreadable += 1;
                }
            }
        }
        let written = match self.format {
            ExportFormat::Xml => self.write_xml(record, &xml),
            ExportFormat::Jsonl => self.write_json(record, &xml, unreadable.as_deref()),
            ExportFormat::Csv => {
                self.write_csv(record, &xml);
                Ok(())
            }
        };
        written.map_err(|error| Refusal::from(anyhow::Error::from(error)))
    }

    fn read_file(&self, record: &Record) -> Result<Vec<u8>, String> {
        let file = self.context.wait(super::xml(&self.context, record.id));
        let mut file = file
            .and_then(|file| file.open())
            .map_err(|refusal| refusal.to_string())?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    fn write_xml(&mut self, record: &Record, xml: &[u8]) -> io::Result<()> {
        if !xml.is_empty() {
            self.buffer.extend_from_slice(xml.trim_ascii());
            self.buffer.push(b'\n');
            return Ok(());
        }
        let header = RecordHeader {
            identifier: record.identifier.clone(),
            datestamp: Datestamp::from_seconds(record.datestamp.map_or(0, |time| time.0)),
            set_specs: record
                .set_specs
                .iter()
                .filter_map(|set| SetSpec::parse(set))
                .collect(),
            deleted: record.deleted,
        };
        let mut writer = Writer::new(&mut self.buffer);
        writer.start("record", &[("xmlns", OAI)])?;
        writer.raw(b"<header")?;
        if header.deleted {
            writer.raw(b" status=\"deleted\"")?;
        }
        writer.raw(b">")?;
        writer.element("identifier", &[], &header.identifier)?;
        writer.element("datestamp", &[], &header.datestamp.to_string())?;
        for set in &header.set_specs {
            writer.element("setSpec", &[], set.as_str())?;
        }
        writer.end("header")?;
        writer.end("record")?;
        writer.newline()
    }

    fn write_json(
        &mut self,
        record: &Record,
        xml: &[u8],
        unreadable: Option<&str>,
    ) -> io::Result<()> {
        let elements = dublin_core(xml);
        let values = elements.as_ref().map(|elements| {
            let pair = |element: &'_ Element| {
                let texts = element.values.iter().map(|value| value.text.clone());
                (element.name.clone(), texts.collect())
            };
            elements.iter().map(pair).collect()
        });
        let exported = Exported {
            record,
            dublin_core: values,
            unreadable,
        };
        serde_json::to_writer(&mut self.buffer, &exported)?;
        self.buffer.push(b'\n');
        Ok(())
    }

    fn write_csv(&mut self, record: &Record, xml: &[u8]) {
        let elements = dublin_core(xml).unwrap_or_default();
        let mut cells = vec![
            record.id.to_string(),
            record.base_url.clone(),
            record.metadata_prefix.clone(),
            record.identifier.clone(),
            record
                .datestamp
                .map(|time| time.to_string())
                .unwrap_or_default(),
            record.deleted.to_string(),
            record.set_specs.join("; "),
        ];
        for name in ELEMENTS {
            let element = elements.iter().find(|element| element.name == name);
            let values = element.iter().flat_map(|element| &element.values);
            let values: Vec<_> = values.map(|value| value.text.as_str()).collect();
            cells.push(values.join("; "));
        }
        let cells: Vec<_> = cells.iter().map(|cell| csv_cell(cell)).collect();
        self.buffer
            .extend_from_slice(format!("{}\r\n", cells.join(",")).as_bytes());
    }
}

impl Read for Export {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.buffer.len() && !self.ended {
            self.fill().map_err(io::Error::other)?;
        }
        let length = into.len().min(self.buffer.len() - self.at);
        into[..length].copy_from_slice(&self.buffer[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

fn csv_head() -> String {
    let own = "record,base_url,metadata_prefix,identifier,datestamp,deleted,sets";
    let element = |name: &str| match name {
        // The identifier in the header has a column of its own.
        "identifier" => "dc_identifier".to_owned(),
        name => name.to_owned(),
    };
    let elements: Vec<_> = ELEMENTS.into_iter().map(element).collect();
    format!("{own},{}\r\n", elements.join(","))
}

const OAI: &str = "http://www.openarchives.org/OAI/2.0/";
const XML_HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<records>\n";
const XML_TAIL: &str = "</records>\n";
