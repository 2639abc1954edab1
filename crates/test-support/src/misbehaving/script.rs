//! The records of the repository, and the faults it plays.

use super::Fault;

/// The records, the pages, and the faults.
#[derive(Debug, Clone)]
pub struct Script {
    /// How many records there are. Every tenth is deleted.
    pub records: usize,
    /// How many are on a page.
    pub page: usize,
    /// Whether dates are days.
    pub days: bool,
    /// How many seconds lie between two records.
    pub step: i64,
    /// The faults.
    pub faults: Vec<Fault>,
}

impl Script {
    /// A list of `records` records with `page` on a page, one a minute from the beginning of 2020 on.
    pub fn new(records: usize, page: usize) -> Self {
        Self {
            records,
            page,
            days: false,
            step: 60,
            faults: Vec::new(),
        }
    }

    /// With a fault.
    pub fn with(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Uses days as dates, with `records_per_day` records a day.
    pub fn by_days(mut self, records_per_day: i64) -> Self {
        self.days = true;
        self.step = 86_400 / records_per_day;
        self
    }

    /// The identifier of a record.
    pub fn identifier(number: usize) -> String {
        format!("oai:misbehaving.example:{number}")
    }

    /// The identifiers of all records.
    pub fn identifiers(&self) -> Vec<String> {
        (0..self.records).map(Self::identifier).collect()
    }

    pub(super) fn has(&self, fault: &Fault) -> bool {
        self.faults.contains(fault)
    }

    /// Whether the server fails at a record.
    pub(super) fn breaks(&self, number: usize, verb: &str) -> bool {
        self.has(&Fault::HeaderError(number))
            || verb != "ListIdentifiers" && self.has(&Fault::RecordError(number))
    }

    /// The moment of a record, in seconds.
    pub(super) fn moment(&self, number: usize) -> i64 {
        let has_moved = |fault: &Fault| matches!(fault, Fault::Moved(records) if number < *records);
        let since = match self.faults.iter().any(has_moved) {
            true => NOW - BEGINNING,
            false => 0,
        };
        BEGINNING + since + number as i64 * self.step
    }
}

/// 2020-01-01T00:00:00Z
pub(super) const BEGINNING: i64 = 1_577_836_800;
/// The time of the server, in seconds.
pub(super) const NOW: i64 = BEGINNING + 400 * 86_400;
