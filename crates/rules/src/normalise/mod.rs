//! Normalising adds elements to a record where what is there matches, from the mapping files of the UIUC harvester.
//!
//! Nothing that a repository sent is changed or removed. What is added is text put in between, so everything else stays
//! as it was byte for byte.

mod file;
mod plan;

use std::borrow::Cow;
use std::path::Path;

use regex::Regex;
use roxmltree::Document;
use serde::Serialize;

use self::plan::Plan;
use crate::filter::Error;
use crate::xml::rule_file::compared;
use crate::xml::{self, Limits, LoadError, Malformed};
use crate::xpath::XPath;

/// The mappings of one file.
///
/// ```
/// use rules::normalise::Mappings;
///
/// let mappings = Mappings::parse(br#"
///     <normalize>
///       <selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'</selectionNamespaces>
///       <mapping xpath="//dc:type">
///         <newElement regexp="jpe?g|gif|png" ignoreCase="true" name="dc:type">
///           <newValue>image</newValue>
///         </newElement>
///       </mapping>
///     </normalize>"#)?;
///
/// let record = br#"<r xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:type>JPEG</dc:type></r>"#;
/// let normalised = mappings.apply(record)?;
/// assert_eq!(
///     String::from_utf8_lossy(&normalised.xml),
///     r#"<r xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:type>JPEG</dc:type><dc:type>image</dc:type></r>"#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mappings {
    mappings: Vec<Mapping>,
    limits: Limits,
}

/// A record with what was added to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Normalised<'a> {
    /// The record; the very bytes given, if nothing was added.
    pub xml: Cow<'a, [u8]>,
    /// The added fields.
    pub added: Vec<Added>,
    /// The insertions of each round, as offset and length, by offset.
    insertions: Vec<Vec<(usize, usize)>>,
}

/// An element that was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Added {
    /// The text that matched, or its beginning.
    pub because_of: String,
    /// The name of the new element, as in the mapping file.
    pub name: String,
    /// Its text.
    pub value: String,
}

#[derive(Debug, Clone)]
struct Mapping {
    xpath: XPath,
    elements: Vec<NewElement>,
}

#[derive(Debug, Clone)]
struct NewElement {
    regexp: Regex,
    name: Name,
    values: Vec<String>,
}

/// A name as it is written in the file, and what it means.
#[derive(Debug, Clone)]
struct Name {
    prefix: Option<String>,
    local: String,
    namespace: Option<String>,
}

impl Mappings {
    /// Reads a mapping file. Anything in it that cannot be used is refused, with its place.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        xml::load(path, Self::parse)
    }

    /// Reads the content of a mapping file.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        file::parse(bytes)
    }

    /// Reads records within other limits than the usual ones.
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Adds what the mappings say. A new element may itself match, so this is done until there is nothing to add;
    /// a second call then finds nothing either.
    ///
    /// The rounds end: elements are added only below parents that the record had, only from the values of the file,
    /// and each only once.
    pub fn apply<'a>(&self, record: &'a [u8]) -> Result<Normalised<'a>, Error> {
        let mut xml = Cow::Borrowed(record);
        let (mut added, mut insertions) = (Vec::new(), Vec::new());
        loop {
            let document = xml::parse(&xml, &self.limits)?;
            let mut plan = self.plan(&document)?;
            if plan.is_empty() {
                return Ok(Normalised {
                    xml,
                    added,
                    insertions,
                });
            }
            insertions.push(plan.insertions());
            let (next, new) = plan.carry_out(&xml);
            xml = Cow::Owned(next);
            added.extend(new);
        }
    }

    fn plan(&self, document: &Document) -> Result<Plan, Error> {
        let mut plan = Plan::default();
        for mapping in &self.mappings {
            for node in mapping.xpath.select(document)? {
                let Some(beside) = node.element() else {
                    continue;
                };
                let text = node.text();
                let text = compared(&text);
                let matching = mapping
                    .elements
                    .iter()
                    .filter(|new| new.regexp.is_match(text));
                for (name, value) in matching.flat_map(NewElement::each) {
                    plan.add(beside, name, value, text);
                }
            }
        }
        Ok(plan)
    }
}

impl Normalised<'_> {
    /// Where an offset of the record as it was lies now.
    pub fn moved(&self, offset: usize) -> usize {
        self.insertions.iter().fold(offset, |offset, round| {
            let before = round.iter().take_while(|(at, _)| *at <= offset);
            offset + before.map(|(_, length)| length).sum::<usize>()
        })
    }
}

impl NewElement {
    fn each(&self) -> impl Iterator<Item = (&Name, &str)> {
        self.values.iter().map(|value| (&self.name, value.as_str()))
    }
}
