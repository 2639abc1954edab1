//! A process group: watched until its first process ends or has to, and ended as a whole.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, prlimit};

use super::limits::Limits;
use super::pipe::Pipe;
use super::run::End;
use super::written::Written;

/// A process and all of its group, killed together when this value goes away.
pub(super) struct Group {
    child: Child,
    pid: Pid,
    /// Whether nobody has to be killed any more.
    ended: bool,
}

/// The reasons to end a group before it ends by itself.
pub(super) struct Watch<'a> {
    pub(super) wall: Duration,
    pub(super) stop: Option<&'a AtomicBool>,
    pub(super) written: Option<Written<'a>>,
    /// Whether the program gets time to tidy up, and may leave processes behind.
    pub(super) is_trusted: bool,
}

impl Group {
    /// Takes over a process that is the first of its group.
    pub(super) fn new(child: Child) -> Self {
        let pid = Pid::from_child(&child);
        Self {
            child,
            pid,
            ended: false,
        }
    }

    /// Limits the process from outside; its first instructions may have run before that.
    pub(super) fn limit(&self, limits: &Limits) -> io::Result<()> {
        for (resource, limit) in limits.resources() {
            match prlimit(Some(self.pid), resource, limit) {
                // It has ended already.
                Ok(_) | Err(Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads the pipes until the process ends or must be stopped; returns the reason for which it must be.
    ///
    /// The end is seen through the process, not through its pipes: something it left behind may hold those open.
    pub(super) fn attend(&self, pipes: &mut [Pipe], watch: &Watch<'_>) -> io::Result<Option<End>> {
        let process = pidfd_open(self.pid, PidfdFlags::empty())?;
        let deadline = Instant::now() + watch.wall;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || watch.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Ok(Some(End::TimeOver));
            }
            if watch.written.as_ref().is_some_and(Written::is_too_much) {
                return Ok(Some(End::TooMuchWritten));
            }
            let nap = match (&watch.written, watch.stop) {
                (Some(_), _) => left.min(DIRECTORY_POLL),
                (None, Some(_)) => left.min(STOP_POLL),
                (None, None) => left,
            };
            if wait_for_news(&process, pipes, nap)? {
                return Ok(None);
            }
            for pipe in &mut *pipes {
                pipe.read_some()?;
            }
            if pipes.iter().any(Pipe::is_full) {
                return Ok(Some(End::TooMuchPrinted));
            }
        }
    }

    /// Asks the group to end, and gives it [`GRACE`] to do so.
    pub(super) fn ask_to_end(&self, pipes: &mut [Pipe]) -> io::Result<()> {
        // Until somebody waits for the child, nobody else can get its number.
        let _ = kill_process_group(self.pid, Signal::TERM);
        let watch = Watch {
            wall: GRACE,
            stop: None,
            written: None,
            is_trusted: true,
        };
        self.attend(pipes, &watch).map(drop)
    }

    /// Kills whatever is left and returns how the process itself ended.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.ended {
            // Before `wait`, for until then nobody else can get the number; a dead process keeps its status.
            self.ended = true;
            let _ = kill_process_group(self.pid, Signal::KILL);
            // It may have left the group where that cannot be forbidden.
            let _ = self.child.kill();
        }
        self.child.wait()
    }

    /// Returns how the process ended and leaves alone the processes that it left behind.
    pub(super) fn release(&mut self) -> io::Result<ExitStatus> {
        self.ended = true;
        self.child.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Sleeps until the process has ended, a pipe has news or the time is over; returns whether the process has ended.
fn wait_for_news(process: &OwnedFd, pipes: &[Pipe], left: Duration) -> io::Result<bool> {
    let mut watched = vec![PollFd::new(process, PollFlags::IN)];
    let open = pipes.iter().filter_map(Pipe::source);
    watched.extend(open.map(|source| PollFd::new(source, PollFlags::IN)));
    let left = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut watched, Some(&left)) {
        Ok(_) => Ok(!watched[0].revents().is_empty()),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// How often the stop flag is polled.
const STOP_POLL: Duration = Duration::from_millis(100);
/// How often the files of a directory are added up. A fast disk takes 40 MB in that time.
const DIRECTORY_POLL: Duration = Duration::from_millis(20);
/// The time that a trusted program gets to tidy up.
const GRACE: Duration = Duration::from_secs(2);
