//! The bytes of a virtual connection, read as the response that they are.

use std::ffi::c_int;

use site::{Body, Fetched, NotFetched, headers};

use crate::httpd::OK;
use crate::virtual_request::sink::Sink;

/// The bytes of the connection, as a response.
pub(super) fn response(sink: Sink, status: c_int, limit: u64) -> Result<Fetched, NotFetched> {
    let head = Head::parse(&sink.head);
    match (status, &head) {
        // A sink that is full ends the handler, whose status then says nothing.
        (_, Some(head)) if head.status != 200 => return Err(NotFetched::Status(head.status)),
        (status, None) if status != OK && !sink.overflowed => {
            let status = u16::try_from(status).unwrap_or(500);
            return Err(NotFetched::Status(status));
        }
        _ => {}
    }
    let headers = head.as_ref().map(|head| head.headers.clone());
    body_of(sink, status, head, limit).map_err(|reason| NotFetched::Failed { reason, headers })
}

/// The whole body of a response with status 200, else why there is none.
fn body_of(sink: Sink, status: c_int, head: Option<Head>, limit: u64) -> Result<Fetched, String> {
    let too_long = || Err(format!("the answer is longer than {limit} bytes"));
    if sink.overflowed {
        return too_long();
    }
    if status != OK || sink.broken || !sink.ended {
        return Err("the answer was not complete".to_owned());
    }
    let head = head.ok_or("the answer has no head")?;
    let body = match sink.is_file() {
        true => {
            let (file, length) = sink.into_file().ok_or("the answer has no body")?;
            let size = file.metadata().map_or(u64::MAX, |metadata| metadata.len());
            match size == length {
                true => Body::File(file),
                false => return Err("the file changed while it was opened".to_owned()),
            }
        }
        false if head.chunked => {
            Body::Bytes(unchunked(&sink.body).ok_or("the answer was not complete")?)
        }
        false => Body::Bytes(sink.body),
    };
    if matches!(&body, Body::Bytes(bytes) if bytes.len() as u64 > limit) {
        return too_long();
    }
    let complete = match (&body, head.content_length) {
        (Body::Bytes(bytes), Some(length)) => bytes.len() as u64 == length,
        _ => true,
    };
    match complete {
        true => Ok(Fetched {
            headers: head.headers,
            body,
        }),
        false => Err("the answer was not complete".to_owned()),
    }
}

/// The beginning of a response.
struct Head {
    status: u16,
    /// Without those that concern one connection only.
    headers: Vec<(String, String)>,
    chunked: bool,
    content_length: Option<u64>,
}

impl Head {
    fn parse(head: &[u8]) -> Option<Self> {
        let head = String::from_utf8_lossy(head);
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let pairs: Vec<_> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim_start().to_owned()))
            .collect();
        let value = |wanted: &str| {
            let pair = pairs
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            pair.map(|(_, value)| value.as_str())
        };
        Some(Self {
            status,
            chunked: value("Transfer-Encoding")
                .is_some_and(|value| value.eq_ignore_ascii_case("chunked")),
            content_length: value("Content-Length").and_then(|value| value.parse().ok()),
            headers: pairs
                .iter()
                .filter(|(name, _)| !headers::is_hop_by_hop(name))
                .cloned()
                .collect(),
        })
    }
}

/// The body that was sent in chunks (RFC 9112, 7.1).
fn unchunked(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let end = body.windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(&body[..end]).ok()?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        body = &body[end + 2..];
        if size == 0 {
            return Some(whole);
        }
        whole.extend_from_slice(body.get(..size)?);
        body = body.get(size..)?.strip_prefix(b"\r\n")?;
    }
}
