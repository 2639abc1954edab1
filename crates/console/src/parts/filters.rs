//! How templates write dates, numbers and sizes: `{{ started|time }}`, `{{ started|clock }}`, `{{ started|ago }}`,
//! `{{ count|number }}`, `{{ size|bytes }}`, `{{ seconds|duration }}`. Dates and spans of time are whole seconds.
//!
//! Pages that use them have `use crate::filters;`.

#![expect(
    unreachable_pub,
    reason = "the macro of askama makes the methods of filters public"
)]

use std::fmt::Display;

use askama::Values;
use askama::filters::Safe;
use jiff::Timestamp;

use crate::clock::Clock;

/// A number as templates hand it over: itself, or behind any number of references.
pub(crate) trait Plain<T> {
    fn plain(&self) -> T;
}

impl Plain<i64> for i64 {
    fn plain(&self) -> i64 {
        *self
    }
}

impl Plain<i64> for operations::Time {
    fn plain(&self) -> i64 {
        self.0
    }
}

impl Plain<u64> for u64 {
    fn plain(&self) -> u64 {
        *self
    }
}

impl<T, P: Plain<T>> Plain<T> for &P {
    fn plain(&self) -> T {
        (*self).plain()
    }
}

/// A date and time, by the clock of the account.
#[askama::filter_fn]
pub(crate) fn time(at: impl Plain<i64>, _: &dyn Values) -> askama::Result<Safe<String>> {
    let at = at.plain();
    Ok(Safe(element(at, "%Y-%m-%d %H:%M")))
}

/// The time of the day, by the clock of the account.
#[askama::filter_fn]
pub(crate) fn clock(at: impl Plain<i64>, _: &dyn Values) -> askama::Result<Safe<String>> {
    let at = at.plain();
    Ok(Safe(element(at, "%H:%M:%S")))
}

/// How long ago, or how soon; the script keeps it true.
#[askama::filter_fn]
pub(crate) fn ago(at: impl Plain<i64>, _: &dyn Values) -> askama::Result<Safe<String>> {
    let at = at.plain();
    if Clock::current().is_utc() {
        return Ok(Safe(element(at, "")));
    }
    let shown = relative(at - Timestamp::now().as_second());
    Ok(Safe(marked(at, &shown, " data-ago")))
}

/// How long ago, or how soon, beside a date: the date itself shows UTC where that is asked for.
#[askama::filter_fn]
pub(crate) fn beside(at: impl Plain<i64>, _: &dyn Values) -> askama::Result<Safe<String>> {
    let at = at.plain();
    let shown = relative(at - Timestamp::now().as_second());
    Ok(Safe(marked(at, &shown, " data-ago")))
}

/// A number with its thousands apart.
#[askama::filter_fn]
pub(crate) fn number(number: impl Display, _: &dyn Values) -> askama::Result<String> {
    Ok(grouped(&number.to_string()))
}

/// A size in a unit that leaves few digits.
#[askama::filter_fn]
pub(crate) fn bytes(size: impl Plain<u64>, _: &dyn Values) -> askama::Result<String> {
    Ok(sized(size.plain()))
}

/// A span of time.
#[askama::filter_fn]
pub(crate) fn duration(seconds: impl Plain<i64>, _: &dyn Values) -> askama::Result<String> {
    Ok(span(seconds.plain()))
}

/// A date as the API writes it.
pub(crate) fn date(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH)
}

pub(crate) fn grouped(digits: &str) -> String {
    if let Some(digits) = digits.strip_prefix('-') {
        return format!("\u{2212}{}", grouped(digits));
    }
    let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    if !whole {
        return digits.to_owned();
    }
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            // Narrow and not to be broken.
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn sized(size: u64) -> String {
    let mut value = size as f64;
    for unit in ["bytes", "KB", "MB", "GB", "TB"] {
        if value < 1000.0 {
            let places = usize::from(unit != "bytes" && value < 100.0);
            return format!("{value:.places$}\u{a0}{unit}");
        }
        value /= 1000.0;
    }
    format!("{value:.1}\u{a0}PB")
}

/// A time in a `format`; in full, with seconds and the zone, where UTC is asked for.
fn element(at: i64, format: &str) -> String {
    let clock = Clock::current();
    let format = if clock.is_utc() { FULL } else { format };
    marked(at, &clock.at(at).strftime(format).to_string(), "")
}

/// The element of a time; pointing at it tells UTC.
fn marked(at: i64, shown: &str, mark: &str) -> String {
    let exact = date(at);
    let full = exact.strftime(FULL);
    format!(r#"<time datetime="{exact}" title="{full}"{mark}>{shown}</time>"#)
}

fn span(seconds: i64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest}\u{a0}s"),
        (0, 0, _) => format!("{minutes}\u{a0}min {rest}\u{a0}s"),
        (0, _, _) => format!("{hours}\u{a0}h {minutes}\u{a0}min"),
        _ => format!("{days}\u{a0}d {hours}\u{a0}h"),
    }
}

/// The same words as in `script.js`.
fn relative(seconds: i64) -> String {
    let (amount, unit) = match seconds.unsigned_abs() {
        0..10 => return "now".to_owned(),
        near @ 10..90 => (near, "s"),
        near @ 90..5400 => ((near + 30) / 60, "min"),
        near @ 5400..129_600 => ((near + 1800) / 3600, "h"),
        far => ((far + 43_200) / 86_400, "d"),
    };
    match seconds < 0 {
        true => format!("{amount}\u{a0}{unit} ago"),
        false => format!("in {amount}\u{a0}{unit}"),
    }
}

const FULL: &str = "%Y-%m-%d %H:%M:%S UTC";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_are_easy_to_read() {
        assert_eq!(grouped("1234567"), "1\u{202f}234\u{202f}567");
        assert_eq!(grouped("999"), "999");
        assert_eq!(grouped("-25405"), "\u{2212}25\u{202f}405");
        assert_eq!(sized(999), "999\u{a0}bytes");
        assert_eq!(sized(1_540_000), "1.5\u{a0}MB");
        assert_eq!(sized(154_000_000_000), "154\u{a0}GB");
    }

    #[test]
    fn times_are_told_as_people_do() {
        assert_eq!(relative(-5), "now");
        assert_eq!(relative(-200), "3\u{a0}min ago");
        assert_eq!(relative(7200), "in 2\u{a0}h");
        assert_eq!(relative(-3 * 86_400), "3\u{a0}d ago");
        assert_eq!(span(3_725), "1\u{a0}h 2\u{a0}min");
        let element = marked(0, "then", "");
        assert_eq!(
            element,
            r#"<time datetime="1970-01-01T00:00:00Z" title="1970-01-01 00:00:00 UTC">then</time>"#
        );
    }
}
