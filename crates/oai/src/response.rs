//! Responses: the envelope and the elements of each verb's answer (OAI-PMH 2.0, section 3.2 and 4).

use std::io::{self, Write};

use crate::xml::{self, Writer};
use crate::{
    Arguments, Datestamp, Error, ErrorCode, Granularity, RecordHeader, Verb, format::MetadataFormat,
};

const NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/";
const SCHEMA_LOCATION: &str =
    "http://www.openarchives.org/OAI/2.0/ http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd";

/// The self-description of a repository.
#[derive(Debug, Clone)]
pub struct Identify {
    /// A name for people.
    pub repository_name: String,
    /// The base URL of the repository.
    pub base_url: String,
    /// At least one.
    pub admin_emails: Vec<String>,
    /// A guaranteed lower limit of all datestamps, past and to come.
    pub earliest_datestamp: Datestamp,
    /// Content codings besides identity.
    pub compressions: Vec<String>,
}

/// A set as ListSets names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// Its setSpec.
    pub spec: crate::SetSpec,
    /// A name for people.
    pub name: String,
}

/// The end of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenElement {
    /// Empty on the last page.
    pub token: String,
    /// How many records came before this page.
    pub cursor: u64,
    /// How many there are in all, where that is known.
    pub complete_list_size: Option<u64>,
}

/// Writes one response, element by element.
#[derive(Debug)]
pub struct Response<W> {
    xml: Writer<W>,
}

impl<W: Write> Response<W> {
    /// Writes the envelope up to and with the `request` element, which echoes the arguments.
    pub fn begin(
        out: W,
        style_sheet: Option<&str>,
        response_date: Datestamp,
        base_url: &str,
        arguments: &Arguments,
    ) -> io::Result<Self> {
        let attributes: Vec<_> = arguments.iter().collect();
        Self::envelope(out, style_sheet, response_date, base_url, &attributes)
    }

    /// Writes a whole response that consists of errors.
    pub fn errors(
        out: W,
        style_sheet: Option<&str>,
        response_date: Datestamp,
        base_url: &str,
        arguments: &Arguments,
        errors: &[Error],
    ) -> io::Result<()> {
        let unrepeatable = [ErrorCode::BadVerb, ErrorCode::BadArgument];
        let attributes: Vec<_> = match errors
            .iter()
            .any(|error| unrepeatable.contains(&error.code))
        {
            true => Vec::new(),
            false => arguments.iter().collect(),
        };
        let mut response = Self::envelope(out, style_sheet, response_date, base_url, &attributes)?;
        for error in errors {
            let code = [("code", error.code.as_str())];
            response.xml.element("error", &code, &error.message)?;
            response.xml.newline()?;
        }
        response.finish()
    }

