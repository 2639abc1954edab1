//! The parts of a record's file: its metadata and what is said about it, byte for byte.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Where the parts of a record are in its file.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// The content of `metadata`, with the namespaces that are declared around it.
    pub(crate) metadata: Option<Part>,
    /// The contents of each `about`; provenance is apart.
    pub(crate) about: Vec<Part>,
    /// The content of the provenance container: the origin of the source.
    pub(crate) provenance: Option<Part>,
}

/// A part of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Where it is in the file.
    pub(crate) bytes: Range<usize>,
    /// The namespaces that are declared around it, by their prefixes; the values are as they stand in the file.
    pub(crate) namespaces: Vec<(String, String)>,
}

/// An element that is open.
struct Open {
    declared: usize,
    what: What,
    /// Where its content begins.
    begin: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Record,
    Metadata,
    About,
    Provenance,
    Other,
}

impl Parts {
    /// Finds the parts. Why there are none is for the log.
    pub(crate) fn find(xml: &[u8]) -> Result<Self, String> {
        let mut reader = Reader::from_reader(xml);
        let mut parts = Self::default();
        let mut namespaces: Vec<(String, String)> = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        // An `about` is kept when it ends: it may turn out to hold provenance.
        let mut is_provenance = false;
        loop {
            let before = position(&reader);
            match reader.read_event().map_err(|error| error.to_string())? {
                Event::Start(tag) => {
                    let declared = namespaces.len();
                    let what = of(&tag, &open);
                    if what != What::Other || open.is_empty() {
                        declare(&tag, &mut namespaces)?;
                    }
                    let is_provenance_tag = what == What::Provenance
                        && namespace(&tag, &namespaces) == Some(PROVENANCE);
                    let what = match (what, is_provenance_tag) {
                        (What::Provenance, false) => What::Other,
                        (what, _) => what,
                    };
                    is_provenance |= is_provenance_tag;
                    open.push(Open {
                        declared,
                        what,
                        begin: position(&reader),
                    });
                }
                Event::End(_) => {
                    let Some(element) = open.pop() else {
                        return Err("it does not nest".to_owned());
                    };
                    let part = || Part {
                        bytes: element.begin..before,
                        namespaces: in_scope(&namespaces),
                    };
                    match element.what {
                        What::Metadata => parts.metadata = Some(part()),
                        What::Provenance if parts.provenance.is_none() => {
                            parts.provenance = Some(part());
                        }
                        What::About if !std::mem::take(&mut is_provenance) => {
                            parts.about.push(part());
                        }
                        _ => {}
                    }
                    namespaces.truncate(element.declared);
                }
                Event::Eof if open.is_empty() => return Ok(parts),
                Event::Eof => return Err("it is cut off".to_owned()),
                _ => {}
            }
        }
    }
}

impl Part {
    /// The default namespace around it.
    pub(crate) fn default_namespace(&self) -> &str {
        let default = self.namespaces.iter().find(|(prefix, _)| prefix.is_empty());
        default.map_or("", |(_, namespace)| namespace)
    }

    /// The attributes that declare its namespaces again, for an element around it. The default namespace is told only if
    /// it is not that of OAI-PMH, which is in force already.
    pub(crate) fn declarations(&self) -> String {
        let mut text = String::new();
        for (prefix, namespace) in &self.namespaces {
            if !prefix.is_empty() {
                text.push_str(&format!(" xmlns:{prefix}=\"{namespace}\""));
            }
        }
        text
    }
}

/// The namespace of OAI-PMH.
pub(crate) const OAI: &str = "http://www.openarchives.org/OAI/2.0/";
/// The namespace of provenance containers.
pub(crate) const PROVENANCE: &str = "http://www.openarchives.org/OAI/2.0/provenance";

fn position(reader: &Reader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX)
}

fn of(tag: &BytesStart<'_>, open: &[Open]) -> What {
    let name = tag.local_name();
    let name = name.as_ref() as &str;
    match (open.len(), open.last().map(|open| open.what)) {
        (0, _) => What::Record,
        (1, _) if name == "metadata" => What::Metadata,
        (1, _) if name == "about" => What::About,
        (2, Some(What::About)) if name == "provenance" => What::Provenance,
        _ => What::Other,
    }
}

/// Notes the namespaces that a tag declares.
fn declare(tag: &BytesStart<'_>, namespaces: &mut Vec<(String, String)>) -> Result<(), String> {
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let name = attribute.key.as_ref() as &str;
        let prefix = match name.strip_prefix("xmlns") {
            Some("") => "",
            Some(rest) => match rest.strip_prefix(':') {
                Some(prefix) => prefix,
                None => continue,
            },
            None => continue,
        };
        // In a file it may stand in the other quotation marks.
        let value = attribute.value.replace('"', "&quot;");
        namespaces.push((prefix.to_owned(), value));
    }
    Ok(())
}

/// The namespace of the name of a tag.
fn namespace<'a>(tag: &BytesStart<'_>, namespaces: &'a [(String, String)]) -> Option<&'a str> {
    let name = tag.name();
    let name = name.as_ref() as &str;
    let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
    let found = namespaces.iter().rev().find(|(known, _)| known == prefix);
    found.map(|(_, namespace)| namespace.as_str())
}

/// The declarations in force: of one prefix the last.
fn in_scope(namespaces: &[(String, String)]) -> Vec<(String, String)> {
    let mut scope: Vec<(String, String)> = Vec::new();
    for (prefix, namespace) in namespaces.iter().rev() {
        if !scope.iter().any(|(known, _)| known == prefix) {
            scope.push((prefix.clone(), namespace.clone()));
        }
    }
    scope.reverse();
    scope
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_as_they_stand() {
        let xml = br#"<record xmlns="http://www.openarchives.org/OAI/2.0/" xmlns:x="urn:x"><header/><metadata xmlns:y='urn:"y"'> <x:a><about/><![CDATA[</metadata>]]></x:a>
</metadata><about><rights xmlns="urn:r">r</rights></about><about><p:provenance xmlns:p="http://www.openarchives.org/OAI/2.0/provenance"><p:originDescription>o</p:originDescription></p:provenance></about></record>"#;

        let parts = Parts::find(xml).unwrap();

        let metadata = parts.metadata.unwrap();
        let text = |part: &Part| String::from_utf8_lossy(&xml[part.bytes.clone()]).into_owned();
        assert_eq!(
            text(&metadata),
            " <x:a><about/><![CDATA[</metadata>]]></x:a>\n"
        );
        assert_eq!(
            metadata.declarations(),
            " xmlns:x=\"urn:x\" xmlns:y=\"urn:&quot;y&quot;\""
        );
        assert_eq!(metadata.default_namespace(), OAI);
        assert_eq!(parts.about.len(), 1);
        assert_eq!(text(&parts.about[0]), "<rights xmlns=\"urn:r\">r</rights>");
        let provenance = parts.provenance.unwrap();
        assert_eq!(
            text(&provenance),
            "<p:originDescription>o</p:originDescription>"
        );
        assert!(provenance.declarations().contains("xmlns:p="));
    }

    #[test]
    fn what_is_no_record_is_an_error_or_has_no_parts() {
        assert!(Parts::find(b"<record><metadata>").is_err());
        assert!(Parts::find(b"<record></other>").is_err());
        assert!(Parts::find(b"").unwrap().metadata.is_none());
        assert!(Parts::find(b"<record/>").unwrap().metadata.is_none());
    }
}
