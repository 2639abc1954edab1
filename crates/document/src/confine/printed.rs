//! What a program prints to standard output: a file in memory, read when the program has ended. Through a pipe somebody
//! would have to be woken for every block of it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, memfd_create};

use super::End;

/// Keeps what is printed, up to a limit.
pub(super) struct Printed {
    file: File,
    most: usize,
}

impl Printed {
    pub(super) fn new(most: usize) -> io::Result<Self> {
        let file = memfd_create(c"printed", MemfdFlags::CLOEXEC)?.into();
        Ok(Self { file, most })
    }

    /// What the program prints to.
    pub(super) fn writer(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// What was printed up to the limit, and whether a program that ended in this way wanted to print more.
    pub(super) fn read(&self, end: End) -> io::Result<(Vec<u8>, bool)> {
        let length = usize::try_from(self.file.metadata()?.len()).unwrap_or(usize::MAX);
        let mut printed = vec![0; length.min(self.most)];
        self.file.read_exact_at(&mut printed, 0)?;
        let was_stopped = length == self.most && end != End::Code(0);
        Ok((printed, length > self.most || was_stopped))
    }
}
