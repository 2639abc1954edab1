//! Ties requests and metadata to the captures that they are about, and hands all over in the order of the source.
//!
//! Crawlers write these records before or after the capture, mostly next to it. So everything waits until some hundred
//! records have followed, or until it is known to be complete.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::record::{Fact, Link};
use super::walk::{Item, Signal};
use crate::{Capture, RecordCheck, SourceEvent};

pub(super) struct Join<'t, T> {
    take: &'t mut dyn FnMut(SourceEvent<T>) -> ControlFlow<()>,
    waiting: VecDeque<Waiting<T>>,
    /// Captures of which the crawler itself had said all, for some time after they were handed over.
    told_of: VecDeque<(u64, Link)>,
    /// How many facts wait, and how many captures of which something was said before they came. Mostly none, and then
    /// nothing needs to be searched.
    facts: usize,
    preceded: usize,
    /// How many records have come.
    count: u64,
    /// The unit of what was handed over last.
    last: Option<u64>,
    /// The position from which reading can resume once everything before it is handed over, and its oddities.
    position: u64,
    told: u64,
    /// How many records had come then.
    told_at: u64,
    /// The position from which reading can resume once everything before it has arrived.
    next: u64,
}

struct Waiting<T> {
    number: u64,
    /// The position at which reading finds the capture, and what other records state about it.
    unit: u64,
    begin: u64,
    what: What<T>,
}

enum What<T> {
    Capture {
        capture: Box<Capture>,
        made: T,
        link: Link,
        /// The crawler itself said something of it: nothing better will come.
        is_complete: bool,
    },
    Fact(Box<Fact>),
    Checked(Box<RecordCheck>),
    Skipped(crate::Skipped),
    /// A fact that has found its capture.
    Gone,
}

impl<'t, T> Join<'t, T> {
    pub(super) fn new(
        from: u64,
        take: &'t mut dyn FnMut(SourceEvent<T>) -> ControlFlow<()>,
    ) -> Self {
        Self {
            take,
            waiting: VecDeque::new(),
            told_of: VecDeque::new(),
            facts: 0,
            preceded: 0,
            count: 0,
            last: None,
            position: from,
            told: from,
            told_at: 0,
            next: from,
        }
    }

