//! The path of a record's file: from the identifier to directories and a name.
//!
//! No two identifiers share a path, not even where case does not count. `:` and `/` part directories, and what
//! the parts alone do not tell is marked:
//!
//! | mark | where | says |
//! |---|---|---|
//! | `~s` | directory | a slash follows, not a colon |
//! | `~http`, `~https` | first directory | the identifier is a URL; its colons are escaped |
//! | `~i` | first directory | the identifier is neither a URL nor of the form `oai:…` |
//! | `~u1f` | file | which letters are capitals, those of the first part of `oai:…` apart |
//! | `~h…` | file in `~long` | too long or too deep for a path of its own: the digest of the identifier |

use sha2::{Digest, Sha256};

use super::name;

/// A file's directories and its name, without numbered directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The first directory of an identifier of the form `oai:…`. Its capitals are not marked, so the caller
    /// must see to it that no two of them differ in nothing else.
    pub(super) namespace: Option<Namespace>,
    pub(super) directories: Vec<String>,
    pub(super) name: String,
}

/// The part that says which repository an identifier comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Namespace {
    pub(super) directory: String,
    pub(super) capitals: u128,
}

impl Place {
    /// Finds the place of an identifier, in directories or all in one.
    pub(super) fn of(identifier: &str, parse: bool) -> Self {
        let place = match parse {
            true => parsed(identifier),
            false => flat(identifier),
        };
        place
            .filter(Self::fits)
            .unwrap_or_else(|| by_digest(identifier))
    }

    fn fits(&self) -> bool {
        let namespace = self.namespace.iter().map(|namespace| &namespace.directory);
        let directories = || namespace.clone().chain(&self.directories);
        let longest = directories().map(String::len).max().unwrap_or(0);
        let all: usize = directories().map(|directory| directory.len() + 1).sum();
        directories().count() <= MOST_DIRECTORIES
            && longest.max(self.name.len()) <= LONGEST_NAME
            && all + self.name.len() <= LONGEST_PATH
    }
}

fn parsed(identifier: &str) -> Option<Place> {
    for (scheme, mark) in [("http://", "~http"), ("https://", "~https")] {
        if let Some(rest) = identifier.strip_prefix(scheme) {
            return split(rest, &['/'], mark, false);
        }
    }
    match identifier.strip_prefix("oai:") {
        Some(rest) if rest.contains(SEPARATORS) => split(rest, &SEPARATORS, "", true),
        _ if identifier.contains(SEPARATORS) => split(identifier, &SEPARATORS, "~i", false),
        _ => flat(identifier),
    }
}

fn flat(identifier: &str) -> Option<Place> {
    Some(Place {
        namespace: None,
        directories: Vec::new(),
        name: file_name(identifier, "", &[identifier])?,
    })
}

/// Splits at separators. The mark goes to the first part; a namespace is a first part whose case is not marked.
fn split(text: &str, separators: &[char], mark: &str, has_namespace: bool) -> Option<Place> {
    if text.matches(separators).count() > MOST_DIRECTORIES {
        return None;
    }
    let parts: Vec<_> = text.split_inclusive(separators).collect();
    let ended = text.ends_with(separators);
    let texts: Vec<_> = parts
        .iter()
        .map(|part| part.strip_suffix(separators).unwrap_or(part))
        .chain(ended.then_some(""))
        .collect();
    let (last, before) = texts.split_last()?;

    let mut directories = Vec::with_capacity(before.len());
    for (at, text) in before.iter().enumerate() {
        let mut directory = name::directory(text);
        if at == 0 {
            directory.push_str(mark);
        }
        // If all separators are slashes, they need no mark.
        if separators.contains(&':') && parts[at].ends_with('/') {
            directory.push_str("~s");
        }
        directories.push(directory);
    }

    let file_mark = if before.is_empty() { mark } else { "" };
    let marked = &texts[usize::from(has_namespace)..];
    let name = file_name(last, file_mark, marked)?;
    let namespace = match has_namespace {
        true => Some(Namespace {
            directory: directories.remove(0),
            capitals: name::capitals(&texts[..1])?,
        }),
        false => None,
    };
    Some(Place {
        namespace,
        directories,
        name,
    })
}

fn file_name(text: &str, mark: &str, marked: &[&str]) -> Option<String> {
    let capitals = match name::capitals(marked)? {
        0 => String::new(),
        bits => format!("~u{bits:x}"),
    };
    Some(format!("{}{mark}{capitals}.xml", name::file(text)))
}

fn by_digest(identifier: &str) -> Place {
    let digest = Sha256::digest(identifier.as_bytes());
    let digits = data_encoding::HEXLOWER.encode(&digest);
    Place {
        namespace: None,
        directories: vec!["~long".to_owned()],
        name: format!("~h{digits}.xml"),
    }
}

const SEPARATORS: [char; 2] = [':', '/'];

