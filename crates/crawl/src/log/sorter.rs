//! Sorts more numbers than memory should hold, in a temporary file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;

/// A row to sort: by the first number, then the second, then the third.
pub(super) type Row = [u64; 3];

/// How many bytes a row takes in a file.
pub(super) const ROW: usize = 24;

/// Takes rows in any order.
#[derive(Debug)]
pub(super) struct Sorter {
    rows: Vec<Row>,
    capacity: usize,
    /// Sorted rows, run behind run.
    file: Option<File>,
    runs: Vec<u64>,
}

impl Sorter {
    pub(super) fn new() -> Self {
        Self::with_capacity(RUN)
    }

    fn with_capacity(capacity: usize) -> Self {
        Self {
            rows: Vec::new(),
            capacity,
            file: None,
            runs: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, row: Row) -> io::Result<()> {
        self.rows.push(row);
        match self.rows.len() >= self.capacity {
            true => self.write_run(),
            false => Ok(()),
        }
    }

    /// Hands over all rows in order.
    pub(super) fn finish(mut self, mut each: impl FnMut(Row) -> io::Result<()>) -> io::Result<()> {
        let Some(file) = &self.file else {
            self.rows.sort_unstable();
            return self.rows.into_iter().try_for_each(each);
        };
        let file = file.try_clone()?;
        self.write_run()?;
        self.rows = Vec::new();
        let mut start = 0;
        let mut heap = BinaryHeap::new();
        let mut runs = Vec::new();
        for (index, length) in self.runs.iter().enumerate() {
            let mut run = Run::new(&file, start, start + length);
            start += length;
            if let Some(row) = run.next()? {
                heap.push(Reverse((row, index)));
            }
            runs.push(run);
        }
        while let Some(Reverse((row, index))) = heap.pop() {
            each(row)?;
            if let Some(next) = runs[index].next()? {
                heap.push(Reverse((next, index)));
            }
        }
        Ok(())
    }

    fn write_run(&mut self) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.rows.sort_unstable();
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile()?),
        };
        self.runs.push((self.rows.len() * ROW) as u64);
        let mut writer = BufWriter::with_capacity(BUFFER, file);
        for row in self.rows.drain(..) {
            writer.write_all(&bytes(row))?;
        }
        writer.flush()
    }
}

/// The sorted rows between two places of a file.
struct Run<'f> {
    file: &'f File,
    position: u64,
    end: u64,
    block: Vec<u8>,
    at: usize,
}

impl<'f> Run<'f> {
    fn new(file: &'f File, position: u64, end: u64) -> Self {
        Self {
            file,
            position,
            end,
            block: Vec::new(),
            at: 0,
        }
    }

    fn next(&mut self) -> io::Result<Option<Row>> {
        if self.at == self.block.len() && !self.fill()? {
            return Ok(None);
        }
        let row = row(&self.block[self.at..]);
        self.at += ROW;
        Ok(row)
    }

    fn fill(&mut self) -> io::Result<bool> {
        let left = self.end - self.position;
        let length = left.min(BLOCK as u64);
        self.block
            .resize(usize::try_from(length).unwrap_or(BLOCK), 0);
        self.file.read_exact_at(&mut self.block, self.position)?;
        self.position += length;
        self.at = 0;
        Ok(length > 0)
    }
}

/// A row as it is kept.
pub(super) fn bytes(row: Row) -> [u8; ROW] {
    let mut bytes = [0; ROW];
    for (place, number) in bytes.chunks_exact_mut(8).zip(row) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// The row that bytes begin with.
pub(super) fn row(bytes: &[u8]) -> Option<Row> {
    let number = |at: usize| {
        bytes
            .get(at..at + 8)?
            .try_into()
            .ok()
            .map(u64::from_le_bytes)
    };
    Some([number(0)?, number(8)?, number(16)?])
}

/// Rows that are sorted in memory: 12 MiB of them.
const RUN: usize = 512 * 1024;
/// The number of bytes read from a sorted run at a time.
const BLOCK: usize = 512 * ROW;
const BUFFER: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_order_however_many_runs_they_take() {
        for (count, capacity) in [(0, 10), (5, 10), (10, 10), (1000, 10), (20_000, 700)] {
            let mut sorter = Sorter::with_capacity(capacity);
            let mut expected = Vec::new();
            for index in 0..count {
                let row = [(index * 7919) % 1013, (index * 31) % 17, index];
                expected.push(row);
                sorter.push(row).unwrap();
            }

            let mut sorted = Vec::new();
            let each = |row| {
                sorted.push(row);
                Ok(())
            };
            sorter.finish(each).unwrap();

            expected.sort_unstable();
            assert_eq!(sorted, expected);
        }
    }
}
