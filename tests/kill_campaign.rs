//! Whatever takes part is killed at random while twenty repositories are harvested: in the end the same is held as after
//! an undisturbed run.
//!
//! The seed is printed; `GARNER_SEED` repeats it, as far as moments can be repeated.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use catalog::{HistoryQuery, JobQuery, JobState, RecordQuery, State};
use flows::Holdings;
use rustix::process::Signal;
use test_support::{Fault, Misbehaving, Postgres, Script, files_below};

use crate::managed::{Managed, Process};

/// The possible events; processes are named by their number, the manager's is 0.
#[derive(Debug, Clone, Copy)]
enum Blow {
    /// kill -9, and another one is started.
    Kill(usize),
    /// Stopped for longer than its lease.
    Sleep(usize),
    /// kill -9 of the database with all its processes.
    Database,
}

/// The processes that take part.
struct Campaign {
    managed: Managed,
    postgres: Option<Postgres>,
    /// How many processes there are, and how many jobs each runs at once.
    processes: usize,
    threads: &'static str,
}

/// The end state of a run, without times and numbers of harvests.
struct Held {
    /// Each row of the catalog once, in order.
    records: Vec<String>,
    /// The files of records.
    files: BTreeMap<Vec<u8>, Vec<u8>>,
    /// New, updated, unchanged and deleted records by all harvests together, for each repository.
    counts: BTreeMap<i64, [u64; 4]>,
    /// Records and deleted ones as they are counted along the way, and those that a search finds.
    totals: [u64; 3],
}

#[test]
fn with_workers_in_other_processes_and_postgresql() {
    use Blow::{Database, Kill, Sleep};
    let postgres = Postgres::start();
    let campaign = Campaign {
        managed: Managed::on(postgres.database()),
        postgres: Some(postgres),
        processes: 3,
        threads: "2",
    };
    let kills = [Kill(0), Kill(1), Kill(2)].repeat(3);
    campaign.run(&[kills, vec![Database, Database, Sleep(1)]].concat());
}

#[test]
fn with_everything_in_one_process_and_sqlite() {
    let campaign = Campaign {
        managed: Managed::new(),
        postgres: None,
        processes: 1,
        threads: "5",
    };
    campaign.run(&[vec![Blow::Kill(0); 9], vec![Blow::Sleep(0)]].concat());
}

impl Campaign {
    fn run(&self, blows: &[Blow]) {
        let mut random = Random::seeded();
        let repositories: Vec<_> = (0..REPOSITORIES).map(|_| repository()).collect();
        schedule_all(&self.managed, &repositories);
        let holdings = self.managed.holdings();
        let mut processes: Vec<_> = (0..self.processes)
            .map(|number| Some(self.start(number)))
            .collect();

        let mut struck = 0;
        for blow in random.shuffled(blows) {
            std::thread::sleep(Duration::from_millis(150 + random.below(500)));
            if is_over(&holdings) {
                break;
            }
            eprintln!("{blow:?}");
            self.strike(blow, &mut processes, &mut random);
            struck += 1;
        }

        wait("all jobs are over", &holdings, is_over);
        wait("all words are indexed", &holdings, is_indexed);
        for process in processes.into_iter().flatten() {
            process.stop();
        }
        assert!(struck > blows.len() / 2, "only {struck} blows fell");
        expect_in_order(&holdings);
        let held = Held::read(&self.managed, &holdings);
        held.expect_same(&undisturbed(&repositories));
    }

    /// `garner up` is the first, and `garner worker` the others.
    fn start(&self, number: usize) -> Process {
        // A job is begun anew with each kill; that must not be the end of it.
        let config = "[jobs]\nattempts = 100\nretry_seconds = 1\nlease_seconds = 3\n";
        let config = self.managed.write("garner.toml", config);
        let options = [
            "--config",
            config.to_str().unwrap(),
            "--workers",
            self.threads,
        ];
        match number {
            0 => self.managed.up(&options),
            _ => self.managed.worker(&options),
        }
    }

