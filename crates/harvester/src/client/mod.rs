//! Asks servers over HTTP: politely, again if need be, and only where it may.

mod body;
mod direct;
mod download;
mod driver;
mod exchange;
mod gate;
mod given;
mod guard;
mod http;
mod list;
mod options;
mod pace;
mod page_stream;
mod post;
mod probe;
mod query;
mod read_ahead;
mod repository;
mod retry;
mod waiting;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderValue, LOCATION,
    RETRY_AFTER,
};
use reqwest::{Method, Response, StatusCode, Url};

use self::body::Body;
use self::direct::Unsent;
use self::driver::{Driver, settle};
use self::gate::{Gates, Line, Permit};
use self::guard::{Guard, NotPublic, is_this_machine};
use self::http::Http;
use self::query::{Request, Sending};
use self::read_ahead::Readers;
use self::retry::Retry;
use crate::buffers::Buffers;
use crate::error::{Error, ErrorKind, Misbehaviour};
use crate::read::is_answer;
use crate::{Quirk, Quirks};

pub use download::{Download, Revisited};
pub use exchange::Exchange;
pub use guard::address_policy::{AddressPolicy, Network, NotANetwork};
pub use list::{Headers, Records};
pub use options::{ClientOptions, Credentials};
pub use pace::{Pace, RealPace};
pub(crate) use page_stream::PageStream;
pub use post::Posted;
pub use probe::{ProbeMethod, Probed, Unreached};
pub use process::Stop;
pub(crate) use query::{Arguments, Patience};
pub use query::{Validators, base_url_of, canonical_base_url};
pub use repository::Repository;
pub(crate) use repository::{code, refusal};
pub(crate) use waiting::span;
pub use waiting::{ClientEvent, Listener, Narrowing, Waiting};

/// Asks servers; clones share connections, limits and counters.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    http: Http,
    driver: Arc<Driver>,
    options: ClientOptions,
    gates: Gates,
    guard: Guard,
    buffers: Buffers,
    readers: Readers,
    reached: AtomicBool,
    requests: AtomicU64,
    bytes: Arc<AtomicU64>,
}

/// The traffic so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// How many requests were made, with those that were repeated.
    pub requests: u64,
    /// How many bytes of bodies came in, as they were sent.
    pub bytes: u64,
}

/// An answer of a server; its body is not read yet.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// Whether the server says that it is compressed.
    pub(crate) compressed: bool,
    pub(crate) charset: Option<String>,
    /// The server's clock.
    pub(crate) date: Option<String>,
    /// Where it came from, after all redirects.
    pub(crate) url: Url,
    pub(crate) body: Body,
}

/// Why one attempt brought no answer.
enum Failed {
    /// Another attempt may help.
    Later {
        reason: String,
        asked: Option<Duration>,
        connecting: bool,
        /// Whether the server says so itself.
        busy: bool,
    },
    Finally(Error),
    /// It would have led to an address that must not be connected to, of this host.
    Inside(String),
}

