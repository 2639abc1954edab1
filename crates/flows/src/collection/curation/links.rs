//! The links of parents, checked: HEAD, and GET where that is not enough; as robots.txt allows, at a slow pace for each
//! host, many hosts at once.
//!
//! Results are kept in the catalog as they come, so that the next check continues one that was stopped or killed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use catalog::{CheckedLink, LinkOutcome, LinkQuery};
use document::url::{Rules, normalise};
use harvester::{
    AddressPolicy, Client, ClientOptions, Pace, ProbeMethod, Probed, RealPace, Robots, Stop,
    Unreached,
};
use serde::Serialize;

use crate::Holdings;

/// How links are checked.
#[derive(Debug, Clone)]
pub struct LinkOptions {
    /// How servers are asked. Only addresses that its policy admits are; without one, those on the internet.
    pub client: ClientOptions,
    /// How many hosts are asked at once.
    pub hosts: usize,
    /// The time between two requests to a host; more where its robots.txt asks for more.
    pub interval: Duration,
    /// How long a server may take for an answer.
    pub timeout: Duration,
    /// Links that were checked within so many days are not checked again.
    pub recheck_days: u32,
}

/// The findings of link checks so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LinksChecked {
    /// Links that were checked.
    pub checked: u64,
    /// Those that a server answers for.
    pub alive: u64,
    /// Those that lead to nothing.
    pub dead: u64,
    /// Those whose server failed or was late.
    pub unknown: u64,
    /// Those that a robots.txt forbids.
    pub disallowed: u64,
    /// Those that lead to addresses which may not be asked.
    pub inside: u64,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

impl Default for LinkOptions {
    fn default() -> Self {
        Self {
            client: ClientOptions::default(),
            hosts: 16,
            interval: Duration::from_secs(1),
            timeout: Duration::from_secs(20),
            recheck_days: 30,
        }
    }
}

/// Checks the links of parents that have documents, but for those that `rules` refuse. `tell` hears how far it is.
pub fn check_links(
    holdings: &Holdings,
    rules: &Rules,
    options: &LinkOptions,
    stop: &Stop,
    tell: &(dyn Fn(&LinksChecked) + Sync),
) -> anyhow::Result<LinksChecked> {
    let allow = match options.client.allow.clone() {
        AddressPolicy::Anything => AddressPolicy::Public {
            allowed: Vec::new(),
        },
        allow @ AddressPolicy::Public { .. } => allow,
    };
    let client = ClientOptions {
        allow,
        stop: stop.clone(),
        credentials: None,
        connect_timeout: options.client.connect_timeout.min(options.timeout),
        read_timeout: options.client.read_timeout.min(options.timeout),
        ..options.client.clone()
    };
    let began = holdings.wait(holdings.catalog().now())?;
    let checking = Checking {
        holdings,
        rules,
        options,
        stop,
        tell,
        began,
        found: Mutex::default(),
        reached: AtomicBool::new(false),
        failed: AtomicU64::new(0),
        unsure: Mutex::default(),
    };
    let mut after = String::new();
    loop {
        let hosts = holdings.wait(holdings.catalog().parent_hosts(&after, HOSTS))?;
        let Some(last) = hosts.last() else { break };
        after.clone_from(last);
        // Each client remembers the hosts that it asked.
        checking.some(&Client::new(client.clone())?, &hosts)?;
        if stop.is_set() {
            break;
        }
    }
    checking.keep_unsure()?;
    let mut found = *lock(&checking.found);
    found.stopped = stop.is_set();
    Ok(found)
}

/// State that the threads share.
struct Checking<'a> {
    holdings: &'a Holdings,
    rules: &'a Rules,
    options: &'a LinkOptions,
    stop: &'a Stop,
    tell: &'a (dyn Fn(&LinksChecked) + Sync),
    began: i64,
    found: Mutex<LinksChecked>,
    /// Whether any server has answered, so that the network is known to work.
    reached: AtomicBool,
    failed: AtomicU64,
    /// Links of hosts that were not reached while none had been.
    unsure: Mutex<Vec<CheckedLink>>,
}