    /// The position at which a later read resumes.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn signal(&mut self, signal: Signal<T>) -> ControlFlow<()> {
        match signal {
            Signal::Record { unit, item } => self.record(unit, item),
            Signal::Unit(next) => {
                self.next = next;
                self.tell_position()
            }
        }
    }

    /// Hands over what is left.
    pub(super) fn finish(&mut self) -> ControlFlow<()> {
        while let Some(first) = self.waiting.pop_front() {
            self.hand_over(first)?;
        }
        self.tell_position()
    }

    /// Hands over what is left of a file that is still written. Only what is said of captures that may yet follow is kept
    /// for the next time; returns where it begins.
    pub(super) fn finish_growing(&mut self) -> ControlFlow<(), Option<u64>> {
        let of_none = |waiting: &&Waiting<T>| {
            matches!(waiting.what, What::Fact(_) | What::Checked(_) | What::Gone)
        };
        let count = self.waiting.iter().rev().take_while(of_none).count();
        let kept = self.waiting.split_off(self.waiting.len() - count);
        while let Some(first) = self.waiting.pop_front() {
            self.hand_over(first)?;
        }
        let is_fact = |waiting: &&Waiting<T>| matches!(waiting.what, What::Fact(_));
        let begin = kept.iter().find(is_fact).map(|waiting| waiting.unit);
        let Some(begin) = begin.filter(|begin| self.last.is_none_or(|last| last < *begin)) else {
            self.waiting = kept;
            self.finish()?;
            return ControlFlow::Continue(None);
        };
        for waiting in kept {
            if matches!(waiting.what, What::Checked(_)) && waiting.unit < begin {
                self.hand_over(waiting)?;
            }
        }
        (self.facts, self.next) = (0, begin);
        self.tell_position()?;
        ControlFlow::Continue(Some(begin))
    }

    fn record(&mut self, unit: u64, item: Item<T>) -> ControlFlow<()> {
        self.count += 1;
        match item {
            Item::Capture(capture, made, link) => self.capture(unit, capture, made, link),
            Item::Fact(mut fact) => {
                self.checked(unit, fact.check.take());
                self.fact(unit, fact);
            }
            Item::Skipped(skipped) => self.wait(unit, unit, What::Skipped(skipped)),
            Item::Other(check) => self.checked(unit, check),
        }
        let is_over = |(number, _): &(u64, Link)| self.count - number >= PATIENCE;
        if self.told_of.front().is_some_and(is_over) {
            self.told_of.pop_front();
        }
        while self
            .waiting
            .front()
            .is_some_and(|first| self.is_ready(first))
        {
            if let Some(first) = self.waiting.pop_front() {
                self.hand_over(first)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn checked(&mut self, unit: u64, check: Option<Box<RecordCheck>>) {
        if let Some(check) = check {
            self.wait(unit, unit, What::Checked(check));
        }
    }

    fn capture(&mut self, unit: u64, mut capture: Box<Capture>, made: T, link: Link) {
        let (mut begin, mut is_complete) = (unit, false);
        let some = match self.facts {
            0 => 0,
            _ => self.waiting.len(),
        };
        for waiting in self.waiting.iter_mut().take(some) {
            let What::Fact(fact) = &waiting.what else {
                continue;
            };
            if !fact.link.is_of(&link) {
                continue;
            }
            begin = begin.min(waiting.begin);
            is_complete |= fact.is_metadata;
            self.facts -= 1;
            if let What::Fact(fact) = std::mem::replace(&mut waiting.what, What::Gone) {
                fact.tell(&mut capture);
            }
        }
        let what = What::Capture {
            capture,
            made,
            link,
            is_complete,
        };
        self.wait(unit, begin, what);
    }

    fn fact(&mut self, unit: u64, fact: Box<Fact>) {
        // Later ones first: the same URL may have been got twice in a second.
        let of_capture = |waiting: &Waiting<T>, fits: &dyn Fn(&Link) -> bool| match &waiting.what {
            What::Capture { link, .. } => fits(link),
            _ => false,
        };
        let named = |waiting: &Waiting<T>| of_capture(waiting, &|link| fact.link.names(link));
        let sharing = |waiting: &Waiting<T>| of_capture(waiting, &|link| fact.link.shares(link));
        let alike = |waiting: &Waiting<T>| of_capture(waiting, &|link| fact.link.is_alike(link));
        let found = self.waiting.iter().rposition(named);
        let found = found.or_else(|| self.waiting.iter().rposition(sharing));
        let found = found.or_else(|| self.waiting.iter().rposition(alike));
        let Some(Waiting {
            what:
                What::Capture {
                    capture,
                    is_complete,
                    ..
                },
            ..
        }) = found.and_then(|index| self.waiting.get_mut(index))
        else {
            // A request knows nothing better than what was said already.
            let is_known = |(_, link): &(u64, Link)| fact.link.is_of(link);
            if fact.is_metadata || !self.told_of.iter().any(is_known) {
                self.wait(unit, unit, What::Fact(fact));
            }
            return;
        };
        *is_complete |= fact.is_metadata;
        fact.tell(capture);
    }

    fn wait(&mut self, unit: u64, begin: u64, what: What<T>) {
        self.facts += usize::from(matches!(what, What::Fact(_)));
        self.preceded += usize::from(begin < unit);
        self.waiting.push_back(Waiting {
            number: self.count,
            unit,
            begin,
            what,
        });
    }

    fn is_ready(&self, waiting: &Waiting<T>) -> bool {
        let mut others = self.waiting.iter().skip(1);
        let is_alone = others.all(|other| matches!(other.what, What::Checked(_)));
        match &waiting.what {
            What::Gone => true,
            // A request may still follow, up to the next capture.
            What::Capture {
                is_complete: true, ..
            } if !is_alone => true,
            What::Checked(_) | What::Skipped(_) => true,
            _ => self.count - waiting.number >= PATIENCE,
        }
    }

    fn hand_over(&mut self, waiting: Waiting<T>) -> ControlFlow<()> {
        self.facts -= usize::from(matches!(waiting.what, What::Fact(_)));
        self.preceded -= usize::from(waiting.begin < waiting.unit);
        let news = match waiting.what {
            What::Capture {
                capture,
                made,
                link,
                is_complete,
            } => {
                if is_complete {
                    self.told_of.push_back((self.count, link));
                }
                SourceEvent::Capture(capture, made)
            }
            What::Fact(fact) => SourceEvent::Late(Box::new(fact.capture)),
            What::Checked(check) => SourceEvent::Checked(check),
            What::Skipped(skipped) => SourceEvent::Skipped(skipped),
            What::Gone => return ControlFlow::Continue(()),
        };
        self.last = Some(waiting.unit);
        (self.take)(news)
    }

    /// Reading can begin before all that waits, unless something behind that place was handed over already. But where
    /// the records of captures are mixed without end, it is better to read a few again than all.
    fn tell_position(&mut self) -> ControlFlow<()> {
        let mut begins = self.waiting.iter().map(|waiting| waiting.begin);
        let begin = match self.preceded {
            0 => begins.next(),
            _ => begins.min(),
        };
        let position = begin.unwrap_or(self.next).min(self.next);
        let is_overdue = self.count - self.told_at >= OVERDUE;
        let is_behind = self.last.is_some_and(|last| last >= position);
        if position <= self.told || is_behind && !is_overdue {
            return ControlFlow::Continue(());
        }
        (self.position, self.told, self.told_at) = (position, position, self.count);
        (self.take)(SourceEvent::Position(position))
    }
}

/// How many records anything waits.
const PATIENCE: u64 = 256;

/// How many records may come without a place being told.
const OVERDUE: u64 = 4 * PATIENCE;
