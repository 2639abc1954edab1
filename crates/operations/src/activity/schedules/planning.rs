//! When a schedule runs next. Only numbers here: the clock comes in, and nothing is written.

use catalog::{Schedule, ScheduleState};

use crate::Frequency;

/// The time of a schedule's next run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// At this time; if that is gone already, at once.
    At(i64),
    /// Its time is over.
    Never,
}

/// When a schedule without a job runs next. `last_end` is when its last job was over.
///
/// The first time after now, usually. If nobody planned for a while, because all machines were off, the first time after
/// the last job: so what was missed runs once, and not for each time that was missed.
pub fn next(schedule: &Schedule, frequency: &Frequency, last_end: Option<i64>, now: i64) -> Next {
    let settings = &schedule.settings;
    let anchor = settings.starts.unwrap_or(schedule.added);
    let time = if frequency.is_once() {
        let is_due = schedule.last_run.is_none_or(|run| run < anchor);
        (schedule.state == ScheduleState::New && is_due).then_some(anchor)
    } else if is_wanted_at_once(schedule, frequency) {
        Some(now)
    } else {
        let since = last_end.map_or(now, |end| end.min(now));
        frequency.next(after(schedule, since, now), anchor)
    };
    match time.filter(|time| settings.ends.is_none_or(|ends| *time <= ends)) {
        Some(time) => Next::At(time),
        None => Next::Never,
    }
}

/// The next runs of a schedule, at most `most`: the time of its waiting job, and those behind it.
pub fn upcoming(schedule: &Schedule, now: i64, most: usize) -> Vec<i64> {
    let mut times: Vec<_> = schedule.next_run.into_iter().collect();
    let rests = matches!(schedule.state, ScheduleState::Paused | ScheduleState::Ended);
    let frequency = schedule.settings.frequency.parse::<Frequency>();
    let Some(frequency) = frequency.ok().filter(|_| !rests) else {
        return times;
    };
    if schedule.job.is_none() {
        match next(schedule, &frequency, None, now) {
            Next::At(time) => times.push(time.max(now)),
            Next::Never => return times,
        }
    }
    let anchor = schedule.settings.starts.unwrap_or(schedule.added);
    while !frequency.is_once() && times.len() < most {
        let since = times.last().map_or(now, |last| now.max(*last));
        let time = frequency.next(after(schedule, since, now), anchor);
        let ends = schedule.settings.ends;
        let Some(time) = time.filter(|time| ends.is_none_or(|ends| *time <= ends)) else {
            break;
        };
        times.push(time);
    }
    times.truncate(most);
    times
}

/// The time at which a waiting job should be due instead, if its own is later than it can be: the clock was set back.
pub fn waits_too_long(schedule: &Schedule, frequency: &Frequency, now: i64) -> Option<i64> {
    let anchor = schedule.settings.starts.unwrap_or(schedule.added);
    let waiting = schedule.next_run?;
    let time = frequency.next(after(schedule, now, now), anchor)?;
    (waiting > time).then_some(time)
}

/// Somebody who says every day, and not since when, wants to see it begin.
fn is_wanted_at_once(schedule: &Schedule, frequency: &Frequency) -> bool {
    schedule.state == ScheduleState::New
        && schedule.last_run.is_none()
        && schedule.settings.starts.is_none()
        && frequency.begins_at_anchor()
}

/// The moment after which the next time is looked for: not before the schedule starts, and behind a run that somebody
/// withdrew.
fn after(schedule: &Schedule, since: i64, now: i64) -> i64 {
    let starts = schedule
        .settings
        .starts
        .map_or(i64::MIN, |starts| starts - 1);
    // One that was withdrawn years ahead was so while the clock was wrong.
    let skipped = schedule.skipped.filter(|time| time - now < TWO_YEARS);
    since.max(starts).max(skipped.unwrap_or(i64::MIN))
}

const TWO_YEARS: i64 = 2 * 366 * 86_400;

#[cfg(test)]
mod tests {
    use catalog::{ScheduleSettings, Scheduled};

    use super::*;

    const ADDED: i64 = 1_000_000_000;
    const HOUR: i64 = 3600;

    fn schedule(frequency: &str, state: ScheduleState) -> (Schedule, Frequency) {
        let schedule = Schedule {
            id: 1,
            settings: ScheduleSettings {
                what: Scheduled::Import,
                name: String::new(),
                parameters: "{}".to_owned(),
                frequency: frequency.to_owned(),
                starts: None,
                ends: None,
            },
            base_url: None,
            repository_name: None,
            state,
            next_run: None,
            job: None,
            last_run: None,
            skipped: None,
            version: 1,
            added: ADDED,
            changed: ADDED,
        };
        (schedule, frequency.parse().unwrap())
    }

    #[test]
    fn a_new_interval_begins_at_once_unless_it_says_when() {
        let (mut new, hourly) = schedule("every hour", ScheduleState::New);
        assert_eq!(next(&new, &hourly, None, ADDED + 5), Next::At(ADDED + 5));

        new.settings.starts = Some(ADDED + 100);
        assert_eq!(next(&new, &hourly, None, ADDED + 5), Next::At(ADDED + 100));
        assert_eq!(
            next(&new, &hourly, None, ADDED + 100),
            Next::At(ADDED + 100 + HOUR)
        );
    }

    #[test]
    fn a_new_cron_expression_waits_for_its_time() {
        let (new, daily) = schedule("cron 0 3 * * *", ScheduleState::New);
        let Next::At(time) = next(&new, &daily, None, ADDED) else {
            panic!("it ends");
        };
        assert_eq!(time % 86_400, 3 * HOUR);
        assert!(time > ADDED && time <= ADDED + 86_400);
    }

