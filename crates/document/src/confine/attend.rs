//! Attends to a process until it ends or has to.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::pipe::Pipe;
use super::run::End;
use super::written::Written;

/// A process and all of its group, killed together when this value goes away.
pub(super) struct Group {
    child: Child,
    pid: Pid,
    ended: bool,
}

impl Group {
    pub(super) fn new(child: Child) -> Self {
        let pid = Pid::from_child(&child);
        Self {
            child,
            pid,
            ended: false,
        }
    }

    /// Takes what the process complains of until it ends or must be stopped; tells why if it was stopped for its time or for
    /// what it has written.
    ///
    /// Ending is seen through the process, not through its pipe: something it left behind may hold that open.
    pub(super) fn attend(
        &self,
        stderr: &mut Pipe,
        wall: Duration,
        stop: Option<&AtomicBool>,
        written: Option<&Written<'_>>,
    ) -> io::Result<Option<End>> {
        let process = pidfd_open(self.pid, PidfdFlags::empty())?;
        let deadline = Instant::now() + wall;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Ok(Some(End::TimeOver));
            }
            if written.is_some_and(Written::is_too_much) {
                return Ok(Some(End::TooMuchWritten));
            }
            let a_while = match (written, stop) {
                (Some(_), _) => left.min(A_BLINK),
                (None, Some(_)) => left.min(A_MOMENT),
                (None, None) => left,
            };
            if wait_for_news(&process, stderr, a_while)? {
                return Ok(None);
            }
            stderr.read_some()?;
            if stderr.is_full() {
                return Ok(None);
            }
        }
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
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Sleeps until the process has ended, the pipe has news or the time is over; tells whether the process has ended.
fn wait_for_news(process: &OwnedFd, pipe: &Pipe, left: Duration) -> io::Result<bool> {
    let mut watched = vec![PollFd::new(process, PollFlags::IN)];
    let open = pipe.source();
    watched.extend(open.map(|source| PollFd::new(source, PollFlags::IN)));
    let left = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut watched, Some(&left)) {
        Ok(_) => Ok(!watched[0].revents().is_empty()),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// So often somebody who wants it to stop is listened to.
const A_MOMENT: Duration = Duration::from_millis(100);
/// How often the files of a directory are added up. A fast disk takes 40 MB in that time.
const A_BLINK: Duration = Duration::from_millis(20);
