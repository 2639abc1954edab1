//! A console over an empty catalog, and somebody who looks at it: with cookies, as browsers have.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::header::{CONTENT_TYPE, COOKIE, HOST, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use catalog::{AuditQuery, AuditRow, Role};
use console::{Console, ConsoleConfig, Outside};
use flows::Holdings;
use harvester::AddressPolicy;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tower_service::Service as _;

pub(crate) const PASSWORD: &str = "correct horse battery";

/// A console over an empty catalog.
pub(crate) struct TestConsole {
    pub(crate) console: Console,
    pub(crate) holdings: Arc<Holdings>,
    _directory: TempDir,
}

/// Somebody who looks at it.
pub(crate) struct Browser<'a> {
    test: &'a TestConsole,
    cookies: Mutex<BTreeMap<String, String>>,
}

/// The answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl TestConsole {
    pub(crate) fn new() -> Self {
        Self::with(ConsoleConfig::default())
    }

    pub(crate) fn with(config: ConsoleConfig) -> Self {
        let mut outside = Outside::default();
        // Repositories of tests are on this machine.
        outside.client.allow = AddressPolicy::Anything;
        Self::made(config, outside)
    }

    pub(crate) fn with_outside(outside: Outside) -> Self {
        Self::made(ConsoleConfig::default(), outside)
    }

    fn made(config: ConsoleConfig, outside: Outside) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let holdings = Arc::new(Holdings::create(directory.path(), None).unwrap());
        let console = Console::with_outside(Arc::clone(&holdings), config, outside).unwrap();
        Self {
            console,
            holdings,
            _directory: directory,
        }
    }

    pub(crate) fn setup_link(&self) -> Option<String> {
        let address = SocketAddr::from(([127, 0, 0, 1], 8080));
        let link = self.holdings.wait(self.console.setup_link(address));
        link.unwrap()
            .map(|link| link.replace("http://127.0.0.1:8080", ""))
    }

    /// Makes an account.
    pub(crate) fn account(&self, name: &str, role: Role) -> i64 {
        let hash = operations::password::hash_now(PASSWORD).unwrap();
        let catalog = self.holdings.catalog();
        let account = self.holdings.wait(catalog.add_account(name, &hash, role));
        account.unwrap().id
    }

    pub(crate) fn account_id(&self, name: &str) -> i64 {
        let accounts = self.holdings.wait(self.holdings.catalog().accounts());
        let mut accounts = accounts.unwrap().into_iter();
        accounts.find(|account| account.name == name).unwrap().id
    }

    /// Somebody who is not logged in.
    pub(crate) fn browser(&self) -> Browser<'_> {
        Browser {
            test: self,
            cookies: Mutex::default(),
        }
    }

    /// Somebody with an account of this name, which is made, and who is logged in.
    pub(crate) fn logged_in(&self, name: &str, role: Role) -> Browser<'_> {
        self.account(name, role);
        let browser = self.browser();
        let answer = browser.log_in(name, PASSWORD);
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{answer:?}");
        browser
    }

    /// The same without the slow way through the login.
    pub(crate) fn with_session(&self, name: &str, role: Role) -> Browser<'_> {
        self.with_session_for(name, role, Duration::from_secs(600))
    }

    pub(crate) fn with_session_for(
        &self,
        name: &str,
        role: Role,
        lifetime: Duration,
    ) -> Browser<'_> {
        let (catalog, secret) = (self.holdings.catalog(), secret_of(name));
        self.holdings.wait(async {
            let account = catalog.add_account(name, "no hash", role).await.unwrap();
            let digest = digest(&secret);
            let session = catalog.begin_session(&digest, account.id, lifetime);
            session.await.unwrap();
        });
        let browser = self.browser();
        let mut cookies = browser.cookies.lock().unwrap();
        cookies.insert("garner".to_owned(), secret);
        drop(cookies);
        browser
    }

    pub(crate) fn audit_trail(&self) -> Vec<AuditRow> {
        let catalog = self.holdings.catalog();
        let query = AuditQuery::default();
        self.holdings.wait(catalog.audit_trail(&query)).unwrap()
    }

    pub(crate) fn send(&self, mut request: Request<Body>) -> Answer {
        let peer = SocketAddr::from(([192, 0, 2, 1], 50_000));
        if request
            .extensions()
            .get::<ConnectInfo<SocketAddr>>()
            .is_none()
        {
            request.extensions_mut().insert(ConnectInfo(peer));
        }
        let mut service = self.console.service();
        self.holdings.wait(async move {
            let response = service.call(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap();
            Answer {
                status: parts.status,
                headers: parts.headers,
                body: String::from_utf8_lossy(&body).into_owned(),
            }
        })
    }
}

