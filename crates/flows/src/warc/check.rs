//! Checks archives: structure, and digests against the bytes that they are of.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use crawl::{
    Body, Capture, Checked, DigestCheck, Place, RawEvent, ReadOptions, Source, SourceEvent,
};
use serde::Serialize;

use super::heads;

/// The result of a check.
#[derive(Debug, Clone, Default, Serialize)]
pub struct WarcCheck {
    /// The file.
    pub file: String,
    /// Captures that were read.
    pub captures: u64,
    /// Digests that are those of their bytes.
    pub digests_right: u64,
    /// Digests that cannot be compared: their algorithm is not known.
    pub digests_unknown: u64,
    /// Captures without a digest.
    pub without_digest: u64,
    /// The problems: those of records and digests, and then those of heads, in the order of the file.
    pub problems: Vec<WarcProblem>,
}

/// Something that is wrong with an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WarcProblem {
    /// The file, with the member of a WACZ.
    pub file: String,
    /// Where the record begins.
    pub offset: u64,
    /// The record, such as `http://host/` or `request of http://host/`; empty if none could be read.
    pub record: String,
    /// The problem.
    pub problem: String,
}

/// Checks an archive: all records, all digests. `threads` read it.
pub fn check_archive(path: &Path, threads: usize) -> anyhow::Result<WarcCheck> {
    let mut check = WarcCheck {
        file: path.display().to_string(),
        ..WarcCheck::default()
    };
    for source in super::open(path)? {
        let options = ReadOptions {
            threads,
            check_all: true,
            check_long: true,
            ..ReadOptions::default()
        };
        let work = |_: &Capture, body: &mut Body<'_>| {
            body.check_digests(false);
            io::copy(body, &mut io::sink())
                .err()
                .map(|error| error.to_string())
        };
        let ended = source.read(0, &options, &work, &mut |event| {
            check.take(event);
            ControlFlow::Continue(())
        })?;
        if ended.still_written {
            let place = Place {
                file: path.to_owned(),
                offset: ended.position,
                member: None,
            };
            check.problem(
                &place,
                "",
                "its last record is not complete; it is still being written",
            );
        }
        check.heads(&source)?;
    }
    Ok(check)
}

impl WarcCheck {
    /// Whether nothing is wrong.
    pub fn is_well(&self) -> bool {
        self.problems.is_empty()
    }

    /// Looks at the heads of all records of a source.
    fn heads(&mut self, source: &Source) -> anyhow::Result<()> {
        source.records(0, &ReadOptions::default(), &mut |event| {
            if let RawEvent::Record(record, _) = event
                && !record.is_arc()
            {
                for problem in heads::problems(&record.head) {
                    self.problem(&record.place, &record.url, &problem);
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    fn take(&mut self, event: SourceEvent<Option<String>>) {
        match event {
            SourceEvent::Capture(capture, unread) => {
                self.captures += 1;
                self.digests(&capture.place, &capture.url, &capture.digests);
                let has_none = [&capture.digests.block, &capture.digests.payload]
                    .iter()
                    .all(|checked| **checked == Checked::Unchecked);
                self.without_digest += u64::from(has_none);
                let oddities = capture.oddities.iter();
                for oddity in oddities.filter(|oddity| oddity.is_damage()) {
                    self.problem(&capture.place, &capture.url, &oddity.to_string());
                }
                if let Some(reason) = unread {
                    self.problem(&capture.place, &capture.url, &reason);
                }
            }
            SourceEvent::Checked(check) => {
                self.digests(&check.place, &check.record, &check.digests);
            }
            SourceEvent::Skipped(skipped) => self.problem(&skipped.place, "", &skipped.reason),
            SourceEvent::Noted(_) | SourceEvent::Late(_) | SourceEvent::Position(_) => {}
        }
    }

    fn digests(&mut self, place: &Place, record: &str, digests: &DigestCheck) {
        for checked in [&digests.block, &digests.payload] {
            match checked {
                Checked::Fits => self.digests_right += 1,
                Checked::Unknown => self.digests_unknown += 1,
                Checked::Differs(reason) => self.problem(place, record, reason),
                Checked::Unchecked => {}
            }
        }
    }

    fn problem(&mut self, place: &Place, record: &str, problem: &str) {
        let file = place.file.display();
        self.problems.push(WarcProblem {
            file: match &place.member {
                Some(member) => format!("{file}!{member}"),
                None => file.to_string(),
            },
            offset: place.offset,
            record: record.to_owned(),
            problem: problem.to_owned(),
        });
    }
}
