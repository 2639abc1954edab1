//! Stands for the S3 client where it is not built in.

use std::io;

use store::Objects;

/// The location of a store, of which there is none.
#[derive(Clone)]
pub(crate) enum Location {}

/// A client, of which there is none.
pub(crate) struct Bucket;

impl Location {
    pub(crate) fn is_meant(text: &str) -> bool {
        text.get(..5)
            .is_some_and(|begin| begin.eq_ignore_ascii_case("s3://"))
    }

    pub(crate) fn parse(_: &str) -> io::Result<Self> {
        Err(io::Error::other(
            "S3 is not built into this garner (feature `s3`); name a directory, or use another build",
        ))
    }

    pub(crate) fn given(text: &str) -> io::Result<Self> {
        Self::parse(text)
    }

    pub(crate) fn below(self, _: &str) -> Self {
        match self {}
    }

    pub(crate) fn split(self) -> (Self, Option<String>) {
        match self {}
    }

    pub(crate) fn shown(&self) -> String {
        match *self {}
    }

    pub(crate) fn whole(&self) -> String {
        match *self {}
    }
}

impl Bucket {
    pub(crate) fn open(location: Location) -> io::Result<Box<dyn Objects>> {
        match location {}
    }
}