impl Client {
    /// Makes a client.
    pub fn new(options: ClientOptions) -> Result<Self, Error> {
        // Another part of the program may have chosen already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let proxy = options.proxy.as_deref().map(|proxy| {
            // It may hold a password, so it is not repeated.
            let wrong = |error| {
                Error::usage(format!(
                    "the proxy is no URL: {error}; write http://HOST:3128"
                ))
            };
            Url::parse(proxy).map_err(wrong)
        });
        let proxy = proxy.transpose()?;
        let guard = Guard::new(options.allow.clone(), proxy.as_ref());
        let http = Http::new(&options, proxy, guard.clone())?;
        let driver = Driver::new(options.stop.clone());
        let driver = driver.map_err(|error| Error::usage(format!("no client: {error}")))?;
        Ok(Self {
            shared: Arc::new(Shared {
                http,
                driver: Arc::new(driver),
                options,
                gates: Gates::default(),
                guard,
                buffers: Buffers::default(),
                readers: Readers::default(),
                reached: AtomicBool::new(false),
                requests: AtomicU64::new(0),
                bytes: Arc::default(),
            }),
        })
    }

    /// The repository at a base URL. Nothing is asked yet.
    pub fn repository(&self, base_url: &str) -> Result<Repository, Error> {
        Repository::new(self.clone(), base_url)
    }

    /// How the client behaves.
    pub fn options(&self) -> &ClientOptions {
        &self.shared.options
    }

    /// The traffic so far.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            requests: self.shared.requests.load(Ordering::Relaxed),
            bytes: self.shared.bytes.load(Ordering::Relaxed),
        }
    }

    /// The memory that pages are read with.
    fn buffers(&self) -> &Buffers {
        &self.shared.buffers
    }

    /// The threads that read pages ahead.
    fn readers(&self) -> &Readers {
        &self.shared.readers
    }

    fn trust(&self, url: &Url) {
        self.shared.guard.trust(url);
    }

    /// Asks until there is an answer that is not "later".
    fn fetch(
        &self,
        request: &Request,
        credentials: Option<&Credentials>,
        quirks: &mut Quirks,
    ) -> Result<Answer, Error> {
        let mut retry = Retry::new(self.options());
        let mut sending = request.sending();
        let mut refused = None;
        let listener = &self.options().listener;
        loop {
            listener.tell(|| ClientEvent::Asking {
                request: request.shown(),
            });
            let attempted = self.attempt(request, sending, credentials, quirks);
            if let Ok(answer) = &attempted {
                listener.tell(|| ClientEvent::Answered {
                    request: request.shown(),
                    status: answer.status,
                });
            }
            let failed = match attempted {
                Ok(answer) => match request.other_way(sending, answer.status) {
                    // Each way is tried once.
                    Some(other) if refused != Some(other) => {
                        refused = Some(sending);
                        sending = other;
                        continue;
                    }
                    _ => return Ok(answer),
                },
                Err(failed) => failed,
            };
            let (reason, asked, connecting, busy) = match failed {
                Failed::Finally(error) => return Err(error.at(&request.shown())),
                Failed::Inside(host) => {
                    return Err(Error::usage(self.shared.guard.reason(&host)));
                }
                Failed::Later {
                    reason,
                    asked,
                    connecting,
                    busy,
                } => (reason, asked, connecting, busy),
            };
            quirks.add(match asked {
                Some(_) => Quirk::AskedToWait,
                None => Quirk::BusyWithoutRetryAfter,
            });
            // A server that was never there is most likely a slip of the pen.
            let hopeless = connecting && !self.shared.reached.load(Ordering::Relaxed);
            let limit = self.options().longest_wait;
            if let Some(wait) = asked.filter(|asked| *asked > limit) {
                listener.tell(|| ClientEvent::Refused { reason });
                let kind = ErrorKind::AskedToWait { wait, limit };
                return Err(Error::new(kind).at(&request.shown()));
            }
            let wait = match request.may_repeat(retry.attempts(), busy) {
                true => retry.next_wait(asked),
                false => None,
            };
            let wait = wait.filter(|_| !hopeless || retry.is_second());
            match wait {
                Some(wait) => {
                    let waiting = retry.waiting(wait, asked.is_some(), reason);
                    listener.tell(|| ClientEvent::Waiting(waiting));
                    self.wait(wait)?;
                }
                None => {
                    let message = format!("{reason}{}", retry.summary());
                    listener.tell(|| ClientEvent::Refused {
                        reason: message.clone(),
                    });
                    let kind = match busy {
                        true => ErrorKind::Busy(message),
                        false => ErrorKind::Transport(message),
                    };
                    return Err(Error::new(kind).at(&request.shown()));
                }
            }
        }
    }

    /// Waits, unless it was asked to stop.
    fn wait(&self, wait: Duration) -> Result<(), Error> {
        let options = self.options();
        options.pace.sleep(wait, &options.stop);
        self.check_stop()
    }

    pub(crate) fn check_stop(&self) -> Result<(), Error> {
        match self.options().stop.is_set() {
            true => Err(Error::new(ErrorKind::Stopped)),
            false => Ok(()),
        }
    }

    /// One attempt, with the redirects it takes.
    fn attempt(
        &self,
        request: &Request,
        sending: Sending,
        credentials: Option<&Credentials>,
        quirks: &mut Quirks,
    ) -> Result<Answer, Failed> {
        let (first, mut form) = request.target(sending);
        let mut url = first.clone();
        for _ in 0..=self.options().redirects {
            // Credentials of the repository are for its own host alone.
            let own = same_host(first, &url).then_some(credentials).flatten();
            let sent = self.send(&url, form, own, request);
            let (response, permit) = sent.map_err(|failed| match failed {
                Failed::Inside(host) => self.fenced(request, first == &url, &url, &host),
                failed => failed,
            })?;
            let (status, headers) = (response.status().as_u16(), response.headers());
            let target = redirect_target(&url, status, headers).filter(|_| request.follows());
            let Some(target) = target else {
                return self.judge(response, permit, &url, request.is_for_a_verb());
            };
            let target = target.map_err(|reason| refused(&reason))?;
            self.check_redirect(&url, &target, credentials.is_some())?;
            quirks.add(Quirk::Redirected);
            // Other redirects may be followed by POST as well (RFC 9110, 15.4), and have to be: the
            // arguments are nowhere else.
            if response.status() == StatusCode::SEE_OTHER {
                form = None;
            }
            url = target;
        }
        Err(refused("itself again and again"))
    }

    fn send(
        &self,
        url: &Url,
        form: Option<&str>,
        credentials: Option<&Credentials>,
        asked: &Request,
    ) -> Result<(Response, Permit), Failed> {
        let shared = &self.shared;
        let verb = asked.is_for_a_verb();
        let host = url.host_str().unwrap_or_default();
        self.check_address(url)?;
        let line = match verb {
            true => Line::Verbs,
            false => Line::Resources,
        };
        let Some(permit) = shared.gates.enter(host, line, &shared.options) else {
            return Err(Failed::Finally(Error::new(ErrorKind::Stopped)));
        };
        let request = match form {
            None => shared.http.request(Method::GET, url),
            Some(form) => shared
                .http
                .request(Method::POST, url)
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(form.to_owned()),
        };
        shared.requests.fetch_add(1, Ordering::Relaxed);
        // Between two programs of one machine compression costs more time than it saves.
        let near = shared.options.proxy.is_none() && is_this_machine(url);
        let request = match asked.may_compress() && !near {
            true => request,
            false => request.header(ACCEPT_ENCODING, "identity"),
        };
        let conditions = asked.conditions().fields();
        let request = conditions.fold(request, |request, (name, value)| {
            request.header(name, value)
        });
        let request = match credentials {
            Some(Credentials::Basic { user, password }) => request.basic_auth(user, Some(password)),
            Some(Credentials::Bearer(token)) => request.bearer_auth(token),
            None => request,
        };
        let sent = shared.driver.wait(async {
            settle().await;
            shared.http.send(request, &shared.options).await
        });
        match sent {
            Some(Ok(response)) => {
                shared.reached.store(true, Ordering::Relaxed);
                Ok((response, permit))
            }
            Some(Err(error)) => Err(failure(error)),
            None => Err(Failed::Finally(Error::new(ErrorKind::Stopped))),
        }
    }

    /// An answer, unless its status means "later". Quirk: some servers send good answers with such a status.
    fn judge(
        &self,
        response: Response,
        permit: Permit,
        url: &Url,
        verb: bool,
    ) -> Result<Answer, Failed> {
        let status = response.status();
        let text = |name| {
            let value = response.headers().get(name);
            value.and_then(|value: &HeaderValue| value.to_str().ok())
        };
        let now = self.options().pace.now();
        let asked = text(RETRY_AFTER).and_then(|value| retry::retry_after(value, now));
        let mut answer = Answer {
            status: status.as_u16(),
            compressed: text(CONTENT_ENCODING)
                .is_some_and(|coding| !coding.trim().eq_ignore_ascii_case("identity")),
            charset: text(CONTENT_TYPE).and_then(charset),
            date: text(DATE).map(str::to_owned),
            headers: response.headers().clone(),
            url: url.clone(),
            body: Body::new(
                response,
                permit,
                Arc::clone(&self.shared.driver),
                self.options(),
                Arc::clone(&self.shared.bytes),
            ),
        };
        let is_later = TRY_LATER.contains(&answer.status);
        let may_be_good = verb && asked.is_none() && answer.status != 429;
        if !is_later || may_be_good && is_answer(answer.body.peek(PEEKED)) {
            return Ok(answer);
        }
        Err(Failed::Later {
            reason: format!("the server answers {status}"),
            asked,
            connecting: false,
            busy: matches!(answer.status, 429 | 503),
        })
    }
}

