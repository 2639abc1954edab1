//! Values for people on a terminal, and the exact ones in a pipe, for programs.

use std::fmt::Write;
use std::io::{IsTerminal, stdout};

use indicatif::{ProgressState, ProgressStyle};
use operations::Time;

use crate::text;

/// A moment: `3 min ago (2026-11-19T21:00:00Z)`; in a pipe the date alone, and nothing if there is none.
pub(crate) fn moment(at: Option<Time>) -> String {
    match at {
        None => String::new(),
        Some(at) if stdout().is_terminal() => format!("{} ({at})", text::ago(Some(at.0))),
        Some(at) => at.to_string(),
    }
}

/// A number, with its thousands apart.
pub(crate) fn number(number: u64) -> String {
    match stdout().is_terminal() {
        true => text::grouped(number),
        false => number.to_string(),
    }
}

/// A number of bytes: `758 kB (757,715 bytes)`; in a pipe the number alone.
pub(crate) fn size(bytes: u64) -> String {
    match stdout().is_terminal() {
        true if bytes < 1000 => format!("{bytes} bytes"),
        true => format!("{} ({} bytes)", text::bytes(bytes), text::grouped(bytes)),
        false => bytes.to_string(),
    }
}

/// The style of a progress bar. `{rate}` and `{rest}` are the speed and the time that is left, for people.
pub(crate) fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    style.with_key("rate", rate).with_key("rest", rest)
}

/// One decimal place below ten. A text takes all that is written to it.
fn rate(state: &ProgressState, out: &mut dyn Write) {
    let places = usize::from(state.per_sec() < 10.0);
    let _ = write!(out, "{:.places$}/s", state.per_sec());
}

fn rest(state: &ProgressState, out: &mut dyn Write) {
    let seconds = i64::try_from(state.eta().as_secs()).unwrap_or(i64::MAX);
    let _ = write!(out, "{}", text::duration(seconds));
}
