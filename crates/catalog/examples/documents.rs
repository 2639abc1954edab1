//! A collection of 5,000,000 documents, 200,000 of them with a text: made, and then listed, filtered, searched and counted.
//!
//! `cargo run --release -p garner-catalog --example documents -- LOCATION make|measure [DOCUMENTS] [TEXTS]` with a SQLite file
//! or a `postgres://` URL. `make` goes on where it was stopped, so that it can be run in parts; `measure` prints the 50th and
//! the 95th percentile of each kind of page in milliseconds.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and ends at once when it fails"
)]

use std::time::Instant;

use catalog::{
    CaptureRow, Catalog, ContentRow, DocumentOrder, DocumentQuery, FinishImport, GroupCommit,
    ImportCounters, ImportState, IndexedText, JudgementRow, NewImport, ParentRow, Probability,
    SearchOrder, SearchQuery,
};

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let location = arguments.next().expect("where the catalog is");
    let task = arguments.next().expect("make or measure");
    let number =
        |text: Option<String>, default| text.map_or(default, |text: String| text.parse().unwrap());
    let documents = number(arguments.next(), 5_000_000);
    let texts = number(arguments.next(), 200_000);
    let catalog = Catalog::open(&location).await.unwrap();
    match task.as_str() {
        "make" => make(&catalog, documents, texts).await,
        _ => measure(&catalog.interactive()).await,
    }
}

async fn make(catalog: &Catalog, documents: usize, texts: usize) {
    let began = Instant::now();
    let every = (documents / texts.max(1)).max(1);
    let new = NewImport::new(format!("{documents} {texts}"), vec!["generated".to_owned()]);
    let mut import = catalog.begin_import(&new).await.unwrap();
    let mut at = usize::try_from(import.positions()[0].position).unwrap();
    while at < documents {
        let end = (at + GROUP).min(documents);
        let rows: Vec<_> = (at..end).map(row).collect();
        let judgements: Vec<_> = (at..end)
            .filter(|number| number % every == 0)
            .map(judgement)
            .collect();
        let placements = catalog.reserve(&mut import, &rows).await.unwrap();
        let group = GroupCommit {
            rows: &rows,
            placements: &placements,
            source: 0,
            position: end as u64,
            source_done: end == documents,
            counters: ImportCounters::default(),
            warnings: &[],
            judgements: &judgements,
        };
        catalog.commit_group(&mut import, group).await.unwrap();
        at = end;
        if at % 100_000 == 0 {
            println!(
                "{at} documents after {:.0} s",
                began.elapsed().as_secs_f64()
            );
        }
    }
    catalog
        .finish_import(import, &FinishImport::new(ImportState::Ok))
        .await
        .unwrap();
    let mut indexed = 0;
    loop {
        let unread = catalog.unread_texts(200).await.unwrap();
        if unread.is_empty() {
            break;
        }
        let texts: Vec<_> = unread.iter().map(|unread| text(unread.content)).collect();
        catalog
            .index_texts(&texts, &|one, other| one == other)
            .await
            .unwrap();
        indexed += texts.len();
        if indexed % 10_000 == 0 {
            println!(
                "{indexed} texts after {:.0} s",
                began.elapsed().as_secs_f64()
            );
        }
    }
    let began = Instant::now();
    catalog.refresh_figures().await.unwrap();
    println!(
        "figures on the collection: {:.1} s",
        began.elapsed().as_secs_f64()
    );
}

async fn measure(catalog: &Catalog) {
    let greatest = catalog.next_number().await.unwrap();
    let list = |change: &dyn Fn(&mut DocumentQuery, i64)| {
        let queries = (0..ROUNDS).map(|round| {
            let mut query = DocumentQuery {
                limit: 51,
                ..DocumentQuery::default()
            };
            change(&mut query, round);
            query
        });
        queries.collect::<Vec<_>>()
    };
    let somewhere = move |round: i64| greatest / ROUNDS * round;
    for (name, queries) in [
        (
            "list by number",
            list(&|query, round| query.after = somewhere(round)),
        ),
        (
            "list, newest first",
            list(&|query, round| {
                query.order = DocumentOrder::Newest;
                query.after = somewhere(round);
            }),
        ),
        (
            "list by last crawl",
            list(&|query, _| query.order = DocumentOrder::Updated),
        ),
        (
            "filter by host",
            list(&|query, round| query.host = Some(host(round as usize * 7))),
        ),
        (
            "filter by domain",
            list(&|query, round| query.domain = Some(format!("domain{}.example", round % 50))),
        ),
        (
            "filter by type",
            list(&|query, round| {
                query.media_type = Some(TYPES[round as usize % TYPES.len()].to_owned());
            }),
        ),
        (
            "filter by kind",
            list(&|query, round| query.kind = Some(KINDS[round as usize % KINDS.len()].to_owned())),
        ),
        (
            "filter by language",
            list(&|query, round| {
                query.language = Some(LANGUAGES[round as usize % LANGUAGES.len()].to_owned());
            }),
        ),
        (
            "filter by dates",
            list(&|query, round| {
                query.since = Some(FIRST_DAY + round * 86_400);
                query.until = Some(FIRST_DAY + (round + 30) * 86_400);
            }),
        ),
    ] {
        let mut times = Vec::new();
        for query in &queries {
            let began = Instant::now();
            catalog.documents(query).await.unwrap();
            times.push(began.elapsed().as_secs_f64());
        }
        report(name, times);
        let mut times = Vec::new();
        for query in queries.iter().take(20) {
            let began = Instant::now();
            catalog.facets_of_documents(None, query).await.unwrap();
            times.push(began.elapsed().as_secs_f64());
        }
        report(&format!("  facets of {name}"), times);
    }
    for (name, query) in [
        (
            "search: a rare word",
            &(|round: i64| format!("w{}", 9000 + round * 9)) as &dyn Fn(i64) -> String,
        ),
        ("search: a frequent word", &|round| {
            format!("w{}", round % 5)
        }),
        ("search: two words", &|round| {
            format!("w{} w{}", round % 40, 100 + round)
        }),
        ("search: a phrase", &|round| {
            format!("\"w{} w{}\"", round % 90, round % 90 + 1)
        }),
        ("search: a beginning", &|round| {
            format!("w{}*", 10 + round % 90)
        }),
        ("search: a title", &|round| format!("title:w{}", round * 3)),
        ("search: a word and a host", &|round| {
            format!("w{} host:domain{}.example", round % 20, round % 50)
        }),
        ("search: a word and a kind", &|round| {
            format!(
                "w{} kind:{}",
                round % 20,
                KINDS[round as usize % KINDS.len()]
            )
        }),
    ] {
        let (mut times, mut found) = (Vec::new(), 0);
        for round in 0..ROUNDS {
            let query = SearchQuery::parse(&query(round)).unwrap();
            let mut filter = DocumentQuery::default();
            for (field, value, _) in &query.fields {
                match *field {
                    "host" => filter.domain = Some(value.clone()),
                    _ => filter.kind = Some(value.clone()),
                }
            }
            let began = Instant::now();
            let page = catalog
                .search_documents(&query, &filter, SearchOrder::Rank, 0, 20)
                .await
                .unwrap();
            times.push(began.elapsed().as_secs_f64());
            found += page.total;
        }
        report(
            &format!("{name} ({} on average)", found / ROUNDS.unsigned_abs()),
            times,
        );
    }
    let began = Instant::now();
    catalog.known_figures().await.unwrap();
    report("statistics page", vec![began.elapsed().as_secs_f64()]);
}

