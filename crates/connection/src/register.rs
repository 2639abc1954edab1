//! The open connections: who may open one more, and which one is closed for it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// All open connections of one listener.
#[derive(Debug)]
pub(crate) struct Register {
    connections: usize,
    per_client: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    open: HashMap<u64, Entry>,
    next: u64,
    closed: u64,
    refused: u64,
    /// When the log was last told of closed and refused connections.
    told: Option<Instant>,
}

#[derive(Debug)]
struct Entry {
    client: IpAddr,
    network: IpAddr,
    state: Arc<State>,
}

/// One connection in the register, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    register: Arc<Register>,
    number: u64,
    pub(crate) state: Arc<State>,
}

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct State {
    began: Instant,
    /// Milliseconds after `began` at which the client last sent or took something.
    progress_ms: AtomicU64,
    /// Requests that are being answered.
    busy: AtomicUsize,
    /// How often something was read from the client, in all and before the last request.
    reads: AtomicU64,
    reads_before: AtomicU64,
    /// Whether the request was sent before the last one was answered. Few clients do that; whoever does could keep a
    /// connection busy for long without reading a byte.
    is_pipelined: AtomicBool,
    is_write_blocked: AtomicBool,
    is_body_awaited: AtomicBool,
    /// Told when another connection takes this one's place.
    close: Notify,
}

impl Register {
    pub(crate) fn new(connections: usize, per_client: usize) -> Self {
        Self {
            connections,
            per_client,
            table: Mutex::default(),
        }
    }

    /// Admits a connection from an address; `None` means that every one it could take the place of is being answered,
    /// and none of them is of a network with more connections than its own.
    /// The limit for one client does not hold for an address that is `exempt`, such as a proxy with many clients.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr, exempt: bool) -> Option<Place> {
        let (client, network) = (masked(address, 32, 64), masked(address, 24, 48));
        let mut table = self.table();
        let has_room = table.make_room_for_client(client, self.per_client, exempt)
            && table.make_room(self.connections, network);
        if !has_room {
            table.refused += 1;
        }
        table.tell(self.connections, self.per_client);
        if !has_room {
            return None;
        }
        let (number, state) = (table.next, Arc::new(State::new()));
        table.next += 1;
        let entry = Entry {
            client,
            network,
            state: Arc::clone(&state),
        };
        table.open.insert(number, entry);
        Some(Place {
            register: Arc::clone(self),
            number,
            state,
        })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn make_room_for_client(&mut self, client: IpAddr, limit: usize, exempt: bool) -> bool {
        let is_own = |entry: &Entry| entry.client == client;
        let own = self.open.values().filter(|entry| is_own(entry)).count();
        exempt || own < limit || self.close_longest_waiting(is_own)
    }

    /// Closes a connection of the network that has the most, or of the next one if all of its requests are being
    /// answered: however many addresses an attacker has, a client from elsewhere keeps its place. Where all are being
    /// answered, a network with fewer connections comes before the one with the most.
    fn make_room(&mut self, limit: usize, network: IpAddr) -> bool {
        if self.open.len() < limit {
            return true;
        }
        let mut networks = HashMap::<IpAddr, usize>::new();
        for entry in self.open.values() {
            *networks.entry(entry.network).or_default() += 1;
        }
        let mut networks: Vec<_> = networks.into_iter().collect();
        networks.sort_unstable_by_key(|(network, count)| (std::cmp::Reverse(*count), *network));
        let is_of = |network: IpAddr| move |entry: &Entry| entry.network == network;
        let mut by_size = networks.iter();
        if by_size.any(|(network, _)| self.close_longest_waiting(is_of(*network))) {
            return true;
        }
        let own = networks.iter().find(|(other, _)| *other == network);
        let own = own.map_or(0, |(_, count)| *count);
        let largest = networks.first().filter(|(_, count)| *count > own + 1);
        largest.is_some_and(|(largest, _)| self.close_longest(is_of(*largest)))
    }

    /// Closes the connection that has waited for its client the longest, if one of them waits.
    fn close_longest_waiting(&mut self, is_candidate: impl Fn(&Entry) -> bool) -> bool {
        self.close_longest(|entry| is_candidate(entry) && entry.state.is_waiting())
    }

