//! Requesters: HTTP/1.1, h2c or TLS, with or without credentials.

use std::path::{Path, PathBuf};
use std::process::Command;

use test_support::{Answer, Connection, Httpd, Response, basic, percent_encoded};

/// How a requester talks to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    H2c,
    Tls,
}

/// A requester: address, credentials and headers.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    authority: String,
    host: String,
    protocol: Protocol,
    headers: Vec<(&'static str, String)>,
    /// Bytes that are sent before the request, as a proxy does.
    preface: String,
    /// A file with a certificate and its key.
    certificate: Option<PathBuf>,
}

impl Client {
    /// Somebody without credentials, over HTTP/1.1.
    pub(crate) fn anonymous(httpd: &Httpd) -> Self {
        Self {
            authority: httpd.authority(),
            host: httpd.authority(),
            protocol: Protocol::Http1,
            headers: Vec::new(),
            preface: String::new(),
            certificate: None,
        }
    }

    pub(crate) fn with_password(mut self, user: &str, password: &str) -> Self {
        self.headers.push(basic(user, password));
        self
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn over(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// Comes through a proxy that talks to another port and says by the PROXY protocol whom it stands for.
    pub(crate) fn through_proxy(mut self, port: u16, address: &str) -> Self {
        self.authority = format!("127.0.0.1:{port}");
        self.host.clone_from(&self.authority);
        self.preface = format!("PROXY TCP4 {address} 127.0.0.1 5000 {port}\r\n");
        self
    }

    pub(crate) fn with_certificate(mut self, file: &Path) -> Self {
        self.certificate = Some(file.to_owned());
        self
    }

    /// Asks for another virtual host.
    pub(crate) fn of_host(mut self, host: &str) -> Self {
        self.host = host.to_owned();
        self
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The URL of a path as this requester writes it, and so the identifier of the item.
    pub(crate) fn url(&self, path: &str) -> String {
        let scheme = match self.protocol {
            Protocol::Tls => "https",
            _ => "http",
        };
        format!("{scheme}://{}{path}", self.host)
    }

    /// A GET on a fresh connection; the path is sent as it is.
    pub(crate) fn get(&self, path: &str) -> Response {
        match self.protocol {
            Protocol::Http1 => self.plainly(path),
            Protocol::H2c | Protocol::Tls => self.by_curl(path),
        }
    }

    /// Asks the repository.
    pub(crate) fn ask(&self, query: &str) -> Answer {
        Answer::of(self.get(&format!("/modoai?{query}")))
    }

    /// The record of an item.
    pub(crate) fn record(&self, identifier: &str, prefix: &str) -> Answer {
        let identifier = percent_encoded(identifier);
        self.ask(&format!(
            "verb=GetRecord&metadataPrefix={prefix}&identifier={identifier}"
        ))
    }

    /// The HTTP status of asking for the record of an item with its bytes.
    pub(crate) fn record_status(&self, identifier: &str) -> u16 {
        let identifier = percent_encoded(identifier);
        let query = format!("verb=GetRecord&metadataPrefix=oai_didl&identifier={identifier}");
        self.get(&format!("/modoai?{query}")).status
    }

    /// A whole list, page by page.
    pub(crate) fn pages(&self, verb: &str, arguments: &str) -> Vec<Answer> {
        let mut pages = vec![self.ask(&format!("verb={verb}&{arguments}"))];
        while let Some(token) = pages[pages.len() - 1].token() {
            assert!(pages.len() < 10_000, "the list does not end");
            pages.push(self.ask(&format!("verb={verb}&resumptionToken={token}")));
        }
        pages
    }

    /// The identifiers of all live items, in the order of the list.
    pub(crate) fn identifiers(&self) -> Vec<String> {
        let pages = self.pages("ListIdentifiers", "metadataPrefix=oai_dc");
        let headers = pages.iter().flat_map(Answer::headers);
        let live = headers.filter(|header| !header.deleted);
        live.map(|header| header.identifier).collect()
    }

    fn plainly(&self, path: &str) -> Response {
        let mut request = format!(
            "{}GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
            self.preface, self.host
        );
        for (name, value) in &self.headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        let mut connection = Connection::open(&self.authority);
        connection.send(request.as_bytes());
        let response = connection.receive(false);
        response.unwrap_or_else(|| panic!("{path}: the server closed without an answer"))
    }

    fn by_curl(&self, path: &str) -> Response {
        let mut command = Command::new("curl");
        command.args(["-s", "-k", "-i", "--path-as-is", "--max-time", "60"]);
        if self.protocol == Protocol::H2c {
            command.arg("--http2-prior-knowledge");
        }
        if let Some(certificate) = &self.certificate {
            command.arg("--cert").arg(certificate);
        }
        for (name, value) in &self.headers {
            command.arg("-H").arg(format!("{name}: {value}"));
        }
        let output = command.arg(self.url(path)).output().unwrap();
        assert!(output.status.success(), "{path}: curl {}", output.status);
        parse(&output.stdout)
    }
}

/// Reads a response as curl prints it, with the chunks already joined.
fn parse(bytes: &[u8]) -> Response {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.expect("the response has a head");
    let head = String::from_utf8_lossy(&bytes[..end]);
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let headers = lines.filter_map(|line| line.split_once(':'));
    Response {
        status: status.parse().unwrap(),
        headers: headers
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect(),
        body: bytes[end + 4..].to_vec(),
        complete: true,
    }
}
