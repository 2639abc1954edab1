//! A real Apache httpd on a free port, with a server root of its own; the system's httpd is never touched.

mod conf;
mod process;
mod setup;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

pub use self::conf::mod_oai;
use self::process::{kill, processes_with, worker_ids};
pub use self::setup::HttpdSetup;
use self::setup::program;
use crate::{Fixture, wait_until};

/// How httpd shares its work among processes and threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mpm {
    /// Few processes with many threads each.
    Event,
    /// One process for each connection.
    Prefork,
}

impl Mpm {
    /// Those that the module is held to.
    pub const ALL: [Self; 2] = [Self::Event, Self::Prefork];
}

/// An httpd that is running; it is stopped when dropped.
#[derive(Debug)]
pub struct Httpd {
    setup: HttpdSetup,
    child: Option<Child>,
    port: u16,
}

impl Httpd {
    /// An httpd for the site of a fixture, which also holds its server root and the state of the module.
    pub fn of(fixture: &Fixture) -> HttpdSetup {
        HttpdSetup::new(fixture)
    }

    /// Whether workers run as another user than this process. Only root can have it so.
    pub fn drops_privileges() -> bool {
        worker_ids().is_some()
    }

    /// Its host and port.
    pub fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The URL of a path that begins with a slash.
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.setup.tls { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.authority())
    }

    /// The base URL of the repository, in all tests.
    pub fn base_url(&self) -> String {
        self.url("/modoai")
    }

    /// The module's state directory.
    pub fn state(&self) -> PathBuf {
        self.setup.state()
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The error log so far.
    pub fn error_log(&self) -> String {
        let log = fs::read(self.setup.place().join("error.log")).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// The lines of the error log about workers that crashed while they served. A worker of the event MPM may also crash
    /// when it is ended: httpd closes sockets of threads that are gone (`close_worker_sockets`), about once in a thousand
    /// stops, with no module's code on the stack. Such a line comes right before the end is told, and is left out.
    pub fn crashes(&self) -> Vec<String> {
        let log = self.error_log();
        let mut crashes = Vec::new();
        for line in log.lines() {
            if line.contains("exit signal") {
                crashes.push((line.to_owned(), true));
            } else if line.contains("AH00491") || line.contains("AH00494") {
                crashes.retain(|(_, serving)| !serving);
            } else {
                crashes.iter_mut().for_each(|(_, serving)| *serving = false);
            }
        }
        crashes.into_iter().map(|(line, _)| line).collect()
    }

    /// Starts it again after a stop.
    pub fn start(&mut self) {
        assert!(self.child.is_none(), "httpd is running already");
        if let Err(said) = self.try_start() {
            panic!("httpd did not start again: {said}");
        }
    }

    /// Stops it in good order and waits until its port is free.
    pub fn stop(&mut self) -> Option<ExitStatus> {
        let status = self.end(Duration::from_secs(60));
        self.wait_for_port();
        status
    }

    /// Reads the configuration anew and lets the old workers finish what they do.
    pub fn graceful(&self) {
        self.next_generation(Signal::USR1);
    }

    /// Reads the configuration anew and ends the old workers at once.
    pub fn restart(&self) {
        self.next_generation(Signal::HUP);
    }

    /// Kills the workers and lets the parent start others.
    pub fn kill_children(&self) {
        for pid in self.children() {
            kill(pid, Signal::KILL);
        }
        wait_until("httpd answers again", || self.answers());
    }

    /// Kills all of it at once.
    pub fn kill9(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        // The parent first, or it would replace the workers.
        kill(child.id(), Signal::KILL);
        let _ = child.wait();
        self.kill_rest();
        self.wait_for_port();
    }

    /// The process number of the parent.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("httpd is running").id()
    }

    /// The process numbers of all others: workers, and the helper that starts CGI programs.
    pub fn children(&self) -> Vec<u32> {
        let parent = self.child.as_ref().map(Child::id);
        let all = processes_with(&self.setup.conf_file()).into_iter();
        all.filter(|pid| Some(*pid) != parent).collect()
    }

    /// The processor time of parent and workers so far, also of those that ended.
    pub fn cpu_seconds(&self) -> f64 {
        let mut pids = self.children();
        pids.push(self.pid());
        pids.into_iter().map(process::cpu_seconds).sum()
    }

    /// The most memory that any worker has had, in bytes.
    pub fn peak_memory(&self) -> u64 {
        let peaks = self.children().into_iter().filter_map(process::peak_memory);
        peaks.max().unwrap_or_default()
    }

    /// Starts it; what it said is the error.
    fn try_start(&mut self) -> Result<(), String> {
        let setup = &self.setup;
        let pid_file = setup.place().join("run/pid");
        let _ = fs::remove_file(&pid_file);
        let said = setup.place().join("stderr");
        // A test that is killed takes its server along.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM"]).args(&setup.wrapper);
        command.arg(program()).arg("-f").arg(setup.conf_file());
        command.arg(match setup.wrapper.is_empty() {
            true => "-DFOREGROUND",
            false => "-X",
        });
        // Never a pipe of the test's own: an orphaned worker would keep it open. Nor its process group: httpd
        // sends signals to all of it.
        let child = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&said).unwrap())
            .spawn()
            .expect("apache2 is installed by scripts/setup test");
        let child = self.child.insert(child);
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                self.child = None;
                let said = fs::read_to_string(said).unwrap_or_default();
                return Err(format!("{status}\n{said}{}", self.error_log()));
            }
            // Only the pid file tells that it is this httpd and no other that has the port.
            if pid_file.exists() && answers(self.port, self.setup.tls) {
                return Ok(());
            }
            if began.elapsed() > Duration::from_secs(60) {
                return Err(format!("it does not answer\n{}", self.error_log()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn answers(&self) -> bool {
        answers(self.port, self.setup.tls)
    }

    fn next_generation(&self, signal: Signal) {
        const READY: &str = "resuming normal operations";
        let before = self.error_log().matches(READY).count();
        kill(self.pid(), signal);
        wait_until("the next generation", || {
            self.error_log().matches(READY).count() > before && self.answers()
        });
    }

    /// Ends it in good order, or by force when that takes too long.
    fn end(&mut self, patience: Duration) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        kill(child.id(), Signal::TERM);
        let began = Instant::now();
        let mut status = None;
        while status.is_none() && began.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(20));
            status = child.try_wait().ok().flatten();
        }
        if status.is_none() {
            let _ = child.kill();
            status = child.wait().ok();
        }
        self.kill_rest();
        status
    }

    /// Nobody else ends workers that lost their parent, and they would keep the port.
    fn kill_rest(&self) {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(10) {
            let rest = processes_with(&self.setup.conf_file());
            if rest.is_empty() {
                return;
            }
            for pid in rest {
                kill(pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn wait_for_port(&self) {
        wait_until("the port is free", || {
            TcpListener::bind(("127.0.0.1", self.port)).is_ok()
        });
    }
}

impl Drop for Httpd {
    fn drop(&mut self) {
        self.end(Duration::from_secs(10));
        if std::thread::panicking() {
            let log = self.error_log();
            let lines: Vec<_> = log.lines().collect();
            let last = &lines[lines.len().saturating_sub(40)..];
            eprintln!("--- end of the error log of httpd\n{}", last.join("\n"));
        }
    }
}

/// Whether a worker reads what comes in. The parent's socket alone would take connections too.
fn answers(port: u16, tls: bool) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    if tls {
        return true;
    }
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let asked = stream.write_all(b"OPTIONS * HTTP/1.0\r\n\r\n");
    asked.is_ok() && stream.read(&mut [0; 16]).is_ok_and(|length| length > 0)
}
