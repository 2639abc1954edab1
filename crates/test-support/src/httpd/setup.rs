//! The setup of an httpd, and its first start.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::process::worker_ids;
use super::{Httpd, Mpm};
use crate::Fixture;

/// The setup of an httpd; its configuration may use `${PORT}`, `${SITE}`, `${ROOT}` and `${STATE}`.
#[derive(Debug, Clone)]
pub struct HttpdSetup {
    /// The directory that holds the site, the server root and the state of the module.
    pub(super) root: PathBuf,
    pub(super) mpm: Mpm,
    pub(super) modules: Vec<String>,
    pub(super) conf: String,
    pub(super) vhosts: String,
    pub(super) tls: bool,
    /// Whether `mod_oai` is left out.
    pub(super) plain: bool,
    pub(super) port: Option<u16>,
    /// The program to run it below, with its arguments.
    pub(super) wrapper: Vec<String>,
}

impl HttpdSetup {
    pub(super) fn new(fixture: &Fixture) -> Self {
        Self {
            root: fixture.site().parent().unwrap().to_owned(),
            mpm: Mpm::Event,
            modules: Vec::new(),
            conf: String::new(),
            vhosts: String::new(),
            tls: false,
            plain: false,
            port: None,
            wrapper: Vec::new(),
        }
    }

    /// Chooses the multi-processing module; event unless told.
    #[must_use]
    pub fn mpm(mut self, mpm: Mpm) -> Self {
        self.mpm = mpm;
        self
    }

    /// Loads modules beyond the usual ones: names such as `rewrite`, or a name and a file as in `php_module x.so`.
    #[must_use]
    pub fn modules(mut self, modules: &[&str]) -> Self {
        let modules = modules.iter().map(|module| (*module).to_owned());
        self.modules.extend(modules);
        self
    }

    /// Adds directives to the main server.
    #[must_use]
    pub fn conf(mut self, directives: &str) -> Self {
        self.conf.push_str(directives);
        self.conf.push('\n');
        self
    }

    /// Adds a virtual host. The first one also answers for names that nobody has.
    #[must_use]
    pub fn vhost(mut self, name: &str, directives: &str) -> Self {
        self.vhosts.push_str(&format!(
            "<VirtualHost 127.0.0.1:${{PORT}}>\nServerName {name}\n{directives}\n</VirtualHost>\n"
        ));
        self
    }

    /// Answers over TLS instead, with a certificate that nobody signed.
    #[must_use]
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// Leaves `mod_oai` out.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.plain = true;
        self
    }

    /// Takes a port, so that identifiers stay the same over a change of the configuration.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Runs it as one process below another program, which gets httpd's command line as its last arguments.
    #[must_use]
    pub fn below(mut self, program: &[&str]) -> Self {
        self.wrapper = program.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// Writes the configuration and has httpd check it: whether it is right, and what httpd says of it.
    pub fn config_test(&self) -> (bool, String) {
        self.write(self.port.unwrap_or_else(unused_port));
        let output = Command::new(program())
            .arg("-t")
            .arg("-f")
            .arg(self.conf_file())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), said)
    }

    /// Starts it and waits until it answers.
    pub fn start(self) -> Httpd {
        for _ in 0..5 {
            let port = self.port.unwrap_or_else(unused_port);
            self.write(port);
            let mut httpd = Httpd {
                setup: self.clone(),
                child: None,
                port,
            };
            match httpd.try_start() {
                Ok(()) => return httpd,
                // Between the choice of a port and its use somebody else may take it.
                Err(said) if self.port.is_none() && said.contains("Address already in use") => {}
                Err(said) => panic!("httpd did not start: {said}"),
            }
        }
        panic!("httpd found no free port");
    }

    /// Its server root.
    pub(super) fn place(&self) -> PathBuf {
        self.root.join("httpd")
    }

    pub(super) fn conf_file(&self) -> PathBuf {
        self.place().join("httpd.conf")
    }

    /// The module's state directory.
    pub(super) fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// Writes all that the server finds when it starts.
    fn write(&self, port: u16) {
        let place = self.place();
        for directory in [&place, &place.join("run"), &self.state()] {
            fs::create_dir_all(directory).unwrap();
        }
        // Directories for temporary files are closed to others, and the workers are others.
        fs::set_permissions(&self.root, fs::Permissions::from_mode(0o755)).unwrap();
        if let Some((user, group)) = worker_ids() {
            chown(self.state(), Some(user), Some(group)).unwrap();
        }
        if self.tls {
            certificate(&place);
        }
        fs::write(self.conf_file(), self.text(port)).unwrap();
    }
}

/// The server's own program.
pub(super) fn program() -> String {
    // Servers are in sbin, which is not on everybody's path.
    let usual = "/usr/sbin/apache2";
    let there = Path::new(usual).exists();
    if there { usual } else { "apache2" }.to_owned()
}

/// A port below those that the system gives to clients, so that none of them takes it during a restart.
fn unused_port() -> u16 {
    let mut random = [0; 2];
    let mut source = fs::File::open("/dev/urandom").unwrap();
    loop {
        source.read_exact(&mut random).unwrap();
        let port = 12_000 + u16::from_ne_bytes(random) % 20_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Makes a certificate that nobody signed, once.
fn certificate(place: &Path) {
    let (key, certificate) = (place.join("tls.key"), place.join("tls.crt"));
    if certificate.exists() {
        return;
    }
    let status = Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args(["-subj", "/CN=127.0.0.1", "-keyout"])
        .arg(key)
        .arg("-out")
        .arg(certificate)
        .stderr(Stdio::null())
        .status()
        .expect("openssl is installed by scripts/setup test");
    assert!(status.success(), "no certificate could be made");
}
