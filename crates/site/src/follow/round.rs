//! Rounds of asking a server what of its files it shows to all, a part at a time.
//!
//! How far a round has come is kept with the index, so that whoever refreshes next goes on there, in whatever process. A
//! server that is configured anew in the middle begins a new round where the old one was, and goes round from there:
//! else one that restarts often would never come to its end.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::follow::refresh::BATCH;
use crate::follow::sweep::Comparison;
use crate::index::State;
use crate::{Error, Site, SitePath};

/// A round that is not over.
struct Round {
    /// Under which configuration of the server it is made.
    generation: i64,
    /// Where it began; the root is the very beginning.
    start: SitePath,
    /// How far it has come.
    place: SitePath,
    /// Whether it has passed the end and begun again.
    wrapped: bool,
}

/// The state of the last round.
enum Last {
    /// It ended: under a configuration, so many seconds after 1970.
    Over(i64, u64),
    /// It did not.
    Going(Round),
    /// There was none.
    Unknown,
}

impl Site {
    /// Goes on with a round for a while, or begins one if it is time or the rules of some directory changed.
    pub(crate) fn go_round(
        &self,
        comparison: &Comparison<'_>,
        rules_changed: bool,
    ) -> Result<(), Error> {
        let generation = self.config.sharing.generation();
        let anew = |place: SitePath| Round {
            generation,
            start: place.clone(),
            place,
            wrapped: false,
        };
        let round = match Last::parse(&self.index.fact(SWEPT)?.unwrap_or_default()) {
            Last::Going(round) if round.generation == generation && !rules_changed => round,
            Last::Going(round) => anew(round.place),
            Last::Over(last, at)
                if last == generation
                    && !rules_changed
                    && seconds_now().abs_diff(at) < EVERY_SECONDS =>
            {
                return Ok(());
            }
            Last::Over(..) | Last::Unknown => anew(SitePath::root()),
        };
        self.walk_round(comparison, round)
    }

    fn walk_round(&self, comparison: &Comparison<'_>, mut round: Round) -> Result<(), Error> {
        let until = Instant::now() + LONGEST;
        while Instant::now() < until {
            let behind = Some(&round.place).filter(|place| **place != SitePath::root());
            let rows = self
                .index
                .reader()?
                .by_path(&SitePath::root(), behind, BATCH)?;
            let over = match rows.last() {
                Some(last) => {
                    round.place = last.path.clone();
                    let live = rows.into_iter().filter(|row| row.state == State::Live);
                    comparison.compare(&live.collect::<Vec<_>>())?;
                    round.wrapped && round.place >= round.start
                }
                None => {
                    let whole = round.wrapped || round.start == SitePath::root();
                    round.place = SitePath::root();
                    round.wrapped = true;
                    whole
                }
            };
            if over {
                if comparison.restamp_dynamic {
                    self.index.set_fact(RESTAMP_DYNAMIC, "")?;
                }
                let over = format!("over {} {}", round.generation, seconds_now());
                return self.index.set_fact(SWEPT, &over);
            }
        }
        self.index.set_fact(SWEPT, &round.to_string())
    }
}

impl Last {
    fn parse(fact: &str) -> Self {
        let words: Vec<_> = fact.split(' ').collect();
        let path = |text: &str| SitePath::from_url_path(text);
        let parsed = match words.as_slice() {
            ["over", generation, at] => generation
                .parse()
                .ok()
                .zip(at.parse().ok())
                .map(|(generation, at)| Self::Over(generation, at)),
            ["going", generation, wrapped, start, place] => generation
                .parse()
                .ok()
                .zip(path(start).zip(path(place)))
                .map(|(generation, (start, place))| {
                    Self::Going(Round {
                        generation,
                        start,
                        place,
                        wrapped: *wrapped == "wrapped",
                    })
                }),
            _ => None,
        };
        parsed.unwrap_or(Self::Unknown)
    }
}

impl std::fmt::Display for Round {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let wrapped = if self.wrapped { "wrapped" } else { "first" };
        let (start, place) = (self.start.to_url_path(), self.place.to_url_path());
        write!(f, "going {} {wrapped} /{start} /{place}", self.generation)
    }
}

fn seconds_now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

/// The fact that tells of the last round.
const SWEPT: &str = "swept";

/// The fact that what the server makes of programs may have changed since the last complete round.
pub(crate) const RESTAMP_DYNAMIC: &str = "restamp_dynamic";

/// Between two rounds where nothing else calls for one. A password or a group that changes tells nobody.
const EVERY_SECONDS: u64 = 300;

/// For how long one request goes on with a round.
const LONGEST: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_read_as_it_was_written() {
        let path = |text: &str| SitePath::new(text).unwrap();
        let round = Round {
            generation: 7,
            start: path("a b/ü"),
            place: SitePath::root(),
            wrapped: true,
        };

        let Last::Going(read) = Last::parse(&round.to_string()) else {
            panic!("{round} is not a round");
        };

        assert_eq!((read.generation, read.wrapped), (7, true));
        assert_eq!((read.start, read.place), (path("a b/ü"), SitePath::root()));
        assert!(matches!(Last::parse("over 7 1000"), Last::Over(7, 1000)));
        assert!(matches!(Last::parse("7 1000"), Last::Unknown));
    }
}
