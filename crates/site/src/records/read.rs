//! One file as one element that can stand in an answer.

use std::fs::File;
use std::io::{self, Read};

use quick_xml::events::Event;
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

use crate::plugin::standalone_element;

/// An element, and the namespace of its name.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) text: String,
    pub(super) namespace: String,
}

/// Why there is none.
#[derive(Debug)]
pub(super) enum Unusable {
    /// The file is no record.
    Refused(String),
    /// The file system would not say.
    Unknown(io::Error),
}

/// Reads a file to its end.
pub(super) fn element(file: File) -> Result<Element, Unusable> {
    let mut bytes = Vec::new();
    let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(Unusable::Unknown)?;
    let refused = |reason: &str| Unusable::Refused(reason.to_owned());
    if bytes.len() as u64 > LONGEST {
        return Err(refused("it is larger than 16 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8"))?;
    let text = standalone_element(&text).map_err(|problem| refused(&problem))?;
    let namespace = namespace(&text).ok_or_else(|| refused("its root element is unreadable"))?;
    Ok(Element { text, namespace })
}

/// The namespace of the root element.
fn namespace(text: &str) -> Option<String> {
    let mut reader = NsReader::from_str(text);
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) | Event::Empty(start) => {
                return match reader.resolver().resolve_element(start.name()).0 {
                    ResolveResult::Bound(namespace) => Some(namespace.0.to_owned()),
                    ResolveResult::Unbound => Some(String::new()),
                    ResolveResult::Unknown(_) => None,
                };
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

/// The largest record.
const LONGEST: u64 = 16 << 20;
