//! Indexes a text of generated words for every content whose text is to be read.
//!
//! `cargo run --release -p garner-catalog --example generated_texts -- LOCATION` with a SQLite file or a `postgres://` URL. The section
//! `collection` of the benchmarks fills a catalog by SQL and leaves the words to this program.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and ends at once when it fails"
)]

use std::time::Instant;

use catalog::{Catalog, IndexedText};

#[tokio::main]
async fn main() {
    let location = std::env::args().nth(1).expect("where the catalog is");
    let catalog = Catalog::open(&location).await.unwrap();
    let began = Instant::now();
    let mut indexed = 0;
    loop {
        let unread = catalog.unread_texts(200).await.unwrap();
        if unread.is_empty() {
            break;
        }
        let texts: Vec<_> = unread.iter().map(|unread| text(unread.content)).collect();
        catalog.index_texts(&texts, &|_, _| false).await.unwrap();
        indexed += texts.len();
    }
    println!("{indexed} texts in {:.0} s", began.elapsed().as_secs_f64());
}

/// A text with a word that no other has.
fn text(content: i64) -> IndexedText {
    let number = content.unsigned_abs();
    IndexedText {
        content,
        title: None,
        language: None,
        sketch: None,
        bands: Vec::new(),
        text: format!("x{content} {}", words(number)),
    }
}

/// Words as frequent as those of a language: the n-th is met as often as 1/n.
fn words(seed: u64) -> String {
    let mut text = String::new();
    let mut state = seed;
    for _ in 0..WORDS {
        state = mixed(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        let part = (state >> 11) as f64 / (1_u64 << 53) as f64;
        let word = (VOCABULARY.powf(part) - 1.0) as u64;
        text.push_str(&format!("w{word} "));
    }
    text
}

fn mixed(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

const WORDS: usize = 1500;
const VOCABULARY: f64 = 50_000.0;
