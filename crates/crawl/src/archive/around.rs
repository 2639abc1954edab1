//! The way around what is damaged: to the next record or member that can be believed.

use std::io;

use super::block::Fault;
use super::search;
use super::stream::Tail;
use super::walk::{Emit, Halt, Item, Signal, Start, Walk};
use crate::Skipped;

impl<T> Walk<'_, T> {
    pub(super) fn around(
        &mut self,
        start: Start,
        fault: Fault,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Halt> {
        let short = "it is shorter than its head says";
        match (fault, self.stream.tail()) {
            (Fault::Io(error), _) => Err(error),
            (Fault::Stopped, _) => Ok(Halt::Stopped),
            (Fault::Short, Tail::Ended(next)) if next < self.stream.size() => {
                let length = Some(next - start.address);
                self.skip(start, length, short, emit)
                    .map(|halt| halt.unwrap_or(Halt::At(next)))
            }
            (Fault::Short | Fault::Truncated, _) => self.truncated(start, emit),
            (Fault::Broken(reason), _) => self.around_member(start, reason, emit),
        }
    }

    /// The file ends in a record: either it is being written, or damaged so that the end was not seen.
    pub(super) fn truncated(&mut self, start: Start, emit: &mut Emit<'_, T>) -> io::Result<Halt> {
        if self.archive.is_growing() {
            return Ok(Halt::StillWritten(start.address));
        }
        let reason = "the file ends in the middle of it";
        match self.archive.layout.is_plain() {
            true => self.around_record(start, reason, emit),
            false => self.around_member(start, reason, emit),
        }
    }

    /// Goes on with the next member that can be believed.
    pub(super) fn around_member(
        &mut self,
        start: Start,
        reason: &str,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Halt> {
        let (layout, limits) = (&self.archive.layout, &self.options.limits);
        let damaged = self.stream.member();
        let size = self.stream.size();
        let input = self.stream.input();
        input.seek(damaged + 1);
        let next = search::next_member(input, layout, size, layout.whole, limits)?;
        let next = next.unwrap_or(size);
        let length = (!layout.whole).then(|| next - start.address);
        let halt = self.skip(start, length, reason, emit)?;
        Ok(halt.unwrap_or(Halt::At(next)))
    }

    /// Goes on with the next record that can be believed, in a file that is not compressed.
    pub(super) fn around_record(
        &mut self,
        start: Start,
        reason: &str,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Halt> {
        let (extent, format) = (&self.archive.extent, self.archive.layout.format);
        let from = start.address + start.head.max(1);
        let size = self.stream.size();
        let next = search::next_record(extent, format, from, size, &self.options.limits)?;
        let next = next.unwrap_or(size);
        let halt = self.skip(start, Some(next - start.address), reason, emit)?;
        Ok(halt.unwrap_or(Halt::At(next)))
    }

    /// Goes on with the next record in what comes out of the same member, if there is one.
    pub(super) fn pass_to_record(
        &mut self,
        start: Start,
        reason: &str,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Option<Halt>> {
        if !self.find_in_stream()? {
            match self.stream.tail() {
                Tail::Truncated => return self.truncated(start, emit).map(Some),
                Tail::Broken(reason) => return self.around_member(start, reason, emit).map(Some),
                Tail::Open | Tail::Ended(_) => {}
            }
            if self.options.stopped() {
                return Ok(Some(Halt::Stopped));
            }
        }
        let length = self
            .archive
            .layout
            .whole
            .then(|| self.stream.decoded() - start.decoded);
        self.skip(start, length, reason, emit)
    }

    /// Moves the window to where a record begins. `false` if the member ends before.
    pub(super) fn find_in_stream(&mut self) -> io::Result<bool> {
        let format = self.archive.layout.format;
        let mut at_line = false;
        loop {
            if self.options.stopped() {
                return Ok(false);
            }
            let seen = self.stream.fill(SEARCHED)?;
            let count = seen.len();
            match search::next_start(format, seen, at_line) {
                Some(0)
                    if search::head(format, self.stream.fill(self.options.limits.head)?)
                        .is_some() =>
                {
                    return Ok(true);
                }
                Some(0) => self.pass(1, &mut at_line),
                Some(found) => self.pass(found, &mut at_line),
                None if count < SEARCHED => {
                    self.stream.consume(count);
                    return Ok(false);
                }
                None => self.pass(count - OVERLAP, &mut at_line),
            }
        }
    }

    fn pass(&mut self, count: usize, at_line: &mut bool) {
        *at_line = self.stream.window()[count - 1] == b'\n';
        self.stream.consume(count);
    }

    /// Tells what could not be read.
    pub(super) fn skip(
        &self,
        start: Start,
        length: Option<u64>,
        reason: &str,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Option<Halt>> {
        let item = Item::Skipped(Skipped {
            place: self.archive.place(start.address),
            length,
            reason: reason.to_owned(),
        });
        let unit = start.address;
        let flow = emit(Signal::Record { unit, item });
        Ok(flow.is_break().then_some(Halt::Stopped))
    }
}

const SEARCHED: usize = 64 * 1024;
const OVERLAP: usize = 8;
