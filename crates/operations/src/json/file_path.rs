//! Where a file is, as JSON has it.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use utoipa::ToSchema;

/// The path of a file on the machine that answers, or its address in a store. For people it is as the data directory was
/// given; in JSON it is absolute, and bytes that are not UTF-8 are replaced.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = String)]
pub struct FilePath(pub(crate) PathBuf);

impl FilePath {
    /// The path, as the data directory was given.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    fn is_address(&self) -> bool {
        self.0.to_str().is_some_and(|path| path.contains("://"))
    }
}

impl std::fmt::Display for FilePath {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.0.display())
    }
}

impl Serialize for FilePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_absolute() || self.is_address() {
            return serializer.collect_str(self);
        }
        match std::path::absolute(&self.0) {
            Ok(path) => serializer.collect_str(&path.display()),
            Err(_) => serializer.collect_str(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_in_json_and_addresses_stay() {
        let json = |path: &str| serde_json::to_value(FilePath(path.into())).unwrap();
        let here = std::env::current_dir().unwrap().join("data/a.xml");
        assert_eq!(json("./data/a.xml"), here.to_str().unwrap());
        assert_eq!(json("/data/a.xml"), "/data/a.xml");
        assert_eq!(json("s3://bucket/a.pdf"), "s3://bucket/a.pdf");
        assert_eq!(FilePath("data/a.xml".into()).to_string(), "data/a.xml");
    }
}
