//! Records asked for one by one, after a page of headers.

use std::collections::VecDeque;

use super::Harvest;
use super::patch::Budget;
use crate::Quirk;
use crate::client::Patience;
use crate::error::{Error, ErrorKind};
use crate::read::Report;
use crate::record::{Header, LeftOut, Record};

/// The records of one page of headers.
pub(super) struct Singles {
    headers: VecDeque<Header>,
    total: u64,
    done: usize,
    since_page: usize,
    report: Report,
}

impl Singles {
    /// `done` were asked for already.
    pub(super) fn new(mut headers: VecDeque<Header>, done: usize, report: Report) -> Self {
        let total = headers.len() as u64;
        headers.drain(..done.min(headers.len()));
        Self {
            headers,
            total,
            done,
            since_page: 0,
            report,
        }
    }

    pub(super) fn finish(self) -> (Report, u64) {
        (self.report, self.total)
    }

    /// Asks for the next record; `false` if there is none.
    pub(super) fn next(&mut self, harvest: &mut Harvest) -> Result<bool, Error> {
        let Some(header) = self.headers.pop_front() else {
            return Ok(false);
        };
        let key = harvest.recent.key(&header);
        if is_behind(&header, harvest) {
            // The list behind this one brings it.
        } else if harvest.recent.contains(key) {
            harvest.note_repeated();
        } else if header.deleted {
            harvest.give(tombstone(header), key);
        } else {
            ask(header, harvest)?;
        }
        self.done += 1;
        self.since_page += 1;
        if self.since_page == AT_ONCE && !self.headers.is_empty() {
            self.since_page = 0;
            if let Some(window) = harvest.state.windows.last_mut() {
                window.done_on_page = self.done;
            }
            harvest.push_page(0, None, None);
        }
        Ok(true)
    }
}

/// Whether a record lies behind the span that is read, which overlaps with the next one.
fn is_behind(header: &Header, harvest: &Harvest) -> bool {
    let window = harvest.state.windows.last().filter(|window| window.cut);
    let until = window.and_then(|window| window.until);
    let moment = header.moment().map(oai::Datestamp::seconds);
    moment
        .zip(until)
        .is_some_and(|(moment, until)| moment > until)
}

fn ask(header: Header, harvest: &mut Harvest) -> Result<(), Error> {
    let prefix = harvest.state.plan.metadata_prefix.clone();
    let is_part = harvest.state.patch.is_some();
    if is_part && harvest.budget() == Budget::Nothing {
        let reason = format!("it was not asked for{}", harvest.spent());
        lose(header, reason, harvest);
        return Ok(());
    }
    let patience = match is_part {
        true => Patience::Brief,
        false => Patience::Usual,
    };
    let repository = harvest.repository.with_patience(patience);
    let error = match repository.get_record(&header.identifier, &prefix) {
        Ok(record) => {
            // It may have changed since it was listed.
            let key = harvest.recent.key(&record.header);
            harvest.give(record, key);
            return Ok(());
        }
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::Stopped
        | ErrorKind::Usage(_)
        | ErrorKind::Busy(_)
        | ErrorKind::AskedToWait { .. } => return Err(error),
        ErrorKind::Transport(_) if !harvest.repository.is_alive() => return Err(error),
        _ => {}
    }
    if is_part {
        harvest.spend();
    }
    lose(header, error.to_string(), harvest);
    Ok(())
}

fn lose(header: Header, reason: String, harvest: &mut Harvest) {
    harvest.page.quirks.add(Quirk::ListedButNotGiven);
    harvest.blame();
    harvest.leave_out(LeftOut {
        identifier: Some(header.identifier),
        dates: None,
        reason,
    });
}

/// The record of an item that is gone: there is nothing more to ask for than its header.
fn tombstone(header: Header) -> Record {
    let mut xml = Vec::new();
    let mut writer = oai::xml::Writer::new(&mut xml);
    // Writing to memory does not fail.
    let _ = (|| -> std::io::Result<()> {
        writer.start("record", &[("xmlns", NAMESPACE)])?;
        writer.start("header", &[("status", "deleted")])?;
        writer.element("identifier", &[], &header.identifier)?;
        writer.element("datestamp", &[], &header.datestamp)?;
        for set_spec in &header.set_specs {
            writer.element("setSpec", &[], set_spec)?;
        }
        writer.end("header")?;
        writer.end("record")
    })();
    Record {
        header,
        xml,
        repairs: Vec::new(),
        values: Vec::new(),
    }
}

const NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/";
/// As many records are committed together.
const AT_ONCE: usize = 100;
