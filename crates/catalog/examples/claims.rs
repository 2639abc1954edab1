//! How many jobs a second are claimed and ended, by one worker and by several at once, and beside many that run; and how many
//! pages of harvests a second are committed.
//!
//! `cargo run --release -p garner-catalog --example claims -- LOCATION [WORKERS…]` with a SQLite file or a `postgres://` URL
//! that does not hold a catalog yet. It makes 1,000 repositories at 100 hosts, and limits the harvests of a host. Each
//! worker opens the catalog for itself, as a process does.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and ends at once when it fails"
)]

use std::collections::HashSet;
use std::time::{Duration, Instant};

use catalog::{
    Catalog, ClaimOptions, Identity, JobEnd, JobKind, NewJob, NewRun, PageCommit, RecordRow,
    Validation,
};

const REPOSITORIES: usize = 1_000;
const JOBS: usize = 3_000;
/// The pages that each worker commits, and the records of each.
const PAGES: usize = 40;
const RECORDS: usize = 100;
/// The repositories whose jobs run meanwhile are the last ones.
const BESIDE: [usize; 2] = [400, 800];

#[tokio::main]
async fn main() {
    let location = std::env::args().nth(1).expect("where to make the catalog");
    let workers: Vec<usize> = std::env::args()
        .skip(2)
        .map(|n| n.parse().unwrap())
        .collect();
    let workers = match workers.is_empty() {
        true => vec![1, 2, 4, 8, 16],
        false => workers,
    };
    let catalog = Catalog::open(&location).await.unwrap();
    catalog.set_per_host(20).await.unwrap();
    let repositories = repositories(&catalog).await;
    for number in &workers {
        let number = *number;
        fill(&catalog, &repositories, JOBS).await;
        let (rate, slowest) = at_once(&location, number, JOBS).await;
        report(&format!("claim and end, {number} at once"), rate, slowest);
    }
    for number in &workers {
        let (rate, slowest) = pages(&location, &repositories[..*number]);
        report(&format!("pages, {number} at once"), rate, slowest);
    }
    let mut running = 0;
    for beside in BESIDE {
        for repository in &repositories[REPOSITORIES - beside..REPOSITORIES - running] {
            add(&catalog, *repository).await;
            catalog.claim(&options()).await.unwrap().unwrap();
        }
        running = beside;
        let free = &repositories[..REPOSITORIES - beside];
        fill(&catalog, free, JOBS / 3).await;
        let (rate, slowest) = at_once(&location, 1, JOBS / 3).await;
        report(&format!("claim and end, beside {beside}"), rate, slowest);
    }
    let before = Instant::now();
    for _ in 0..1_000 {
        assert!(catalog.claim(&options()).await.unwrap().is_none());
    }
    let rate = 1_000.0 / before.elapsed().as_secs_f64();
    report("claim when nothing is due", rate, Duration::ZERO);
}

async fn repositories(catalog: &Catalog) -> Vec<i64> {
    let mut repositories = Vec::new();
    for number in 0..REPOSITORIES {
        let url = format!("http://{}.example/{number}", number % 100);
        let repository = catalog
            .add_repository(&url, "a", &Identity::default())
            .await;
        repositories.push(repository.unwrap().id);
    }
    repositories
}

async fn fill(catalog: &Catalog, repositories: &[i64], jobs: usize) {
    for number in 0..jobs {
        add(catalog, repositories[number % repositories.len()]).await;
    }
}

async fn add(catalog: &Catalog, repository: i64) {
    let new = NewJob::harvest(repository, "oai_dc");
    catalog.add_job(&new).await.unwrap();
}