fn failure(error: Unsent) -> Failed {
    match error {
        Unsent::Unusable(error) => return Failed::Finally(error),
        Unsent::Request(error) => return Failed::Finally(Error::usage(chain(&error))),
        Unsent::Direct(_) | Unsent::Other(_) | Unsent::Silent(_) => {}
    }
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(cause) = source {
        if let Some(NotPublic(host)) = cause.downcast_ref() {
            return Failed::Inside(host.clone());
        }
        source = cause.source();
    }
    Failed::Later {
        reason: chain(&error),
        asked: None,
        connecting: error.is_connect(),
        busy: false,
    }
}

fn refused(target: &str) -> Failed {
    Failed::Finally(Misbehaviour::Redirect(target.to_owned()).into())
}

/// Where a response leads, if it leads anywhere.
fn redirect_target(url: &Url, status: u16, headers: &HeaderMap) -> Option<Result<Url, String>> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = headers.get(LOCATION)?;
    let location = String::from_utf8_lossy(location.as_bytes());
    Some(url.join(&location).map_err(|_| format!("`{location}`")))
}

fn same_host(a: &Url, b: &Url) -> bool {
    a.host_str() == b.host_str()
        && (a.port_or_known_default() == b.port_or_known_default() || b.scheme() == "https")
}

fn charset(content_type: &str) -> Option<String> {
    let parameter = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })?;
    Some(parameter.trim().trim_matches('"').to_owned())
}

/// An error with its causes, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// Statuses that may be others in a while. Quirk: 500 where 503 was meant is common.
pub(crate) const TRY_LATER: [u16; 6] = [408, 429, 500, 502, 503, 504];
/// As much of a body tells whether it is an answer.
const PEEKED: usize = 8 << 10;
