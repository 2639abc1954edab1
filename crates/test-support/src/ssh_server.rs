//! A real SSH server with SFTP for tests: OpenSSH, on a loopback port of its own, with keys of its own.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{free_port, wait_until};

/// A server that lets in whoever runs the test, with one key; it is stopped when dropped.
#[derive(Debug)]
pub struct SshServer {
    child: Child,
    place: PathBuf,
    /// Its port on 127.0.0.1.
    pub port: u16,
}

impl SshServer {
    /// Starts a server and waits until it answers. Files are found at their absolute paths.
    pub fn start() -> Self {
        Self::start_on(free_port())
    }

    /// Starts it on a port.
    pub fn start_on(port: u16) -> Self {
        let place = tempfile::tempdir().unwrap().keep();
        for name in ["host", "user", "stranger"] {
            key(&place.join(name));
        }
        std::fs::copy(place.join("user.pub"), place.join("authorized")).unwrap();
        let at = place.display();
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {at}/host\nPidFile none\nUsePAM no\nStrictModes no\n\
             AuthorizedKeysFile {at}/authorized\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             PermitRootLogin prohibit-password\nSubsystem sftp internal-sftp\nLogLevel ERROR\n"
        );
        std::fs::write(place.join("config"), config).unwrap();
        // It wants this directory if root starts it; otherwise it is not there for us to make.
        let _ = std::fs::create_dir("/run/sshd");
        let mut child = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f"])
            .arg(place.join("config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(place.join("log")).unwrap())
            .spawn()
            .expect("sshd is installed by scripts/setup test");
        wait_until("sshd answers", || {
            if let Ok(Some(status)) = child.try_wait() {
                let log = std::fs::read_to_string(place.join("log"));
                panic!("sshd ended: {status}\n{}", log.unwrap_or_default());
            }
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Self { child, place, port }
    }

    /// The address of an absolute path on the server.
    pub fn address(&self, path: &Path) -> String {
        let (user, port) = (user(), self.port);
        format!("sftp://{user}@127.0.0.1:{port}{}", path.display())
    }

    /// The key that it lets in.
    pub fn key(&self) -> PathBuf {
        self.place.join("user")
    }

    /// A key that it does not let in.
    pub fn strange_key(&self) -> PathBuf {
        self.place.join("stranger")
    }

    /// The line by which it is known.
    pub fn known_host(&self) -> String {
        let key = std::fs::read_to_string(self.place.join("host.pub")).unwrap();
        let mut words = key.split(' ');
        let (kind, key) = (words.next().unwrap(), words.next().unwrap());
        format!("[127.0.0.1]:{} {kind} {key}", self.port)
    }

    /// Ends all connections at once, and the server for as long as something is done.
    pub fn away<T>(&mut self, meanwhile: impl FnOnce() -> T) -> T {
        self.end();
        let done = meanwhile();
        self.child = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f"])
            .arg(self.place.join("config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        done
    }

    /// Its processes for connections are its children.
    fn end(&mut self) {
        let id = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let _ = self.child.kill();
        let _ = self.child.wait();
        for child in children.unwrap_or_default().split_ascii_whitespace() {
            if let Some(child) = child.parse().ok().and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(child, rustix::process::Signal::KILL);
            }
        }
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        self.end();
        let _ = std::fs::remove_dir_all(&self.place);
    }
}

fn key(file: &Path) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"])
        .arg(file)
        .status()
        .expect("ssh-keygen is installed by scripts/setup test");
    assert!(made.success());
}

/// The user who runs the test.
fn user() -> String {
    let said = Command::new("id").arg("-un").output().unwrap().stdout;
    String::from_utf8(said).unwrap().trim().to_owned()
}