    fn strike(&self, blow: Blow, processes: &mut [Option<Process>], random: &mut Random) {
        match (blow, &self.postgres) {
            (Blow::Kill(number), _) => {
                processes[number].take().unwrap().kill();
                std::thread::sleep(Duration::from_millis(random.below(300)));
                processes[number] = Some(self.start(number));
            }
            (Blow::Sleep(number), _) => {
                let process = processes[number].as_ref().unwrap();
                process.signal(Signal::STOP);
                std::thread::sleep(LEASE + Duration::from_millis(1500));
                process.signal(Signal::CONT);
            }
            (Blow::Database, Some(postgres)) => {
                postgres.kill(Duration::from_millis(300 + random.below(1500)));
            }
            (Blow::Database, None) => unreachable!("SQLite is no process"),
        }
    }
}

/// A repository whose pages take their time, so that there are moments to be killed in.
fn repository() -> Misbehaving {
    let script = (0..PAGES).fold(Script::new(PAGES * 10, 10), |script, page| {
        script.with(Fault::Slow { page, pause: 300 })
    });
    Misbehaving::start(script)
}

/// Most are harvested page by page, some in other ways.
fn schedule_all(managed: &Managed, repositories: &[Misbehaving]) {
    for (number, repository) in repositories.iter().enumerate() {
        let options: &[&str] = match number % 6 {
            2 => &["--once", "--slices", "3"],
            4 => &["--once", "--method", "ListIdentifiers"],
            _ => &["--once"],
        };
        managed.schedule(repository, options);
    }
}

/// The end state of an undisturbed run.
fn undisturbed(repositories: &[Misbehaving]) -> Held {
    for repository in repositories {
        repository.change(|script| script.faults.clear());
    }
    let managed = Managed::new();
    schedule_all(&managed, repositories);
    let up = managed.up(&[]);
    let holdings = managed.holdings();
    wait("the undisturbed jobs are over", &holdings, is_over);
    wait("their words are indexed", &holdings, is_indexed);
    up.stop();
    expect_in_order(&holdings);
    Held::read(&managed, &holdings)
}

fn is_over(holdings: &Holdings) -> bool {
    let totals = holdings.wait(holdings.catalog().totals());
    // The database may be on its way back.
    totals.is_ok_and(|totals| totals.jobs.finished == REPOSITORIES as u64)
}

/// Whether no harvest is left to be indexed, by the worker that did it or by the manager.
fn is_indexed(holdings: &Holdings) -> bool {
    let catalog = holdings.catalog();
    let query = HistoryQuery {
        limit: 1000,
        ..HistoryQuery::default()
    };
    let Ok(history) = holdings.wait(catalog.history(&query)) else {
        return false;
    };
    history.iter().all(|entry| {
        let left = holdings.wait(catalog.unindexed_by(entry.id));
        left.is_ok_and(|left| left.is_none())
    })
}

