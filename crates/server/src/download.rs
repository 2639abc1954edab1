//! A resource that a repository gives out beside its answers.

use std::io::{self, Read, Write};
use std::ops::Range;
use std::time::{Duration, SystemTime};

use http::header::{CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use tokio::sync::oneshot;

use crate::body::{Body, BodyWriter};
use crate::conditional::{self, Answer};
use crate::router::text;

/// The answer of a repository to a GET of a path below it.
#[derive(Debug)]
pub enum Resource {
    /// Its bytes.
    Found(Download),
    /// There is nothing that this requester may have.
    Nothing,
    /// A password of this realm is needed.
    Closed(String),
}

/// Bytes, and what is said of them.
pub struct Download {
    /// All of them.
    pub bytes: Box<dyn Read + Send>,
    /// How many there are.
    pub length: u64,
    /// Their media type.
    pub media_type: String,
    /// The last change.
    pub modified: SystemTime,
    /// Something that differs between versions; it has no quotes.
    pub version: String,
}

impl std::fmt::Debug for Download {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Download({} bytes)", self.length)
    }
}

impl Download {
    /// Answers a GET, or a HEAD without the bytes.
    pub(crate) async fn answer(
        self,
        conditions: &HeaderMap,
        head_only: bool,
        stall: Duration,
    ) -> Response<Body> {
        let etag = format!("\"{}\"", self.version);
        let modified = Some(self.modified);
        let length = self.length;
        let range = match conditional::decide(conditions, &etag, modified, length) {
            Answer::Whole => 0..length,
            Answer::Part(range) if !head_only => range,
            Answer::Part(_) => 0..length,
            Answer::NotModified => return self.described(&etag, StatusCode::NOT_MODIFIED),
            Answer::PreconditionFailed => {
                let message = "the resource is another one by now";
                return text(StatusCode::PRECONDITION_FAILED, message);
            }
            Answer::RangeNotSatisfiable => {
                let message = "the resource is shorter than that";
                let mut response = text(StatusCode::RANGE_NOT_SATISFIABLE, message);
                set(&mut response, CONTENT_RANGE, &format!("bytes */{length}"));
                return response;
            }
        };
        let is_part = range != (0..length);
        let status = match is_part {
            true => StatusCode::PARTIAL_CONTENT,
            false => StatusCode::OK,
        };
        let mut response = self.described(&etag, status);
        set(&mut response, CONTENT_TYPE, &self.media_type);
        let sent = range.end - range.start;
        set(&mut response, CONTENT_LENGTH, &sent.to_string());
        if is_part {
            let told = format!("bytes {}-{}/{length}", range.start, range.end - 1);
            set(&mut response, CONTENT_RANGE, &told);
        }
        if head_only {
            return response;
        }
        match self.body(range, stall).await {
            Some(body) => {
                *response.body_mut() = body;
                response
            }
            None => text(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the resource could not be read",
            ),
        }
    }

    /// The head of an answer. Somebody else has made these bytes: no browser may run them as a page of this server.
    fn described(&self, etag: &str, status: StatusCode) -> Response<Body> {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status;
        let modified = httpdate::fmt_http_date(self.modified);
        for (name, value) in [
            ("etag", etag),
            ("last-modified", &modified),
            ("accept-ranges", "bytes"),
            ("x-content-type-options", "nosniff"),
            ("content-security-policy", "default-src 'none'; sandbox"),
        ] {
            set(&mut response, HeaderName::from_static(name), value);
        }
        response
    }

    async fn body(mut self, range: Range<u64>, stall: Duration) -> Option<Body> {
        let (begin, begun) = oneshot::channel();
        let runtime = tokio::runtime::Handle::current();
        let mut body = BodyWriter::new(begin, stall, runtime);
        tokio::task::spawn_blocking(move || {
            let wanted = range.end - range.start;
            match copy(&mut self.bytes, &range, &mut body) {
                Ok(copied) if copied == wanted => drop(body.finish()),
                Ok(_) => body.abort(&"the resource is shorter than it should be"),
                Err(error) => {
                    tracing::warn!("a resource is not sent as a whole: {error}");
                    body.abort(&error);
                }
            }
        });
        begun.await.ok()
    }
}

fn copy(bytes: &mut dyn Read, range: &Range<u64>, out: &mut impl Write) -> io::Result<u64> {
    io::copy(&mut bytes.take(range.start), &mut io::sink())?;
    io::copy(&mut bytes.take(range.end - range.start), out)
}

fn set(response: &mut Response<Body>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
