//! The plan of a harvest.

use oai::{Datestamp, Granularity};
use serde::{Deserialize, Serialize};

use crate::Error;

/// Which records, and how they are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// How.
    pub method: Method,
    /// In which format.
    pub metadata_prefix: String,
    /// In which set, if not in all.
    pub set: Option<String>,
    /// Since when: a day, or a moment to the second.
    pub from: Option<String>,
    /// Until when, with this day or moment.
    pub until: Option<String>,
}

/// How records are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Method {
    /// Pages of records.
    #[default]
    ListRecords,
    /// Pages of headers, and then each record by itself: slow, but it gets around broken pages.
    ListIdentifiers,
}

impl Plan {
    /// All records in a format.
    pub fn all(metadata_prefix: &str) -> Self {
        Self {
            method: Method::ListRecords,
            metadata_prefix: metadata_prefix.to_owned(),
            set: None,
            from: None,
            until: None,
        }
    }

    /// The bounds as moments, both within.
    pub(super) fn bounds(&self) -> Result<(Option<i64>, Option<i64>), Error> {
        let from = self.from.as_deref().map(parsed).transpose()?;
        let until = self.until.as_deref().map(parsed).transpose()?;
        let from = from.map(|(datestamp, _)| datestamp.seconds());
        let until = until.map(|(datestamp, granularity)| match granularity {
            Granularity::Day => datestamp.end_of_day().seconds(),
            Granularity::Second => datestamp.seconds(),
        });
        if let (Some(from), Some(until)) = (from, until)
            && from > until
        {
            return Err(Error::usage("`from` is later than `until`"));
        }
        Ok((from, until))
    }
}

fn parsed(text: &str) -> Result<(Datestamp, Granularity), Error> {
    Datestamp::parse(text).ok_or_else(|| {
        let message = "is not a date; write YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ";
        Error::usage(format!("`{text}` {message}"))
    })
}
