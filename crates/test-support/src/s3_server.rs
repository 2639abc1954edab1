//! A store that speaks S3, for tests: moto, on a loopback port of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A store with one bucket, `papers`; it is stopped when dropped, and all that is in it is gone.
#[derive(Debug)]
pub struct S3Server {
    child: Child,
    /// Its port on 127.0.0.1.
    pub port: u16,
}

impl S3Server {
    /// Starts it and waits until it answers.
    pub fn start() -> Self {
        let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
        let mut child = Command::new(python)
            .args(["-c", SERVER])
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("moto is installed by scripts/setup test");
        // It takes a port itself: one that is only known to be free is somebody else's a moment later.
        let mut told = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut told).unwrap();
        let port = told.trim().parse().expect("the store tells its port");
        let server = Self { child, port };
        server.ask("PUT", "papers");
        server
    }

    /// Its endpoint.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Sends a request without a body, and gives the answer with its headers.
    pub fn ask(&self, method: &str, path: &str) -> String {
        self.send(method, path, b"")
    }

    /// Sends a request, and gives the answer with its headers.
    pub fn send(&self, method: &str, path: &str, body: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "{method} /{path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Authorization: {KEY}\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
        answer
    }

    /// The names of all objects in the bucket.
    pub fn keys(&self) -> Vec<String> {
        let list = self.ask("GET", "papers?list-type=2");
        let keys = list.split("<Key>").skip(1);
        let keys = keys.filter_map(|rest| rest.split("</Key>").next());
        keys.map(str::to_owned).collect()
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// It looks at whose key it is, and not at the signature.
const KEY: &str = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=00";

/// It ends with its input: with the process of the test, however that ends.
const SERVER: &str = "
import os, sys, threading
from werkzeug.serving import make_server
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
app = DomainDispatcherApplication(create_backend_app)
server = make_server('127.0.0.1', 0, app, threaded=True)
print(server.port, flush=True)
server.serve_forever()
";
