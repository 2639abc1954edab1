//! Filters of lists as forms send them: empty fields mean nothing.

use jiff::civil::Date;
use operations::Time;

use super::{Errors, moment};

/// The text of a field, unless it is empty.
pub(crate) fn given(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The first second of the date in `field`.
pub(crate) fn since(field: &'static str, text: &str, errors: &mut Errors) -> Option<Time> {
    let text = text.trim();
    let time = moment(text);
    if time.is_none() && !text.is_empty() {
        errors.add(field, format!("`{text}` is not a date"));
    }
    time.map(Time)
}

/// The last second of the date in `field`.
pub(crate) fn until(field: &'static str, text: &str, errors: &mut Errors) -> Option<Time> {
    let time = since(field, text, errors)?;
    let text = text.trim();
    match text.parse::<Date>() {
        // A day may have 23 or 25 hours.
        Ok(day) if text.len() == DAY => {
            let next = day.tomorrow().ok()?.to_string();
            Some(Time(moment(&next)? - 1))
        }
        _ => Some(time),
    }
}

/// The length of a date without a time, such as `2026-12-31`.
const DAY: usize = 10;