    #[test]
    fn one_that_was_changed_does_not_run_because_of_that() {
        let (mut changed, hourly) = schedule("every hour", ScheduleState::New);
        changed.last_run = Some(ADDED + 60);
        assert_eq!(
            next(&changed, &hourly, None, ADDED + 120),
            Next::At(ADDED + HOUR)
        );
    }

    #[test]
    fn times_that_passed_during_a_long_run_are_left_out() {
        let (mut running, hourly) = schedule("every hour", ScheduleState::Recurring);
        running.last_run = Some(ADDED);
        let now = ADDED + 3 * HOUR + 10;
        assert_eq!(
            next(&running, &hourly, Some(now - 1), now),
            Next::At(ADDED + 4 * HOUR)
        );
    }

    #[test]
    fn what_was_due_while_nobody_planned_runs_once() {
        let (mut missed, hourly) = schedule("every hour", ScheduleState::Recurring);
        missed.last_run = Some(ADDED);
        let now = ADDED + 30 * HOUR + 10;

        let Next::At(time) = next(&missed, &hourly, Some(ADDED + 60), now) else {
            panic!("it ends");
        };
        assert_eq!(time, ADDED + HOUR);

        // It has run now, so the next is ahead.
        assert_eq!(
            next(&missed, &hourly, Some(now + 5), now + 6),
            Next::At(ADDED + 31 * HOUR)
        );
    }

    #[test]
    fn a_run_that_was_withdrawn_is_skipped() {
        let (mut skipped, hourly) = schedule("every hour", ScheduleState::Recurring);
        skipped.last_run = Some(ADDED);
        skipped.skipped = Some(ADDED + HOUR);
        assert_eq!(
            next(&skipped, &hourly, Some(ADDED + 60), ADDED + 61),
            Next::At(ADDED + 2 * HOUR)
        );
    }

    #[test]
    fn nothing_runs_after_the_end() {
        let (mut ending, hourly) = schedule("every hour", ScheduleState::Recurring);
        ending.last_run = Some(ADDED);
        ending.settings.ends = Some(ADDED + 2 * HOUR);
        let plan = |now| next(&ending, &hourly, Some(now), now);
        assert_eq!(plan(ADDED + HOUR), Next::At(ADDED + 2 * HOUR));
        assert_eq!(plan(ADDED + 2 * HOUR), Next::Never);
    }

    #[test]
    fn once_is_once() {
        let (mut once, frequency) = schedule("once", ScheduleState::New);
        assert_eq!(next(&once, &frequency, None, ADDED + 9), Next::At(ADDED));

        // Somebody renames it after it has run.
        once.last_run = Some(ADDED + 10);
        assert_eq!(next(&once, &frequency, None, ADDED + 99), Next::Never);

        // Somebody gives it another date.
        once.settings.starts = Some(ADDED + 500);
        assert_eq!(
            next(&once, &frequency, None, ADDED + 99),
            Next::At(ADDED + 500)
        );
    }

    #[test]
    fn an_interval_without_a_start_begins_at_once_and_one_with_a_start_there() {
        let (mut new, _) = schedule("every 2 days", ScheduleState::New);
        let day = 24 * HOUR;
        let now = ADDED + 5;
        assert_eq!(
            upcoming(&new, now, 3),
            [now, ADDED + 2 * day, ADDED + 4 * day]
        );

        new.settings.starts = Some(ADDED + 60);
        assert_eq!(upcoming(&new, now, 2), [ADDED + 60, ADDED + 60 + 2 * day]);
        new.settings.ends = Some(ADDED + day);
        assert_eq!(upcoming(&new, now, 2), [ADDED + 60]);
        new.settings.ends = Some(ADDED);
        assert!(upcoming(&new, now, 2).is_empty());
    }

    #[test]
    fn a_single_run_is_shown_once_and_a_paused_schedule_shows_none() {
        let (mut once, _) = schedule("once", ScheduleState::New);
        assert_eq!(upcoming(&once, ADDED + 9, 5), [ADDED + 9]);
        once.settings.starts = Some(ADDED + 50);
        assert_eq!(upcoming(&once, ADDED + 9, 5), [ADDED + 50]);
        once.state = ScheduleState::Paused;
        assert!(upcoming(&once, ADDED + 9, 5).is_empty());
    }

    #[test]
    fn the_waiting_job_comes_first_and_a_far_withdrawn_run_hides_nothing() {
        let (mut waiting, _) = schedule("every hour", ScheduleState::Recurring);
        waiting.job = Some(3);
        waiting.next_run = Some(ADDED + HOUR);
        // It was withdrawn while the clock was wrong.
        waiting.skipped = Some(ADDED + 3 * TWO_YEARS);
        let times = upcoming(&waiting, ADDED + 10, 3);
        assert_eq!(times, [ADDED + HOUR, ADDED + 2 * HOUR, ADDED + 3 * HOUR]);
    }

    #[test]
    fn a_job_that_waits_for_a_time_that_is_far_ahead_now_is_planned_anew() {
        let (mut waiting, hourly) = schedule("every hour", ScheduleState::Recurring);
        waiting.next_run = Some(ADDED + 100 * HOUR);
        let now = ADDED + 10;
        assert_eq!(waits_too_long(&waiting, &hourly, now), Some(ADDED + HOUR));

        waiting.next_run = Some(ADDED + HOUR);
        assert_eq!(waits_too_long(&waiting, &hourly, now), None);

        // The one before it was withdrawn.
        waiting.skipped = Some(ADDED + HOUR);
        waiting.next_run = Some(ADDED + 2 * HOUR);
        assert_eq!(waits_too_long(&waiting, &hourly, now), None);
    }
}
