//! Time, as far as the client needs it: tests bring their own.

use std::fmt::Debug;
use std::time::{Duration, SystemTime};

use super::Stop;

/// A clock that can wait.
pub trait Pace: Debug + Send + Sync {
    /// The time.
    fn now(&self) -> SystemTime;

    /// Waits, but not after `stop` is set.
    fn sleep(&self, duration: Duration, stop: &Stop);
}

/// The clock of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealPace;

impl Pace for RealPace {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep(&self, duration: Duration, stop: &Stop) {
        let mut rest = duration;
        while !rest.is_zero() && !stop.is_set() {
            let part = rest.min(Duration::from_millis(200));
            std::thread::sleep(part);
            rest -= part;
        }
    }
}
