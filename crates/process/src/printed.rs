//! The standard output of a program: a file in memory, read when the program has ended. Through a pipe somebody
//! would have to be woken for every block of it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;

/// Keeps what is printed, up to a limit.
pub(super) struct Printed {
    file: File,
    most: usize,
}

impl Printed {
    pub(super) fn new(most: usize) -> io::Result<Self> {
        // Some systems allow no other, and older ones do not know it.
        let file = match memfd_create(NAME, MemfdFlags::CLOEXEC | MemfdFlags::NOEXEC_SEAL) {
            Err(Errno::INVAL) => memfd_create(NAME, MemfdFlags::CLOEXEC),
            made => made,
        };
        let file = file?.into();
        Ok(Self { file, most })
    }

    /// The file that the program prints to.
    pub(super) fn writer(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// The output up to the limit, and whether that is not all.
    pub(super) fn read(&self) -> io::Result<(Vec<u8>, bool)> {
        let length = usize::try_from(self.file.metadata()?.len()).unwrap_or(usize::MAX);
        let mut printed = vec![0; length.min(self.most)];
        self.file.read_exact_at(&mut printed, 0)?;
        Ok((printed, length > self.most))
    }
}

const NAME: &std::ffi::CStr = c"printed";
