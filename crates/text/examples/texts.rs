//! Takes the text out of many documents on many threads and says how many a minute, for measuring.
//!
//! `texts CONFINER THREADS FILE…`, where CONFINER is a program that confines, such as `garner-confine` or, with its
//! subcommand, `garner,confine`. To be compared with `xargs -P THREADS -n 1 pdftotext`.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use document::media_type;
use process::Confiner;
use text::{ExtractOptions, Extractor};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(confiner), Some(threads)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: texts CONFINER[,SUBCOMMAND] THREADS FILE...");
        return;
    };
    let (program, subcommand) = confiner.split_once(',').unwrap_or((&confiner, ""));
    let subcommand = (!subcommand.is_empty()).then_some(subcommand);
    let threads: usize = threads.parse().unwrap_or(1);
    let files: Vec<PathBuf> = arguments.map(PathBuf::from).collect();

    let mut options = ExtractOptions::new(Confiner::new(program, subcommand));
    options.parallel = threads;
    let extractor = Extractor::new(options);
    let begun = Instant::now();
    let left = Mutex::new(files.iter());
    let words = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = left
                        .lock()
                        .unwrap_or_else(|error| error.into_inner())
                        .next();
                    let Some(file) = next else { break };
                    let extracted = extractor.extract(file, &type_of(file));
                    let found = extracted.words();
                    *words.lock().unwrap_or_else(|error| error.into_inner()) += found;
                    if found == 0 {
                        eprintln!("{}: {}", file.display(), extracted.outcome);
                    }
                }
            });
        }
    });
    let seconds = begun.elapsed().as_secs_f64();
    let words = words
        .into_inner()
        .unwrap_or_else(|error| error.into_inner());
    eprintln!(
        "{} documents, {words} words in {seconds:.1} s: {:.0} documents a minute",
        files.len(),
        files.len() as f64 * 60.0 / seconds
    );
}

fn type_of(file: &Path) -> String {
    let mut bytes = std::fs::read(file).unwrap_or_default();
    bytes.truncate(media_type::HEAD);
    media_type::decide(None, &bytes).decided
}
