//! A real SMTP server for tests: aiosmtpd, on a loopback port of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{free_port, wait_until};

/// A server that keeps what it gets; it is stopped when dropped.
#[derive(Debug)]
pub struct SmtpServer {
    child: Child,
    /// Its port on 127.0.0.1.
    pub port: u16,
    place: PathBuf,
}

/// How such a server behaves.
#[derive(Debug, Clone, Default)]
pub struct SmtpSetup {
    /// The account without which it takes nothing.
    pub login: Option<(String, String)>,
    /// A PEM file with a certificate and its key: it takes nothing before STARTTLS.
    pub certificate: Option<PathBuf>,
    /// Whether it refuses all recipients.
    pub refuses: bool,
    /// Whether it accepts connections and says nothing.
    pub hangs: bool,
}

impl SmtpServer {
    /// Starts a server and waits until it answers.
    pub fn start(setup: &SmtpSetup) -> Self {
        let place = tempfile::tempdir().unwrap().keep();
        let script = place.join("server.py");
        std::fs::write(&script, SERVER).unwrap();
        let port = free_port();
        let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
        let mut child = Command::new(python)
            .arg(script)
            .arg(&place)
            .arg(port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(place.join("errors")).unwrap())
            .spawn()
            .expect("aiosmtpd is installed by scripts/setup test");
        let options = serde_json::json!({
            "login": setup.login,
            "certificate": setup.certificate,
            "refuses": setup.refuses,
            "hangs": setup.hangs,
        });
        // Its input stays open: it ends with this process, however that ends.
        writeln!(child.stdin.as_mut().unwrap(), "{options}").unwrap();
        let ready = place.join("ready");
        wait_until("the SMTP server answers", || {
            if let Ok(Some(status)) = child.try_wait() {
                let errors = std::fs::read_to_string(place.join("errors"));
                panic!(
                    "the SMTP server ended: {status}\n{}",
                    errors.unwrap_or_default()
                );
            }
            ready.exists()
        });
        Self { child, port, place }
    }

    /// The messages so far, each with its envelope in the first line.
    pub fn messages(&self) -> Vec<String> {
        let path = |number: usize| self.place.join(format!("message-{number}"));
        let messages = (0..).map(path).take_while(|path| path.exists());
        messages
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect()
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.place);
    }
}

const SERVER: &str = r#"
import json, os, socket, ssl, sys, threading

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

place, port = sys.argv[1], int(sys.argv[2])
setup = json.loads(sys.stdin.readline())


class Keep:
    kept = 0

    async def handle_RCPT(self, server, session, envelope, address, options):
        if setup["refuses"]:
            return "550 5.1.1 nobody has this name here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        name = os.path.join(place, f"message-{self.kept}")
        with open(name + ".new", "wb") as file:
            file.write(f"from {envelope.mail_from} to {' '.join(envelope.rcpt_tos)}\n".encode())
            file.write(envelope.content.replace(b"\r\n", b"\n"))
        os.rename(name + ".new", name)
        self.kept += 1
        return "250 kept"


def authenticate(server, session, envelope, mechanism, data):
    user, password = setup["login"]
    good = data.login == user.encode() and data.password == password.encode()
    return AuthResult(success=good)


if setup["hangs"]:
    listener = socket.create_server(("127.0.0.1", port))
    connections = []
    threading.Thread(target=lambda: [connections.append(listener.accept()) for _ in range(1000)], daemon=True).start()
else:
    options = {}
    if setup["certificate"]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(setup["certificate"])
        options.update(tls_context=context, require_starttls=True)
    if setup["login"]:
        options.update(authenticator=authenticate, auth_required=True, auth_require_tls=False)
    Controller(Keep(), hostname="127.0.0.1", port=port, **options).start()
open(os.path.join(place, "ready"), "w").close()
sys.stdin.read()
"#;
