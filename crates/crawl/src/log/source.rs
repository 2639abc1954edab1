//! A log and the directory that its files lie in, as a stream of captures.

use std::ops::ControlFlow;
use std::path::Path;

use super::LogFormat;
use crate::{Body, Capture, Ended, Error, Limits, News, ReadOptions};

/// A log with its files.
#[derive(Debug)]
pub struct LogSource {}

impl LogSource {
    /// Opens a log. Its files lie below `root`.
    pub fn open(
        _log: &Path,
        _root: &Path,
        _format: LogFormat,
        _limits: &Limits,
    ) -> Result<Self, Error> {
        todo!()
    }

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
