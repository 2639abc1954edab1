//! How many rows a second of CPU are committed: 200,000 new, the same again, and all of them changed.
//!
//! `cargo run --release -p garner-catalog --example speed -- LOCATION` with a SQLite file or a `postgres://` URL that does not
//! hold a catalog yet. For PostgreSQL the CPU time of the server is not in it.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and ends at once when it fails"
)]

use std::time::{Duration, Instant};

use catalog::{Catalog, Identity, NewRun, PageCommit, RecordRow, Validation};

const ROWS: usize = 200_000;
const PAGE: usize = 500;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let location = std::env::args().nth(1).expect("where to make the catalog");
    let catalog = Catalog::open(&location).await.unwrap();
    let identity = Identity::default();
    let base_url = "http://a.example/oai";
    let repository = catalog.add_repository(base_url, "a", &identity).await;
    let repository = repository.unwrap().id;
    for (name, digest) in [("new", "ab"), ("unchanged", "ab"), ("updated", "cd")] {
        let (wall, cpu) = (Instant::now(), cpu());
        let mut run = catalog
            .begin(&NewRun::new(repository, "oai_dc"))
            .await
            .unwrap();
        for page in 0..ROWS / PAGE {
            let rows: Vec<_> = (0..PAGE).map(|n| row(page * PAGE + n, digest)).collect();
            let commit = PageCommit {
                rows: &rows,
                resume_state: Some("next"),
                ..PageCommit::default()
            };
            catalog.commit_page(&mut run, commit).await.unwrap();
        }
        report(name, wall.elapsed(), self::cpu() - cpu);
        drop(catalog.finish(run, &finished()).await.unwrap());
    }
}

fn row(number: usize, digest: &str) -> RecordRow {
    RecordRow {
        identifier: format!("oai:repository.example:collection/{number:08}"),
        datestamp: Some(1_700_000_000 + number as i64),
        deleted: false,
        file: Some(format!("repository.example/collection/{number:08}.xml")),
        sha256: Some(digest.repeat(32)),
        set_specs: vec!["all".to_owned(), format!("year:{}", number % 50)],
        harvested: 1_800_000_000,
        validation: Validation::Ok,
    }
}

fn finished() -> catalog::Finish {
    catalog::Finish {
        state: catalog::State::Ok,
        reason: None,
        next_from: None,
        quirks: None,
        counts: catalog::Counts::default(),
        job: None,
        follow_ups: Vec::new(),
    }
}

fn report(name: &str, wall: Duration, cpu: Duration) {
    let rate = |time: Duration| ROWS as f64 / time.as_secs_f64();
    println!(
        "{name:10} {:8.0} rows per CPU second, {:8.0} rows per second",
        rate(cpu),
        rate(wall)
    );
}

/// The CPU time of this process.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
