//! Labels of members: what a container calls them, made harmless, and no two alike.

use std::collections::HashMap;

/// The labels given so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    given: HashMap<String, u32>,
}

impl Names {
    /// A label that no member before has.
    pub(super) fn unique(&mut self, label: String) -> String {
        let count = self.given.entry(label.clone()).or_default();
        *count += 1;
        if *count == 1 {
            return label;
        }
        let numbered = format!("{label}~{count}");
        self.unique(numbered)
    }
}

/// A path without what leads elsewhere or steers a terminal, of a bounded length.
pub(super) fn clean(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let parts = name.split(['/', '\\']);
    let plain = parts.filter(|part| !matches!(*part, "" | "." | ".."));
    let mut clean = String::new();
    for part in plain {
        if !clean.is_empty() {
            clean.push('/');
        }
        clean.extend(part.chars().map(|c| if c.is_control() { '_' } else { c }));
    }
    if clean.len() > LONGEST {
        let cut = clean.floor_char_boundary(LONGEST);
        clean.truncate(cut);
    }
    if clean.is_empty() {
        clean.push_str("unnamed");
    }
    clean
}

/// The label of a member of something that is itself a member.
pub(super) fn join(container: &str, name: &[u8]) -> String {
    let name = clean(name);
    match container {
        "" => name,
        container => format!("{container}!{name}"),
    }
}

const LONGEST: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_lead_nowhere_and_are_all_different() {
        for (name, expected) in [
            (&b"a/b.pdf"[..], "a/b.pdf"),
            (b"../../etc/passwd", "etc/passwd"),
            (b"/etc/passwd", "etc/passwd"),
            (b"..\\..\\x", "x"),
            (b"a/./b//c", "a/b/c"),
            (b"a\x1B[31m\n", "a_[31m_"),
            (b"..", "unnamed"),
            (b"", "unnamed"),
            (b"caf\xE9", "caf\u{fffd}"),
        ] {
            assert_eq!(clean(name), expected);
        }
        assert!(clean(&"\u{e9}".repeat(5000).into_bytes()).len() <= LONGEST);

        let mut names = Names::default();
        let mut unique = |label: &str| names.unique(label.to_owned());
        assert_eq!(unique("a~2"), "a~2");
        assert_eq!(unique("a"), "a");
        assert_eq!(unique("a"), "a~2~2");
        assert_eq!(unique("a"), "a~3");
    }
}
