//! Slows down those who try passwords: by the name they try and by the address they come from.
//!
//! It is kept in memory. A restart forgets it, which gives an attacker no more than a handful of further tries.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Recent failures, and the waiting time that each imposes.
#[derive(Debug, Default)]
pub struct Throttle {
    tries: Mutex<HashMap<Key, Tries>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Name(String),
    Address(IpAddr),
}

#[derive(Debug)]
struct Tries {
    failures: u32,
    last: Instant,
    not_before: Instant,
}

impl Throttle {
    /// Counts a try, or says how long to wait for the next. A try counts as a failure until [`Throttle::succeeded`], so
    /// that many at once are as slow as many in a row.
    pub fn begin(&self, name: &str, from: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = keys(name, from);
        let waiting = keys.iter().filter_map(|key| tries.get(key));
        let wait = waiting.map(|tries| tries.not_before.saturating_duration_since(now));
        if let Some(wait) = wait.max().filter(|wait| !wait.is_zero()) {
            return Err(wait);
        }
        if tries.len() >= MOST_KEYS {
            forget(&mut tries, now);
        }
        for key in keys {
            let longest = key.longest_wait();
            let entry = tries.entry(key).or_insert(Tries {
                failures: 0,
                last: now,
                not_before: now,
            });
            if now.saturating_duration_since(entry.last) > MEMORY {
                entry.failures = 0;
            }
            entry.failures = entry.failures.saturating_add(1);
            entry.last = now;
            entry.not_before = now + wait_after(entry.failures).min(longest);
        }
        Ok(())
    }

    /// Forgets the failures of a name. The address gets back the try that was begun then and no more: whoever has an
    /// account could otherwise try the passwords of others as fast as they please.
    pub fn succeeded(&self, name: &str, from: IpAddr, begun: Instant) {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        let [name, address] = keys(name, from);
        tries.remove(&name);
        let Some(entry) = tries.get_mut(&address) else {
            return;
        };
        entry.failures = entry.failures.saturating_sub(1);
        // The wait belongs to the last try, which may be another one.
        if entry.last == begun {
            entry.not_before = begun;
        }
        if entry.failures == 0 {
            tries.remove(&address);
        }
    }
}

impl Key {
    /// Anybody who knows a name could lock its owner out, so names wait for at most a minute.
    fn longest_wait(&self) -> Duration {
        match self {
            Self::Name(_) => Duration::from_secs(60),
            Self::Address(_) => Duration::from_secs(15 * 60),
        }
    }
}

fn keys(name: &str, from: IpAddr) -> [Key; 2] {
    let name = name.trim().chars().take(LONGEST_NAME).collect::<String>();
    [
        Key::Name(name.to_lowercase()),
        Key::Address(neighbourhood(from)),
    ]
}

/// An address of version 6 stands for its network: who has one of them has them all.
fn neighbourhood(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let network = u128::from(address) >> 64 << 64;
            IpAddr::V6(network.into())
        }
    }
}

/// The first tries are free, then the wait doubles.
fn wait_after(failures: u32) -> Duration {
    let beyond = failures.saturating_sub(FREE_TRIES);
    match beyond {
        0 => Duration::ZERO,
        _ => Duration::from_secs(1 << beyond.min(12)),
    }
}

/// Makes room: first by what is old, then, under attack from very many addresses, by all.
fn forget(tries: &mut HashMap<Key, Tries>, now: Instant) {
    tries.retain(|_, entry| now.saturating_duration_since(entry.last) <= MEMORY);
    if tries.len() >= MOST_KEYS {
        tries.retain(|key, _| matches!(key, Key::Name(_)));
    }
    if tries.len() >= MOST_KEYS {
        tries.clear();
    }
}

const FREE_TRIES: u32 = 5;
const MEMORY: Duration = Duration::from_secs(60 * 60);
const MOST_KEYS: usize = 20_000;
const LONGEST_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn fail(throttle: &Throttle, times: u32, name: &str, from: IpAddr, now: Instant) {
        for _ in 0..times {
            throttle.begin(name, from, now).unwrap();
        }
    }

    #[test]
    fn a_name_is_slowed_down_wherever_it_is_tried_from() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        fail(&throttle, 5, "ann", address(1), now);
        throttle.begin("Ann ", address(2), now).unwrap();

        let wait = throttle.begin("ann", address(3), now).unwrap_err();
        assert!(wait <= Duration::from_secs(2), "{wait:?}");
        assert!(throttle.begin("bob", address(3), now).is_ok());
    }

    #[test]
    fn an_address_is_slowed_down_whatever_name_it_tries() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for name in ["a", "b", "c", "d", "e", "f"] {
            throttle.begin(name, address(1), now).unwrap();
        }
        assert!(throttle.begin("g", address(1), now).is_err());
        assert!(throttle.begin("g", address(2), now).is_ok());
    }

    #[test]
    fn waits_double_up_to_a_limit_that_names_reach_sooner() {
        let throttle = Throttle::default();
        let mut now = Instant::now();
        let mut longest = Duration::ZERO;
        for _ in 0..30 {
            if let Err(wait) = throttle.begin("ann", address(1), now) {
                longest = longest.max(wait);
                now += wait;
            }
        }
        assert_eq!(longest, Duration::from_secs(15 * 60));
        let wait = throttle.begin("ann", address(2), now).err();
        assert!(wait.is_none_or(|wait| wait <= Duration::from_secs(60)));
    }

    #[test]
    fn success_and_time_forgive() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        fail(&throttle, 5, "ann", address(1), now);
        throttle.succeeded("ann", address(1), now);
        fail(&throttle, 5, "ann", address(2), now);
        let later = now + Duration::from_secs(2 * 60 * 60);
        fail(&throttle, 5, "ann", address(1), later);
    }

    #[test]
    fn success_with_one_name_does_not_forgive_tries_of_others() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for name in ["a", "b", "c", "d", "e"] {
            throttle.begin(name, address(1), now).unwrap();
        }
        // However often one logs in oneself, it costs nothing and brings nothing.
        for _ in 0..3 {
            throttle.begin("mallory", address(1), now).unwrap();
            throttle.succeeded("mallory", address(1), now);
        }
        throttle.begin("f", address(1), now).unwrap();
        assert!(throttle.begin("g", address(1), now).is_err());
    }

    #[test]
    fn success_does_not_take_away_the_wait_for_a_later_try() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        throttle.begin("mallory", address(1), now).unwrap();
        let later = now + Duration::from_millis(1);
        for name in ["a", "b", "c", "d", "e"] {
            throttle.begin(name, address(1), later).unwrap();
        }
        throttle.succeeded("mallory", address(1), now);
        assert!(throttle.begin("f", address(1), later).is_err());
    }

    #[test]
    fn a_network_of_version_6_counts_as_one() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for last in 0..6 {
            let from = format!("2001:db8::{last}").parse().unwrap();
            throttle.begin(&format!("name {last}"), from, now).unwrap();
        }
        let from = "2001:db8::ffff".parse().unwrap();
        assert!(throttle.begin("another", from, now).is_err());
    }

    #[test]
    fn memory_is_bounded() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for number in 0..(MOST_KEYS as u32) {
            let from = IpAddr::from(number.to_be_bytes());
            let _ = throttle.begin(&number.to_string(), from, now);
        }
        assert!(throttle.tries.lock().unwrap().len() <= MOST_KEYS + 1);
    }
}
