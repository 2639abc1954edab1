//! No missed update, ever: how a change gets a datestamp that no harvester is already past.
//!
//! A harvester that was answered at a moment R asks next for what is stamped R or later. The horizon is the
//! latest such R that has been given out. A change that becomes visible after an answer must therefore be
//! stamped at the horizon or later; and where the harvester may hold the item under the same datestamp
//! already, later than that, since harvesters drop what they have seen by identifier and datestamp.

use std::time::{SystemTime, UNIX_EPOCH};

/// The clock of a repository: never behind an answer it has given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Horizon {
    answered: i64,
}

impl Horizon {
    /// Goes on from the latest answer that may have been given before.
    pub(crate) fn new(answered: i64) -> Self {
        Self { answered }
    }

    /// Now, in seconds; should the system's clock be set back, time stands still until it has caught up.
    pub(crate) fn now(&self) -> i64 {
        system_seconds().max(self.answered)
    }

    /// Takes the time of an answer, which may have to reach to a datestamp ahead: from now on it counts as given.
    pub(crate) fn answer(&mut self, at_least: i64) -> i64 {
        self.answered = self.now().max(at_least);
        self.answered
    }

    /// The datestamp of a file that was found new or changed.
    ///
    /// That is its modification time if no answer has passed it, else the time it was noticed.
    pub(crate) fn of_file(&self, mtime: i64, before: Option<i64>) -> i64 {
        let now = self.now();
        let natural = mtime.min(now);
        let passed = natural < self.answered || before.is_some_and(|before| natural < before);
        self.after(before, if passed { now } else { natural })
    }

    /// The datestamp of something noticed now: a deletion, or a change that no file tells of.
    pub(crate) fn of_notice(&self, before: Option<i64>) -> i64 {
        self.after(before, self.now())
    }

    fn after(&self, before: Option<i64>, datestamp: i64) -> i64 {
        match before {
            Some(before) if before <= self.answered => datestamp.max(before + 1),
            Some(before) => datestamp.max(before),
            None => datestamp,
        }
    }
}

pub(crate) fn system_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_stamped_with_its_mtime_while_no_answer_has_passed_it() {
        let horizon = Horizon::new(1000);
        assert_eq!(horizon.of_file(1000, None), 1000);
        assert_eq!(horizon.of_file(5000, Some(2000)), 5000);
        assert_eq!(Horizon::new(i64::MIN).of_file(-5, None), -5);
    }

    #[test]
    fn what_becomes_visible_late_is_stamped_when_noticed() {
        let horizon = Horizon::new(1000);
        assert_eq!(horizon.of_file(999, None), horizon.now());
        assert_eq!(horizon.of_file(1500, Some(2000)), horizon.now());
    }

    #[test]
    fn a_future_mtime_is_clamped_to_now() {
        let horizon = Horizon::new(0);
        assert_eq!(horizon.of_file(i64::MAX, None), horizon.now());
    }

    #[test]
    fn a_second_edit_within_an_answered_second_is_stamped_later() {
        let mut horizon = Horizon::new(0);
        let now = horizon.answer(i64::MIN);
        let first = horizon.of_file(now, None);
        let second = horizon.of_file(now, Some(first));
        assert!(second > first);
        assert!(horizon.of_notice(Some(second)) >= second);
    }
}
