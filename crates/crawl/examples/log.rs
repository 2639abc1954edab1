//! Reads a log and counts what is in it, to see how fast and in how much memory that is done.
//!
//! `cargo run --release -p garner-crawl --example log -- crawl.log mirror [FORMAT]`; with `generate N` in the place of the log, a
//! log of so many lines is written to standard output.

use std::error::Error;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use crawl::{Limits, LogFormat, LogIndex, LogSource, ReadOptions, Source, SourceEvent};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [word, count] if word == "generate" => generate(count.parse()?),
        [log, root] => count(Path::new(log), Path::new(root), "heritrix"),
        [log, root, format] => count(Path::new(log), Path::new(root), format),
        _ => Err("give a log and the directory of its files".into()),
    }
}

fn count(log: &Path, root: &Path, format: &str) -> Result<(), Box<dyn Error>> {
    let format = LogFormat::named(format)?;
    let limits = Limits::default();
    let options = ReadOptions {
        threads: std::thread::available_parallelism()?.get(),
        ..ReadOptions::default()
    };
    let mut report = io::stderr();

    let start = Instant::now();
    let source = Source::Log(LogSource::open(log, root, format.clone(), &limits)?);
    let (mut captures, mut late, mut skipped) = (0u64, 0u64, 0u64);
    source.read(0, &options, &|_, _| (), &mut |news| {
        match news {
            SourceEvent::Capture(..) => captures += 1,
            SourceEvent::Late(_) => late += 1,
            SourceEvent::Skipped(_) => skipped += 1,
            SourceEvent::Checked(_) | SourceEvent::Noted(_) | SourceEvent::Position(_) => {}
        }
        ControlFlow::Continue(())
    })?;
    let seconds = start.elapsed().as_secs_f64();
    writeln!(
        report,
        "{captures} captures, {late} renewed, {skipped} lines skipped in {seconds:.1} s"
    )?;

    let start = Instant::now();
    LogIndex::build(log, &format, &limits)?;
    let seconds = start.elapsed().as_secs_f64();
    writeln!(report, "indexed in {seconds:.1} s")?;
    Ok(())
}

/// Lines of about 300 bytes, as those of large crawls; one in fifty is about a URL that was there before.
fn generate(count: u64) -> Result<(), Box<dyn Error>> {
    let mut output = io::BufWriter::new(io::stdout().lock());
    let padding = "x".repeat(60);
    for line in 0..count {
        let number = if line % 50 == 0 { line / 2 } else { line };
        let host = number % 5003;
        writeln!(
            output,
            "2012-05-06T07:08:10.550Z   200      12345 http://www{host}.example.org/~somebody/publications/{padding}/{number}.pdf LLE http://www{host}.example.org/~somebody/publications/index.html application/pdf #002 20120506070809441+2 sha1:{number:0>32} - 3t"
        )?;
    }
    output.flush()?;
    Ok(())
}
