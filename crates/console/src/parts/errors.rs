//! Mistakes in the fields of a form, by the names of the fields.

use operations::{Code, Refusal};

use crate::problem::Problem;

/// Mistakes in the fields of a form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Errors(Vec<(&'static str, String)>);

impl Errors {
    /// The mistakes of a refusal, to be shown at the fields of its form; a refusal that no field can mend is a problem.
    pub(crate) fn of_form(refusal: Refusal) -> Result<Self, Problem> {
        let is_mendable = matches!(
            refusal.code,
            Code::Invalid | Code::Conflict | Code::Busy | Code::NoRepository
        );
        let fields = refusal.mistakes.iter().map(|mistake| {
            let field = mistake.field.filter(|_| is_mendable)?;
            Some((field, mistake.reason.clone()))
        });
        match fields.collect() {
            Some(fields) => Ok(Self(fields)),
            None => Err(refusal.into()),
        }
    }

    /// Notes what is wrong with a field.
    pub(crate) fn add(&mut self, field: &'static str, message: impl Into<String>) {
        self.0.push((field, message.into()));
    }

    /// The mistake in a field, if there is one.
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
