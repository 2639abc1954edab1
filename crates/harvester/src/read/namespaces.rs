//! Which namespace prefixes are declared at a place inside of a record.

/// The prefixes declared by the open elements.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    names: Vec<u8>,
    /// The depth of the element, and where its prefix ends in `names`.
    declared: Vec<(usize, usize)>,
}

impl Namespaces {
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.declared.clear();
    }

    pub(super) fn declare(&mut self, depth: usize, prefix: &str) {
        self.names.extend_from_slice(prefix.as_bytes());
        self.declared.push((depth, self.names.len()));
    }

    /// Forgets what elements deeper than this have declared.
    pub(super) fn leave(&mut self, depth: usize) {
        while self.declared.last().is_some_and(|(of, _)| *of > depth) {
            self.declared.pop();
            let end = self.declared.last().map_or(0, |(_, end)| *end);
            self.names.truncate(end);
        }
    }

    pub(super) fn contains(&self, prefix: &[u8]) -> bool {
        let mut start = 0;
        self.declared.iter().any(|(_, end)| {
            let name = &self.names[start..*end];
            start = *end;
            name == prefix
        })
    }
}

/// The prefix of a name, if it has one.
pub(super) fn prefix(name: &str) -> Option<&str> {
    let at = memchr::memchr(b':', name.as_bytes())?;
    Some(&name[..at])
}

/// The name without its prefix.
pub(super) fn local(name: &str) -> &str {
    match memchr::memchr(b':', name.as_bytes()) {
        Some(at) => &name[at + 1..],
        None => name,
    }
}

/// The prefix that an attribute declares: empty for the default namespace.
pub(super) fn declared_prefix(attribute: &str) -> Option<&str> {
    match attribute.strip_prefix("xmlns")? {
        "" => Some(""),
        rest => rest.strip_prefix(':'),
    }
}

/// The namespace of OAI-PMH 2.0.
pub(super) const OAI: &str = "http://www.openarchives.org/OAI/2.0/";

/// Prefixes that mean one thing everywhere.
pub(super) const WELL_KNOWN: [(&str, &str); 6] = [
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc/"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("xlink", "http://www.w3.org/1999/xlink"),
    ("xsi", oai::xml::XSI),
];