/// The jobs a second, and the slowest claim. Every job is claimed once.
async fn at_once(location: &str, workers: usize, jobs: usize) -> (f64, Duration) {
    let mut handles = Vec::new();
    for _ in 0..workers {
        let catalog = Catalog::open(location).await.unwrap();
        // Its connection is there before the clock starts.
        catalog.now().await.unwrap();
        handles.push(catalog);
    }
    let before = Instant::now();
    let tasks: Vec<_> = handles
        .into_iter()
        .map(|catalog| tokio::spawn(work(catalog)))
        .collect();
    let (mut done, mut slowest) = (HashSet::new(), Duration::ZERO);
    for task in tasks {
        let (ids, longest) = task.await.unwrap();
        for id in ids {
            assert!(done.insert(id), "job {id} was claimed twice");
        }
        slowest = slowest.max(longest);
    }
    let time = before.elapsed();
    assert_eq!(done.len(), jobs);
    (jobs as f64 / time.as_secs_f64(), slowest)
}

/// The pages a second that are committed by as many workers as there are repositories, and the slowest.
fn pages(location: &str, repositories: &[i64]) -> (f64, Duration) {
    let before = Instant::now();
    let mut workers = Vec::new();
    for repository in repositories {
        let (location, repository) = (location.to_owned(), *repository);
        workers.push(std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(commit_pages(location, repository))
        }));
    }
    let slowest = workers
        .into_iter()
        .map(|worker| worker.join().unwrap())
        .max();
    let all = PAGES * repositories.len();
    let rate = all as f64 / before.elapsed().as_secs_f64();
    (rate, slowest.unwrap_or_default())
}

/// Commits pages of a harvest, each with records that are new.
async fn commit_pages(location: String, repository: i64) -> Duration {
    let catalog = Catalog::open(&location).await.unwrap();
    let new = NewRun::new(repository, format!("oai_dc{}", repository % 7));
    let mut run = catalog.begin(&new).await.unwrap();
    let mut slowest = Duration::ZERO;
    for page in 0..PAGES {
        let rows: Vec<_> = (0..RECORDS)
            .map(|at| row(run.id(), page * RECORDS + at))
            .collect();
        let commit = PageCommit {
            rows: &rows,
            resume_state: Some("next"),
            ..PageCommit::default()
        };
        let before = Instant::now();
        catalog.commit_page(&mut run, commit).await.unwrap();
        slowest = slowest.max(before.elapsed());
    }
    let finish = catalog::Finish {
        state: catalog::State::Ok,
        reason: None,
        next_from: None,
        quirks: None,
        counts: catalog::Counts::default(),
        job: None,
        follow_ups: Vec::new(),
    };
    catalog.finish(run, &finish).await.unwrap();
    catalog.close().await;
    slowest
}

fn row(run: i64, number: usize) -> RecordRow {
    RecordRow {
        identifier: format!("oai:{run}.example:{number}"),
        datestamp: Some(1_000_000 + i64::try_from(number).unwrap()),
        deleted: false,
        file: Some(format!("~packs/{run}-1-0-0.xml.gz#{number}+0+1500")),
        sha256: Some("ab".repeat(32)),
        set_specs: vec!["papers".to_owned()],
        harvested: 2_000_000,
        validation: Validation::Ok,
    }
}

/// Claims and ends jobs until none is left.
async fn work(catalog: Catalog) -> (Vec<i64>, Duration) {
    let (mut done, mut slowest) = (Vec::new(), Duration::ZERO);
    loop {
        let before = Instant::now();
        let Some(claim) = catalog.claim(&options()).await.unwrap() else {
            break;
        };
        slowest = slowest.max(before.elapsed());
        let end = JobEnd::Finished;
        catalog.end_job(&claim.lease(), &end, &[]).await.unwrap();
        done.push(claim.job.id);
    }
    catalog.close().await;
    (done, slowest)
}

fn options() -> ClaimOptions<'static> {
    ClaimOptions {
        lease: Duration::from_secs(3_600),
        kinds: &JobKind::ALL,
        tags: &[],
        worker: "claims",
    }
}

fn report(name: &str, rate: f64, slowest: Duration) {
    println!(
        "{name:28} {rate:8.0} a second, slowest {} ms",
        slowest.as_millis()
    );
}
