//! Goes through a container, and through those inside of it.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;

use super::gzip::Gunzip;
use super::meter::{Meter, Metered, Watched};
use super::names::{self, Names};
use super::tar::{self, Tar};
use super::zip::{self, Zip};
use super::{Containers, Error, Kind, Opened, Skipped};

type Receiver<'a> = &'a mut dyn FnMut(&str, &mut dyn Read) -> ControlFlow<()>;

pub(super) struct Opening<'a> {
    which: Containers,
    meter: &'a Meter<'a>,
    receiver: Receiver<'a>,
    names: Names,
    opened: Opened,
}

impl<'a> Opening<'a> {
    pub(super) fn new(which: Containers, meter: &'a Meter<'a>, receiver: Receiver<'a>) -> Self {
        Self {
            which,
            meter,
            receiver,
            names: Names::default(),
            opened: Opened::default(),
        }
    }

    pub(super) fn finish(self, stopped: bool) -> Opened {
        Opened {
            stopped,
            ..self.opened
        }
    }

    /// Opens one container, which lies at a path and a depth.
    pub(super) fn layer(
        &mut self,
        kind: Kind,
        reader: &mut dyn BufRead,
        path: &str,
        depth: u32,
    ) -> Result<ControlFlow<()>, Error> {
        match kind {
            Kind::Gzip => {
                self.meter.member()?;
                let inflated = Metered::new(Gunzip::new(reader), self.meter);
                let mut content = BufReader::new(inflated);
                self.content(&mut content, path, depth, kind)
            }
            Kind::Tar => self.tar(reader, path, depth),
            Kind::Zip => self.zip(reader, path, depth),
        }
    }

    fn tar(
        &mut self,
        reader: &mut dyn BufRead,
        path: &str,
        depth: u32,
    ) -> Result<ControlFlow<()>, Error> {
        let mut tar = Tar::new(reader);
        while let Some(entry) = tar.next().map_err(|error| self.meter.error(error))? {
            self.meter.member()?;
            let label = names::join(path, &entry.name);
            match entry.kind {
                tar::EntryKind::File => {
                    let flow = self.member(tar.content(), &label, depth, Kind::Tar)?;
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
                tar::EntryKind::Directory => {}
                tar::EntryKind::Other(what) => self.skip(label, what),
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn zip(
        &mut self,
        reader: &mut dyn BufRead,
        path: &str,
        depth: u32,
    ) -> Result<ControlFlow<()>, Error> {
        let mut zip = Zip::new(reader);
        while let Some(entry) = zip.next().map_err(|error| self.meter.error(error))? {
            self.meter.member()?;
            if entry.is_directory() {
                continue;
            }
            let label = names::join(path, &entry.name);
            if let Some(reason) = entry.unreadable() {
                self.skip(label, reason);
                continue;
            }
            let flow = match entry.method {
                zip::Method::Deflated => {
                    let inflated = Metered::new(zip.content(), self.meter);
                    self.member(inflated, &label, depth, Kind::Zip)?
                }
                _ => self.member(zip.content(), &label, depth, Kind::Zip)?,
            };
            if flow.is_break() {
                return Ok(flow);
            }
            // Where the length is not known, its end is found by going there, and that counts as well.
            if entry.compressed.is_none() {
                let mut rest = Metered::new(zip.content(), self.meter);
                let drained = io::copy(&mut rest, &mut io::sink());
                // Damage is found again where the next member should be; here only bombs count.
                if let Some(error) = drained.err().map(|error| self.meter.error(error))
                    && error.is_bomb()
                {
                    return Err(error);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Looks at a member of an archive. Damage that is its own costs no other.
    fn member(
        &mut self,
        content: impl Read,
        label: &str,
        depth: u32,
        parent: Kind,
    ) -> Result<ControlFlow<()>, Error> {
        let mut content = BufReader::new(content);
        match self.content(&mut content, label, depth, parent) {
            Err(Error::Damaged(error)) => {
                self.skip(label.to_owned(), &format!("it is damaged: {error}"));
                Ok(ControlFlow::Continue(()))
            }
            done => done,
        }
    }

    /// Hands over what is no container any more, and opens what is one.
    fn content(
        &mut self,
        reader: &mut dyn BufRead,
        path: &str,
        depth: u32,
        parent: Kind,
    ) -> Result<ControlFlow<()>, Error> {
        let mut head = Vec::with_capacity(tar::BLOCK);
        let read = (&mut *reader)
            .take(tar::BLOCK as u64)
            .read_to_end(&mut head);
        if let Err(error) = read {
            // The bytes before damage are handed over, and the damage with them.
            return match head.is_empty() {
                true => Err(self.meter.error(error)),
                false => self.hand_over(&mut head.chain(Broken(Some(error))), path),
            };
        }
        let mut whole = head.chain(reader);
        match self.which.kind(&head) {
            Some(Kind::Tar) if parent == Kind::Gzip => {
                self.layer(Kind::Tar, &mut whole, path, depth)
            }
            // One layer is how documents are sent. Two are a mistake or a trap.
            Some(Kind::Gzip) if parent == Kind::Gzip => self.hand_over(&mut whole, path),
            Some(kind) if depth < self.meter.limits.depth => {
                self.layer(kind, &mut whole, path, depth + 1)
            }
            _ => self.hand_over(&mut whole, path),
        }
    }

    fn hand_over(&mut self, reader: &mut dyn Read, path: &str) -> Result<ControlFlow<()>, Error> {
        let label = self.names.unique(path.to_owned());
        let mut watched = Watched::new(reader);
        self.opened.members += 1;
        let flow = (self.receiver)(&label, &mut watched);
        match watched.failed {
            Some(error) => Err(self.meter.error(error)),
            None => Ok(flow),
        }
    }

    fn skip(&mut self, path: String, reason: &str) {
        self.opened.skipped.push(Skipped {
            path,
            reason: reason.to_owned(),
        });
    }
}

/// Fails once, and has nothing else.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Reads to the end; what is short of `expected` bytes is damage.
pub(super) fn truncated(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        format!("it ends within {what}"),
    )
}
