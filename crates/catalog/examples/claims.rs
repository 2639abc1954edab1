//! How many jobs a second are claimed, and how many are claimed and ended, by one worker and by four at once.
//!
//! `cargo run --release -p catalog --example claims -- LOCATION` with a SQLite file or a `postgres://` URL that does not
//! hold a catalog yet. It makes 1,000 repositories at 100 hosts with 3,000 jobs that are all due, and limits the harvests
//! of a host, so that a claim has to look at what it may have to.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and ends at once when it fails"
)]

use std::time::{Duration, Instant};

use catalog::{Catalog, ClaimOptions, Identity, JobEnd, JobKind, NewJob};

const REPOSITORIES: usize = 1_000;
const JOBS: usize = 3_000;

#[tokio::main]
async fn main() {
    let location = std::env::args().nth(1).expect("where to make the catalog");
    let catalog = Catalog::open(&location).await.unwrap();
    let repositories = repositories(&catalog).await;
    let before = Instant::now();
    for number in 0..JOBS {
        add(&catalog, repositories[number % REPOSITORIES]).await;
    }
    report("add", JOBS, before.elapsed());
    for workers in [1, 4] {
        let before = Instant::now();
        let done = at_once(&catalog, workers, JOBS / 2, true).await;
        report(
            &format!("claim and end, {workers} at once"),
            done,
            before.elapsed(),
        );
    }
    for workers in [1, 4] {
        for repository in &repositories[..REPOSITORIES / 2 * (1 + usize::from(workers > 1))] {
            add(&catalog, *repository).await;
        }
        let before = Instant::now();
        let done = at_once(&catalog, workers, REPOSITORIES / 2, false).await;
        report(&format!("claim, {workers} at once"), done, before.elapsed());
    }
    let before = Instant::now();
    for _ in 0..1_000 {
        assert!(catalog.claim(&idle()).await.unwrap().is_none());
    }
    report("claim when nothing is due", 1_000, before.elapsed());
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

async fn add(catalog: &Catalog, repository: i64) {
    let new = NewJob::harvest(repository, "oai_dc");
    catalog.add_job(&new).await.unwrap();
}

async fn at_once(catalog: &Catalog, workers: usize, jobs: usize, end: bool) -> usize {
    let mut tasks = Vec::new();
    for _ in 0..workers {
        let catalog = catalog.clone();
        tasks.push(tokio::spawn(async move {
            let mut done = 0;
            while done < jobs / workers
                && let Some(claim) = catalog.claim(&options()).await.unwrap()
            {
                if end {
                    let lease = claim.lease();
                    catalog
                        .end_job(&lease, &JobEnd::Finished, &[])
                        .await
                        .unwrap();
                }
                done += 1;
            }
            done
        }));
    }
    let mut done = 0;
    for task in tasks {
        done += task.await.unwrap();
    }
    done
}

fn options() -> ClaimOptions<'static> {
    ClaimOptions {
        lease: Duration::from_secs(3_600),
        per_host: 20,
        kinds: &JobKind::ALL,
        worker: "claims",
    }
}

/// Of what nobody puts into the queue.
fn idle() -> ClaimOptions<'static> {
    ClaimOptions {
        kinds: &[],
        ..options()
    }
}

fn report(name: &str, number: usize, time: Duration) {
    println!(
        "{name:28} {:8.0} a second",
        number as f64 / time.as_secs_f64()
    );
}
