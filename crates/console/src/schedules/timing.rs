//! When a schedule would run, for somebody who looks before saving. The manager plans by the same words.

use catalog::Schedule;
use jobs::Frequency;

/// What decides on when a schedule runs.
#[derive(Debug, Clone)]
pub(crate) struct Timing {
    pub(crate) frequency: Frequency,
    pub(crate) starts: Option<i64>,
    pub(crate) ends: Option<i64>,
    /// When the schedule was added: intervals are counted from then if it has no start.
    pub(crate) added: i64,
    /// Whether it never ran, so that it begins at once if it has no start.
    pub(crate) is_new: bool,
    /// Not before this time, in seconds: a run that somebody withdrew.
    pub(crate) skipped: Option<i64>,
}

impl Timing {
    /// That of a schedule, unless its frequency cannot be read.
    pub(crate) fn of(schedule: &Schedule) -> Option<Self> {
        Some(Self {
            frequency: schedule.settings.frequency.parse().ok()?,
            starts: schedule.settings.starts,
            ends: schedule.settings.ends,
            added: schedule.added,
            is_new: schedule.last_run.is_none() && schedule.job.is_none(),
            skipped: schedule.skipped,
        })
    }

    /// The next times, at most so many.
    pub(crate) fn next(&self, now: i64, most: usize) -> Vec<i64> {
        let mut times = Vec::new();
        let anchor = self.starts.unwrap_or(self.added);
        let in_time = |time: &i64| self.ends.is_none_or(|ends| *time <= ends);
        if self.frequency.is_once() {
            let time = Some(anchor).filter(|anchor| self.is_new || *anchor > now);
            times.extend(time.filter(in_time).map(|time| time.max(now)));
            return times;
        }
        if self.is_new && self.starts.is_none() && self.frequency.begins_at_anchor() {
            times.extend(Some(now).filter(in_time));
        }
        let starts = self.starts.map_or(i64::MIN, |starts| starts - 1);
        let mut after = now.max(starts).max(self.skipped.unwrap_or(i64::MIN));
        while times.len() < most {
            let next = self.frequency.next(after, anchor);
            let Some(time) = next.filter(in_time) else {
                break;
            };
            times.push(time);
            after = time;
        }
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    fn timing(frequency: &str) -> Timing {
        Timing {
            frequency: frequency.parse().unwrap(),
            starts: None,
            ends: None,
            added: 100 * DAY,
            is_new: true,
            skipped: None,
        }
    }

    #[test]
    fn an_interval_without_a_start_begins_at_once() {
        let times = timing("every day").next(100 * DAY, 3);
        assert_eq!(times, [100 * DAY, 101 * DAY, 102 * DAY]);
    }

    #[test]
    fn an_interval_is_counted_from_its_start() {
        let timing = Timing {
            starts: Some(200 * DAY + 60),
            ..timing("every 2 days")
        };
        assert_eq!(timing.next(0, 2), [200 * DAY + 60, 202 * DAY + 60]);
        assert_eq!(timing.next(201 * DAY, 1), [202 * DAY + 60]);
    }

    #[test]
    fn a_single_run_is_due_at_its_time_or_at_once() {
        let late = Timing {
            starts: Some(50),
            ..timing("once")
        };
        assert_eq!(late.next(1000, 5), [1000]);
        let early = Timing {
            starts: Some(5000),
            ..timing("once")
        };
        assert_eq!(early.next(1000, 5), [5000]);
        let over = Timing {
            is_new: false,
            ..late
        };
        assert!(over.next(1000, 5).is_empty());
    }

    #[test]
    fn nothing_runs_behind_the_end() {
        let timing = Timing {
            ends: Some(3 * DAY),
            is_new: false,
            ..timing("cron 0 3 * * *")
        };
        assert_eq!(timing.next(DAY, 5), [DAY + 3 * 3600, 2 * DAY + 3 * 3600]);
    }
}
