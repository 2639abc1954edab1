//! Stands for the S3 client where it is not built in.

use std::io;

use store::Objects;

/// The location of a store, of which there is none.
pub(in crate::import) enum Location {}

/// A client, of which there is none.
pub(in crate::import) struct Bucket;

impl Location {
    pub(in crate::import) fn is_meant(text: &str) -> bool {
        text.get(..5)
            .is_some_and(|begin| begin.eq_ignore_ascii_case("s3://"))
    }

    pub(in crate::import) fn parse(_: &str) -> io::Result<Self> {
        Err(io::Error::other(
            "S3 is not built into this garner (feature `s3`); name a directory, or use another build",
        ))
    }

    pub(in crate::import) fn given(text: &str) -> io::Result<Self> {
        Self::parse(text)
    }

    pub(in crate::import) fn shown(&self) -> String {
        match *self {}
    }

    pub(in crate::import) fn whole(&self) -> String {
        match *self {}
    }
}

impl Bucket {
    pub(in crate::import) fn open(location: Location) -> io::Result<Box<dyn Objects>> {
        match location {}
    }
}
