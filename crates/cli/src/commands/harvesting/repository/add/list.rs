//! Adding all repositories of a list: several are asked at once, and each that fails is named.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use harvester::{Client, ClientOptions};
use operations::repositories::{self, FoundRepository, PastedLine};
use operations::{Actor, Refusal};

use super::Add;
use crate::commands::LEFT_OUT;
use crate::output::{to_stdout, write_json};
use crate::text::{grouped, plain};

/// The answer of one repository of the list.
type Asked<'a> = (&'a PastedLine, Result<FoundRepository, Refusal>);

/// Adds the repositories of a list.
pub(super) fn add(options: &Add, source: &str) -> anyhow::Result<ExitCode> {
    let client = Client::new(client_options(options)?)?;
    let lines = read(source, &client)?;
    let (good, bad): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.address.is_ok());
    for line in &bad {
        if let Err(reason) = &line.address {
            eprintln!("line {}: {}", line.number, plain(reason));
        }
    }
    let context = options.holdings.create_context()?;
    let actor = Actor::command_line();
    let (mut new, mut known, mut failed) = (0, 0, bad.len());
    let code = to_stdout(|out| {
        ask_all(&client, &good, |(line, found)| {
            let added = found.and_then(|found| {
                context.wait(repositories::add(&context, &actor, found.description, None))
            });
            match added {
                Ok(added) => {
                    let repository = &added.repository;
                    match added.is_new {
                        true => new += 1,
                        false => known += 1,
                    }
                    match options.json {
                        true => write_json(out, repository)?,
                        false => writeln!(
                            out,
                            "{}\t{}\t{}",
                            repository.id,
                            plain(&repository.base_url),
                            plain(repository.title())
                        )?,
                    }
                    // Somebody waits for each of them.
                    out.flush()?;
                }
                Err(refusal) => {
                    failed += 1;
                    let address = line.address.as_deref().unwrap_or_default();
                    let reason = refusal.message();
                    let reason = reason.trim_start_matches("base_url: ");
                    eprintln!(
                        "line {}: {}: {}",
                        line.number,
                        plain(address),
                        plain(reason)
                    );
                }
            }
            Ok(())
        })?;
        Ok(match failed {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::from(LEFT_OUT),
        })
    })?;
    let number = |count: usize| grouped(count as u64);
    eprintln!(
        "{} added, {} were known and are refreshed, {} lines could not be added",
        number(new),
        number(known),
        number(failed)
    );
    Ok(code)
}

/// Somebody with a long list does not wait long for one of it, unless told so.
fn client_options(options: &Add) -> anyhow::Result<ClientOptions> {
    let given = options.network.client_options()?;
    let usual = ClientOptions::default();
    let brief = |given: Duration, usual: Duration, most| match given == usual {
        true => given.min(most),
        false => given,
    };
    Ok(ClientOptions {
        attempts: match given.attempts == usual.attempts {
            true => 2,
            false => given.attempts,
        },
        connect_timeout: brief(
            given.connect_timeout,
            usual.connect_timeout,
            CONNECT_TIMEOUT,
        ),
        read_timeout: brief(given.read_timeout, usual.read_timeout, READ_TIMEOUT),
        longest_wait: brief(given.longest_wait, usual.longest_wait, READ_TIMEOUT),
        ..given
    })
}

fn read(source: &str, client: &Client) -> anyhow::Result<Vec<PastedLine>> {
    let content = match source {
        "-" => bounded(std::io::stdin().lock()),
        url if url.starts_with("http://") || url.starts_with("https://") => {
            bounded(client.repository(url)?.download(url)?)
        }
        file => std::fs::File::open(file)
            .map_err(Into::into)
            .and_then(bounded),
    };
    let content = content.with_context(|| format!("the list of repositories {source}"))?;
    let lines = repositories::pasted(&content);
    lines.with_context(|| format!("the list of repositories {source}"))
}

fn bounded(source: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut content = Vec::new();
    source.take(MOST_BYTES + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MOST_BYTES {
        bail!("it is longer than {} MiB", MOST_BYTES >> 20);
    }
    Ok(content)
}

/// Asks all repositories, several at once, and hands the answers over as they come.
fn ask_all(
    client: &Client,
    lines: &[&PastedLine],
    mut take: impl FnMut(Asked<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, answers) = mpsc::sync_channel(AT_ONCE);
        for _ in 0..AT_ONCE.min(lines.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Ok(address) = &line.address else { continue };
                    let found = repositories::find(client, address, false);
                    if sender.send((*line, found)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let taken = answers.iter().try_for_each(&mut take);
        // Nobody asks on after a failure of the catalog or of stdout.
        next.store(lines.len(), Ordering::Relaxed);
        drop(answers);
        taken
    })
}

/// Most of the time goes by in waiting for hosts that are away: a second or two for each.
const AT_ONCE: usize = 32;
const MOST_BYTES: u64 = 8 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_secs(30);
