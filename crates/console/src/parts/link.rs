//! A path of the console with parameters, each encoded as it has to be.

use std::fmt::{self, Display, Write as _};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

/// A path of the console with parameters.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    path: String,
    parameters: Vec<(&'static str, String)>,
}

impl Link {
    pub(crate) fn to(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            parameters: Vec::new(),
        }
    }

    /// With a parameter, unless it is empty; one of the same name is replaced.
    pub(crate) fn with(mut self, name: &'static str, value: impl Display) -> Self {
        self.parameters.retain(|(other, _)| *other != name);
        let value = value.to_string();
        if !value.is_empty() {
            self.parameters.push((name, value));
        }
        self
    }

    /// With a parameter that may be missing.
    pub(crate) fn with_some(self, name: &'static str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self.with(name, ""),
        }
    }

    /// The parameters, for the hidden fields of a form that keeps them.
    pub(crate) fn parameters(&self) -> &[(&'static str, String)] {
        &self.parameters
    }
}

/// A text as the value of a parameter.
pub(crate) fn escaped(value: &str) -> PercentEncode<'_> {
    const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'_')
        .remove(b'.')
        .remove(b'~')
        .remove(b'/');
    utf8_percent_encode(value, RESERVED)
}

impl Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        for (position, (name, value)) in self.parameters.iter().enumerate() {
            f.write_char(if position == 0 { '?' } else { '&' })?;
            write!(f, "{name}=")?;
            escaped(value).fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_encoded_and_replaced() {
        let link = Link::to("/records")
            .with("text", "a b&c=ä")
            .with("before", 7);
        assert_eq!(
            link.to_string(),
            "/records?text=a%20b%26c%3D%C3%A4&before=7"
        );
        let link = link.with("before", 5).with_some("text", None::<&str>);
        assert_eq!(link.to_string(), "/records?before=5");
    }
}
