//! Speaks to a store: the few requests that a collection needs, each tried again if the store is busy.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use jiff::Timestamp;
use reqwest::{Body, Client, Method, Response, StatusCode};
use sha2::{Digest, Sha256};
use store::{Objects, Reader as StoreReader};
use tokio::runtime::Runtime;
use url::Url;

use crate::Location;
use crate::credentials::{Credentials, KeySource};
use crate::listing::{self, Page};
use crate::reader::Reader;
use crate::signature::{Unsigned, query, sign};

/// A bucket, for code that blocks. Threads share one.
#[derive(Debug, Clone)]
pub struct Bucket {
    location: Location,
    keys: KeySource,
    credentials: Arc<Mutex<Credentials>>,
    client: Client,
    runtime: Arc<Runtime>,
    shown: String,
}

/// The request.
#[derive(Default)]
struct Ask<'a> {
    key: &'a str,
    query: &'a [(&'a str, &'a str)],
    headers: Vec<(&'a str, String)>,
    body: Option<(&'a File, u64, String)>,
}

impl Bucket {
    /// Opens a bucket that is there and that the keys of the environment open.
    pub fn open(location: Location) -> io::Result<Self> {
        Self::open_with(location, KeySource::environment())
    }

    fn open_with(location: Location, keys: KeySource) -> io::Result<Self> {
        // The first caller has installed the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("garner/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            .tcp_nodelay(true)
            .build()
            .map_err(io::Error::other)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let credentials = runtime.block_on(keys.find(&client))?;
        let bucket = Self {
            shown: location.shown(),
            location,
            keys,
            credentials: Arc::new(Mutex::new(credentials)),
            client,
            runtime: Arc::new(runtime),
        };
        // That it is not there, or not for us, should be known now.
        bucket.page("", Some("1"), None)?;
        Ok(bucket)
    }

    fn page(&self, prefix: &str, most: Option<&str>, next: Option<&str>) -> io::Result<Page> {
        let mut query = vec![
            ("list-type", "2"),
            ("delimiter", "/"),
            ("encoding-type", "url"),
            ("prefix", prefix),
        ];
        query.extend(most.map(|most| ("max-keys", most)));
        query.extend(next.map(|next| ("continuation-token", next)));
        let ask = Ask {
            query: &query,
            ..Ask::default()
        };
        let response = self.send(&Method::GET, &ask)?;
        let response = self.expect(response, "")?;
        let bytes = self.whole(response)?;
        listing::parse(&String::from_utf8_lossy(&bytes))
    }

    /// Sends a request, again if the store does not answer or says that it is busy, or if there are other keys by now.
    fn send(&self, method: &Method, ask: &Ask<'_>) -> io::Result<Response> {
        let used = self.credentials();
        let refused = [
            StatusCode::BAD_REQUEST,
            StatusCode::UNAUTHORIZED,
            StatusCode::FORBIDDEN,
        ];
        let response = self.insist(method, ask)?;
        // A store answers HEAD without a reason, so every refusal may be that keys have expired.
        match refused.contains(&response.status()) && self.has_others(&used) {
            true => self.insist(method, ask),
            false => Ok(response),
        }
    }

    fn credentials(&self) -> Credentials {
        let held = self.credentials.lock();
        held.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether there are other keys than those that were `used`, which are taken from now on.
    fn has_others(&self, used: &Credentials) -> bool {
        let found = self.runtime.block_on(self.keys.find(&self.client));
        let mut held = self
            .credentials
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Ok(found) = found {
            *held = found;
        }
        *held != *used
    }

    fn insist(&self, method: &Method, ask: &Ask<'_>) -> io::Result<Response> {
        let mut wait = FIRST_WAIT;
        for attempt in 1.. {
            let sent = self.runtime.block_on(self.try_send(method, ask));
            let is_busy = |status: StatusCode| {
                status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
                    || status == StatusCode::TOO_MANY_REQUESTS
                    // `ConditionalRequestConflict`: somebody else wrote at the same moment, and nothing was decided.
                    || status == StatusCode::CONFLICT
            };
            match sent {
                Ok(response) if !is_busy(response.status()) || attempt == ATTEMPTS => {
                    return Ok(response);
                }
                Err(error) if attempt == ATTEMPTS => return Err(error),
                _ => {}
            }
            std::thread::sleep(wait);
            wait *= 2;
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    async fn try_send(&self, method: &Method, ask: &Ask<'_>) -> io::Result<Response> {
        let mut url = Url::parse(&self.location.url(ask.key)).map_err(io::Error::other)?;
        let digest = match &ask.body {
            Some((_, _, digest)) => digest.clone(),
            None => HEXLOWER.encode(&Sha256::digest(b"")),
        };
        let now = Timestamp::now();
        let mut credentials = self.credentials();
        if credentials.is_over(now) {
            credentials = self.keys.find(&self.client).await?;
            let mut held = self
                .credentials
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            held.clone_from(&credentials);
        }
        let unsigned = Unsigned {
            method: method.as_str(),
            url: &url,
            query: ask.query,
            headers: &ask.headers,
            digest: &digest,
        };
        let headers = sign(&unsigned, &credentials, self.location.region(), now);
        if !ask.query.is_empty() {
            url.set_query(Some(&query(ask.query)));
        }
        let mut request = self.client.request(method.clone(), url);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some((file, length, _)) = &ask.body {
            request = request.header("content-length", length.to_string());
            request = request.body(body(file, *length)?);
        }
        request.send().await.map_err(|error| {
            let why = chain(&error.without_url());
            let message = format!("{} does not answer: {why}", self.shown);
            // It may answer later.
            io::Error::new(io::ErrorKind::TimedOut, message)
        })
    }

    /// The answer, if it is a good one; else what the store says.
    fn expect(&self, response: Response, path: &str) -> io::Result<Response> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let bytes = self.whole(response).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let said = |name: &str| {
            let (_, rest) = text.split_once(&format!("<{name}>"))?;
            let (said, _) = rest.split_once("</")?;
            Some(
                said.chars()
                    .filter(|c| !c.is_control())
                    .take(200)
                    .collect::<String>(),
            )
        };
        let code = said("Code").unwrap_or_else(|| status.to_string());
        let message = said("Message").unwrap_or_default();
        let kind = match (status, code.as_str()) {
            // Without the bucket nothing is certain about its objects.
            (StatusCode::NOT_FOUND, "NoSuchBucket") => io::ErrorKind::Other,
            (StatusCode::NOT_FOUND, _) => io::ErrorKind::NotFound,
            (StatusCode::FORBIDDEN, _) => io::ErrorKind::PermissionDenied,
            // Others that write the same all the time may stop.
            (StatusCode::TOO_MANY_REQUESTS | StatusCode::CONFLICT, _) => io::ErrorKind::TimedOut,
            _ if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED => {
                io::ErrorKind::TimedOut
            }
            _ => io::ErrorKind::Other,
        };
        let place = match path {
            "" => self.shown.clone(),
            path => format!("{}/{path}", self.shown),
        };
        Err(io::Error::new(kind, format!("{place}: {code} {message}")))
    }

    /// Asks for an object, or for what it has from an offset on if it still has an `ETag`.
    pub(crate) fn begin(&self, path: &str, from: Option<(u64, &str)>) -> io::Result<Response> {
        let key = self.location.key(path);
        let headers = from.map(|(at, tag)| {
            let range = format!("bytes={at}-");
            vec![("range", range), ("if-match", tag.to_owned())]
        });
        let ask = Ask {
            key: &key,
            headers: headers.unwrap_or_default(),
            ..Ask::default()
        };
        let response = self.expect(self.send(&Method::GET, &ask)?, path)?;
        if from.is_some() && response.status() != StatusCode::PARTIAL_CONTENT {
            return Err(io::Error::other(format!(
                "{}/{path}: the store cannot resume an object",
                self.shown
            )));
        }
        Ok(response)
    }

    /// Waits for the next bytes of an answer.
    pub(crate) fn chunk(&self, response: &mut Response) -> reqwest::Result<Option<Bytes>> {
        self.runtime.block_on(response.chunk())
    }

    /// At most `most` bytes of an answer, behind those that are `skipped`.
    fn part(&self, mut response: Response, skipped: u64, most: u64) -> io::Result<Vec<u8>> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        self.runtime.block_on(async {
            let mut bytes = Vec::new();
            while bytes.len() < most
                && let Some(chunk) = response.chunk().await.map_err(io::Error::other)?
            {
                let begin = skipped.min(chunk.len());
                skipped -= begin;
                let length = (chunk.len() - begin).min(most - bytes.len());
                bytes.extend_from_slice(&chunk[begin..begin + length]);
            }
            Ok(bytes)
        })
    }

    /// An answer that is short by its nature.
    fn whole(&self, mut response: Response) -> io::Result<Vec<u8>> {
        self.runtime.block_on(async {
            let mut bytes = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(io::Error::other)? {
                if bytes.len() + chunk.len() > LONGEST_ANSWER {
                    return Err(io::Error::other("the store answers without end"));
                }
                bytes.extend_from_slice(&chunk);
            }
            Ok(bytes)
        })
    }
}

impl Objects for Bucket {
    fn location(&self) -> &str {
        &self.shown
    }

    fn put(&self, path: &str, file: &File, is_new: bool) -> io::Result<bool> {
        let length = file.metadata()?.len();
        if length > LONGEST {
            return Err(io::Error::other(format!(
                "{length} bytes are too many for one object"
            )));
        }
        let key = self.location.key(path);
        let digest = digest(file, length)?;
        let headers = match is_new {
            true => vec![("if-none-match", "*".to_owned())],
            false => Vec::new(),
        };
        let mut ask = Ask {
            key: &key,
            headers,
            body: Some((file, length, digest)),
            ..Ask::default()
        };
        let mut response = self.send(&Method::PUT, &ask)?;
        if is_new && response.status() == StatusCode::NOT_IMPLEMENTED {
            // Not every store knows the condition. The catalog gives each number to one import only.
            if self.size(path)?.is_some() {
                return Ok(false);
            }
            ask.headers.clear();
            response = self.send(&Method::PUT, &ask)?;
        }
        if is_new && response.status() == StatusCode::PRECONDITION_FAILED {
            return Ok(false);
        }
        self.expect(response, path).map(|_| true)
    }

    fn get(&self, path: &str) -> io::Result<StoreReader> {
        let response = self.begin(path, None)?;
        let length = response.content_length();
        let length = length.ok_or_else(|| io::Error::other("the store does not tell a size"))?;
        let reader = Reader::new(self.clone(), path, response, length);
        Ok(StoreReader::new(Box::new(reader), length))
    }

    fn get_part(&self, path: &str, from: u64, most: u64) -> io::Result<Vec<u8>> {
        let key = self.location.key(path);
        let end = from.saturating_add(most).saturating_sub(1);
        let ask = Ask {
            key: &key,
            headers: vec![("range", format!("bytes={from}-{end}"))],
            ..Ask::default()
        };
        let mut wait = FIRST_WAIT;
        for attempt in 1.. {
            let response = self.expect(self.send(&Method::GET, &ask)?, path)?;
            // A store that does not know ranges gives the whole.
            let is_part = response.status() == StatusCode::PARTIAL_CONTENT;
            let skipped = if is_part { 0 } else { from };
            match self.part(response, skipped, most) {
                Err(_) if attempt < ATTEMPTS => {}
                part => return part,
            }
            std::thread::sleep(wait);
            wait *= 2;
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    fn size(&self, path: &str) -> io::Result<Option<u64>> {
        let key = self.location.key(path);
        let ask = Ask {
            key: &key,
            ..Ask::default()
        };
        let response = self.send(&Method::HEAD, &ask)?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let response = self.expect(response, path)?;
        let length = response.headers().get("content-length");
        let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        Ok(Some(length.unwrap_or(0)))
    }

    fn modified(&self, path: &str) -> io::Result<Option<SystemTime>> {
        let key = self.location.key(path);
        let ask = Ask {
            key: &key,
            ..Ask::default()
        };
        let response = self.expect(self.send(&Method::HEAD, &ask)?, path)?;
        let modified = response.headers().get("last-modified");
        let modified = modified.and_then(|modified| modified.to_str().ok());
        let modified = modified.and_then(|it| jiff::fmt::rfc2822::parse(it).ok());
        Ok(modified.map(|modified| modified.timestamp().into()))
    }

    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        let key = self.location.key(to);
        let source = format!("/{}/{}", self.location.bucket, self.location.key(from));
        let source = crate::encoding::encoded(&source, true);
        let ask = Ask {
            key: &key,
            headers: vec![("x-amz-copy-source", source)],
            ..Ask::default()
        };
        let response = self.expect(self.send(&Method::PUT, &ask)?, from)?;
        // A copy can fail after the answer has begun.
        let bytes = self.whole(response)?;
        match String::from_utf8_lossy(&bytes).contains("<Error>") {
            true => Err(io::Error::other(format!(
                "{}/{from} cannot be copied",
                self.shown
            ))),
            false => Ok(()),
        }
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let key = self.location.key(path);
        let ask = Ask {
            key: &key,
            ..Ask::default()
        };
        let response = self.send(&Method::DELETE, &ask)?;
        match response.status() {
            StatusCode::NOT_FOUND => Ok(()),
            _ => self.expect(response, path).map(|_| ()),
        }
    }

    fn names(&self, directory: &str, see: &mut dyn FnMut(&str, Option<u64>)) -> io::Result<()> {
        let mut prefix = self.location.key(directory);
        if !prefix.is_empty() && !prefix.ends_with('/') {
            prefix.push('/');
        }
        let mut next = None;
        loop {
            let page = self.page(&prefix, None, next.as_deref())?;
            for (key, size) in &page.objects {
                match key.strip_prefix(&prefix) {
                    Some(name) if !name.is_empty() => see(name, Some(*size)),
                    _ => {}
                }
            }
            for deeper in &page.deeper {
                let name = deeper.strip_prefix(&prefix).unwrap_or_default();
                let name = name.trim_end_matches('/');
                if !name.is_empty() {
                    see(name, None);
                }
            }
            // A store that says the same again would never end.
            if page.next.is_none() || page.next == next {
                return Ok(());
            }
            next = page.next;
        }
    }
}

/// The bytes of a file from its beginning, block by block.
fn body(file: &File, length: u64) -> io::Result<Body> {
    let file = file.try_clone()?;
    let blocks = futures_util::stream::unfold((file, 0), move |(file, at)| async move {
        if at >= length {
            return None;
        }
        let rest = usize::try_from(length - at).map_or(BLOCK, |rest| rest.min(BLOCK));
        let mut block = vec![0; rest];
        let read = file
            .read_exact_at(&mut block, at)
            .map(|()| Bytes::from(block));
        Some((read, (file, at + rest as u64)))
    });
    Ok(Body::wrap_stream(blocks))
}

fn digest(file: &File, length: u64) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut block = vec![0; BLOCK];
    let mut at = 0;
    while at < length {
        let rest = usize::try_from(length - at).map_or(BLOCK, |rest| rest.min(BLOCK));
        file.read_exact_at(&mut block[..rest], at)?;
        digest.update(&block[..rest]);
        at += rest as u64;
    }
    Ok(HEXLOWER.encode(&digest.finalize()))
}

/// An error with what lies beneath it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}

const ATTEMPTS: u32 = 5;
const FIRST_WAIT: Duration = Duration::from_millis(200);
const CONNECT: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(120);
const BLOCK: usize = 256 << 10;
/// The size that a store takes in one request.
const LONGEST: u64 = 5 << 30;
/// A thousand keys of a kilobyte each have room.
const LONGEST_ANSWER: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// A store that answers requests by what `answer` makes of method and authorization: status, headers and body.
    fn store(
        answer: impl Fn(&str, &str) -> (u16, String) + Send + 'static,
    ) -> (Location, std::net::SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let (mut request, mut authorization, mut length) =
                    (String::new(), String::new(), 0);
                stream.read_line(&mut request).unwrap();
                loop {
                    let mut line = String::new();
                    stream.read_line(&mut line).unwrap();
                    let Some((name, value)) = line.split_once(':') else {
                        break;
                    };
                    match name.to_ascii_lowercase().as_str() {
                        "authorization" => value.trim().clone_into(&mut authorization),
                        "content-length" => length = value.trim().parse().unwrap(),
                        _ => {}
                    }
                }
                let mut body = vec![0; length];
                stream.read_exact(&mut body).unwrap();
                let (status, body) = answer(&request, &authorization);
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                stream.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        let location = format!("s3://papers/?endpoint=http://{address}");
        (Location::given(&location).unwrap(), address)
    }

    const NOTHING: &str = "<ListBucketResult></ListBucketResult>";

    fn file() -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"text").unwrap();
        file
    }

    fn fixed() -> KeySource {
        KeySource::new(|name| match name {
            "AWS_ACCESS_KEY_ID" => Some("fixed".to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some("secret".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn an_object_that_breaks_off_is_resumed_while_it_is_the_same() {
        for (status, expected) in [(206, Ok("0123456789")), (412, Err("412"))] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    let mut stream = BufReader::new(stream.unwrap());
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") {
                        assert_ne!(stream.read_line(&mut head).unwrap(), 0);
                    }
                    let is_resumed = head.contains("range: bytes=5-\r\n");
                    let answer = match head.starts_with("GET /papers/a ") {
                        true if is_resumed && head.contains("if-match: \"tag\"\r\n") => {
                            format!("HTTP/1.1 {status} X\r\nContent-Length: 5\r\n\r\n56789")
                        }
                        true => {
                            "HTTP/1.1 200 X\r\nETag: \"tag\"\r\nContent-Length: 10\r\n\r\n01234"
                                .to_owned()
                        }
                        false => format!(
                            "HTTP/1.1 200 X\r\nContent-Length: {}\r\n\r\n{NOTHING}",
                            NOTHING.len()
                        ),
                    };
                    // The connection ends here.
                    stream.get_mut().write_all(answer.as_bytes()).unwrap();
                }
            });
            let location = format!("s3://papers/?endpoint=http://{address}");
            let bucket = Bucket::open_with(Location::given(&location).unwrap(), fixed()).unwrap();
            let mut text = String::new();
            let read = bucket.get("a").unwrap().read_to_string(&mut text);
            match expected {
                Ok(expected) => {
                    read.unwrap();
                    assert_eq!(text, expected);
                }
                Err(reason) => {
                    let error = read.unwrap_err().to_string();
                    assert!(error.contains(reason), "{error}");
                }
            }
        }
    }

    /// Issue 18: a conflict was taken for a document that is there.
    #[test]
    fn a_conflict_is_tried_again_and_is_no_object_that_is_there() {
        let puts = Mutex::new(0);
        let (location, _) = store(move |request, _| match request.starts_with("PUT") {
            false => (200, NOTHING.to_owned()),
            true => {
                let mut puts = puts.lock().unwrap();
                *puts += 1;
                match *puts {
                    1 | 2 => (
                        409,
                        "<Error><Code>ConditionalRequestConflict</Code></Error>".to_owned(),
                    ),
                    3 => (200, String::new()),
                    _ => (412, String::new()),
                }
            }
        });
        let bucket = Bucket::open_with(location, fixed()).unwrap();
        assert!(bucket.put("a", &file(), true).unwrap());
        assert!(!bucket.put("a", &file(), true).unwrap());
    }

    #[test]
    fn a_conflict_without_end_is_an_error() {
        let (location, _) = store(|request, _| match request.starts_with("PUT") {
            false => (200, NOTHING.to_owned()),
            true => (
                409,
                "<Error><Code>ConditionalRequestConflict</Code></Error>".to_owned(),
            ),
        });
        let bucket = Bucket::open_with(location, fixed()).unwrap();
        let error = bucket.put("a", &file(), true).unwrap_err().to_string();
        assert!(error.contains("ConditionalRequestConflict"), "{error}");
    }

    /// Issue 18: an import ended with the first keys that it found.
    #[test]
    fn keys_that_expired_are_replaced_by_those_in_the_file() {
        let (location, _) = store(|_, authorization| match authorization.contains("=old/") {
            true => (400, "<Error><Code>ExpiredToken</Code></Error>".to_owned()),
            false => (200, NOTHING.to_owned()),
        });
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("credentials");
        let write = |key: &str| {
            let text = format!(
                "[default]\naws_access_key_id={key}\naws_secret_access_key=s\naws_session_token=t\n"
            );
            std::fs::write(&path, text).unwrap();
        };
        let place = path.to_string_lossy().into_owned();
        let keys = KeySource::new(move |name| {
            (name == "AWS_SHARED_CREDENTIALS_FILE").then(|| place.clone())
        });
        write("new");
        let bucket = Bucket::open_with(location, keys).unwrap();
        *bucket.credentials.lock().unwrap() = Credentials {
            key: "old".to_owned(),
            ..bucket.credentials()
        };
        assert_eq!(bucket.size("a").unwrap(), Some(NOTHING.len() as u64));
        assert_eq!(bucket.credentials().key, "new");

        // Without others there is the answer of the store.
        write("old");
        *bucket.credentials.lock().unwrap() = Credentials {
            key: "old".to_owned(),
            ..bucket.credentials()
        };
        let error = bucket.put("a", &file(), false).unwrap_err().to_string();
        assert!(error.contains("ExpiredToken"), "{error}");
    }

    #[test]
    fn keys_of_a_container_are_renewed_before_they_expire() {
        let asked = Mutex::new(0);
        let (location, address) = store(move |request, authorization| {
            if !request.starts_with("GET /keys ") {
                let is_ours = authorization.contains("=key-2/");
                return (if is_ours { 200 } else { 403 }, NOTHING.to_owned());
            }
            let mut asked = asked.lock().unwrap();
            *asked += 1;
            // The first keys are over in a minute, which is too soon.
            let minutes = if *asked == 1 { 1 } else { 60 };
            let end = Timestamp::now() + jiff::SignedDuration::from_mins(minutes);
            let told = format!(
                r#"{{"AccessKeyId":"key-{asked}","SecretAccessKey":"s","Token":"t","Expiration":"{end}"}}"#
            );
            (if authorization == "pass" { 200 } else { 403 }, told)
        });
        let keys = KeySource::new(move |name| match name {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI" => Some(format!("http://{address}/keys")),
            "AWS_CONTAINER_AUTHORIZATION_TOKEN" => Some("pass".to_owned()),
            _ => None,
        });
        let bucket = Bucket::open_with(location, keys).unwrap();
        assert_eq!(bucket.credentials().key, "key-2");
        assert!(bucket.put("a", &file(), false).unwrap());
        assert_eq!(bucket.credentials().key, "key-2");
    }
}