    /// Closes the connection whose client sent or took nothing for the longest.
    fn close_longest(&mut self, is_candidate: impl Fn(&Entry) -> bool) -> bool {
        let candidates = self.open.iter().filter(|(_, entry)| is_candidate(entry));
        let longest =
            candidates.min_by_key(|(number, entry)| (entry.state.last_progress(), **number));
        let Some(number) = longest.map(|(number, _)| *number) else {
            return false;
        };
        if let Some(entry) = self.open.remove(&number) {
            entry.state.close.notify_one();
        }
        self.closed += 1;
        true
    }

    /// An attack is logged at its beginning and then once a minute, with numbers: a line for each connection would fill
    /// the log.
    fn tell(&mut self, connections: usize, per_client: usize) {
        let is_news = |told: Instant| told.elapsed() >= TOLD_AGAIN_AFTER;
        if self.closed + self.refused == 0 || !self.told.is_none_or(is_news) {
            return;
        }
        let (closed, refused) = (self.closed, self.refused);
        tracing::warn!(
            closed,
            refused,
            "too many connections (at most {connections}, {per_client} for one client): those that wait for their client the longest are closed for new ones"
        );
        (self.closed, self.refused) = (0, 0);
        self.told = Some(Instant::now());
    }
}

impl Place {
    /// Ready when another connection has taken the place of this one.
    pub(crate) async fn lost(&self) {
        self.state.close.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.register.table().open.remove(&self.number);
    }
}

impl State {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            progress_ms: AtomicU64::new(0),
            busy: AtomicUsize::new(0),
            reads: AtomicU64::new(1),
            reads_before: AtomicU64::new(0),
            is_pipelined: AtomicBool::new(false),
            is_write_blocked: AtomicBool::new(false),
            is_body_awaited: AtomicBool::new(false),
            close: Notify::new(),
        }
    }

    /// Whether the next step is the client's: to send a request or more of one, or to read. One that sends further
    /// requests instead of reading counts as well.
    fn is_waiting(&self) -> bool {
        let is = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        is(&self.is_write_blocked)
            || is(&self.is_body_awaited)
            || is(&self.is_pipelined)
            || self.busy.load(Ordering::Relaxed) == 0
    }

    fn last_progress(&self) -> Instant {
        let ms = self.progress_ms.load(Ordering::Relaxed);
        self.began + std::time::Duration::from_millis(ms)
    }

    /// Notes that the client sent or took something.
    pub(crate) fn note_progress(&self) {
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.progress_ms.store(ms, Ordering::Relaxed);
    }

    /// Notes that something was read from the client.
    pub(crate) fn note_read(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.note_progress();
    }

    pub(crate) fn set_write_blocked(&self, blocked: bool) {
        self.is_write_blocked.store(blocked, Ordering::Relaxed);
    }

    pub(crate) fn set_body_awaited(&self, awaited: bool) {
        self.is_body_awaited.store(awaited, Ordering::Relaxed);
    }

    /// Counts a request as being answered until what this returns is dropped.
    pub(crate) fn begin_answer(self: &Arc<Self>) -> Answering {
        self.busy.fetch_add(1, Ordering::Relaxed);
        let reads = self.reads.load(Ordering::Relaxed);
        let before = self.reads_before.swap(reads, Ordering::Relaxed);
        self.is_pipelined.store(before == reads, Ordering::Relaxed);
        Answering(Arc::clone(self))
    }
}

/// A request is being answered.
#[derive(Debug)]
pub(crate) struct Answering(Arc<State>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An address without its last bits: whoever has one address of a network mostly has many.
fn masked(address: IpAddr, v4_bits: u32, v6_bits: u32) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - v4_bits).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - v6_bits).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

