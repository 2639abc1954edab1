//! Filters of lists as forms send them: empty fields mean nothing.

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
    let is_day = text.trim().len() == 10;
    let time = since(field, text, errors)?;
    Some(Time(time.0 + if is_day { 86_399 } else { 0 }))
}
