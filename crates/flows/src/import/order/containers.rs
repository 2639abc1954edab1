//! Which containers are opened, by their names: as somebody writes them, and in the parameters of a job.

use anyhow::bail;
use document::container::Containers;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The containers that are named; `none` is none.
pub fn containers(names: &[String]) -> anyhow::Result<Containers> {
    let mut open = Containers {
        gzip: false,
        tar: false,
        zip: false,
    };
    for name in names {
        match name.trim() {
            "gzip" => open.gzip = true,
            "tar" => open.tar = true,
            "zip" => open.zip = true,
            "none" if names.len() == 1 => {}
            name => {
                bail!("`{name}` is no container that can be opened; write gzip, tar, zip or none")
            }
        }
    }
    Ok(open)
}

/// Writes them as a list of their names.
pub(super) fn serialize<S: Serializer>(open: &Containers, to: S) -> Result<S::Ok, S::Error> {
    let all = [(open.gzip, "gzip"), (open.tar, "tar"), (open.zip, "zip")];
    let names: Vec<_> = all
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, name)| *name)
        .collect();
    names.serialize(to)
}

/// Reads such a list.
pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Containers, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    containers(&names).map_err(serde::de::Error::custom)
}
