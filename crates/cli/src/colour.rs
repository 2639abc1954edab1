//! Colours of states on a terminal. No meaning hangs on a colour: the word is there as well.

use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ValueEnum;

/// When colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A colour of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// It went well.
    Green,
    /// It failed.
    Red,
    /// Somebody should look at it.
    Yellow,
    /// It runs.
    Blue,
}

static WHEN: OnceLock<When> = OnceLock::new();

/// Decides on colours, once, at the start of the program.
pub(crate) fn choose(when: When) {
    let _ = WHEN.set(when);
}

/// Whether what goes to stdout is coloured.
pub(crate) fn is_on() -> bool {
    wanted(std::io::stdout().is_terminal())
}

/// Whether what goes to stderr is coloured.
pub(crate) fn is_on_for_stderr() -> bool {
    wanted(std::io::stderr().is_terminal())
}

fn wanted(is_terminal: bool) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty());
    match WHEN.get().copied().unwrap_or_default() {
        When::Auto => is_terminal && !refused,
        When::Always => true,
        When::Never => false,
    }
}

impl Colour {
    /// The text in this colour.
    pub(crate) fn paint(self, text: &str) -> String {
        let code = match self {
            Self::Green => 32,
            Self::Red => 31,
            Self::Yellow => 33,
            Self::Blue => 34,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// The colour of a state of a run, a job, a schedule, a record, a document or a rule.
pub(crate) fn of_state(name: &str) -> Option<Colour> {
    match name {
        "ok" | "finished" | "passed" | "accept" | "ingested" => Some(Colour::Green),
        "failed" | "failing" | "reject" => Some(Colour::Red),
        "incomplete" | "warning" | "unsure" | "paused" | "cancelled" | "deleted" => {
            Some(Colour::Yellow)
        }
        "running" => Some(Colour::Blue),
        _ => None,
    }
}
