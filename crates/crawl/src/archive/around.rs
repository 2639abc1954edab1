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
    ) -> io::Result<Option<Halt>> {
        let short = "it is shorter than its head says";
        let halt = match (fault, self.stream.tail()) {
            (Fault::Io(error), _) => Err(error),
            (Fault::Stopped, _) => Ok(Halt::Stopped),
            (Fault::Short, Tail::Ended(next)) if next < self.stream.size() => {
                return self.pass_to_record(start, short, emit);
            }
            (Fault::Short | Fault::Truncated, _) => self.truncated(start, emit),
            (Fault::Broken(reason), _) => self.around_member(start, reason, emit),
        };
        halt.map(Some)
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
        let next = self.behind_damage()?;
        if self.options.stopped() {
            return Ok(Halt::Stopped);
        }
        let length = (!self.archive.layout.whole).then(|| next - start.address);
        let halt = self.skip(start, length, reason, emit)?;
        Ok(halt.unwrap_or(Halt::At(next)))
    }

    /// Returns the offset of the next credible member, or the end of the file.
    ///
    /// A damaged member may have swallowed the next ones, so the search begins right behind its beginning. But it
    /// may also hold bytes that merely look like members, nested without end, so the number of decodings is limited.
    pub(super) fn behind_damage(&mut self) -> io::Result<u64> {
        let (layout, size) = (&self.archive.layout, self.stream.size());
        let (damaged, reached) = (self.stream.member(), self.stream.reached());
        let (is_complete, out) = (self.stream.is_complete(), self.stream.out_of_member());
        self.again = match damaged < self.lost {
            true => self.again.saturating_add(out),
            false => 0,
        };
        self.lost = self.lost.max(reached);
        let input = self.stream.input();
        if is_complete {
            let from = damaged + 1;
            if let Some(next) = search::swallowed(input, layout, from, reached, self.options)? {
                return Ok(next);
            }
            input.seek(reached);
            let until = reached + 1;
            let next = search::next_member(input, layout, until, layout.whole, self.options)?;
            if next.is_some() || reached >= size {
                return Ok(next.unwrap_or(size));
            }
        }
        input.seek(match self.again > AGAIN {
            true => self.lost.max(damaged + 1),
            false => damaged + 1,
        });
        let next = search::next_member(input, layout, size, layout.whole, self.options)?;
        Ok(next.unwrap_or(size))
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
        let next = search::next_record(extent, format, from, size, self.options)?;
        if self.options.stopped() {
            return Ok(Halt::Stopped);
        }
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
        self.go_back(start)?;
        let found = self.find_in_stream(false)?;
        if !found {
            match self.stream.tail() {
                Tail::Truncated => return self.truncated(start, emit).map(Some),
                Tail::Broken(reason) => return self.around_member(start, reason, emit).map(Some),
                Tail::Open | Tail::Ended(_) => {}
            }
            if self.options.stopped() {
                return Ok(Some(Halt::Stopped));
            }
        }
        let length = match self.stream.tail() {
            Tail::Ended(next) if !found => next.checked_sub(start.address),
            _ => None,
        };
        self.skip(start, length, reason, emit)
    }

    /// Reads again the records that a wrong length skipped; the number of rereads is limited.
    pub(super) fn go_back(&mut self, start: Start) -> io::Result<()> {
        let is_reachable = start.member_decoded <= start.decoded;
        if start.head == 0 || !is_reachable || self.restarts == RESTARTS {
            return Ok(());
        }
        self.restarts += 1;
        self.stream
            .start_counting(start.member, start.member_decoded);
        self.pass_to(start.decoded + start.head)?;
        Ok(())
    }

    /// Moves the window to where a record begins. `false` if the member ends before. `at_line` says that one may begin
    /// where the window is.
    pub(super) fn find_in_stream(&mut self, mut at_line: bool) -> io::Result<bool> {
        let format = self.archive.layout.format;
        loop {
            if self.options.stopped() {
                return Ok(false);
            }
            let seen = self.stream.fill(SEARCHED)?;
            let count = seen.len();
            match search::next_start(format, seen, at_line) {
                Some(0) if self.has_head()? => return Ok(true),
                Some(0) => self.pass(1, &mut at_line),
                Some(found) => self.pass(found, &mut at_line),
                None if count < SEARCHED => {
                    // In one stream, a record may begin on either side of the point where two members meet.
                    self.pass(count.saturating_sub(OVERLAP), &mut at_line);
                    if !self.archive.layout.whole || !self.stream.cross()? {
                        self.stream.consume(count.min(OVERLAP));
                        return Ok(false);
                    }
                }
                None => self.pass(count - OVERLAP, &mut at_line),
            }
        }
    }

    /// Whether the window begins with a head that can be understood.
    fn has_head(&mut self) -> io::Result<bool> {
        let limit = self.options.limits.head;
        loop {
            let seen = self.stream.fill(limit)?;
            let count = seen.len().min(limit);
            if search::head(self.archive.layout.format, &seen[..count]).is_some() {
                return Ok(true);
            }
            if count == limit || !self.archive.layout.whole || !self.stream.cross()? {
                return Ok(false);
            }
        }
    }

    fn pass(&mut self, count: usize, at_line: &mut bool) {
        if let Some(last) = count.checked_sub(1) {
            *at_line = self.stream.window()[last] == b'\n';
        }
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

const RESTARTS: u32 = 16;

const SEARCHED: usize = 64 * 1024;
const OVERLAP: usize = 8;

/// How many bytes may come out of the same damaged stretch again.
const AGAIN: u64 = 64 * 1024 * 1024;
