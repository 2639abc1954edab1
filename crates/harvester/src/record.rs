//! The parts of a repository's answers: records and their headers, tokens, sets, formats, and itself.

use jiff::civil;
use oai::{Datestamp, Granularity};
use serde::{Deserialize, Serialize};

use crate::Quirk;
use crate::unpack::SpooledValue;

/// A record as it was sent.
#[derive(Debug)]
pub struct Record {
    /// The record's header.
    pub header: Header,
    /// The whole `record` element as a document of its own: well-formed, UTF-8, no XML declaration,
    /// with the namespaces of its surroundings declared on it as far as they are used.
    pub xml: Vec<u8>,
    /// Repairs that made it well-formed; only where that is allowed.
    pub repairs: Vec<Quirk>,
    /// Large values that were taken out of `xml`, in the order in which they stood there; only where that was asked for
    /// ([`crate::Repository::spooling`]). [`crate::unpack::attach`] joins them to their resources.
    pub values: Vec<SpooledValue>,
}

/// The header of a record, with its texts as they were sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// The name of the item.
    pub identifier: String,
    /// When the record last changed, as sent.
    pub datestamp: String,
    /// The sets the item is in.
    pub set_specs: Vec<String>,
    /// Whether the record is deleted.
    pub deleted: bool,
}

/// Where a list goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Token {
    /// The token itself; empty at the end of a list.
    pub value: String,
    /// How many records came before this page.
    pub cursor: Option<u64>,
    /// How long the list is, or might be.
    pub complete_list_size: Option<u64>,
    /// When the token expires, as sent.
    pub expiration_date: Option<String>,
}

/// A set of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Set {
    /// Its name in requests.
    pub set_spec: String,
    /// Its name for people.
    pub set_name: String,
}

/// A metadata format of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetadataFormat {
    /// Its name in requests.
    pub metadata_prefix: String,
    /// Where its schema is.
    pub schema: String,
    /// Its namespace.
    pub metadata_namespace: String,
}

/// The description of a repository by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its name for people.
    pub repository_name: String,
    /// The base URL it believes to have.
    pub base_url: String,
    /// The version of the protocol.
    pub protocol_version: String,
    /// Whom to write to.
    pub admin_emails: Vec<String>,
    /// No record is older, if that is true.
    pub earliest_datestamp: Option<Datestamp>,
    /// `no`, `transient` or `persistent`, as sent.
    pub deleted_record: String,
    /// How finely dates are given.
    pub granularity: Granularity,
}

/// A record that could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its identifier, if it is known.
    pub identifier: Option<String>,
    /// Between which dates it lies, if no identifier is known.
    pub dates: Option<(String, String)>,
    /// Why it could not be had.
    pub reason: String,
}

impl Header {
    /// The datestamp as a moment, also where it is not quite of a legal form: with fractions of a
    /// second, with another time zone, without one, or with a space.
    ///
    /// ```
    /// let header = harvester::Header {
    ///     datestamp: "2004-02-29T13:00:00.5+01:00".to_owned(),
    ///     ..Default::default()
    /// };
    /// assert_eq!(header.moment().unwrap().to_string(), "2004-02-29T12:00:00Z");
    /// ```
    pub fn moment(&self) -> Option<Datestamp> {
        moment(&self.datestamp)
    }
}

pub(crate) fn moment(text: &str) -> Option<Datestamp> {
    let text = text.trim();
    if let Some((datestamp, _)) = Datestamp::parse(text) {
        return Some(datestamp);
    }
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Some(Datestamp::from_seconds(timestamp.as_second()));
    }
    let datetime: civil::DateTime = text.parse().ok()?;
    let since = datetime.duration_since(civil::datetime(1970, 1, 1, 0, 0, 0, 0));
    Some(Datestamp::from_seconds(since.as_secs()))
}