    fn envelope(
        out: W,
        style_sheet: Option<&str>,
        response_date: Datestamp,
        base_url: &str,
        attributes: &[(&str, &str)],
    ) -> io::Result<Self> {
        let mut xml = Writer::new(out);
        xml.raw(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
        if let Some(href) = style_sheet {
            xml.raw(b"<?xml-stylesheet type=\"text/xsl\" href=\"")?;
            xml.text(href)?;
            xml.raw(b"\"?>\n")?;
        }
        let namespaces = [
            ("xmlns", NAMESPACE),
            ("xmlns:xsi", xml::XSI),
            ("xsi:schemaLocation", SCHEMA_LOCATION),
        ];
        xml.start("OAI-PMH", &namespaces)?;
        xml.newline()?;
        xml.element("responseDate", &[], &response_date.to_string())?;
        xml.newline()?;
        xml.element("request", attributes, base_url)?;
        xml.newline()?;
        Ok(Self { xml })
    }

    /// Writes the start tag of the verb's element.
    pub fn begin_verb(&mut self, verb: Verb) -> io::Result<()> {
        self.xml.start(verb.as_str(), &[])?;
        self.xml.newline()
    }

    /// Writes the end tag of the verb's element.
    pub fn end_verb(&mut self, verb: Verb) -> io::Result<()> {
        self.xml.end(verb.as_str())?;
        self.xml.newline()
    }

    /// Writes the end of the envelope and flushes.
    pub fn finish(mut self) -> io::Result<()> {
        self.xml.end("OAI-PMH")?;
        self.xml.newline()?;
        self.xml.get_mut().flush()
    }

    /// Writes the facts of Identify in the order the schema wants.
    pub fn identify(&mut self, identify: &Identify) -> io::Result<()> {
        let xml = &mut self.xml;
        let mut line = |name: &str, text: &str| {
            xml.element(name, &[], text)?;
            xml.newline()
        };
        line("repositoryName", &identify.repository_name)?;
        line("baseURL", &identify.base_url)?;
        line("protocolVersion", "2.0")?;
        for email in &identify.admin_emails {
            line("adminEmail", email)?;
        }
        line(
            "earliestDatestamp",
            &identify.earliest_datestamp.to_string(),
        )?;
        line("deletedRecord", "persistent")?;
        line("granularity", &Granularity::Second.to_string())?;
        for compression in &identify.compressions {
            line("compression", compression)?;
        }
        Ok(())
    }

    /// Writes a `description` with what `write` puts into it.
    pub fn description(
        &mut self,
        write: impl FnOnce(&mut Writer<W>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.xml.start("description", &[])?;
        write(&mut self.xml)?;
        self.xml.end("description")?;
        self.xml.newline()
    }

    /// Writes one `metadataFormat`.
    pub fn metadata_format(&mut self, format: &MetadataFormat) -> io::Result<()> {
        self.xml.start("metadataFormat", &[])?;
        self.xml.element("metadataPrefix", &[], &format.prefix)?;
        self.xml.element("schema", &[], &format.schema)?;
        self.xml
            .element("metadataNamespace", &[], &format.namespace)?;
        self.xml.end("metadataFormat")?;
        self.xml.newline()
    }

    /// Writes one `set`.
    pub fn set(&mut self, set: &Set) -> io::Result<()> {
        self.xml.start("set", &[])?;
        self.xml.element("setSpec", &[], set.spec.as_str())?;
        self.xml.element("setName", &[], &set.name)?;
        self.xml.end("set")?;
        self.xml.newline()
    }

    /// Writes one `header`.
    pub fn header(&mut self, header: &RecordHeader) -> io::Result<()> {
        let deleted = [("status", "deleted")];
        let attributes: &[_] = if header.deleted { &deleted } else { &[] };
        self.xml.start("header", attributes)?;
        self.xml.element("identifier", &[], &header.identifier)?;
        self.xml
            .element("datestamp", &[], &header.datestamp.to_string())?;
        for set_spec in &header.set_specs {
            self.xml.element("setSpec", &[], set_spec.as_str())?;
        }
        self.xml.end("header")?;
        self.xml.newline()
    }

    /// Writes one `record`; its metadata and what is said about it is written by the caller, and not asked for when
    /// deleted.
    pub fn record<E: From<io::Error>>(
        &mut self,
        header: &RecordHeader,
        write_body: impl FnOnce(&mut Writer<W>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.xml.start("record", &[])?;
        self.header(header)?;
        if !header.deleted {
            write_body(&mut self.xml)?;
        }
        self.xml.end("record")?;
        self.xml.newline()?;
        Ok(())
    }

    /// Writes the `resumptionToken` that ends a page.
    pub fn resumption_token(&mut self, element: &TokenElement) -> io::Result<()> {
        let cursor = element.cursor.to_string();
        let size = element.complete_list_size.map(|size| size.to_string());
        let mut attributes = Vec::new();
        if let Some(size) = &size {
            attributes.push(("completeListSize", size.as_str()));
        }
        attributes.push(("cursor", cursor.as_str()));
        self.xml
            .element("resumptionToken", &attributes, &element.token)?;
        self.xml.newline()
    }
}
