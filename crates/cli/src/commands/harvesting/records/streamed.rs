//! The records of a repository as they come, one at a time in memory.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use harvester::{
    Client, Error, ErrorKind, Harvest, Header, LeftOut, Method, Misbehaviour, Plan, Record,
    Repository, Step,
};
use oai::Granularity;
use serde::Serialize;

use crate::commands::LEFT_OUT;
use crate::commands::records::{Date, Records, Verb};
use crate::output::{Out, to_stdout, write_json};
use crate::text::plain;

pub(super) fn run(options: &Records, base_url: &str) -> anyhow::Result<ExitCode> {
    let client = Client::new(options.network.client_options()?)?;
    let repository = client.repository(base_url)?;
    to_stdout(|out| {
        let mut stream = Stream {
            options,
            out,
            left: options.limit.unwrap_or(u64::MAX),
            left_out: 0,
        };
        stream.begin()?;
        match options.verb {
            Some(Verb::ListIdentifiers) => stream.headers(&repository)?,
            _ => stream.records(&repository)?,
        }
        // After a failure the document stays open, so that nobody takes it for the whole.
        stream.end()?;
        Ok(match stream.left_out {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::from(LEFT_OUT),
        })
    })
}

struct Stream<'a> {
    options: &'a Records,
    out: &'a mut Out,
    /// How many records may still be written.
    left: u64,
    left_out: u64,
}

impl Stream<'_> {
    /// Whole records, by way of a harvest: it gets around what cannot be read.
    fn records(&mut self, repository: &Repository) -> anyhow::Result<()> {
        let written = |date: &Option<Date>| date.as_ref().map(|date| date.text.clone());
        let plan = Plan {
            method: Method::ListRecords,
            set: self.options.set.clone(),
            from: written(&self.options.from),
            until: written(&self.options.until),
            ..Plan::all(self.prefix())
        };
        if self.left == 0 {
            return Ok(());
        }
        for step in Harvest::new(repository, plan, None)? {
            match step? {
                Step::Record(record) => self.record(&record)?,
                Step::LeftOut(left_out) => self.leave_out(&left_out),
                Step::Page(_) => {}
            }
            if self.left == 0 {
                break;
            }
        }
        Ok(())
    }

    fn headers(&mut self, repository: &Repository) -> anyhow::Result<()> {
        let (from, until) = self.bounds(repository)?;
        let set = self.options.set.as_deref();
        let mut headers =
            repository.list_identifiers(self.prefix(), set, from.as_deref(), until.as_deref());
        while self.left > 0 {
            match headers.lend() {
                None => break,
                Some(Ok(header)) => self.header(header)?,
                Some(Err(error)) => match one_header(&error) {
                    Some(reason) => self.complain(reason),
                    None => return Err(error.into()),
                },
            }
        }
        Ok(())
    }

    /// The dates as this repository takes them: both bounds, if there are two, in its own granularity.
    fn bounds(&self, repository: &Repository) -> anyhow::Result<(Option<String>, Option<String>)> {
        let (from, until) = (&self.options.from, &self.options.until);
        if let (Some(from), Some(until)) = (from, until)
            && from.moment > until.last()
        {
            bail!("`from` is later than `until`");
        }
        if from.is_none() && until.is_none() {
            return Ok((None, None));
        }
        let days = repository.identify()?.granularity == Granularity::Day;
        let lower = from.as_ref().map(|date| match days {
            true => day(date),
            false => date.moment.to_string(),
        });
        let upper = until.as_ref().map(|date| match days {
            true => day(date),
            false => date.last().to_string(),
        });
        Ok((lower, upper))
    }

    fn prefix(&self) -> &str {
        self.options.prefix.as_deref().unwrap_or("oai_dc")
    }

    fn begin(&mut self) -> io::Result<()> {
        match self.options.xml {
            true => writeln!(
                self.out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<records>"
            ),
            false => Ok(()),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        match self.options.xml {
            true => writeln!(self.out, "</records>"),
            false => Ok(()),
        }
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        if !self.options.xml {
            return self.header(&record.header);
        }
        if !self.options.wants(record.header.deleted) {
            return Ok(());
        }
        self.left -= 1;
        self.out.write_all(&record.xml)?;
        self.out.write_all(b"\n")
    }

    fn header(&mut self, header: &Header) -> io::Result<()> {
        if !self.options.wants(header.deleted) {
            return Ok(());
        }
        self.left -= 1;
        if self.options.json {
            let header = HeaderJson {
                identifier: &header.identifier,
                datestamp: &header.datestamp,
                deleted: header.deleted,
                set_specs: &header.set_specs,
            };
            return write_json(self.out, &header);
        }
        plain(&header.datestamp).write_to(self.out)?;
        self.out.write_all(match header.deleted {
            true => b"\tdeleted\t",
            false => b"\tlive\t",
        })?;
        plain(&header.identifier).write_to(self.out)?;
        self.out.write_all(b"\n")
    }

    fn leave_out(&mut self, left_out: &LeftOut) {
        let what = match (&left_out.identifier, &left_out.dates) {
            (Some(identifier), _) => format!("the record `{identifier}`"),
            (None, Some((from, until))) => format!("a record between {from} and {until}"),
            (None, None) => "a record".to_owned(),
        };
        self.complain(&format!("{what}: {}", left_out.reason));
    }

    fn complain(&mut self, what: &str) {
        self.left_out += 1;
        eprintln!("garner: skipped: {}", plain(what));
    }
}

fn day(date: &Date) -> String {
    let mut day = date.moment.to_string();
    day.truncate(10);
    day
}

/// The message for a single header that cannot be read: the list continues. Errors that end the list name a
/// request or are of another kind.
fn one_header(error: &Error) -> Option<&str> {
    match error.kind() {
        ErrorKind::RepositoryMisbehaved(Misbehaviour::Broken {
            offset: 0,
            after: None,
            reason,
        }) if error.request().is_none() => Some(reason),
        _ => None,
    }
}

/// A record as its repository describes it.
#[derive(Serialize)]
struct HeaderJson<'a> {
    identifier: &'a str,
    datestamp: &'a str,
    deleted: bool,
    set_specs: &'a [String],
}