/// A finding about one link.
struct Finding {
    outcome: LinkOutcome,
    detail: String,
    final_url: Option<String>,
}

/// The rules of a host's robots.txt and its delay.
enum Manners {
    Known {
        robots: Robots,
        interval: Duration,
    },
    /// No link of the host can be asked for.
    Closed(LinkOutcome, String),
}

impl Checking<'_> {
    /// Checks the links of some hosts on several threads.
    fn some(&self, client: &Client, hosts: &[String]) -> anyhow::Result<()> {
        let waiting = Mutex::new(hosts.iter());
        let work = || -> anyhow::Result<()> {
            while !self.stop.is_set() && self.failed.load(Ordering::Relaxed) == 0 {
                let Some(host) = lock(&waiting).next() else {
                    break;
                };
                if let Err(error) = self.host(client, host) {
                    // The others end with what they are at.
                    self.failed.fetch_add(1, Ordering::Relaxed);
                    return Err(error);
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads = self.options.hosts.clamp(1, hosts.len().max(1));
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            for thread in threads {
                match thread.join() {
                    Ok(worked) => worked?,
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok(())
        })
    }

    /// Checks the links of one host, one after the other.
    fn host(&self, client: &Client, host: &str) -> anyhow::Result<()> {
        let catalog = self.holdings.catalog();
        let mut query = LinkQuery {
            after: 0,
            older_than: i64::from(self.options.recheck_days) * 86_400,
            began: self.began,
            limit: PAGE,
        };
        let mut origins: HashMap<String, Manners> = HashMap::new();
        loop {
            let links = self.holdings.wait(catalog.links_to_check(host, &query))?;
            let Some((last, _)) = links.last() else {
                return Ok(());
            };
            query.after = *last;
            for (parent, url) in links {
                let is_refused =
                    || normalise(&url).is_ok_and(|url| self.rules.refuses(&url).is_some());
                if self.stop.is_set() {
                    return Ok(());
                }
                if is_refused() {
                    continue;
                }
                if origins.len() > MOST_ORIGINS {
                    origins.clear();
                }
                let Some(finding) = self.check(client, &mut origins, &url) else {
                    return Ok(());
                };
                self.keep(parent, finding)?;
            }
        }
    }

    /// Checks a link, with the redirects that it takes. `None` if it was stopped meanwhile.
    fn check(
        &self,
        client: &Client,
        origins: &mut HashMap<String, Manners>,
        url: &str,
    ) -> Option<Finding> {
        let mut at = url.to_owned();
        for _ in 0..=client.options().redirects {
            let Some((origin, path)) = parts(&at) else {
                return Some(match is_of_ftp(&at) {
                    true => found(LinkOutcome::Unknown, "links over FTP are not checked"),
                    false => found(LinkOutcome::Dead, "it is no URL of the web"),
                });
            };
            if !origins.contains_key(&origin) {
                let manners = self.manners(client, &origin)?;
                origins.insert(origin.clone(), manners);
            }
            let interval = match &origins[&origin] {
                Manners::Closed(outcome, reason) => return Some(found(*outcome, reason)),
                Manners::Known { robots, .. } if !robots.allows(&path) => {
                    return Some(found(LinkOutcome::Disallowed, "robots.txt"));
                }
                Manners::Known { interval, .. } => *interval,
            };
            let answer = match self.ask(client, &at, interval)? {
                Ok(answer) => answer,
                Err(unreached) => return Some(unreached_link(&unreached)),
            };
            self.reached.store(true, Ordering::Relaxed);
            match answer.location {
                Some(location) => at = location,
                None => {
                    let outcome = outcome(answer.status);
                    return Some(Finding {
                        outcome,
                        detail: answer.status.to_string(),
                        final_url: (at != url).then_some(at),
                    });
                }
            }
        }
        Some(found(LinkOutcome::Dead, "too many redirects"))
    }

    /// Asks by HEAD, and by GET if the answer to that is not good: many servers know no HEAD.
    fn ask(
        &self,
        client: &Client,
        url: &str,
        interval: Duration,
    ) -> Option<Result<Probed, Unreached>> {
        for method in [ProbeMethod::Head, ProbeMethod::Get(1)] {
            RealPace.sleep(interval, self.stop);
            let mut answer = self.once(client, method, url)?;
            if let Ok(Probed {
                status: 429 | 503,
                retry_after: Some(wait),
                ..
            }) = &answer
                && *wait <= LONGEST_WAIT
            {
                RealPace.sleep(*wait, self.stop);
                answer = self.once(client, method, url)?;
            }
            let is_good =
                |answer: &Probed| answer.location.is_some() || (200..300).contains(&answer.status);
            match answer {
                Ok(answer) if method == ProbeMethod::Head && !is_good(&answer) => {}
                // Some servers close the connection at HEAD.
                Err(Unreached::Broken(_)) if method == ProbeMethod::Head => {}
                answer => return Some(answer),
            }
        }
        None
    }

    fn once(
        &self,
        client: &Client,
        method: ProbeMethod,
        url: &str,
    ) -> Option<Result<Probed, Unreached>> {
        match client.probe(method, url, self.options.timeout) {
            Err(Unreached::Stopped) => None,
            _ if self.stop.is_set() => None,
            answer => Some(answer),
        }
    }

    /// Reads the robots.txt of an origin: `http://example.org:8080`.
    fn manners(&self, client: &Client, origin: &str) -> Option<Manners> {
        let known = |robots: Robots| {
            let delay = robots.delay().unwrap_or_default().min(LONGEST_DELAY);
            Manners::Known {
                interval: self.options.interval.max(delay),
                robots,
            }
        };
        let mut at = format!("{origin}/robots.txt");
        for _ in 0..=ROBOTS_REDIRECTS {
            let answer = match self.once(client, ProbeMethod::Get(ROBOTS_BYTES), &at)? {
                Ok(answer) => answer,
                Err(unreached) => {
                    let finding = unreached_link(&unreached);
                    return Some(Manners::Closed(finding.outcome, finding.detail));
                }
            };
            self.reached.store(true, Ordering::Relaxed);
            match (answer.status, answer.location) {
                (_, Some(location)) => at = location,
                (200..300, None) => {
                    return Some(known(Robots::parse(&answer.beginning, PROGRAM)));
                }
                // RFC 9309, 2.3.1.4: a server that fails may have rules.
                (429 | 500.., None) => {
                    let reason = format!("robots.txt: {}", answer.status);
                    return Some(Manners::Closed(LinkOutcome::Unknown, reason));
                }
                (_, None) => return Some(known(Robots::default())),
            }
        }
        Some(known(Robots::default()))
    }

    /// Counts and keeps a finding.
    fn keep(&self, parent: i64, finding: Finding) -> anyhow::Result<()> {
        let link = CheckedLink {
            parent,
            outcome: finding.outcome,
            detail: finding.detail,
            final_url: finding.final_url,
        };
        let is_reached = self.reached.load(Ordering::Relaxed);
        if link.outcome == LinkOutcome::Dead && !is_reached {
            let mut unsure = lock(&self.unsure);
            if unsure.len() < MOST_UNSURE {
                unsure.push(link);
                return Ok(());
            }
            // This many servers do not disappear at once.
            return self.write(&[CheckedLink {
                outcome: LinkOutcome::Unknown,
                detail: NO_NETWORK.to_owned(),
                ..link
            }]);
        }
        if is_reached {
            let sure = std::mem::take(&mut *lock(&self.unsure));
            self.write(&sure)?;
        }
        self.write(&[link])
    }

    /// Keeps what was found while no server answered. If none has by now, the network may be the reason.
    fn keep_unsure(&self) -> anyhow::Result<()> {
        let mut unsure = std::mem::take(&mut *lock(&self.unsure));
        if !self.reached.load(Ordering::Relaxed) {
            for link in &mut unsure {
                link.outcome = LinkOutcome::Unknown;
                link.detail = format!("{}; {NO_NETWORK}", link.detail);
            }
        }
        self.write(&unsure)
    }

    fn write(&self, links: &[CheckedLink]) -> anyhow::Result<()> {
        if links.is_empty() {
            return Ok(());
        }
        self.holdings
            .wait(self.holdings.catalog().keep_links(links))?;
        let mut found = lock(&self.found);
        for link in links {
            found.checked += 1;
            *match link.outcome {
                LinkOutcome::Alive => &mut found.alive,
                LinkOutcome::Dead => &mut found.dead,
                LinkOutcome::Unknown => &mut found.unknown,
                LinkOutcome::Disallowed => &mut found.disallowed,
                LinkOutcome::Inside => &mut found.inside,
            } += 1;
        }
        (self.tell)(&found);
        Ok(())
    }
}

/// The outcome for a status. A page that wants a password, or fewer requests, exists.
fn outcome(status: u16) -> LinkOutcome {
    match status {
        200..400 | 401 | 402 | 403 | 405 | 406 | 407 | 429 | 451 => LinkOutcome::Alive,
        400..500 => LinkOutcome::Dead,
        _ => LinkOutcome::Unknown,
    }
}

fn unreached_link(unreached: &Unreached) -> Finding {
    let outcome = match unreached {
        Unreached::NotTheWeb | Unreached::NoHost(_) | Unreached::Refused => LinkOutcome::Dead,
        Unreached::Inside(_) => LinkOutcome::Inside,
        Unreached::Late(_) | Unreached::Broken(_) | Unreached::Stopped => LinkOutcome::Unknown,
    };
    found(outcome, &unreached.to_string())
}

fn found(outcome: LinkOutcome, detail: &str) -> Finding {
    Finding {
        outcome,
        detail: detail.chars().take(LONGEST_DETAIL).collect(),
        final_url: None,
    }
}

/// The origin of a URL, and its path with its query.
fn parts(url: &str) -> Option<(String, String)> {
    let url = normalise(url).ok()?.url;
    let (scheme, rest) = url.split_once("://")?;
    if !matches!(scheme, "http" | "https") {
        return None;
    }
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let authority = &rest[..at];
    let host = authority.rsplit('@').next().unwrap_or(authority);
    Some((format!("{scheme}://{host}"), rest[at..].to_owned()))
}

/// Whether a URL is one of FTP, which people read as well.
fn is_of_ftp(url: &str) -> bool {
    let url = url.to_ascii_lowercase();
    ["ftp://", "ftps://", "sftp://"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LinksChecked {
    /// Describes the findings in words.
    pub fn said(&self) -> String {
        let Self {
            checked,
            alive,
            dead,
            unknown,
            disallowed,
            inside,
            ..
        } = self;
        format!(
            "{checked} links checked: {alive} alive, {dead} dead, {unknown} unknown, {disallowed} forbidden by robots.txt, {inside} not public"
        )
    }
}

/// The name by which robots.txt files know garner.
const PROGRAM: &str = "garner";
const NO_NETWORK: &str = "no server was reached, so the network may be away";
const HOSTS: u64 = 1000;
const PAGE: u64 = 100;
const MOST_ORIGINS: usize = 100;
const MOST_UNSURE: usize = 10_000;
const LONGEST_DETAIL: usize = 200;
const LONGEST_WAIT: Duration = Duration::from_secs(60);
const LONGEST_DELAY: Duration = Duration::from_secs(30);
const ROBOTS_REDIRECTS: u32 = 5;
/// RFC 9309, 2.5.
const ROBOTS_BYTES: usize = 500 << 10;
