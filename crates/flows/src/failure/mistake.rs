//! Mistakes in parameters, each with the field that it is in.

/// One thing that is wrong with parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.line())]
pub struct Mistake {
    /// The parameter that is wrong, by its name in JSON, in forms and on the command line (there with dashes).
    pub field: Option<&'static str>,
    /// A sentence for people: what is wrong and what to do.
    pub reason: String,
}

impl Mistake {
    /// A mistake in a parameter.
    pub fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self {
            field: Some(field),
            reason: reason.into(),
        }
    }

    /// Field and reason in one line.
    fn line(&self) -> String {
        match self.field {
            Some(field) => format!("{field}: {}", self.reason),
            None => self.reason.clone(),
        }
    }
}

/// Fails with the first of `mistakes`, if there is one.
pub(crate) fn first(mistakes: Vec<Mistake>) -> anyhow::Result<()> {
    match mistakes.into_iter().next() {
        Some(mistake) => Err(mistake.into()),
        None => Ok(()),
    }
}
