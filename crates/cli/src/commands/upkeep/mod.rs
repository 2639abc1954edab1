//! Commands that keep an installation in order.

pub(crate) mod backup;
pub(crate) mod catalog;
pub(crate) mod doctor;
pub(crate) mod restore;

use std::io::IsTerminal;
use std::time::Duration;

use harvester::Stop;
use indicatif::ProgressBar;

use crate::human::style;

/// A bar that says how many files are done.
fn file_bar(is_quiet: bool) -> ProgressBar {
    if is_quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    bar.set_style(style("{spinner} {human_pos} files, {rate}, {elapsed}"));
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
            eprintln!("stopping; again to stop at once");
            super::stop_signal().await;
            std::process::exit(130);
        });
    });
    Ok(())
}
