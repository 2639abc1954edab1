//! The site's files: GET and HEAD, with conditions, ranges and directory indexes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use connection::RequestBody;
use http::header::{
    CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, RANGE,
    WWW_AUTHENTICATE,
};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use site::{Facts, Opened, Refusal, Requester, SitePath, headers};

use crate::body::{BLOCK, Body};
use crate::conditional::{self, Answer};
use crate::listing;
use crate::router::{State, refuse_method, text};

/// Answers a request for a file.
pub(crate) async fn answer(
    state: &Arc<State>,
    request: &Request<RequestBody>,
    requester: Requester,
) -> Response<Body> {
    if let Some(refusal) = refuse_method(request.method(), &[Method::GET, Method::HEAD]) {
        return refusal;
    }
    let head_only = request.method() == Method::HEAD;
    let mut conditions = request.headers().clone();
    if head_only {
        // RFC 9110, 14.2: ranges are defined for GET alone.
        conditions.remove(RANGE);
    }
    let file_request = FileRequest {
        state: Arc::clone(state),
        url_path: request.uri().path().to_owned(),
        query: request.uri().query().map(str::to_owned),
        conditions,
        requester,
        head_only,
    };
    let answered = tokio::task::spawn_blocking(move || file_request.answer()).await;
    answered.unwrap_or_else(|_| {
        text(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the file could not be sent",
        )
    })
}

/// One request, handled by a blocking thread.
struct FileRequest {
    state: Arc<State>,
    url_path: String,
    query: Option<String>,
    conditions: HeaderMap,
    requester: Requester,
    head_only: bool,
}

impl FileRequest {
    fn answer(&self) -> Response<Body> {
        let Some(path) = SitePath::from_url_path(&self.url_path) else {
            return not_found();
        };
        let wants_directory = self.url_path.ends_with('/');
        let (opened, media_type) = match self.open(&path) {
            Ok(_) if wants_directory && !path.as_bytes().is_empty() => {
                return not_found();
            }
            Ok(opened) => opened,
            Err(Refusal::Directory) if !wants_directory => return self.add_slash(),
            Err(Refusal::Directory) => match self.open_index(&path) {
                Some(Ok(opened)) => opened,
                Some(Err(refusal)) => return refused(refusal),
                None => return self.list(&path),
            },
            Err(refusal) => return refused(refusal),
        };
        self.send(opened, &media_type).unwrap_or_else(|error| {
            tracing::warn!("`{}` could not be read: {error}", self.url_path);
            text(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the file could not be read",
            )
        })
    }

    /// Opens a file with its media type, which is that of the name asked for, as in its record, also where a
    /// link led elsewhere.
    fn open(&self, path: &SitePath) -> Result<(Opened, String), Refusal> {
        let site = &self.state.site;
        let opened = site.open_file(path, &self.requester)?;
        let media_type = site.ground().media_types.of(path.name()).to_owned();
        Ok((opened, media_type))
    }

    fn open_index(&self, directory: &SitePath) -> Option<Result<(Opened, String), Refusal>> {
        let names = self.state.config.server.index_files.iter();
        let mut candidates = names.map(|name| self.open(&directory.join(name.as_bytes())));
        candidates.find(|result| !matches!(result, Err(Refusal::NotFound | Refusal::Directory)))
    }

    /// To the same place with a slash: relative, so that it holds behind a proxy that gives the site another
    /// path, and never another host's. A name with a colon is no scheme behind the dot.
    fn add_slash(&self) -> Response<Body> {
        let query = self
            .query
            .as_ref()
            .map_or(String::new(), |query| format!("?{query}"));
        let name = self.url_path.rsplit('/').next().unwrap_or_default();
        let target = format!("./{name}/{query}");
        let mut response = text(StatusCode::MOVED_PERMANENTLY, &target);
        if let Ok(value) = HeaderValue::from_str(&target) {
            response.headers_mut().insert(LOCATION, value);
        }
        response
    }

    fn list(&self, directory: &SitePath) -> Response<Body> {
        if !self.state.config.server.directory_listing {
            return not_found();
        }
        if let Err(refusal) =
            Refusal::check(self.state.site.access().verdict(directory, &self.requester))
        {
            return refused(refusal);
        }
        match listing::page(&self.state.site, directory, &self.requester) {
            Some(page) => {
                let mut response = Response::new(Body::whole(page));
                let html = HeaderValue::from_static("text/html; charset=utf-8");
                response.headers_mut().insert(CONTENT_TYPE, html);
                response
            }
            None => not_found(),
        }
    }

    fn send(&self, opened: Opened, media_type: &str) -> io::Result<Response<Body>> {
        let facts = opened.facts;
        let etag = headers::etag(&facts);
        let modified = headers::last_modified(facts.mtime, SystemTime::now());
        let mut response = described(&facts, media_type);
        let range = match conditional::decide(&self.conditions, &etag, modified, facts.size) {
            Answer::Whole => 0..facts.size,
            Answer::Part(range) => {
                tell_part(&mut response, &range, facts.size);
                range
            }
            Answer::NotModified => {
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                response.headers_mut().remove(CONTENT_LENGTH);
                response.headers_mut().remove(CONTENT_TYPE);
                return Ok(response);
            }
            Answer::PreconditionFailed => {
                let message = "the file is another one by now";
                return Ok(text(StatusCode::PRECONDITION_FAILED, message));
            }
            Answer::RangeNotSatisfiable => return Ok(range_not_satisfiable(facts.size)),
        };
        if !self.head_only {
            *response.body_mut() = body_of(opened.file, &range)?;
        }
        Ok(response)
    }
}

/// The answer to a requester that does not get a file.
fn refused(refusal: Refusal) -> Response<Body> {
    match refusal {
        Refusal::NotFound | Refusal::Directory => not_found(),
        Refusal::Forbidden(reason) => text(
            StatusCode::FORBIDDEN,
            &format!("this is not given out: {reason}"),
        ),
        Refusal::Unauthorized(realm) => {
            let mut response = text(
                StatusCode::UNAUTHORIZED,
                "a user name and a password are needed",
            );
            let realm = realm.replace(['"', '\\'], "");
            set(
                &mut response,
                WWW_AUTHENTICATE,
                &format!("Basic realm=\"{realm}\", charset=\"UTF-8\""),
            );
            response
        }
    }
}

/// A response with the headers of a whole file, and without its body.
fn described(facts: &Facts, media_type: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    for (name, value) in headers::of_file(facts, media_type) {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn tell_part(response: &mut Response<Body>, range: &Range<u64>, size: u64) {
    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    let shown = format!("bytes {}-{}/{size}", range.start, range.end - 1);
    set(response, CONTENT_RANGE, &shown);
    let length = range.end - range.start;
    set(response, CONTENT_LENGTH, &length.to_string());
}

fn range_not_satisfiable(size: u64) -> Response<Body> {
    let mut response = text(
        StatusCode::RANGE_NOT_SATISFIABLE,
        "the file is shorter than that",
    );
    set(&mut response, CONTENT_RANGE, &format!("bytes */{size}"));
    response
}

fn body_of(mut file: File, range: &Range<u64>) -> io::Result<Body> {
    file.seek(SeekFrom::Start(range.start))?;
    let length = range.end - range.start;
    match usize::try_from(length) {
        Ok(length) if length <= BLOCK => {
            let mut bytes = vec![0; length];
            file.read_exact(&mut bytes)?;
            Ok(Body::whole(bytes))
        }
        _ => Ok(Body::file(file, length)),
    }
}

fn set(response: &mut Response<Body>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

fn not_found() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "there is no such page here")
}
