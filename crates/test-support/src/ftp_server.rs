//! A real FTP server for tests: pyftpdlib, on a loopback port of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::wait_until;

/// A server of the files below a directory; it is stopped when dropped.
#[derive(Debug)]
pub struct FtpServer {
    child: Child,
    /// Its port on 127.0.0.1.
    pub port: u16,
    log: PathBuf,
}

/// How such a server behaves.
#[derive(Debug, Clone, Default)]
pub struct FtpSetup {
    /// The password of the user `archivist`; everybody may come in as `anonymous` without one.
    pub password: Option<String>,
    /// Whether it speaks TLS, and only that, with a certificate for localhost in this PEM file.
    pub certificate: Option<PathBuf>,
    /// Bytes a second that it sends.
    pub rate: Option<u32>,
    /// Commands that it does not know.
    pub without: Vec<&'static str>,
    /// Whether it names the address of somebody else for data.
    pub misleads: bool,
    /// The number of bytes of each file after which it hangs up.
    pub hang_up_after: Option<u32>,
    /// The port, if it is to be the one of a server that is gone.
    pub port: Option<u16>,
}

impl FtpServer {
    /// Starts a server and waits until it answers.
    pub fn start(root: &Path, setup: &FtpSetup) -> Self {
        // It takes a port itself: one that is only known to be free is somebody else's a moment later.
        let wanted = setup.port.unwrap_or(0);
        let place = tempfile::tempdir().unwrap().keep();
        let script = place.join("server.py");
        std::fs::write(&script, SERVER).unwrap();
        let log = place.join("log");
        let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
        let mut child = Command::new(python)
            .arg(script)
            .arg(root)
            .arg(wanted.to_string())
            .arg(&log)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(place.join("errors")).unwrap())
            .spawn()
            .expect("pyftpdlib is installed by scripts/setup test");
        let options = serde_json::json!({
            "password": setup.password,
            "certificate": setup.certificate,
            "rate": setup.rate,
            "without": setup.without,
            "misleads": setup.misleads,
            "hang_up_after": setup.hang_up_after,
        });
        // Its input stays open: it ends with this process, however that ends.
        writeln!(child.stdin.as_mut().unwrap(), "{options}").unwrap();
        let told = place.join("port");
        wait_until("the FTP server answers", || {
            if let Ok(Some(status)) = child.try_wait() {
                let errors = std::fs::read_to_string(place.join("errors"));
                panic!(
                    "the FTP server ended: {status}\n{}",
                    errors.unwrap_or_default()
                );
            }
            told.exists()
        });
        let port = std::fs::read_to_string(told).unwrap().parse().unwrap();
        Self { child, port, log }
    }

    /// The address of a path on the server.
    pub fn address(&self, path: &str) -> String {
        format!("ftp://127.0.0.1:{}/{path}", self.port)
    }

    /// The commands that came so far, one a line.
    pub fn commands(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Forgets what came so far.
    pub fn forget(&self) {
        std::fs::write(&self.log, "").unwrap();
    }
}

impl Drop for FtpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(place) = self.log.parent() {
            let _ = std::fs::remove_dir_all(place);
        }
    }
}

const SERVER: &str = r#"
import json, os, sys, threading

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import DTPHandler, FTPHandler, ThrottledDTPHandler, TLS_DTPHandler, TLS_FTPHandler
from pyftpdlib.servers import FTPServer

root, port, log = sys.argv[1], int(sys.argv[2]), sys.argv[3]
setup = json.loads(sys.stdin.readline())


def end_with_parent():
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=end_with_parent, daemon=True).start()

is_tls = setup["certificate"] is not None
authorizer = DummyAuthorizer()
authorizer.add_anonymous(root)
if setup["password"] is not None:
    authorizer.add_user("archivist", setup["password"], root, perm="elr")


class Data(TLS_DTPHandler if is_tls else ThrottledDTPHandler if setup["rate"] else DTPHandler):
    def send(self, data):
        sent = super().send(data)
        most = setup["hang_up_after"]
        if most is not None and self.tot_bytes_sent >= most and self.file_obj is not None:
            self.cmd_channel.close()
        return sent


class Handler(TLS_FTPHandler if is_tls else FTPHandler):
    def pre_process_command(self, line, command, argument):
        with open(log, "a") as out:
            out.write(("PASS" if command == "PASS" else line) + "\n")
        if command in setup["without"]:
            self.respond("502 not here")
            return
        super().pre_process_command(line, command, argument)


Handler.authorizer = authorizer
Handler.dtp_handler = Data
Handler.banner = "ready"
Handler.use_sendfile = False
if setup["misleads"]:
    # The address in the answer to PASV.
    Handler.masquerade_address = "127.0.0.99"
if setup["rate"]:
    Data.read_limit = Data.write_limit = setup["rate"]
if is_tls:
    Handler.certfile = setup["certificate"]
    Handler.tls_control_required = True
    Handler.tls_data_required = True
server = FTPServer(("127.0.0.1", port), Handler)
told = os.path.join(os.path.dirname(log), "port")
with open(told + ".new", "w") as out:
    out.write(str(server.socket.getsockname()[1]))
os.rename(told + ".new", told)
server.serve_forever()
"#;
