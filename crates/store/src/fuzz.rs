//! Shared by the fuzz targets for paths.

use std::path::{Component, Path};

pub(crate) fn assert_is_below(path: &Path) {
    let is_name =
        |part: Component<'_>| matches!(part, Component::Normal(name) if name.len() <= 255);
    assert!(path.components().all(is_name), "{path:?}");
    let bytes = path.as_os_str().as_encoded_bytes();
    assert!(!bytes.is_empty() && bytes.len() < 4096 && !bytes.contains(&0));
}

/// Splits an input at its first line end.
pub(crate) fn two(bytes: &[u8]) -> [String; 2] {
    let at = bytes.iter().position(|byte| *byte == b'\n');
    let (first, second) = bytes.split_at(at.unwrap_or(bytes.len() / 2));
    [first, second.strip_prefix(b"\n").unwrap_or(second)]
        .map(|half| String::from_utf8_lossy(half).into_owned())
}

pub(crate) fn seeds(pairs: &[(&str, &str)]) -> Vec<Vec<u8>> {
    let joined = pairs.iter().map(|(one, other)| format!("{one}\n{other}"));
    joined.map(String::into_bytes).collect()
}