fn secret_of(name: &str) -> String {
    digest(&format!("secret of {name}"))
}

fn digest(secret: &str) -> String {
    let digest = Sha256::digest(secret.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A request as it is sent by default, to be made special.
pub(crate) fn request(method: Method, path: &str) -> Request<Body> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header(HOST, "localhost:8080");
    request.body(Body::empty()).unwrap()
}

impl Browser<'_> {
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(request(Method::GET, path))
    }

    /// Sends a form, as browsers do from a page of the same site.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let encoded = fields.iter().map(|(name, value)| {
            let value: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
            format!("{name}={value}")
        });
        let body = encoded.collect::<Vec<_>>().join("&");
        let mut request = request(Method::POST, path).map(|_| Body::from(body));
        let headers = request.headers_mut();
        let kind = "application/x-www-form-urlencoded";
        headers.insert(CONTENT_TYPE, kind.parse().unwrap());
        headers.insert("sec-fetch-site", "same-origin".parse().unwrap());
        self.send(request)
    }

    pub(crate) fn log_in(&self, name: &str, password: &str) -> Answer {
        self.post("/login", &[("name", name), ("password", password)])
    }

    /// Calls the API by the session.
    pub(crate) fn call(&self, method: Method, path: &str, body: &Value) -> Answer {
        let mut request = request(method, path);
        if !body.is_null() {
            let json = "application/json".parse().unwrap();
            request.headers_mut().insert(CONTENT_TYPE, json);
            request = request.map(|_| Body::from(body.to_string()));
        }
        self.send(request)
    }

    pub(crate) fn send(&self, mut request: Request<Body>) -> Answer {
        let cookies = self.cookie_header();
        if !cookies.is_empty() {
            let cookies = cookies.parse().unwrap();
            request.headers_mut().insert(COOKIE, cookies);
        }
        let answer = self.test.send(request);
        self.keep_cookies(&answer);
        answer
    }

    pub(crate) fn cookie_header(&self) -> String {
        let cookies = self.cookies.lock().unwrap();
        let pairs = cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join("; ")
    }

    fn keep_cookies(&self, answer: &Answer) {
        let mut cookies = self.cookies.lock().unwrap();
        for set in answer.headers.get_all(SET_COOKIE) {
            let set = set.to_str().unwrap();
            let (name, rest) = set.split_once('=').unwrap();
            let (value, attributes) = rest.split_once(';').unwrap();
            match attributes.contains("Max-Age=0") {
                true => cookies.remove(name),
                false => cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
    }
}

impl Answer {
    pub(crate) fn location(&self) -> &str {
        let location = self.headers.get(LOCATION);
        location.map_or("", |location| location.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The code of an error of the API.
    pub(crate) fn code(&self) -> String {
        let json = self.json();
        json["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    #[track_caller]
    pub(crate) fn leads_to(&self, place: &str) {
        assert_eq!(self.status, StatusCode::SEE_OTHER, "{self:?}");
        assert_eq!(self.location(), place);
    }

    #[track_caller]
    pub(crate) fn shows(&self, status: StatusCode, text: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert!(self.body.contains(text), "`{text}` is not in {}", self.body);
    }
}
