//! Reading a file that is to be given by value, in one version: here, or by a helper that also digests and encodes it.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use oai::format::didl;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;

use super::resource::Content;
use super::results::{Digests, digests_of_content};
use crate::Facts;
use crate::ground::facts::TOO_YOUNG;
use crate::record::fixity::Algorithm;
use process::Stop;

/// A file that is ready to be given.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) content: Content,
    /// The facts of the version that is given.
    pub(super) facts: Facts,
    /// Its digests, if they were made on the way.
    pub(super) digests: Option<Digests>,
}

/// Makes a file ready: a small one is read whole.
pub(super) fn ready(file: File, facts: Facts) -> io::Result<Ready> {
    let (content, facts) = match facts.size > SMALL {
        true => {
            let facts = rested(&file, facts)?;
            (Content::File(file, facts), facts)
        }
        false => {
            let (bytes, facts) = read_steadily(&file, facts)?;
            (Content::Bytes(bytes), facts)
        }
    };
    Ok(Ready {
        content,
        facts,
        digests: None,
    })
}

/// Makes a file ready with all that can be done before it is its turn.
pub(super) fn ready_ahead(
    file: File,
    facts: Facts,
    algorithms: &[Algorithm],
    stop: &Stop,
) -> io::Result<Ready> {
    let ready = ready(file, facts)?;
    let digests = digests_of_content(&ready.content, algorithms, stop);
    let content = match ready.content {
        Content::Bytes(bytes) => {
            let mut text = Vec::new();
            didl::append_base64(&bytes, &mut text);
            Content::Encoded(text)
        }
        content => content,
    };
    Ok(Ready {
        content,
        digests,
        ..ready
    })
}

/// A file from its beginning, whatever its position is.
pub(super) struct FromStart<'a> {
    file: &'a File,
    at: u64,
}

impl<'a> FromStart<'a> {
    pub(super) fn new(file: &'a File) -> Self {
        Self { file, at: 0 }
    }
}

impl Read for FromStart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Whether a file is still the version that the facts speak of.
pub(super) fn is_unchanged(file: &File, facts: &Facts) -> bool {
    Facts::of_file(file).is_ok_and(|now| now.mark == facts.mark)
}

/// Waits a moment for a file that changed just now: a further change might not show in its times.
fn rested(file: &File, facts: Facts) -> io::Result<Facts> {
    if !facts.is_young() {
        return Ok(facts);
    }
    std::thread::sleep(TOO_YOUNG);
    let now = Facts::of_file(file)?;
    match now.is_young() {
        true => Err(io::Error::other("it is being written")),
        false => Ok(now),
    }
}

/// Reads a small file until two looks at it agree.
fn read_steadily(file: &File, mut facts: Facts) -> io::Result<(Vec<u8>, Facts)> {
    for _ in 0..3 {
        facts = rested(file, facts)?;
        let bytes = read_whole(file, facts.size)?;
        let now = Facts::of_file(file)?;
        if now.mark == facts.mark && bytes.len() as u64 == facts.size {
            return Ok((bytes, facts));
        }
        facts = now;
    }
    Err(io::Error::other("it changes while it is read"))
}

/// Reads what should be so many bytes; one more if there is more.
fn read_whole(file: &File, size: u64) -> io::Result<Vec<u8>> {
    let most = usize::try_from(size.min(SMALL)).unwrap_or(0) + 1;
    let mut bytes = Vec::with_capacity(most);
    // At one go: `read_to_end` begins with small pieces.
    while bytes.len() < most {
        let at = bytes.len() as u64;
        match rustix::io::pread(file, spare_capacity(&mut bytes), at) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

/// Smaller files are read whole: then a change while reading can be mended by reading again, and a file whose digests
/// are wanted is read once.
const SMALL: u64 = 1024 * 1024;