/// Below the 255 bytes of most file systems, with room for what may be put behind a name.
const LONGEST_NAME: usize = 200;
/// So that a base directory of some length still makes a path that every program can open.
const LONGEST_PATH: usize = 800;
const MOST_DIRECTORIES: usize = 24;

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::path::Path;

    use super::*;
    use crate::fuzz::{assert_is_below, seeds, two};

    fn path(identifier: &str, parse: bool) -> String {
        let place = Place::of(identifier, parse);
        let mut parts: Vec<_> = place.namespace.map(|n| n.directory).into_iter().collect();
        parts.extend(place.directories);
        parts.push(place.name);
        parts.join("/")
    }

    #[test]
    fn paths_are_those_of_the_paper() {
        for (identifier, expected) in [
            ("oai:ilLib:alliance:1234", "ilLib/alliance/1234.xml"),
            ("oai:arXiv.org:cs/0112017", "arXiv.org/cs~s/0112017.xml"),
            ("oai:lib:Report:A12", "lib/Report/A12~u41.xml"),
            ("http://a.example/b/c.html", "a.example~http/b/c.html.xml"),
            ("https://a.example:8443/", "a.example~3a8443~https/~_.xml"),
            ("http://a.example", "a.example~http.xml"),
            ("urn:nbn:de:1", "urn~i/nbn/de/1.xml"),
            ("10.1000/182", "10.1000~i~s/182.xml"),
            ("1234", "1234.xml"),
            ("", "~_.xml"),
            (
                "oai:x:../../etc/passwd",
                "x/~2e~2e~s/~2e~2e~s/etc~s/passwd.xml",
            ),
        ] {
            assert_eq!(path(identifier, true), expected, "{identifier}");
        }
        assert_eq!(path("oai:x:a/b", false), "oai~3ax~3aa~2fb.xml");
    }

    #[test]
    fn identifiers_too_long_or_too_deep_are_kept_by_their_digest() {
        let long = format!("oai:x:{}", "a".repeat(4096));
        let deep = format!("oai:x{}", ":a".repeat(2000));
        let wide = format!("oai:x:{}", "\u{e9}".repeat(100));
        let capitals = format!("oai:x:{}", "A".repeat(150));
        for identifier in [long, deep, wide, capitals] {
            for parse in [true, false] {
                let path = path(&identifier, parse);
                assert!(path.starts_with("~long/~h"), "{path}");
                assert_eq!(path.len(), "~long/~h.xml".len() + 64);
            }
        }
    }

    /// All texts of up to five of these pieces behind each beginning: some half a million identifiers.
    fn identifiers() -> Vec<String> {
        let pieces = [":", "/", "a", "A", ".", "~", "~s", ".xml", "\u{e9}"];
        let mut texts = vec![String::new()];
        let mut from = 0;
        for _ in 0..4 {
            let until = texts.len();
            for at in from..until {
                for piece in pieces {
                    texts.push(format!("{}{piece}", texts[at]));
                }
            }
            from = until;
        }
        let starts = ["", "oai:", "oai:n:", "http://", "https://", "a~http/"];
        let behind = |text: &String| starts.map(|start| format!("{start}{text}"));
        texts
            .iter()
            .flat_map(behind)
            .collect::<HashSet<_>>()
            .into_iter()
            .collect()
    }

    #[test]
    fn no_two_identifiers_share_a_path_even_where_case_does_not_count() {
        for parse in [true, false] {
            let mut seen: HashMap<String, String> = HashMap::new();
            for identifier in identifiers() {
                let place = Place::of(&identifier, parse);
                // The capitals of a namespace are told apart elsewhere.
                let namespace = place
                    .namespace
                    .map(|n| format!("{}~u{:x}/", n.directory, n.capitals));
                let rest = place.directories.join("/");
                let path = format!("{}{rest}/{}", namespace.unwrap_or_default(), place.name);
                if let Some(other) = seen.insert(path.to_lowercase(), identifier.clone()) {
                    panic!("{identifier:?} and {other:?} share {path}");
                }
            }
        }
    }

    #[test]
    fn no_file_lies_where_another_needs_a_directory() {
        let paths: Vec<_> = identifiers().iter().map(|id| path(id, true)).collect();
        for path in &paths {
            let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
            assert!(file.ends_with(".xml"), "{path}");
            for directory in directories.split('/') {
                assert!(!directory.to_lowercase().ends_with(".xml"), "{path}");
                assert!(!directory.ends_with(['.', ' ']), "{path}");
                assert!(!directory.starts_with('.'), "{path}");
            }
        }
    }

    #[test]
    fn no_two_identifiers_share_a_path() {
        let seeds = seeds(&[
            ("oai:ilLib:alliance:1234", "oai:illib:alliance:1234"),
            ("http://a.example/b/c", "http/a.example/b:c"),
            ("oai:a/../..:b", "oai:a:..:..:b"),
            ("~http:x", "~i~http"),
            ("con.xml", "CON.xml"),
            ("starting_at_5000:x", "a.deleted:x"),
            (&"x".repeat(300), &"y:".repeat(300)),
        ]);
        test_support::fuzz!(seeds, |bytes| {
            let identifiers = two(bytes);
            for parse in [true, false] {
                let places = identifiers
                    .each_ref()
                    .map(|identifier| Place::of(identifier, parse));
                let paths = places.map(|place| {
                    // The store tells namespaces of one spelling apart by their capitals.
                    let namespace = place
                        .namespace
                        .map(|n| format!("{}~u{:x}", n.directory, n.capitals));
                    let directories = namespace.into_iter().chain(place.directories);
                    let names = directories.chain([place.name]);
                    names.collect::<Vec<_>>().join("/").to_ascii_lowercase()
                });
                paths
                    .iter()
                    .for_each(|path| assert_is_below(Path::new(path)));
                let is_same = identifiers[0] == identifiers[1];
                assert_eq!(paths[0] == paths[1], is_same, "{identifiers:?}: {paths:?}");
            }
        });
    }
}
