//! The bytes of a capture while they are read.

use std::fmt;
use std::io::{self, Read};
use std::rc::Rc;

use crate::archive::{Check, Form};

/// The payload of a capture: without the head of HTTP, and decoded where it really is encoded.
///
/// It need not be read to its end. What cannot be read is an error that says what is wrong and where.
pub struct Body<'a> {
    reader: Box<dyn Read + 'a>,
    length: Option<u64>,
    /// The digests of its record, and the form of the body that is read here if it is another than that in the record.
    check: Option<(Rc<Check>, Option<Form>)>,
}

impl<'a> Body<'a> {
    /// The bytes that a reader has. `length` says how many, if that is known.
    pub fn new(reader: impl Read + 'a, length: Option<u64>) -> Self {
        Self {
            reader: Box::new(reader),
            length,
            check: None,
        }
    }

    pub(crate) fn checked(mut self, check: Option<Rc<Check>>, form: Option<Form>) -> Self {
        self.check = check.map(|check| (check, form));
        self
    }

    /// No bytes, as for a revisit.
    pub fn empty() -> Self {
        Self::new(io::empty(), Some(0))
    }

    /// A body that cannot be read. The kind `NotFound` says that there is no file where one should be.
    pub fn failing(error: io::Error) -> Self {
        Self::new(Failing(Some(error)), None)
    }

    /// Has the bytes compared with the digests that the archive has of them; see [`Capture::digests`]. Only the bytes of
    /// bodies that are wanted are, because that takes time, so it has to be asked for before many bytes were read.
    ///
    /// A caller that digests the whole body anyway sets `told`, and calls [`Body::tell_digests`] in the end.
    ///
    /// [`Capture::digests`]: crate::Capture::digests
    pub fn check_digests(&mut self, told: bool) {
        if let Some((check, _)) = &self.check {
            check.want(told);
        }
    }

    /// Tells the digests of all that was read of the body, which came to its end.
    pub fn tell_digests(&mut self, sha1: [u8; 20], sha256: [u8; 32]) {
        if let Some((check, _)) = &self.check {
            check.tell(sha1, sha256);
        }
    }

    /// How many bytes there are, if that is known before they are read.
    pub fn length(&self) -> Option<u64> {
        self.length
    }
}

impl Read for Body<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if let Some((check, Some(form))) = &self.check
            && !buffer.is_empty()
        {
            check.take_form(*form, &buffer[..count]);
        }
        Ok(count)
    }
}

impl fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let again = || io::Error::other("the body could not be read");
        Err(self.0.take().unwrap_or_else(again))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_can_be_told_apart() {
        let mut body = Body::failing(io::ErrorKind::NotFound.into());

        assert_eq!(
            body.read(&mut [0]).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        assert!(body.read(&mut [0]).is_err());
    }
}
