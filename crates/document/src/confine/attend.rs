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

    /// Takes what the process complains of until it ends or must be stopped; tells whether its time was over.
    ///
    /// Ending is seen through the process, not through its pipe: something it left behind may hold that open.
    pub(super) fn attend(
        &self,
        stderr: &mut Pipe,
        wall: Duration,
        stop: Option<&AtomicBool>,
    ) -> io::Result<bool> {
        let process = pidfd_open(self.pid, PidfdFlags::empty())?;
        let deadline = Instant::now() + wall;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Ok(true);
            }
            let a_while = stop.map_or(left, |_| left.min(A_MOMENT));
            if wait_for_news(&process, stderr, a_while)? {
                return Ok(false);
            }
            stderr.read_some()?;
            if stderr.is_full() {
                return Ok(false);
            }
        }
    }

    /// Kills whatever is left and returns how the process itself ended.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.ended {
            // Before `wait`, for until then nobody else can get the number; a dead process keeps its status.
            self.ended = true;
            let _ = kill_process_group(self.pid, Signal::KILL);
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