const TOLD_AGAIN_AFTER: std::time::Duration = std::time::Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    fn register(connections: usize, per_client: usize) -> Arc<Register> {
        Arc::new(Register::new(connections, per_client))
    }

    fn admit(register: &Arc<Register>, address: &str) -> Option<Place> {
        register.admit(address.parse().unwrap(), false)
    }

    fn is_open(place: &Place) -> bool {
        place.register.table().open.contains_key(&place.number)
    }

    #[test]
    fn one_client_closes_its_own_connections() {
        let register = register(10, 2);
        let other = admit(&register, "192.0.2.9").unwrap();
        let first = admit(&register, "192.0.2.1").unwrap();
        let second = admit(&register, "192.0.2.1").unwrap();

        let third = admit(&register, "192.0.2.1").unwrap();

        assert_eq!(
            [&other, &first, &second, &third].map(is_open),
            [true, false, true, true]
        );
    }

    #[test]
    fn addresses_of_one_network_of_version_6_are_one_client() {
        let register = register(10, 1);
        let first = admit(&register, "2001:db8::1").unwrap();
        let _second = admit(&register, "2001:db8::2").unwrap();
        assert!(!is_open(&first));
        let elsewhere = admit(&register, "2001:db8:0:1::1").unwrap();
        assert!(is_open(&elsewhere));
    }

    #[test]
    fn a_proxy_may_have_more_than_one_client() {
        let register = register(10, 1);
        let proxy = IpAddr::from([127, 0, 0, 1]);
        let places = [(); 3].map(|()| register.admit(proxy, true).unwrap());
        assert!(places.iter().all(is_open));
    }

    #[test]
    fn the_largest_network_makes_room() {
        let register = register(6, 6);
        // The visitor came first, and so has waited for the longest.
        let visitor = admit(&register, "203.0.113.1").unwrap();
        let attackers: Vec<_> = (1..=5)
            .map(|last| admit(&register, &format!("192.0.2.{last}")).unwrap())
            .collect();

        let newcomers: Vec<_> = (6..=60)
            .map(|last| admit(&register, &format!("192.0.2.{last}")).unwrap())
            .collect();

        assert!(is_open(&visitor));
        assert!(!attackers.iter().any(is_open));
        assert_eq!(newcomers.iter().filter(|place| is_open(place)).count(), 5);
    }

    #[test]
    fn requests_that_are_answered_are_kept_unless_their_clients_do_not_read() {
        let register = register(2, 2);
        let [first, second] = [(); 2].map(|()| admit(&register, "192.0.2.1").unwrap());
        let answering = [&first, &second].map(|place| place.state.begin_answer());
        assert!(admit(&register, "192.0.2.1").is_none());
        assert!(admit(&register, "192.0.2.2").is_none());

        second.state.set_write_blocked(true);
        let _third = admit(&register, "203.0.113.1").unwrap();
        assert_eq!([&first, &second].map(is_open), [true, false]);

        first.state.set_body_awaited(true);
        let _fourth = admit(&register, "203.0.113.2").unwrap();
        drop(answering);
    }

    #[test]
    fn a_network_that_keeps_everything_busy_makes_room_for_another() {
        let register = register(3, 3);
        let busy = [(); 3].map(|()| {
            let place = admit(&register, "192.0.2.1").unwrap();
            let answering = place.state.begin_answer();
            (place, answering)
        });
        let [first, second] = [(); 2].map(|()| admit(&register, "203.0.113.1"));
        assert!(first.is_some() && second.is_some());
        let open = busy.iter().filter(|(place, _)| is_open(place)).count();
        // The second of the visitor takes the place of the visitor's first, which waits.
        assert_eq!(open, 2);
    }

    #[test]
    fn requests_that_are_sent_before_the_last_was_answered_protect_no_connection() {
        let register = register(10, 1);
        let first = admit(&register, "192.0.2.1").unwrap();
        drop(first.state.begin_answer());
        first.state.note_read();
        let second_request = first.state.begin_answer();
        assert!(admit(&register, "192.0.2.1").is_none());

        drop(second_request);
        let _third_request = first.state.begin_answer();
        assert!(admit(&register, "192.0.2.1").is_some());
        assert!(!is_open(&first));
    }

    #[test]
    fn progress_keeps_a_connection_before_a_silent_one() {
        let register = register(2, 2);
        let [first, second] = [(); 2].map(|()| admit(&register, "192.0.2.1").unwrap());
        while first.state.progress_ms.load(Ordering::Relaxed) < 2 {
            first.state.note_progress();
        }
        let _third = admit(&register, "192.0.2.1").unwrap();
        assert_eq!([&first, &second].map(is_open), [true, false]);
    }
}
