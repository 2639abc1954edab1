//! Commands that keep an installation in order.

pub(crate) mod backup;
pub(crate) mod catalog;
pub(crate) mod doctor;
pub(crate) mod restore;

use std::io::IsTerminal;
use std::time::Duration;

use harvester::Stop;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar that says how many files are done.
fn file_bar(is_quiet: bool) -> ProgressBar {
    if is_quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {human_pos} files, {per_sec}, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The first signal ends the work in good order, the second at once.
fn stop_on_signal(stop: &Stop) -> anyhow::Result<()> {
    let stop = stop.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            super::stop_signal().await;
            stop.set();
            eprintln!("stopping; once more stops at once");
            super::stop_signal().await;
            std::process::exit(130);
        });
    });
    Ok(())
}

/// A number of bytes as people read it.
fn size(bytes: u64) -> String {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match units.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}
