//! Whether this process was heard lately: who was not may have lost its job to another, and must not touch its files.
//!
//! The catalog refuses what a worker writes that lost its lease. The file system does not, so a worker that was stopped
//! for a while, or whose machine slept, asks here before each file.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use harvester::{Error, ErrorKind, Stop};
use rustix::time::{ClockId, clock_gettime};

/// The last time at which a lease was confirmed, and for how long that holds.
#[derive(Debug)]
pub struct Pulse {
    confirmed: AtomicI64,
    holds: i64,
}

/// A moment before a lease was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Moment(i64);

impl Pulse {
    /// A lease that was given after this moment. Half of it is counted upon, because a beat that finds more than that
    /// does not make it longer.
    pub fn new(moment: Moment, lease: Duration) -> Self {
        Self {
            confirmed: AtomicI64::new(moment.0),
            holds: i64::try_from(lease.as_millis() / 2).unwrap_or(i64::MAX),
        }
    }

    /// Notes that the lease was ours after this moment.
    pub fn confirm(&self, moment: Moment) {
        self.confirmed.fetch_max(moment.0, Ordering::Relaxed);
    }

    /// Waits until it is certain that the lease is ours. If it is not, the stop is set by the one who hears of it.
    pub fn hold(&self, stop: &Stop) -> Result<(), Error> {
        while !self.is_fresh() {
            if stop.is_set() {
                return Err(Error::new(ErrorKind::Stopped));
            }
            std::thread::sleep(A_MOMENT);
        }
        Ok(())
    }

    fn is_fresh(&self) -> bool {
        let confirmed = self.confirmed.load(Ordering::Relaxed);
        Moment::now().0.saturating_sub(confirmed) < self.holds
    }
}

impl Moment {
    /// Milliseconds since the machine was started, with those in which it slept.
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::Boottime);
        Self(
            time.tv_sec
                .saturating_mul(1000)
                .saturating_add(time.tv_nsec / 1_000_000),
        )
    }
}

const A_MOMENT: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_holds_for_half_its_time_and_from_each_beat_on() {
        let pulse = Pulse::new(Moment::now(), Duration::from_secs(60));
        assert!(pulse.is_fresh());

        let pulse = Pulse::new(Moment(Moment::now().0 - 30_001), Duration::from_secs(60));
        assert!(!pulse.is_fresh());

        pulse.confirm(Moment::now());
        assert!(pulse.is_fresh());
        pulse.confirm(Moment(0));
        assert!(pulse.is_fresh());
    }

    #[test]
    fn who_lost_a_lease_waits_until_told_to_stop() {
        let pulse = Pulse::new(Moment(0), Duration::from_secs(1));
        let stop = Stop::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| pulse.hold(&stop));
            std::thread::sleep(Duration::from_millis(50));
            assert!(!waiting.is_finished());
            stop.set();
            assert!(waiting.join().unwrap().is_err());
        });
    }
}
