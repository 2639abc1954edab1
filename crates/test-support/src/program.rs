//! The built program: run to its end, or as a server that is stopped when dropped.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::{Answer, Fixture, Header, percent_encoded};

/// A command line of the program.
#[derive(Debug)]
pub struct Garner {
    command: Command,
}

/// A server that is running.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// The base URL of the repository.
    pub base_url: String,
    /// The URL of the site, with a slash at the end.
    pub site_url: String,
    log: Arc<Mutex<String>>,
}

impl Garner {
    /// The program at a path, usually `env!("CARGO_BIN_EXE_garner")`.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.env_remove("RUST_LOG").env("NO_COLOR", "1");
        Self { command }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn current_dir(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs to the end.
    pub fn output(mut self) -> Output {
        self.command.output().unwrap()
    }

    /// Serves a fixture on a free port; with a configuration text if it is not empty.
    pub fn serve(self, fixture: &Fixture, config: &str) -> Server {
        let port = free_port();
        self.serve_on(fixture, config, port)
    }

    /// Serves a fixture on a port, so that identifiers stay the same over restarts.
    pub fn serve_on(self, fixture: &Fixture, config: &str, port: u16) -> Server {
        let mut this = self
            .arg("serve")
            .arg(fixture.site())
            .args([
                "--listen",
                &format!("127.0.0.1:{port}"),
                "--admin-email",
                "admin@example.org",
            ])
            .arg("--data")
            .arg(fixture.data());
        if !config.is_empty() {
            let path: PathBuf = fixture.write_beside("site.toml", config);
            this = this.arg("--config").arg(path);
        }
        this.start()
    }

    /// Starts a server and waits until it is ready.
    pub fn start(mut self) -> Server {
        let mut child = self
            .command
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut log = String::new();
        let (base_url, site_url) = loop {
            let mut line = String::new();
            if lines.read_line(&mut line).unwrap() == 0 {
                panic!("the server did not start: {:?}\n{log}", child.wait());
            }
            log.push_str(&line);
            let of_catalog = line.trim_end().split_once("what the catalog holds, at ");
            let of_files = line.trim_end().split_once(" records of files at ");
            if let Some((_, base)) = of_catalog.or(of_files) {
                break (
                    base.trim_end_matches("?verb=Identify").to_owned(),
                    String::new(),
                );
            }
            if let Some(url) = line.trim_end().strip_prefix("the site is at ") {
                let ready = log
                    .lines()
                    .find(|line| line.starts_with("garner is ready"))
                    .unwrap();
                let base = ready.rsplit_once(" at ").unwrap().1;
                break (
                    base.trim_end_matches("?verb=Identify").to_owned(),
                    url.to_owned(),
                );
            }
        };
        // The text behind the last line is in the buffer already.
        log.push_str(&String::from_utf8_lossy(lines.buffer()));
        let log = Arc::new(Mutex::new(log));
        let collected = Arc::clone(&log);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length) = lines
                .get_mut()
                .read(&mut buffer)
                .map(|length| length.min(4096))
            {
                if length == 0 {
                    break;
                }
                collected
                    .lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&buffer[..length]));
            }
        });
        Server {
            child,
            base_url,
            site_url,
            log,
        }
    }
}

impl Server {
    /// The process number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The text that it has written to stderr.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Asks the repository.
    pub fn ask(&self, query: &str) -> Answer {
        Answer::ask(&self.base_url, query)
    }

    /// All headers in `oai_dc`, without credentials.
    pub fn all(&self) -> Vec<Header> {
        Answer::list(
            &self.base_url,
            "ListIdentifiers",
            "metadataPrefix=oai_dc",
            &[],
        )
    }

    /// The record of an item.
    pub fn record(&self, identifier: &str, metadata_prefix: &str) -> Answer {
        self.record_as(identifier, metadata_prefix, &[])
    }

    /// The record of an item, asked for with headers.
    pub fn record_as(
        &self,
        identifier: &str,
        metadata_prefix: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        let identifier = percent_encoded(identifier);
        let query =
            format!("verb=GetRecord&metadataPrefix={metadata_prefix}&identifier={identifier}");
        Answer::ask_as(&self.base_url, &query, headers)
    }

    /// Its host and port.
    pub fn authority(&self) -> &str {
        let rest = self.site_url.trim_start_matches("http://");
        rest.trim_end_matches('/')
    }

    /// The URL of a file of the site.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.site_url)
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Stops it in good order; it must exit with 0.
    pub fn stop(self) -> String {
        self.stop_by(Signal::TERM)
    }

    /// Stops it by a signal; it must exit with 0.
    pub fn stop_by(mut self, signal: Signal) -> String {
        self.signal(signal);
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}\n{}", self.log());
        self.log()
    }

    /// Kills it at once.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- log of the server\n{}", self.log());
        }
    }
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Waits until something holds, at most a minute: what takes a second may take many on a machine that is busy.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

const PATIENCE: Duration = Duration::from_secs(60);
