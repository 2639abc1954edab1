//! The text of documents: real, made up, broken and hostile ones. Needs poppler-utils, ghostscript and tesseract-ocr.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

#[path = "text/engines.rs"]
mod engines;
#[path = "text/hostile.rs"]
mod hostile;
#[path = "text/made.rs"]
mod made;
#[path = "text/ours.rs"]
mod ours;
#[path = "text/real.rs"]
mod real;

use std::path::Path;
use std::time::Duration;

use process::Confiner;
use text::{ExtractOptions, Extracted, Extractor};

fn options() -> ExtractOptions {
    let program = env!("CARGO_BIN_EXE_garner-confine");
    let mut options = ExtractOptions::new(Confiner::new(program, [""; 0]));
    // Other tests run beside these.
    options.wall = Duration::from_secs(120);
    options
}

fn extractor() -> Extractor {
    Extractor::new(options())
}

/// The text of bytes.
fn extract(bytes: &[u8], media_type: &str) -> Extracted {
    extract_with(&extractor(), bytes, media_type)
}

fn extract_with(extractor: &Extractor, bytes: &[u8], media_type: &str) -> Extracted {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("document");
    std::fs::write(&file, bytes).unwrap();
    extractor.extract(&file, media_type)
}

/// The words of a text, for comparing.
fn words(text: &str) -> std::collections::HashSet<String> {
    let words = text.split(|c: char| !c.is_alphabetic());
    words
        .filter(|word| word.chars().count() >= 3)
        .map(str::to_lowercase)
        .collect()
}

/// Which share of the first's words is among the second's.
fn share(of: &str, among: &str) -> f64 {
    let (of, among) = (words(of), words(among));
    of.intersection(&among).count() as f64 / of.len().max(1) as f64
}

fn folder_of_samples() -> Option<std::path::PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/dcf");
    let folder = std::env::var_os("GARNER_SAMPLES").unwrap_or_else(|| beside.into());
    let folder = Path::new(&folder).to_owned();
    if folder.join("pdf/manifest.jsonl").exists() {
        return Some(folder);
    }
    eprintln!("not tested: there are no samples in {}", folder.display());
    None
}
