//! The body of an answer as it comes in, with an eye on servers that keep us waiting.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use reqwest::blocking::Response;

use super::gate::Permit;
use super::{ClientOptions, Pace, Stop, chain};

/// Reads a body; the request counts as open until it is dropped.
pub(crate) struct Body {
    response: Response,
    _permit: Permit,
    stop: Stop,
    pace: Arc<dyn Pace>,
    /// In each span of this length some bytes must come.
    span: Duration,
    span_start: SystemTime,
    span_bytes: usize,
    total: Arc<AtomicU64>,
}

impl Body {
    pub(super) fn new(
        response: Response,
        permit: Permit,
        options: &ClientOptions,
        total: Arc<AtomicU64>,
    ) -> Self {
        Self {
            response,
            _permit: permit,
            stop: options.stop.clone(),
            pace: Arc::clone(&options.pace),
            span: options.read_timeout,
            span_start: options.pace.now(),
            span_bytes: 0,
            total,
        }
    }

    /// Gives up a server that sends a byte now and then, which no time-out notices.
    fn check_drip(&mut self, length: usize) -> io::Result<()> {
        self.span_bytes += length;
        if self.span_bytes > LEAST {
            self.span_start = self.pace.now();
            self.span_bytes = 0;
            return Ok(());
        }
        let passed = self.pace.now().duration_since(self.span_start);
        if length > 0 && passed.unwrap_or_default() > self.span {
            let message = format!("{} bytes in {} s", self.span_bytes, self.span.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        Ok(())
    }
}

impl Read for Body {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Err(io::Error::other("stopped as asked"));
        }
        let length = match self.response.read(out) {
            Ok(length) => length,
            Err(error) => return Err(io::Error::new(error.kind(), chain(&error))),
        };
        self.total.fetch_add(length as u64, Ordering::Relaxed);
        self.check_drip(length)?;
        Ok(length)
    }
}

/// As many bytes must come within the time a server may be silent.
const LEAST: usize = 16 * 1024;
