//! The heartbeat of this process: it tells how far all its jobs are, and hears which are to stop.

use std::sync::Arc;
use std::time::{Duration, Instant};

use catalog::{Answer, Catalog, WorkerReport};

use super::Shared;
use super::running::{Running, Why};
use flows::Moment;

impl Shared {
    /// Beats until the workers have ended. Jobs that are being given back need it too.
    pub(super) fn beat_until_ended(&self) {
        let pause = (self.options.lease / 6).min(LONGEST_PAUSE);
        let mut away = false;
        let mut reported: Option<Instant> = None;
        loop {
            if reported.is_none_or(|at| at.elapsed() >= Catalog::WORKER_REPORTS) {
                reported = Some(Instant::now());
                self.report();
            }
            if self.ended.wait(pause) {
                break;
            }
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
        // Nobody is to wait for workers that have stopped. While the catalog is away, they are forgotten later.
        let forgotten = self.holdings.catalog().forget_worker(&self.options.name);
        if let Err(error) = self.holdings.wait(forgotten) {
            tracing::debug!("workers that stopped are not forgotten yet: {error}");
        }
    }

    /// Reports that these workers are alive, and the jobs that they run.
    fn report(&self) {
        let report = WorkerReport {
            name: &self.options.name,
            kinds: &self.options.kinds,
            tags: &self.options.tags,
            threads: self.options.threads,
        };
        let reported = self.holdings.catalog().report_worker(&report);
        if let Err(error) = self.holdings.wait(reported) {
            tracing::debug!("the workers cannot be reported: {error}");
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
