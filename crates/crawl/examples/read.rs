//! Reads archives and says what is in them: `read PATH… [--threads N] [--bodies] [--list]`.
//!
//! It is what the speed of reading is measured with; `--bodies` reads every byte, else bodies are left alone.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use crawl::{Body, Capture, Limits, ReadOptions, SourceEvent};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut paths, mut options) = (Vec::new(), ReadOptions::default());
    let (mut bodies, mut list) = (false, false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => options.threads = arguments.next().ok_or("how many?")?.parse()?,
            "--bodies" => bodies = true,
            "--list" => list = true,
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    let started = Instant::now();
    let work = |_: &Capture, body: &mut Body<'_>| match bodies {
        true => length(body),
        false => Ok(0),
    };
    let [mut captures, mut bytes, mut failed, mut late, mut skipped] = [0_u64; 5];
    for path in paths {
        for source in crawl::open(&path, &Limits::default())? {
            let ended = source.read(0, &options, &work, &mut |news| {
                match news {
                    SourceEvent::Capture(capture, Ok(length)) => {
                        captures += 1;
                        bytes += length;
                        if list {
                            println!("{length:>9} {capture:?}");
                        }
                    }
                    SourceEvent::Capture(capture, Err(error)) => {
                        failed += 1;
                        println!("{}: {error}", capture.place);
                    }
                    SourceEvent::Late(capture) => {
                        late += 1;
                        if list {
                            println!("     late {capture:?}");
                        }
                    }
                    SourceEvent::Skipped(news) | SourceEvent::Noted(news) => {
                        skipped += 1;
                        println!("{}: {:?} bytes: {}", news.place, news.length, news.reason);
                    }
                    SourceEvent::Checked(_) | SourceEvent::Position(_) => {}
                }
                ControlFlow::Continue(())
            })?;
            if list {
                println!("{}: {ended:?} of {}", source.name(), source.length());
            }
        }
    }
    println!(
        "{captures} captures, {bytes} bytes, {failed} failed, {late} late, {skipped} skipped; {:.2} s, {:.2} s of user time",
        started.elapsed().as_secs_f64(),
        user_seconds()?,
    );
    Ok(())
}

fn length(body: &mut Body<'_>) -> io::Result<u64> {
    let mut buffer = [0; 64 * 1024];
    let mut length = 0;
    loop {
        match body.read(&mut buffer)? {
            0 => return Ok(length),
            count => length += count as u64,
        }
    }
}

/// A time that Linux counts in hundredths of a second.
fn user_seconds() -> io::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let behind = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind.split_whitespace().nth(11);
    Ok(ticks.and_then(|ticks| ticks.parse().ok()).unwrap_or(0.0) / 100.0)
}
