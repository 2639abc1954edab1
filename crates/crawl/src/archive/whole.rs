//! Files whose bytes come out as one stream: compressed at once, or deflated in a WACZ.

use std::io;

use super::block::Fault;
use super::stream::Tail;
use super::walk::{Emit, Halt, Outcome, Signal, Start, Walk};

impl<T> Walk<'_, T> {
    /// Reads a file whose bytes come out as one stream.
    pub(super) fn whole(&mut self, from: u64, emit: &mut Emit<'_, T>) -> io::Result<Halt> {
        self.stream.start_counting(0, 0);
        if !self.pass_to(from)? {
            return Ok(match self.options.stopped() {
                true => Halt::Stopped,
                false => Halt::At(from),
            });
        }
        loop {
            if self.options.stopped() {
                return Ok(Halt::Stopped);
            }
            self.pass_line_ends()?;
            let start = self.start(self.stream.decoded());
            if self.stream.window().is_empty() {
                match self.stream.tail() {
                    Tail::Ended(next) if next >= self.stream.size() => {
                        return Ok(Halt::At(start.address));
                    }
                    Tail::Ended(next) => self.stream.start(next),
                    Tail::Open => {}
                    Tail::Truncated | Tail::Broken(_) => {
                        let fault = Outcome::Faulty(match self.stream.tail() {
                            Tail::Broken(reason) => Fault::Broken(reason),
                            _ => Fault::Truncated,
                        });
                        if let Some(halt) = self.around_in_whole(start, fault, emit)? {
                            return Ok(halt);
                        }
                    }
                }
                continue;
            }
            let (start, outcome) = self.record(start, start.address, emit)?;
            if let Some(halt) = self.around_in_whole(start, outcome, emit)? {
                return Ok(halt);
            }
            if emit(Signal::Unit(self.stream.decoded())).is_break() {
                return Ok(Halt::Stopped);
            }
        }
    }

    fn around_in_whole(
        &mut self,
        start: Start,
        outcome: Outcome,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Option<Halt>> {
        let reason = match outcome {
            Outcome::Good | Outcome::Refused => return Ok(None),
            Outcome::Stopped | Outcome::Faulty(Fault::Stopped) => return Ok(Some(Halt::Stopped)),
            Outcome::Faulty(Fault::Io(error)) => return Err(error),
            Outcome::Faulty(Fault::Broken(reason)) => {
                return self.lost_in_whole(start, reason, emit);
            }
            Outcome::Faulty(Fault::Truncated) => {
                if self.archive.is_growing() {
                    return Ok(Some(Halt::StillWritten(start.address)));
                }
                return self.lost_in_whole(start, "the file ends in the middle of it", emit);
            }
            Outcome::Faulty(Fault::Short) => "it is shorter than its head says",
            Outcome::Wrong(reason) => reason,
        };
        self.go_back(start)?;
        self.find_in_whole(false)?;
        let length = Some(self.stream.decoded().saturating_sub(start.decoded));
        self.skip(start, length, reason, emit)
    }

    /// Moves the window to where a record begins, in whichever member.
    fn find_in_whole(&mut self, mut at_line: bool) -> io::Result<()> {
        loop {
            let found = self.find_in_stream(at_line)?;
            match self.stream.tail() {
                Tail::Ended(next) if !found && next < self.stream.size() => self.stream.start(next),
                _ => return Ok(()),
            }
            // A member that was just begun may begin with a record.
            at_line = true;
        }
    }

    /// Goes on behind a damaged member of a stream.
    fn lost_in_whole(
        &mut self,
        start: Start,
        reason: &str,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Option<Halt>> {
        match self.around_member(start, reason, emit)? {
            Halt::At(next) if next >= self.stream.size() => {
                Ok(Some(Halt::At(self.stream.decoded())))
            }
            Halt::At(next) => {
                self.stream.start(next);
                // The rest of the record that was lost says nothing.
                self.find_in_whole(true)?;
                Ok(None)
            }
            halt => Ok(Some(halt)),
        }
    }

    /// Moves the window to the expanded offset `decoded`. Returns `false` if the stream is shorter.
    pub(super) fn pass_to(&mut self, decoded: u64) -> io::Result<bool> {
        loop {
            let left = decoded - self.stream.decoded().min(decoded);
            if left == 0 {
                return Ok(true);
            }
            if self.options.stopped() {
                return Ok(false);
            }
            let seen = self.stream.fill(1)?.len() as u64;
            if seen > 0 {
                self.stream.consume(seen.min(left) as usize);
                continue;
            }
            let next = match self.stream.tail() {
                Tail::Open => continue,
                Tail::Ended(next) => next,
                Tail::Truncated => return Ok(false),
                Tail::Broken(_) => self.behind_damage()?,
            };
            if next >= self.stream.size() {
                return Ok(false);
            }
            self.stream.start(next);
        }
    }
}
