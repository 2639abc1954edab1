//! The heartbeat of this process: it tells how far all its jobs are, and hears which are to stop.

use std::sync::Arc;
use std::time::Duration;

use catalog::Answer;

use super::Shared;
use super::running::{Running, Why};
use flows::Moment;

impl Shared {
    /// Beats until the workers have ended. Jobs that are being given back need it too.
    pub(super) fn beat_until_ended(&self) {
        let pause = (self.options.lease / 6).min(LONGEST_PAUSE);
        let mut away = false;
        while !self.ended.wait(pause) {
            let running: Vec<_> = self.running().values().cloned().collect();
            match self.beat(&running) {
                Ok(()) => away = false,
                // Jobs go on for as long as their leases are good, and wait then.
                Err(_) if away => {}
                Err(error) => {
                    away = true;
                    tracing::warn!("the catalog cannot be told that jobs are running: {error}");
                }
            }
        }
    }

    fn beat(&self, running: &[Arc<Running>]) -> Result<(), catalog::Error> {
        if running.is_empty() {
            return Ok(());
        }
        let beats: Vec<_> = running.iter().map(|running| running.beat()).collect();
        let moment = Moment::now();
        let heard = self.holdings.catalog().beat(&beats, self.options.lease);
        // The answers are in the order of the beats.
        for (running, heard) in running.iter().zip(self.holdings.wait(heard)?) {
            match heard.answer {
                Answer::GoOn => running.pulse.confirm(moment),
                Answer::CancelRequested => {
                    running.pulse.confirm(moment);
                    running.stop(Why::Cancelled);
                }
                Answer::LeaseLost => running.stop(Why::Fenced),
            }
        }
        Ok(())
    }
}

const LONGEST_PAUSE: Duration = Duration::from_secs(1);
