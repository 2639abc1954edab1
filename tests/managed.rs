//! A data directory with schedules and jobs, and the processes that work on it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use flows::Holdings;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use test_support::Misbehaving;

use crate::command_line::{stderr, stdout};

/// A data directory and a catalog.
pub(crate) struct Managed {
    directory: TempDir,
    catalog: Option<String>,
}

/// `garner up` or `garner worker`; killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    log: Arc<Mutex<String>>,
}

impl Managed {
    /// With a catalog in the directory.
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            catalog: None,
        }
    }

    /// With a catalog elsewhere.
    pub(crate) fn on(catalog: String) -> Self {
        Self {
            catalog: Some(catalog),
            ..Self::new()
        }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// A file beside the data directory.
    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.beside(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A place beside the data directory.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A command on this data directory; what follows `--` stays behind the options.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let end = arguments.iter().position(|argument| *argument == "--");
        let (own, passed) = arguments.split_at(end.unwrap_or(arguments.len()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
        command.args(own).arg("--data").arg(self.data());
        if let Some(catalog) = &self.catalog {
            command.args(["--catalog", catalog]);
        }
        command
            .args(passed)
            .env_remove("RUST_LOG")
            .env("NO_COLOR", "1")
            .current_dir(self.directory.path());
        command
    }

    pub(crate) fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must do what it is told.
    pub(crate) fn garner(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        stdout(&output)
    }

    /// The first line of JSON that a command prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.lines(arguments).into_iter().next().unwrap_or_default()
    }

    /// All lines of JSON that a command prints.
    pub(crate) fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        let printed = self.garner(&[arguments, &["--json"]].concat());
        let lines = printed.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap()
    }

    /// Adds a schedule; returns its number.
    pub(crate) fn schedule(&self, repository: &Misbehaving, options: &[&str]) -> String {
        let base_url = repository.base_url();
        let added = self.json(&[&["schedule", "add", base_url.as_str()], options].concat());
        added["id"].to_string()
    }

    /// The holdings of the directory, opened in this process too.
    pub(crate) fn holdings(&self) -> Holdings {
        Holdings::create(&self.data(), self.catalog.as_deref()).unwrap()
    }

    /// Moves the time at which the waiting job of a schedule is due to so many seconds from now.
    pub(crate) fn set_due(&self, schedule: &str, seconds: i64) {
        let holdings = self.holdings();
        let catalog = holdings.catalog();
        let schedule = holdings.wait(catalog.schedule(schedule.parse().unwrap()));
        let schedule = schedule.unwrap().unwrap();
        let now = holdings.wait(catalog.now()).unwrap();
        assert!(
            holdings
                .wait(catalog.replan(&schedule, now + seconds))
                .unwrap()
        );
    }

    /// All jobs, also those that are over.
    pub(crate) fn jobs(&self) -> Vec<Value> {
        self.lines(&["job", "list", "--all"])
    }

    /// Waits until jobs stand so and returns them; the time is more than enough for all that is waited for here.
    pub(crate) fn wait_for_jobs(&self, what: &str, holds: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let began = Instant::now();
        loop {
            let jobs = self.jobs();
            if holds(&jobs) {
                return jobs;
            }
            assert!(
                began.elapsed() < LONGEST,
                "waited in vain: {what}: {jobs:#?}"
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until the job with a number stands so.
    pub(crate) fn wait_for(&self, job: &Value, state: &str) -> Value {
        let id = &job["id"];
        self.wait_for_jobs(&format!("job {id} is {state}"), |jobs| {
            jobs.iter()
                .any(|job| job["id"] == *id && job["state"] == state)
        });
        self.json(&["job", "show", &id.to_string()])
    }

    /// The lines of a job's log, one after the other.
    pub(crate) fn log_of(&self, job: &Value) -> String {
        let lines = self.lines(&["job", "log", &job["id"].to_string()]);
        let lines = lines.iter();
        let lines = lines.map(|line| line["message"].as_str().unwrap().to_owned() + "\n");
        lines.collect()
    }

    /// Entries of the history, the newest first.
    pub(crate) fn history(&self) -> Vec<Value> {
        self.lines(&["history"])
    }

    /// The identifiers of all records that are held and not deleted, in order.
    pub(crate) fn live(&self) -> Vec<String> {
        let records = self.lines(&["records"]).into_iter();
        let live = records.filter(|record| record["deleted"] == false);
        let identifiers = live.map(|record| record["identifier"].as_str().unwrap().to_owned());
        let mut identifiers: Vec<_> = identifiers.collect();
        identifiers.sort();
        identifiers
    }

    /// Starts `garner up` without a console and waits until it is up. Repositories of this machine may be asked.
    pub(crate) fn up(&self, options: &[&str]) -> Process {
        let arguments = [&["up", "--no-console", "--allow", "127.0.0.1"], options].concat();
        Process::start(self.command(&arguments), "garner is up")
    }

    /// Starts a command that goes on, and waits until it says so.
    pub(crate) fn process(&self, arguments: &[&str], says: &str) -> Process {
        Process::start(self.command(arguments), says)
    }

    /// Starts `garner worker` and waits until it works.
    pub(crate) fn worker(&self, options: &[&str]) -> Process {
        let arguments = [&["worker", "--allow", "127.0.0.1"], options].concat();
        Process::start(self.command(&arguments), "garner works")
    }
}

impl Process {
    /// Starts a command and waits until it says so.
    pub(crate) fn start(mut command: Command, ready: &str) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let log = Arc::new(Mutex::new(String::new()));
        let collected = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                collected.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let mut this = Self { child, log };
        let began = Instant::now();
        while !this.log().contains(ready) {
            let ended = this.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended: {ended:?}\n{}", this.log());
            assert!(began.elapsed() < LONGEST, "not ready:\n{}", this.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        this
    }

    /// Its stderr so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits until it has ended.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                began.elapsed() < LONGEST,
                "it does not end:\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops it in good order; it must exit with 0. Returns how long that took.
    pub(crate) fn stop(mut self) -> Duration {
        let began = Instant::now();
        self.signal(Signal::TERM);
        let status = self.wait();
        assert!(status.success(), "{status}\n{}", self.log());
        began.elapsed()
    }

    /// Kills it at once.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- log of the process\n{}", self.log());
        }
    }
}

const LONGEST: Duration = Duration::from_secs(60);
