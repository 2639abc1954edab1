//! Dates as people write them into forms: in UTC for schedules, and by the clock of the account for filters.

use crate::clock::Clock;
use crate::filters::date;

/// The moment at which the clock of the account shows a text, in seconds: a date, or a date with a time.
pub(crate) fn moment(text: &str) -> Option<i64> {
    Clock::current().zone().moment(text)
}

/// A moment as forms write it, without seconds if it has none.
pub(crate) fn shown(seconds: i64) -> String {
    let format = match seconds % 60 {
        0 => "%Y-%m-%dT%H:%M",
        _ => "%Y-%m-%dT%H:%M:%S",
    };
    date(seconds).strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_can_be_read_again() {
        for seconds in [0, 60, 61, 1_795_000_000] {
            assert_eq!(moment(&shown(seconds)), Some(seconds));
        }
    }
}
