//! How many captures a second are reserved and committed: 200,000 new ones, the same again, and all of them changed.
//!
//! `cargo run --release -p garner-catalog --example imports -- LOCATION [ROWS_OF_A_GROUP [ROWS]]` with a SQLite file or a
//! `postgres://` URL whose catalog has had no such import yet. For PostgreSQL the CPU time of the server is not in it.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and ends at once when it fails"
)]

use std::time::{Duration, Instant};

use catalog::{
    CaptureRow, Catalog, ContentRow, FinishImport, GroupCommit, ImportCounters, ImportState,
    NewImport, ParentRow,
};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let location = std::env::args().nth(1).expect("where to make the catalog");
    let size = std::env::args().nth(2);
    let size: usize = size.map_or(1000, |size| size.parse().expect("a number of rows"));
    let rows = std::env::args().nth(3);
    let all: usize = rows.map_or(200_000, |rows| rows.parse().expect("a number of rows"));
    let catalog = Catalog::open(&location).await.unwrap();
    for (name, version) in [("new", 1), ("unchanged", 1), ("changed", 2)] {
        let (wall, cpu) = (Instant::now(), cpu());
        let new = NewImport::new(format!("\"{name}\""), vec!["crawl.warc.gz".to_owned()]);
        let mut import = catalog.begin_import(&new).await.unwrap();
        let mut position = 0;
        while position < all {
            let end = (position + size).min(all);
            let rows: Vec<_> = (position..end).map(|number| row(number, version)).collect();
            let placements = catalog.reserve(&mut import, &rows).await.unwrap();
            let group = GroupCommit {
                rows: &rows,
                placements: &placements,
                source: 0,
                position: end as u64,
                source_done: end == all,
                counters: ImportCounters::default(),
                warnings: &[],
                judgements: &[],
            };
            catalog.commit_group(&mut import, group).await.unwrap();
            position = end;
        }
        report(name, all, wall.elapsed(), self::cpu() - cpu);
        let finish = FinishImport::new(ImportState::Ok);
        catalog.finish_import(import, &finish).await.unwrap();
    }
}

fn row(number: usize, version: u64) -> CaptureRow {
    let page = number / 20;
    let host = format!("www.faculty{:03}.university.example", page % 500);
    CaptureRow {
        url: format!("http://{host}/people/~somebody{page}/papers/paper-{number:08}.pdf"),
        md5: digest(number as u64, 32),
        parent: Some(ParentRow {
            url: format!("http://{host}/people/~somebody{page}/publications.html"),
            md5: digest(1_000_000_000 + page as u64, 32),
            host: host.clone(),
        }),
        host,
        depth: Some(3),
        is_seed: Some(false),
        crawled: 1_700_000_000 + i64::try_from(version).unwrap(),
        content: ContentRow::Bytes {
            sha1: digest(version * 2_000_000_000 + number as u64, 40),
            sha256: digest(version * 3_000_000_000 + number as u64, 64),
            size: 500_000,
            extension: "pdf".to_owned(),
        },
        declared_type: Some("application/pdf".to_owned()),
        sniffed_type: Some("application/pdf".to_owned()),
        media_type: "application/pdf".to_owned(),
        member: None,
        source: format!(
            "crawl-{:04}.warc.gz at offset {}",
            number / 10_000,
            number * 1000
        ),
        digest_mismatch: None,
    }
}

/// Digits as scattered as those of a digest.
fn digest(number: u64, digits: usize) -> String {
    let mut state = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut text = String::with_capacity(digits + 16);
    while text.len() < digits {
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 31;
        text.push_str(&format!("{state:016x}"));
    }
    text.truncate(digits);
    text
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
