//! Something that is done to several rows at once.

use axum::response::Response;
use operations::Refusal;
use serde::Deserialize;

use crate::dress::done;
use crate::problem::Problem;

/// Something that can be done to chosen rows.
#[derive(Debug, Clone)]
pub(crate) struct Bulk {
    /// The value of `action` in the form.
    pub(crate) action: &'static str,
    /// The label of the button.
    pub(crate) label: &'static str,
    pub(crate) is_dangerous: bool,
    /// Where the form is sent.
    pub(crate) to: &'static str,
    /// Whether the form asks for a page, and changes nothing.
    pub(crate) is_page: bool,
}

/// The form of chosen rows: their numbers, and what is to be done to them.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Vec<(String, String)>")]
pub(crate) struct BulkForm {
    pub(crate) action: String,
    pub(crate) ids: Vec<i64>,
}

impl Bulk {
    /// A form that is sent to `to` with `action`.
    pub(crate) fn post(to: &'static str, action: &'static str, label: &'static str) -> Self {
        Self {
            action,
            label,
            is_dangerous: false,
            to,
            is_page: false,
        }
    }

    /// A form that leads to a page about the rows.
    pub(crate) fn page(to: &'static str, label: &'static str) -> Self {
        Self {
            is_page: true,
            ..Self::post(to, "", label)
        }
    }

    pub(crate) fn dangerous(mut self) -> Self {
        self.is_dangerous = true;
        self
    }
}

impl From<Vec<(String, String)>> for BulkForm {
    fn from(fields: Vec<(String, String)>) -> Self {
        let mut form = Self::default();
        for (name, value) in fields {
            match name.as_str() {
                "action" => form.action = value,
                "id" => form.ids.extend(value.parse::<i64>().ok()),
                _ => {}
            }
        }
        form.ids.sort_unstable();
        form.ids.dedup();
        form
    }
}

/// The answer after something was done to several rows: how many, and why not to others. `path` is the list.
pub(crate) fn bulk_done(
    path: &str,
    [one, many]: [&str; 2],
    participle: &str,
    results: impl IntoIterator<Item = (i64, Result<(), Refusal>)>,
) -> Result<Response, Problem> {
    let (mut changed, mut reasons) = (0_u64, Vec::new());
    for (id, result) in results {
        match result {
            Ok(()) => changed += 1,
            Err(refusal) => reasons.push(format!("{one} {id}: {}", refusal.message())),
        }
    }
    let mut message = match (changed, reasons.len()) {
        (0, 0) => format!("No {one} was chosen. Tick the boxes of the rows first."),
        (0, _) => format!("No {one} {participle}."),
        (1, _) => format!("1 {one} {participle}."),
        (changed, _) => format!("{changed} {many} {participle}."),
    };
    if let Some(first) = reasons.first() {
        message += &format!(" Failed: {first}.");
    }
    if reasons.len() > 1 {
        message += &format!(" {} more failed.", reasons.len() - 1);
    }
    Ok(done(path, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_taken_once_and_what_is_no_number_is_not_a_row() {
        let fields = [
            ("id", "7"),
            ("action", "pause"),
            ("id", "x"),
            ("id", "7"),
            ("id", "3"),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));

        let form = BulkForm::from(fields.to_vec());

        assert_eq!((form.action.as_str(), form.ids), ("pause", vec![3, 7]));
    }
}
