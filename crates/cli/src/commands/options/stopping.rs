//! The end of commands that run jobs: in order, but not for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flows::Holdings;

/// Ends the process if it takes too long to stop, or at a second signal. What is lost by it is found by the next who
/// looks for work.
pub(in crate::commands) struct Deadline {
    met: Arc<AtomicBool>,
}

impl Deadline {
    pub(in crate::commands) fn begin(holdings: &Holdings) -> Self {
        let met = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&met);
        holdings.spawn(async move {
            let signal = tokio::time::timeout(LONGEST, crate::commands::stop_signal()).await;
            if watched.load(Ordering::Relaxed) {
                return;
            }
            if signal.is_err() {
                eprintln!("stopping took too long; what is left is gone on with by the next start");
            }
            std::process::exit(130);
        });
        Self { met }
    }

    pub(in crate::commands) fn met(self) {
        self.met.store(true, Ordering::Relaxed);
    }
}

/// Says what is waited for.
pub(in crate::commands) fn tell(busy: usize) {
    match busy {
        0 => eprintln!("stopping; again to stop at once"),
        1 => eprintln!("stopping, and giving back a job; again to stop at once"),
        busy => eprintln!("stopping, and giving back {busy} jobs; again to stop at once"),
    }
}

const LONGEST: Duration = Duration::from_secs(10);
