//! The body of an answer as it comes in, with an eye on servers that keep us waiting.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::{Buf, Bytes};
use reqwest::Response;
use tokio::time::timeout;

use super::driver::Driver;
use super::gate::Permit;
use super::{ClientOptions, Pace, Stop, chain};

/// Reads a body; the request counts as open until it is dropped.
pub(crate) struct Body {
    /// There until the body has ended.
    response: Option<Response>,
    /// The bytes that came and were not asked for yet.
    rest: Bytes,
    driver: Arc<Driver>,
    _permit: Permit,
    stop: Stop,
    /// Ends waiting for more of this body.
    unwanted: Stop,
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
        driver: Arc<Driver>,
        options: &ClientOptions,
        total: Arc<AtomicU64>,
    ) -> Self {
        Self {
            response: Some(response),
            rest: Bytes::new(),
            driver,
            _permit: permit,
            stop: options.stop.clone(),
            unwanted: Stop::default(),
            pace: Arc::clone(&options.pace),
            span: options.read_timeout,
            span_start: options.pace.now(),
            span_bytes: 0,
            total,
        }
    }

    /// A switch that ends waiting for more of it.
    pub(super) fn unwanted(&self) -> Stop {
        self.unwanted.clone()
    }

    /// Looks at the first bytes, as far as they can be had; they are given nevertheless.
    pub(super) fn peek(&mut self, length: usize) -> &[u8] {
        let mut begun = Vec::new();
        while begun.len() < length && self.fill().is_ok() && !self.rest.is_empty() {
            begun.extend_from_slice(&std::mem::take(&mut self.rest));
        }
        begun.extend_from_slice(&self.rest);
        self.rest = begun.into();
        &self.rest
    }

    /// The next bytes, as soon as there are any; empty at the end.
    pub(super) fn block(&mut self) -> io::Result<Bytes> {
        if self.stop.is_set() || self.unwanted.is_set() {
            return Err(stopped());
        }
        self.fill()?;
        Ok(std::mem::take(&mut self.rest))
    }

    /// Waits until there is something to give, or nothing will come any more.
    fn fill(&mut self) -> io::Result<()> {
        while let Some(response) = &mut self.response
            && self.rest.is_empty()
        {
            let chunk = async { timeout(self.span, response.chunk()).await };
            match self.driver.wait_unless(&self.unwanted, chunk) {
                Some(Ok(Ok(Some(bytes)))) => self.rest = bytes,
                Some(Ok(Ok(None))) => self.response = None,
                Some(Ok(Err(error))) => return Err(io::Error::other(chain(&error))),
                Some(Err(_)) => return Err(silent(self.span)),
                None => return Err(stopped()),
            }
            let length = self.rest.len();
            self.total.fetch_add(length as u64, Ordering::Relaxed);
            self.check_drip(length)?;
        }
        Ok(())
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
            return Err(stopped());
        }
        self.fill()?;
        let length = self.rest.len().min(out.len());
        self.rest.copy_to_slice(&mut out[..length]);
        Ok(length)
    }
}

impl Drop for Body {
    /// Lets go of a server whose answer is not wanted to its end.
    fn drop(&mut self) {
        if let Some(response) = self.response.take() {
            drop(response);
            self.driver.tidy();
        }
    }
}

fn stopped() -> io::Error {
    io::Error::other("stopped as asked")
}

fn silent(span: Duration) -> io::Error {
    let message = format!("the server was silent for {} s", span.as_secs_f32());
    io::Error::new(io::ErrorKind::TimedOut, message)
}

/// As many bytes must come within the time a server may be silent.
const LEAST: usize = 16 * 1024;
