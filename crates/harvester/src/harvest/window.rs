//! A span of dates that is harvested as one list, and how it is cut where it cannot be read.

use std::cmp::Ordering;

use oai::{Datestamp, Granularity};
use serde::{Deserialize, Serialize};

use super::Method;
use super::tally::{Pass, Tally};

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
    /// Whether `until` was made by a cut: then it is sent one tick later, because for some servers it is exclusive.
    #[serde(default)]
    pub(super) cut: bool,
    /// Whether such an `until` is sent as it is: what lies behind it may be what cannot be read.
    #[serde(default)]
    pub(super) exact: bool,
    /// How many seconds the datestamps of the last page cover.
    #[serde(default)]
    pub(super) page_length: i64,
    #[serde(default)]
    pub(super) pass: Pass,
    #[serde(default)]
    pub(super) tally: Tally,
}

/// The outcome for a window that could not be read.
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
            cut: false,
            exact: false,
            page_length: 0,
            pass: Pass::First,
            tally: Tally::new(from),
        }
    }

    /// Counts the records of a page, and takes the completeListSize that it tells.
    pub(super) fn count(&mut self, on_page: u64, size: Option<u64>, newest_before: Option<i64>) {
        if let Some(size) = size {
            self.tally
                .note(size, self.announced, self.given, newest_before);
        }
        // The last page often says nothing; what the ones before it said still counts.
        self.announced = size.or(self.announced);
        self.given += on_page;
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
        let reached = self.reached(ordered, granularity);
        let progress = reached > self.from;
        match progress {
            true => {
                self.from = reached;
                self.tally.begin_behind();
            }
            false => self.tally.forget_sizes(),
        }
        self.token = None;
        self.done_on_page = 0;
        self.given = 0;
        self.announced = None;
        self.newest = None;
        self.in_order = true;
        progress
    }

    /// The date up to which all records came, where dates tell that.
    pub(super) fn reached(&self, ordered: bool, granularity: Granularity) -> Option<i64> {
        let newest = self.newest.filter(|_| self.in_order && ordered);
        newest.map(|newest| start_of(newest, granularity))
    }

    /// Cuts in the middle, or where the fault is likely to be before, between two pieces of `grain` seconds. Where a bound
    /// is open, the one given here stands in for it, and the half on that side stays open.
    pub(super) fn cut(&self, (earliest, now): (i64, i64), likely: Option<i64>, grain: i64) -> Cut {
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
        earlier.cut = true;
        later.part = true;
        later.cut = self.cut;
        Cut::Halves(Box::new((earlier, later)))
    }

    /// The bounds as they are sent.
    pub(super) fn lower(&self, granularity: Granularity) -> Option<String> {
        self.from.map(|from| written(from, granularity))
    }

    pub(super) fn upper(&self, granularity: Granularity) -> Option<String> {
        let behind = i64::from(self.cut && !self.exact);
        self.until.map(|until| written(until + behind, granularity))
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

pub(super) fn start_of(seconds: i64, granularity: Granularity) -> i64 {
    let grain = grain(granularity);
    seconds.div_euclid(grain) * grain
}

pub(super) fn grain(granularity: Granularity) -> i64 {
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
    fn halves_cover_the_whole_and_are_asked_for_with_an_overlap_of_one_tick() {
        let window = Window::new(Some(10 * DAY), Some(20 * DAY + 5), Method::ListRecords);
        let Cut::Halves(halves) = window.cut((0, 0), None, DAY) else {
            panic!("can be cut");
        };

        assert_eq!(halves.0.from, Some(10 * DAY));
        assert_eq!(halves.0.until.unwrap() + 1, halves.1.from.unwrap());
        assert_eq!(halves.1.until, Some(20 * DAY + 5));
        for granularity in [Granularity::Day, Granularity::Second] {
            assert_eq!(halves.0.upper(granularity), halves.1.lower(granularity));
            let end = Some(written(20 * DAY + 5, granularity));
            assert_eq!(halves.1.upper(granularity), end);
        }
    }

    #[test]
    fn the_cut_is_made_where_the_fault_is_likely() {
        let window = Window::new(Some(0), Some(1000), Method::ListRecords);
        let Cut::Halves(halves) = window.cut((0, 0), Some(10), 1) else {
            panic!("can be cut");
        };
        assert_eq!(halves.0.until, Some(10));
    }

    #[test]
    fn open_ends_stay_open() {
        let window = Window::new(None, None, Method::ListRecords);
        let Cut::Halves(halves) = window.cut((100, 200), None, 1) else {
            panic!("can be cut");
        };

        assert_eq!((halves.0.from, halves.1.until), (None, None));
        assert_eq!(halves.0.until, Some(150));
    }

    #[test]
    fn a_day_is_the_smallest_part_where_days_are_all_there_is() {
        let window = Window::new(Some(DAY), Some(2 * DAY - 1), Method::ListRecords);
        assert_eq!(window.cut((0, 0), None, DAY), Cut::Grain);
        assert!(matches!(window.cut((0, 0), None, 1), Cut::Halves(_)));
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
