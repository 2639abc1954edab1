//! What is wrong with the fields of a form, by their names.

use crate::problem::Problem;

/// What is wrong with the fields of a form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Errors(Vec<(&'static str, String)>);

impl Errors {
    /// Notes what is wrong with a field.
    pub(crate) fn add(&mut self, field: &'static str, message: impl Into<String>) {
        self.0.push((field, message.into()));
    }

    /// What is wrong with a field, if something is.
    pub(crate) fn of(&self, field: &str) -> Option<&str> {
        let error = self.0.iter().find(|(name, _)| *name == field);
        error.map(|(_, message)| message.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them as one problem, for the API.
    pub(crate) fn into_problem(self) -> Result<(), Problem> {
        if self.0.is_empty() {
            return Ok(());
        }
        let parts = self
            .0
            .iter()
            .map(|(name, message)| format!("{name}: {message}"));
        Err(Problem::invalid(parts.collect::<Vec<_>>().join("; ")))
    }
}
