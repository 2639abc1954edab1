//! A plain HTTP/1.1 client on a socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use rustix::net;

use crate::base64;

/// A response as it came.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Names as sent, and values.
    pub headers: Vec<(String, String)>,
    /// The body, chunks joined.
    pub body: Vec<u8>,
    /// Whether the body came to its proper end.
    pub complete: bool,
}

/// A connection that stays open.
#[derive(Debug)]
pub struct Connection {
    reader: BufReader<TcpStream>,
}

impl Response {
    /// The first header of a name, whatever its letter case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self
            .headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name));
        header.map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Connects from an address of this machine, such as 127.0.0.9.
pub fn connect_from(from: Ipv4Addr, to: SocketAddr) -> TcpStream {
    let socket = net::socket(net::AddressFamily::INET, net::SocketType::STREAM, None).unwrap();
    net::bind(&socket, &SocketAddr::from((from, 0))).unwrap();
    net::connect(&socket, &to).unwrap();
    TcpStream::from(socket)
}

impl Connection {
    /// Connects to `host:port`.
    pub fn open(authority: &str) -> Self {
        let stream = TcpStream::connect(authority).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        Self {
            reader: BufReader::new(stream),
        }
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        // A server may close while a too long request is still being sent.
        let _ = self.reader.get_mut().write_all(bytes);
    }

    /// Reads one response; `None` if the server closed without one.
    pub fn receive(&mut self, head_only: bool) -> Option<Response> {
        let mut line = String::new();
        self.reader
            .read_line(&mut line)
            .ok()
            .filter(|length| *length > 0)?;
        let status: u16 = line.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).ok()?;
            match line.trim_end().split_once(':') {
                Some((name, value)) => headers.push((name.to_owned(), value.trim().to_owned())),
                None => break,
            }
        }
        let mut response = Response {
            status,
            headers,
            body: Vec::new(),
            complete: true,
        };
        if !head_only && status != 304 && status != 204 {
            self.body(&mut response);
        }
        Some(response)
    }

    fn body(&mut self, response: &mut Response) {
        let chunked = response
            .header("transfer-encoding")
            .is_some_and(|value| value.contains("chunked"));
        if let Some(length) = response
            .header("content-length")
            .and_then(|value| value.parse::<u64>().ok())
        {
            let read = (&mut self.reader)
                .take(length)
                .read_to_end(&mut response.body);
            response.complete = read.is_ok_and(|read| read as u64 == length);
        } else if chunked {
            response.complete = self.chunks(&mut response.body).is_some();
        } else {
            response.complete = self.reader.read_to_end(&mut response.body).is_ok();
        }
    }

    fn chunks(&mut self, body: &mut Vec<u8>) -> Option<()> {
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).ok()?;
            let size = u64::from_str_radix(line.trim(), 16).ok()?;
            let read = (&mut self.reader).take(size).read_to_end(body).ok()?;
            let mut end = String::new();
            self.reader.read_line(&mut end).ok()?;
            if read as u64 != size {
                return None;
            }
            if size == 0 {
                return Some(());
            }
        }
    }
}

/// A GET of a URL.
pub fn get(url: &str) -> Response {
    fetch("GET", url, &[], b"")
}

/// Any request to a URL with headers and a body.
pub fn fetch(method: &str, url: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
    let rest = url.strip_prefix("http://").unwrap();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = if path.is_empty() { "/" } else { path };
    let mut request =
        format!("{method} {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() || method == "POST" {
        request.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    request.push_str("\r\n");
    let mut connection = Connection::open(authority);
    connection.send(&[request.as_bytes(), body].concat());
    connection.receive(method == "HEAD").unwrap()
}

/// The header of Basic authentication.
pub fn basic(user: &str, password: &str) -> (&'static str, String) {
    let encoded = base64(format!("{user}:{password}").as_bytes());
    ("Authorization", format!("Basic {encoded}"))
}
