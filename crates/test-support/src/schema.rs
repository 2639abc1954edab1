//! Checks answers against the XML schemas with xmllint.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The published OAI-PMH schemas; they are not part of the product. `None`, and a word about it, where they
/// are not there.
pub fn published() -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/schemas");
    match place.canonicalize() {
        Ok(place) => Some(place),
        Err(_) => {
            eprintln!("SKIPPED: the published schemas are not at ../shared/samples/schemas");
            None
        }
    }
}

/// Validates a document against a schema file; the complaints of xmllint are the error.
pub fn validate(schema: &Path, xml: &str) -> Result<(), String> {
    let mut child = Command::new("xmllint")
        .args(["--noout", "--nonet", "--huge", "--schema"])
        .arg(schema)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("xmllint is installed by scripts/setup test");
    let mut input = child.stdin.take().expect("stdin is piped");
    input
        .write_all(xml.as_bytes())
        .map_err(|error| error.to_string())?;
    drop(input);
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
