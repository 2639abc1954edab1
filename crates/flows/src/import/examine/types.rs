//! The media types that an import wants: names, families such as `image/*`, or all.

use std::collections::BTreeSet;

/// The media types that are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Types {
    names: BTreeSet<String>,
}

impl Types {
    /// Those with these names.
    pub(crate) fn new(names: &[String]) -> Self {
        Self {
            names: names.iter().map(|name| name.to_lowercase()).collect(),
        }
    }

    /// Whether a media type is wanted.
    pub(crate) fn contains(&self, name: &str) -> bool {
        let is_of_family = || {
            let family = name
                .split_once('/')
                .map(|(family, _)| format!("{family}/*"));
            family.is_some_and(|family| self.names.contains(&family))
        };
        self.names.contains(name) || self.names.contains(ALL) || is_of_family()
    }
}

const ALL: &str = "*/*";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_wanted_as_a_whole() {
        let types = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            Types::new(&names)
        };
        let some = types(&["image/*", "Application/PDF"]);
        for (name, is_wanted) in [
            ("image/png", true),
            ("application/pdf", true),
            ("application/zip", false),
            ("image", false),
        ] {
            assert_eq!(some.contains(name), is_wanted, "{name}");
        }
        assert!(types(&["*/*"]).contains("text/html"));
    }
}
