//! Runs a command as a hook: without a shell, within its time, and with all that it started ended when it must be.
//!
//! What a command leaves behind when it ends by itself goes on, for a command may start an indexer and go.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use document::confine::Confiner;
use harvester::{Error, ErrorKind, Stop};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use serde_json::Value;

use super::{VARIABLES, shortened};

/// Runs a command with the facts and returns what it printed.
pub(super) fn run(
    command: &[String],
    facts: &Value,
    timeout: Duration,
    confiner: Option<&Confiner>,
    stop: &Stop,
) -> anyhow::Result<String> {
    let (program, arguments) = command
        .split_first()
        .context("the command names no program")?;
    let (ours, theirs) = io::pipe()?;
    let mut line = match confiner {
        Some(confiner) => confiner.bound(program),
        None => Command::new(program),
    };
    line.args(arguments)
        .envs(variables(facts))
        .process_group(0)
        .stdin(input(facts)?)
        .stdout(theirs.try_clone()?)
        .stderr(theirs);
    let started = line.spawn();
    // Our copies of the other end would keep the pipe open.
    drop(line);
    let child = started.with_context(|| {
        format!("`{program}` cannot be started; check that it is installed and may be executed")
    })?;
    let mut running = Running::new(child, ours.into())?;
    let end = running.attend(timeout, stop);
    if !matches!(end, Ok(End::Itself)) {
        running.terminate();
    }
    let status = running.child.wait();
    let end = end.context("the command cannot be watched")?;
    running.read_some()?;
    let said = shortened(&running.said);
    match end {
        End::Itself => judge(status?, said),
        End::Stopped => Err(Error::new(ErrorKind::Stopped).into()),
        End::TimeOver => bail!(
            "the command did not end within {} s; raise `timeout_seconds` if it needs longer{}",
            timeout.as_secs(),
            quoted(&said)
        ),
    }
}

fn judge(status: ExitStatus, said: String) -> anyhow::Result<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(said),
        (Some(code), _) => bail!("the command ended with exit status {code}{}", quoted(&said)),
        (None, signal) => bail!(
            "the command was ended by signal {}{}",
            signal.unwrap_or_default(),
            quoted(&said)
        ),
    }
}

fn quoted(said: &str) -> String {
    match said.is_empty() {
        true => String::new(),
        false => format!(": {said}"),
    }
}

/// The facts as a file without a name: a program that reads none of it cannot keep us waiting.
fn input(facts: &Value) -> anyhow::Result<File> {
    let mut file = tempfile::tempfile()?;
    serde_json::to_writer(&mut file, facts)?;
    file.write_all(b"\n")?;
    file.rewind()?;
    Ok(file)
}

