//! WARC and ARC files, compressed or not, alone or in a WACZ.

use std::ops::ControlFlow;
use std::path::Path;

use crate::{Body, Capture, Ended, Error, Limits, News, ReadOptions, Source};

/// One WARC or ARC file.
#[derive(Debug)]
pub struct Archive {}

/// See `crate::open`.
pub(crate) fn open(_path: &Path, _limits: &Limits) -> Result<Vec<Source>, Error> {
    todo!()
}

impl Archive {
    pub(crate) fn name(&self) -> String {
        todo!()
    }

    pub(crate) fn length(&self) -> u64 {
        todo!()
    }

    pub(crate) fn read<T: Send>(
        &self,
        _from: u64,
        _options: &ReadOptions,
        _work: &(dyn Fn(&Capture, &mut Body<'_>) -> T + Sync),
        _take: &mut dyn FnMut(News<T>) -> ControlFlow<()>,
    ) -> Result<Ended, Error> {
        todo!()
    }
}
