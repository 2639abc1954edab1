//! A span of dates that is harvested as one list, and how it is cut where it cannot be read.

use std::cmp::Ordering;

use oai::{Datestamp, Granularity};
use serde::{Deserialize, Serialize};

use super::Method;

/// A list: its bounds, and how far it has been read. Moments are in seconds, bounds are within.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Window {
    pub(super) from: Option<i64>,
    pub(super) until: Option<i64>,
    pub(super) method: Method,
    /// The page to be read next; the first if there is none.
    pub(super) token: Option<String>,
    /// How many records of that page are done, where they are asked for one by one.
    pub(super) done_on_page: usize,
    /// How many records came in this list so far.
    pub(super) given: u64,
    /// How many it has, by what its pages said last.
    #[serde(default)]
    pub(super) announced: Option<u64>,
    pub(super) newest: Option<i64>,
    /// Whether all datestamps so far came in order, so that nothing older is to be expected.
    pub(super) in_order: bool,
    pub(super) restarts: u32,
    /// Whether the window is a part of one that could not be read.
    pub(super) part: bool,
}

/// What became of a window that could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Two windows, the earlier one first.
    Halves(Box<(Window, Window)>),
    /// It is as small as can be.
    Grain,
}

impl Window {
    pub(super) fn new(from: Option<i64>, until: Option<i64>, method: Method) -> Self {
        Self {
            from,
            until,
            method,
            token: None,
            done_on_page: 0,
            given: 0,
            announced: None,
            newest: None,
            in_order: true,
            restarts: 0,
            part: false,
        }
    }

    /// Notes a datestamp, and tells how it stands to the newest so far.
    pub(super) fn note(&mut self, moment: i64) -> Ordering {
        let order = self
            .newest
            .map_or(Ordering::Equal, |newest| moment.cmp(&newest));
        self.in_order &= order.is_ge();
        self.newest = self.newest.max(Some(moment));
        order
    }

    /// Begins anew, behind what has been read if lists are known to be in the order of dates.
    /// Whether that is any progress.
    pub(super) fn restart(&mut self, ordered: bool, granularity: Granularity) -> bool {
        let reached = self.newest.filter(|_| self.in_order && ordered);
        let reached = reached.map(|newest| start_of(newest, granularity));
        let progress = reached > self.from;
        if progress {
            self.from = reached;
        }
        self.token = None;
        self.done_on_page = 0;
        self.given = 0;
        self.announced = None;
        self.newest = None;
        self.in_order = true;
        progress
    }

    /// Cuts in the middle, or where the fault is likely to be before. Where a bound is open, the one
    /// given here stands in for it, and the half on that side stays open.
    pub(super) fn cut(
        &self,
        (earliest, now): (i64, i64),
        likely: Option<i64>,
        granularity: Granularity,
    ) -> Cut {
        let grain = grain(granularity);
        let low = self.from.unwrap_or(earliest).div_euclid(grain);
        let high = self.until.unwrap_or(now).div_euclid(grain);
        if low >= high {
            return Cut::Grain;
        }
        let likely = likely.map(|moment| moment.div_euclid(grain));
        let middle = likely
            .filter(|likely| (low..high).contains(likely))
            .unwrap_or(low + (high - low) / 2);
        let mut earlier = Self::new(self.from, Some(middle * grain + grain - 1), self.method);
        let mut later = Self::new(Some((middle + 1) * grain), self.until, self.method);
        earlier.part = true;
        later.part = true;
        Cut::Halves(Box::new((earlier, later)))
    }

    /// The bounds as they are sent.
    pub(super) fn lower(&self, granularity: Granularity) -> Option<String> {
        self.from.map(|from| written(from, granularity))
    }

    pub(super) fn upper(&self, granularity: Granularity) -> Option<String> {
        self.until.map(|until| written(until, granularity))
    }
}

/// A moment at a granularity.
pub(super) fn written(seconds: i64, granularity: Granularity) -> String {
    let mut text = Datestamp::from_seconds(seconds).to_string();
    if granularity == Granularity::Day {
        text.truncate("YYYY-MM-DD".len());
    }
    text
}

fn start_of(seconds: i64, granularity: Granularity) -> i64 {
    let grain = grain(granularity);
    seconds.div_euclid(grain) * grain
}

fn grain(granularity: Granularity) -> i64 {
    match granularity {
        Granularity::Day => 86_400,
        Granularity::Second => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    #[test]
    fn halves_cover_the_whole_and_do_not_overlap() {
        let window = Window::new(Some(10 * DAY), Some(20 * DAY + 5), Method::ListRecords);
        let Cut::Halves(halves) = window.cut((0, 0), None, Granularity::Day) else {
            panic!("can be cut");
        };

        assert_eq!(halves.0.from, Some(10 * DAY));
        assert_eq!(halves.0.until.unwrap() + 1, halves.1.from.unwrap());
        assert_eq!(halves.1.until, Some(20 * DAY + 5));
    }

    #[test]
    fn the_cut_is_made_where_the_fault_is_likely() {
        let window = Window::new(Some(0), Some(1000), Method::ListRecords);
        let Cut::Halves(halves) = window.cut((0, 0), Some(10), Granularity::Second) else {
            panic!("can be cut");
        };
        assert_eq!(halves.0.until, Some(10));
    }

    #[test]
    fn open_ends_stay_open() {
        let window = Window::new(None, None, Method::ListRecords);
        let Cut::Halves(halves) = window.cut((100, 200), None, Granularity::Second) else {
            panic!("can be cut");
        };

        assert_eq!((halves.0.from, halves.1.until), (None, None));
        assert_eq!(halves.0.until, Some(150));
    }

    #[test]
    fn a_day_is_the_smallest_part_where_days_are_all_there_is() {
        let window = Window::new(Some(DAY), Some(2 * DAY - 1), Method::ListRecords);
        assert_eq!(window.cut((0, 0), None, Granularity::Day), Cut::Grain);
        assert!(matches!(
            window.cut((0, 0), None, Granularity::Second),
            Cut::Halves(_)
        ));
    }

    #[test]
    fn a_restart_goes_on_by_date_only_if_dates_came_in_order() {
        let mut ordered = Window::new(None, None, Method::ListRecords);
        assert_eq!(
            (ordered.note(5), ordered.note(9)),
            (Ordering::Equal, Ordering::Greater)
        );
        assert!(ordered.clone().restart(true, Granularity::Second));
        assert!(!ordered.restart(false, Granularity::Second));

        let mut mixed = Window::new(None, None, Method::ListRecords);
        assert_eq!(
            (mixed.note(9), mixed.note(5)),
            (Ordering::Equal, Ordering::Less)
        );
        assert!(!mixed.restart(true, Granularity::Second));
        assert_eq!(mixed.from, None);
    }
}
