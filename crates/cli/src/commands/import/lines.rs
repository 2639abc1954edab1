//! Progress of an import: a line per document, and on a terminal a bar below them.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use flows::{Fate, FateKind, FetchProgress, ImportEvent, ImportProgress, Stage};
use indicatif::ProgressBar;

use crate::human::style;
use crate::text::{grouped, plain};

/// The line of a capture in columns.
pub(super) struct Columns {
    /// Whether texts are taken.
    pub(super) has_texts: bool,
    /// Whether the content filter judges them.
    pub(super) has_filter: bool,
    /// Captures so far.
    number: AtomicU64,
}

/// Lines on stderr.
pub(super) struct Lines {
    bar: ProgressBar,
    quiet: bool,
    /// Whether each capture is told.
    each: bool,
    /// The columns of each capture, if all of them are told.
    columns: Option<Columns>,
    coloured: bool,
    /// Whether the first progress was shown: what was read before this process is no speed of its own.
    begun: AtomicBool,
}

impl Lines {
    /// On a terminal a bar is enough; in a log each capture has a line, and with `each` or `columns` everywhere.
    pub(super) fn new(quiet: bool, each: bool, columns: Option<Columns>) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = match quiet || !terminal {
            true => ProgressBar::hidden(),
            false => ProgressBar::new(0),
        };
        bar.set_style(style(
            "{msg} {wide_bar} {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, {rest} left",
        ));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self {
            bar,
            quiet,
            each: each || columns.is_some() || !terminal,
            columns,
            coloured: crate::colour::is_on_for_stderr(),
            begun: AtomicBool::new(false),
        }
    }

    pub(super) fn tell(&self, event: &ImportEvent<'_>) {
        match event {
            _ if self.quiet => {}
            ImportEvent::Note(note) => self.bar.suspend(|| eprintln!("{}", plain(note))),
            ImportEvent::Fates(fates) if self.each => self.fates(fates),
            ImportEvent::Fates(_) => {}
            ImportEvent::Fetching(progress) => self.fetching(progress),
            ImportEvent::Progress(progress) => self.progress(progress),
        }
    }

    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Some hundred lines at once: a terminal takes them much faster than one by one.
    fn fates(&self, fates: &[Fate]) {
        if fates.is_empty() {
            return;
        }
        let mut text = String::new();
        for fate in fates {
            match &self.columns {
                Some(columns) => text.push_str(&columns.line(fate, self.coloured)),
                None => text.push_str(&self.line(fate)),
            }
        }
        // A closed pipe does not end the import.
        self.bar.suspend(|| {
            let _ = std::io::stderr().write_all(text.as_bytes());
        });
    }

    fn line(&self, fate: &Fate) -> String {
        let (word, name) = (fate.kind.name(), plain(&fate.name));
        let detail = match fate.detail.is_empty() {
            true => String::new(),
            false => format!(" ({})", plain(&fate.detail)),
        };
        match self.coloured {
            true => {
                let colour = colour(fate.kind);
                format!("\x1b[{colour}m{word:<10}\x1b[0m {name}{detail}\n")
            }
            false => format!("{word:<10} {name}{detail}\n"),
        }
    }

    fn fetching(&self, progress: &FetchProgress<'_>) {
        self.bar.set_length(progress.total);
        self.bar.set_position(progress.done);
        self.bar
            .set_message(format!("fetching {}", plain(progress.file)));
    }

    fn progress(&self, progress: &ImportProgress<'_>) {
        self.bar.set_length(progress.total);
        if self.begun.swap(true, Ordering::Relaxed) {
            self.bar.set_position(progress.done);
        } else {
            self.bar.set_position(progress.done);
            self.bar.reset_eta();
        }
        let counters = progress.counters;
        self.bar.set_message(format!(
            "{} captures, {} new documents",
            grouped(counters.all),
            grouped(counters.saved_new)
        ));
    }
}

impl Columns {
    pub(super) fn new(has_texts: bool, has_filter: bool) -> Self {
        Self {
            has_texts,
            has_filter,
            number: AtomicU64::new(0),
        }
    }

    /// The number, the filters, the outcome, the number in the collection, the URL and the place; before the first the
    /// names of the columns.
    fn line(&self, fate: &Fate, coloured: bool) -> String {
        let number = self.number.fetch_add(1, Ordering::Relaxed) + 1;
        let verdict =
            |stage: Stage, is_asked: bool| match (stage_order(fate.stage), stage_order(stage)) {
                (reached, asked) if reached > asked && is_asked => "yes",
                (reached, asked) if reached == asked => "no",
                _ => "-",
            };
        let outcome = fate.kind.name();
        let outcome = match coloured {
            true => format!("\x1b[{}m{outcome:<10}\x1b[0m", colour(fate.kind)),
            false => format!("{outcome:<10}"),
        };
        let saved = fate
            .number
            .map_or("-".to_owned(), |number| number.to_string());
        let head = match number {
            1 => "     no.  type  text  content  outcome       saved  URL, place, reason\n",
            _ => "",
        };
        let reason = match fate.number {
            None if !fate.detail.is_empty() => format!("  ({})", plain(&fate.detail)),
            _ => String::new(),
        };
        let place = match fate.place == fate.name {
            true => String::new(),
            false => format!("  {}", plain(&fate.place)),
        };
        format!(
            "{head}{number:>8}  {:<4}  {:<4}  {:<7}  {outcome} {saved:>8}  {}{place}{reason}\n",
            verdict(Stage::MediaType, true),
            verdict(Stage::Text, self.has_texts),
            verdict(Stage::Content, self.has_filter),
            plain(&fate.name)
        )
    }
}

fn stage_order(stage: Stage) -> u8 {
    match stage {
        Stage::Before => 0,
        Stage::MediaType => 1,
        Stage::Text => 2,
        Stage::Content => 3,
        Stage::Kept => 4,
    }
}

/// Green is kept, blue is there already, yellow is not wanted, red could not be had.
fn colour(kind: FateKind) -> u8 {
    match kind {
        FateKind::New | FateKind::KnownContent | FateKind::NewVersion => 32,
        FateKind::Duplicate | FateKind::Revisited => 34,
        FateKind::Filtered => 33,
        FateKind::Failed | FateKind::Skipped => 31,
    }
}