fn wait(what: &str, holdings: &Holdings, holds: impl Fn(&Holdings) -> bool) {
    let began = Instant::now();
    while !holds(holdings) {
        if began.elapsed() > LONGEST {
            let jobs = holdings.wait(holdings.catalog().jobs(&all_jobs())).unwrap();
            let left = jobs.iter().filter(|job| job.state != JobState::Finished);
            panic!("waited in vain: {what}: {:#?}", left.collect::<Vec<_>>());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn all_jobs() -> JobQuery {
    JobQuery {
        limit: 1000,
        ..JobQuery::default()
    }
}

/// Each schedule had its one job, nothing runs any more, and each repository was harvested to its end once.
fn expect_in_order(holdings: &Holdings) {
    let catalog = holdings.catalog();
    let jobs = holdings.wait(catalog.jobs(&all_jobs())).unwrap();
    assert_eq!(jobs.len(), REPOSITORIES, "{jobs:#?}");
    assert!(jobs.iter().all(|job| job.state == JobState::Finished));
    let query = HistoryQuery {
        limit: 1000,
        ..HistoryQuery::default()
    };
    let history = holdings.wait(catalog.history(&query)).unwrap();
    assert!(history.iter().all(|entry| entry.state != State::Running));
    let complete = history.iter().filter(|entry| entry.state == State::Ok);
    let mut repositories: Vec<_> = complete.map(|entry| entry.repository).collect();
    repositories.sort_unstable();
    assert_eq!(repositories, Vec::from_iter(1..=REPOSITORIES as i64));
}

impl Held {
    fn read(managed: &Managed, holdings: &Holdings) -> Self {
        let catalog = holdings.catalog();
        let query = RecordQuery {
            limit: 100_000,
            ..RecordQuery::default()
        };
        let rows = holdings.wait(catalog.records(&query)).unwrap();
        let mut records: Vec<_> = rows
            .into_iter()
            .map(|row| {
                format!(
                    "{} {} {} {:?} {} {:?} {:?} {:?} {:?}",
                    row.repository,
                    row.metadata_prefix,
                    row.identifier,
                    row.datestamp,
                    row.deleted,
                    row.sha256,
                    row.file,
                    row.title,
                    row.set_specs
                )
            })
            .collect();
        records.sort();

        let place = managed.data().join("records");
        let names = files_below(&place).into_iter();
        let files = names.filter(|name| !String::from_utf8_lossy(name).contains("/.garner"));
        let files = files.map(|name| {
            let path = place.join(String::from_utf8_lossy(&name).as_ref());
            (name, std::fs::read(path).unwrap())
        });

        let history = HistoryQuery {
            limit: 1000,
            ..HistoryQuery::default()
        };
        let mut counts: BTreeMap<i64, [u64; 4]> = BTreeMap::new();
        for entry in holdings.wait(catalog.history(&history)).unwrap() {
            let new = &entry.counts;
            let new = [new.new, new.updated, new.unchanged, new.deleted];
            let sums = counts.entry(entry.repository).or_default();
            sums.iter_mut().zip(new).for_each(|(sum, new)| *sum += new);
        }

        let totals = holdings.wait(catalog.totals()).unwrap();
        let search = RecordQuery {
            text: Some("testing".to_owned()),
            ..query
        };
        let found = holdings.wait(catalog.count_records(&search, 100_000));
        Self {
            records,
            files: files.collect(),
            counts,
            totals: [totals.records, totals.deleted, found.unwrap()],
        }
    }

    fn expect_same(&self, other: &Self) {
        let live = (REPOSITORIES * PAGES * 9) as u64;
        assert_eq!(other.totals, [live, live / 9, live]);
        assert_eq!(other.files.len() as u64, live);
        assert_eq!(self.totals, other.totals);
        assert_eq!(self.records.len(), other.records.len());
        for (record, other) in self.records.iter().zip(&other.records) {
            assert_eq!(record, other);
        }
        let names = |held: &Self| held.files.keys().cloned().collect::<Vec<_>>();
        assert!(names(self) == names(other), "there are other files");
        for (name, content) in &self.files {
            let name_of = String::from_utf8_lossy(name);
            assert!(*content == other.files[name], "{name_of} is different");
        }
        assert_eq!(self.counts, other.counts);
    }
}

/// Numbers that look like chance, the same for the same seed.
struct Random(u64);

impl Random {
    fn seeded() -> Self {
        let given = std::env::var("GARNER_SEED").ok();
        let seed = given.map_or_else(
            || {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
                now.as_micros() as u64
            },
            |seed| seed.parse().unwrap(),
        );
        eprintln!("GARNER_SEED={seed}");
        Self(seed | 1)
    }

    /// A number below another, by xorshift.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    fn shuffled(&mut self, blows: &[Blow]) -> Vec<Blow> {
        let mut blows = blows.to_vec();
        for last in (1..blows.len()).rev() {
            blows.swap(last, self.below(last as u64 + 1) as usize);
        }
        blows
    }
}

const REPOSITORIES: usize = 20;
const PAGES: usize = 8;
const LEASE: Duration = Duration::from_secs(3);
const LONGEST: Duration = Duration::from_secs(90);
