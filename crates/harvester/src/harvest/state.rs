//! Where a harvest stands: to be kept together with the rows of the page it belongs to.

use std::fmt;
use std::str::FromStr;

use oai::Granularity;
use serde::{Deserialize, Serialize};

use super::Plan;
use super::loops::Way;
use super::patch::Patch;
use super::until::Until;
use super::window::Window;
use crate::Error;

/// Where a harvest goes on. Its text is for keeping, not for reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeState {
    pub(super) plan: Plan,
    pub(super) days: bool,
    /// The responseDate of the first page.
    pub(super) began: Option<i64>,
    pub(super) earliest: Option<i64>,
    /// The windows left to be read; the last one is next.
    pub(super) windows: Vec<Window>,
    /// How many records were given in all.
    pub(super) given: u64,
    /// How often a datestamp was newer than the one before it in its list.
    pub(super) ascents: u32,
    /// Whether one was ever older.
    pub(super) disordered: bool,
    /// How many parts in a row could not be read.
    pub(super) failures: u32,
    /// Fingerprints of the current list, to notice when it comes again.
    #[serde(default)]
    pub(super) way: Way,
    /// How many records could not be had, and how many spans were given up.
    #[serde(default)]
    pub(super) lost: u64,
    #[serde(default)]
    pub(super) holes: u64,
    /// The span that is read in parts.
    #[serde(default)]
    pub(super) patch: Option<Patch>,
    /// The meaning found for `until`, and a datestamp it can be tried with.
    #[serde(default)]
    pub(super) until: Option<Until>,
    #[serde(default)]
    pub(super) sample: Option<i64>,
    /// Whether completeListSize was found to be wrong, so that no list is read again because of it.
    #[serde(default)]
    pub(super) sizes_unreliable: bool,
    /// How many lists did not end by themselves.
    #[serde(default)]
    pub(super) loops: u32,
}

impl ResumeState {
    pub(super) fn granularity(&self) -> Granularity {
        match self.days {
            true => Granularity::Day,
            false => Granularity::Second,
        }
    }

    /// Whether lists are known to be in the order of dates. A few records may be so by chance.
    pub(super) fn ordered(&self) -> bool {
        !self.disordered && self.ascents >= ENOUGH_ASCENTS
    }

    /// The plan of the harvest.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

impl fmt::Display for ResumeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl FromStr for ResumeState {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text)
            .map_err(|error| Error::usage(format!("the saved state cannot be read: {error}")))
    }
}

const ENOUGH_ASCENTS: u32 = 10;