fn report(name: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)] * 1000.0;
    println!("{name:55} {:8.1} ms {:8.1} ms", at(50), at(95));
}

fn host(page: usize) -> String {
    format!("www{}.domain{}.example", page % 400, page % 50)
}

fn row(number: usize) -> CaptureRow {
    let page = number / 10;
    let host = host(page);
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
        crawled: FIRST_DAY + (mixed(number as u64) % 3000) as i64 * 86_400,
        content: ContentRow::Bytes {
            sha1: digest(2_000_000_000 + number as u64, 40),
            sha256: digest(3_000_000_000 + number as u64, 64),
            size: 500_000,
            extension: "pdf".to_owned(),
        },
        declared_type: Some("application/pdf".to_owned()),
        sniffed_type: None,
        media_type: TYPES[number % 97 % TYPES.len()].to_owned(),
        member: None,
        source: format!(
            "crawl-{:04}.warc.gz at offset {}",
            number / 10_000,
            number * 1000
        ),
        digest_mismatch: None,
    }
}

fn judgement(number: usize) -> JudgementRow {
    let kind = mixed(number as u64) as usize;
    JudgementRow {
        sha1: digest(2_000_000_000 + number as u64, 40),
        url: String::new(),
        outcome: "text".to_owned(),
        decision: Some(["accept", "accept", "accept", "reject", "unsure"][kind % 5].to_owned()),
        probability: Some(Probability::new(0.5)),
        kind: Some(KINDS[kind % KINDS.len()].to_owned()),
        language: Some(LANGUAGES[kind % 7 % LANGUAGES.len()].to_owned()),
        title: Some(words(number as u64, 8)),
        // Every tenth is like the one before.
        sketch: Some(format!(
            "{}",
            if number.is_multiple_of(10) {
                number
            } else {
                number - 1
            }
        )),
        ..JudgementRow::default()
    }
}

fn text(content: i64) -> IndexedText {
    let number = content.unsigned_abs();
    IndexedText {
        content,
        title: Some(words(number, 8)),
        language: None,
        sketch: Some(number.to_string()),
        bands: (0..16_i64)
            .map(|band| band << 32 | (mixed(number / 2 + 7919 * band.unsigned_abs()) as u32) as i64)
            .collect(),
        text: words(number + 1_000_000_007, 1500),
    }
}

/// Words as frequent as those of a language: the n-th is met as often as 1/n.
fn words(seed: u64, count: usize) -> String {
    let mut text = String::new();
    let mut state = seed;
    for _ in 0..count {
        state = mixed(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        let part = (state >> 11) as f64 / (1_u64 << 53) as f64;
        let word = (VOCABULARY.powf(part) - 1.0) as u64;
        text.push_str(&format!("w{word} "));
    }
    text
}

/// Digits as scattered as those of a digest.
fn digest(number: u64, digits: usize) -> String {
    let (mut state, mut text) = (number, String::with_capacity(digits + 16));
    while text.len() < digits {
        state = mixed(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        text.push_str(&format!("{state:016x}"));
    }
    text.truncate(digits);
    text
}

fn mixed(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

const GROUP: usize = 1000;
const ROUNDS: i64 = 60;
const FIRST_DAY: i64 = 1_300_000_000;
const VOCABULARY: f64 = 50_000.0;
const TYPES: [&str; 4] = [
    "application/pdf",
    "application/postscript",
    "text/html",
    "application/msword",
];
const KINDS: [&str; 6] = ["paper", "thesis", "book", "report", "slides", "manual"];
const LANGUAGES: [&str; 5] = ["en", "de", "fr", "es", "ja"];
