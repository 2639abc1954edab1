//! How many records a second are committed: 200,000 new, the same again, and all of them changed.
//!
//! `cargo run --release -p garner-catalog --example speed -- LOCATION [REPOSITORIES [RECORDS]]` with a SQLite file or a
//! `postgres://` URL that does not hold a catalog yet. Of several repositories with so many records each, those before the last
//! have new records only, and the words of all records are indexed. For PostgreSQL the CPU time of the server is not in it.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and ends at once when it fails"
)]

use std::time::{Duration, Instant};

use catalog::{
    Catalog, Identity, IndexedRecord, NewRun, PageCommit, RecordQuery, RecordRow, Validation,
};

const PAGE: usize = 500;
const WORDS: u64 = 40;
const VOCABULARY: f64 = 50_000.0;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let location = arguments.next().expect("where to make the catalog");
    let mut number = |default| {
        let given = arguments.next();
        given.map_or(default, |given| given.parse().expect("a number"))
    };
    let (repositories, rows) = (number(1), number(200_000));
    let catalog = Catalog::open(&location).await.unwrap();
    let identity = Identity::default();
    for repository in 1..=repositories {
        let base_url = format!("http://www{repository}.example/oai");
        let directory = format!("a{repository}");
        let added = catalog.add_repository(&base_url, &directory, &identity);
        let id = added.await.unwrap().id;
        harvest(&catalog, id, rows, ("new", "ab")).await;
        if repositories > 1 {
            index(&catalog, id, rows).await;
        }
        if repository == repositories {
            harvest(&catalog, id, rows, ("unchanged", "ab")).await;
            harvest(&catalog, id, rows, ("updated", "cd")).await;
        }
    }
}

async fn harvest(catalog: &Catalog, repository: i64, rows: usize, (name, digest): (&str, &str)) {
    let (wall, cpu) = (Instant::now(), cpu());
    let new = NewRun::new(repository, "oai_dc");
    let mut run = catalog.begin(&new).await.unwrap();
    for page in 0..rows / PAGE {
        let rows: Vec<_> = (0..PAGE).map(|n| row(page * PAGE + n, digest)).collect();
        let commit = PageCommit {
            rows: &rows,
            resume_state: Some("next"),
            ..PageCommit::default()
        };
        catalog.commit_page(&mut run, commit).await.unwrap();
    }
    report(name, rows, wall.elapsed(), self::cpu() - cpu);
    drop(catalog.finish(run, &finished()).await.unwrap());
}

/// Indexes the words of the last harvest.
async fn index(catalog: &Catalog, repository: i64, rows: usize) {
    let (wall, cpu) = (Instant::now(), cpu());
    let harvests = catalog.recent_harvests(&[repository], 1).await.unwrap();
    let harvest = catalog.unindexed_by(harvests[0].id).await.unwrap().unwrap();
    let mut query = RecordQuery {
        changed_by: Some(harvest.harvest),
        limit: 500,
        ..RecordQuery::default()
    };
    loop {
        let records = catalog.records(&query).await.unwrap();
        let Some(last) = records.last() else { break };
        query.after = last.id;
        let words: Vec<_> = records.iter().map(|record| words(record.id)).collect();
        let indexed = records.iter().zip(&words).map(|(record, words)| {
            let (title, _) = words.split_at(words.len() / 5);
            IndexedRecord {
                id: record.id,
                title: Some(title),
                text: words,
            }
        });
        let indexed: Vec<_> = indexed.collect();
        catalog
            .index_records(harvest.harvest, &indexed)
            .await
            .unwrap();
    }
    assert!(catalog.indexed(&harvest).await.unwrap());
    report("words", rows, wall.elapsed(), self::cpu() - cpu);
}

/// Words as frequent as those of a language: the n-th is met as often as 1/n. One word is in no other record.
fn words(record: i64) -> String {
    let mut text = format!("x{record}");
    for at in 0..WORDS {
        let part = (mixed(record.unsigned_abs() * WORDS + at) >> 11) as f64 / (1_u64 << 53) as f64;
        let word = (VOCABULARY.powf(part) - 1.0) as u64;
        text.push_str(&format!(" w{word}"));
    }
    text
}

fn mixed(number: u64) -> u64 {
    let mut state = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
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

fn report(name: &str, rows: usize, wall: Duration, cpu: Duration) {
    let rate = |time: Duration| rows as f64 / time.as_secs_f64();
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