fn variables(facts: &Value) -> impl Iterator<Item = (&'static str, String)> + '_ {
    VARIABLES.into_iter().filter_map(|(fact, name)| {
        let value = match facts.get(fact)? {
            // No variable can hold this character.
            Value::String(text) => text.replace('\0', ""),
            Value::Null => return None,
            value => value.to_string(),
        };
        Some((name, value))
    })
}

/// A command and what it printed so far.
struct Running {
    child: Child,
    group: Pid,
    process: OwnedFd,
    output: Option<File>,
    said: Vec<u8>,
}

enum End {
    Itself,
    Stopped,
    TimeOver,
}

impl Running {
    fn new(mut child: Child, output: OwnedFd) -> anyhow::Result<Self> {
        let group = Pid::from_child(&child);
        match watch(group, &output) {
            Ok(process) => Ok(Self {
                child,
                group,
                process,
                output: Some(output.into()),
                said: Vec::new(),
            }),
            Err(error) => {
                let _ = kill_process_group(group, Signal::KILL);
                child.wait()?;
                Err(error).context("the command cannot be watched")
            }
        }
    }

    /// Takes what the command prints until it ends or has to.
    fn attend(&mut self, timeout: Duration, stop: &Stop) -> io::Result<End> {
        let deadline = Instant::now() + timeout;
        loop {
            if stop.is_set() {
                return Ok(End::Stopped);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(End::TimeOver);
            }
            if self.ends_within(left.min(LOOK))? {
                return Ok(End::Itself);
            }
        }
    }

    /// Waits for news and takes what was printed. Whether the command has ended: its output may stay open longer, in
    /// the hands of what it started.
    fn ends_within(&mut self, time: Duration) -> io::Result<bool> {
        let time = Timespec::try_from(time).map_err(io::Error::other)?;
        let mut watched = vec![PollFd::new(&self.process, PollFlags::IN)];
        watched.extend(
            self.output
                .iter()
                .map(|output| PollFd::new(output, PollFlags::IN)),
        );
        match poll(&mut watched, Some(&time)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ended = !watched[0].revents().is_empty();
        self.read_some()?;
        Ok(ended)
    }

    /// Takes what is there, and keeps the end of it.
    fn read_some(&mut self) -> io::Result<()> {
        let mut block = [0; 8192];
        // A program that prints without end must not keep us from looking at the time.
        for _ in 0..64 {
            let Some(output) = &mut self.output else {
                break;
            };
            match output.read(&mut block) {
                Ok(0) => self.output = None,
                Ok(length) => self.said.extend_from_slice(&block[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let over = self.said.len().saturating_sub(MOST_KEPT);
        self.said.drain(..over);
        Ok(())
    }

    /// Asks the command and all it started to end, and ends them if they do not.
    fn terminate(&mut self) {
        // Until somebody waits for the child, nobody else can get its number.
        let _ = kill_process_group(self.group, Signal::TERM);
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            match self.ends_within(LOOK) {
                Ok(false) => {}
                Ok(true) | Err(_) => break,
            }
        }
        let _ = kill_process_group(self.group, Signal::KILL);
    }
}

/// What tells the end of a process; its output can be read without waiting from then on.
fn watch(process: Pid, output: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = fcntl_getfl(output)?;
    fcntl_setfl(output, flags | OFlags::NONBLOCK)?;
    Ok(pidfd_open(process, PidfdFlags::empty())?)
}

/// How often it is looked whether to stop.
const LOOK: Duration = Duration::from_millis(100);
/// How long a command may tidy up.
const GRACE: Duration = Duration::from_secs(2);
const MOST_KEPT: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shell(script: &str, timeout: Duration, stop: &Stop) -> anyhow::Result<String> {
        let command = ["sh", "-c", script].map(str::to_owned);
        let facts = json!({"job": 7, "base_url": "http://a/\u{0}b", "state": "finished", "set": null, "new": 3});
        run(&command, &facts, timeout, None, stop)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_command_is_given_the_facts() {
        let script = "cat; echo \"$GARNER_JOB $GARNER_BASE_URL $GARNER_STATE $GARNER_NEW ${GARNER_SET-none}\" >&2";
        let said = shell(script, LONG, &Stop::default()).unwrap();
        let (facts, variables) = said.split_once('\n').unwrap();
        assert_eq!(serde_json::from_str::<Value>(facts).unwrap()["job"], 7);
        assert_eq!(variables, "7 http://a/b finished 3 none");
    }

    #[test]
    fn nothing_is_read_by_a_shell() {
        let command = ["echo", "$HOME; `id`", "*"].map(str::to_owned);
        let said = run(&command, &json!({}), LONG, None, &Stop::default()).unwrap();
        assert_eq!(said, "$HOME; `id` *");
    }

    #[test]
    fn what_went_wrong_is_told() {
        let failed = |script| {
            shell(script, LONG, &Stop::default())
                .unwrap_err()
                .to_string()
        };
        let error = failed("echo no disk >&2; exit 3");
        assert_eq!(error, "the command ended with exit status 3: no disk");
        let error = failed("kill -9 $$");
        assert_eq!(error, "the command was ended by signal 9");
        let missing = ["/nowhere/index".to_owned()];
        let error = run(&missing, &json!({}), LONG, None, &Stop::default()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("`/nowhere/index` cannot be started")
        );
    }

    #[test]
    fn endless_output_is_drained_and_not_kept() {
        let script = "i=0; while [ $i -lt 3000 ]; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; \
                      i=$((i+1)); done; echo end";
        let said = shell(script, LONG, &Stop::default()).unwrap();
        assert!(said.len() < 3000 && said.ends_with("\nend"), "{said}");
    }

    #[test]
    fn at_the_end_of_its_time_a_command_goes_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("note");
        let script = format!(
            "(sleep 1; echo alive > {}) & trap '' TERM; sleep 60",
            note.display()
        );
        let begun = Instant::now();

        let error = shell(&script, Duration::from_millis(300), &Stop::default()).unwrap_err();

        assert!(error.to_string().contains("did not end within"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(8));
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!note.exists(), "a child lives on");
    }

    #[test]
    fn a_stop_ends_a_command_soon() {
        let stop = Stop::default();
        let begun = Instant::now();
        let error = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                stop.set();
            });
            shell("sleep 60", LONG, &stop).unwrap_err()
        });
        let stopped = error.downcast_ref::<Error>().unwrap();
        assert_eq!(*stopped.kind(), ErrorKind::Stopped);
        assert!(begun.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn what_a_command_leaves_behind_does_not_keep_us_waiting() {
        let begun = Instant::now();
        let said = shell("sleep 20 & echo started", LONG, &Stop::default()).unwrap();
        assert_eq!(said, "started");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}
