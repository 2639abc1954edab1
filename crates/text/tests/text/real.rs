//! Real documents, where there are some: their text is compared roughly with what others found.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use document::media_type;
use serde_json::Value;
use text::{Extractor, Outcome};

use super::{extractor, folder_of_samples, options, share};

fn manifest(folder: &Path) -> Vec<Value> {
    let lines = std::fs::read_to_string(folder.join("pdf/manifest.jsonl")).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn texts(folder: &Path) -> HashMap<String, String> {
    let file = std::fs::File::open(folder.join("train/train.jsonl.gz")).unwrap();
    let lines = BufReader::new(flate2::read::GzDecoder::new(file)).lines();
    let entries = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap().to_owned();
    entries
        .map(|entry| (text(&entry, "id"), text(&entry, "text")))
        .collect()
}

fn type_of(file: &Path) -> String {
    let bytes = std::fs::read(file).unwrap();
    media_type::decide(None, &bytes[..bytes.len().min(media_type::HEAD)]).decided
}

#[test]
fn documents_of_all_kinds_have_the_text_that_others_found() {
    let Some(folder) = folder_of_samples() else {
        return;
    };
    let known = texts(&folder);
    let extractor = extractor();
    for entry in manifest(&folder) {
        let Some(text) = entry["id"].as_str().and_then(|id| known.get(id)) else {
            continue;
        };
        let file = folder.join("pdf").join(entry["file"].as_str().unwrap());
        let extracted = extractor.extract(&file, &type_of(&file));
        assert_eq!(
            extracted.outcome,
            Outcome::Text,
            "{}: {:?}",
            file.display(),
            extracted.note
        );
        assert_eq!(
            extracted.pages.map(u64::from),
            entry["pages"].as_u64(),
            "{}",
            file.display()
        );
        let share = share(text, &extracted.text);
        assert!(share > 0.95, "{}: {share}", file.display());
    }
}

#[test]
fn our_own_reader_finds_the_same_pages_and_words() {
    let Some(folder) = folder_of_samples() else {
        return;
    };
    let known = texts(&folder);
    let nothing = tempfile::tempdir().unwrap();
    let mut options = options();
    options.path = nothing.path().into();
    let extractor = Extractor::new(options);
    for entry in manifest(&folder) {
        let Some(text) = entry["id"].as_str().and_then(|id| known.get(id)) else {
            continue;
        };
        let file = folder.join("pdf").join(entry["file"].as_str().unwrap());
        if type_of(&file) != "application/pdf" {
            continue;
        }
        let extracted = extractor.extract(&file, "application/pdf");
        let name = file.display();
        assert_eq!(extracted.outcome, Outcome::Text, "{name}: {extracted:?}");
        assert_eq!(
            extracted.pages.map(u64::from),
            entry["pages"].as_u64(),
            "{name}"
        );
        let found = share(text, &extracted.text);
        assert!(found > 0.85, "{name}: {found}");
    }
}

#[test]
fn postscript_has_about_as_many_words_as_others_found() {
    let Some(folder) = folder_of_samples() else {
        return;
    };
    let extractor = extractor();
    for entry in manifest(&folder) {
        let Some(expected) = entry["ps2ascii_words"].as_f64() else {
            continue;
        };
        let file = folder.join("pdf").join(entry["file"].as_str().unwrap());
        let extracted = extractor.extract(&file, &type_of(&file));
        assert_eq!(
            extracted.outcome,
            Outcome::Text,
            "{}: {:?}",
            file.display(),
            extracted.note
        );
        let found = extracted.words() as f64;
        assert!(
            found > 0.75 * expected && found < 1.3 * expected,
            "{}: {found} of {expected}",
            file.display()
        );
        // Bitmap fonts of TeX: ligatures and the letter c are lost if their characters are not named.
        let words = super::words(&extracted.text);
        assert!(
            words.contains("the") || words.contains("les"),
            "{}",
            file.display()
        );
    }
}

#[test]
fn ligatures_of_bitmap_fonts_are_letters() {
    let Some(folder) = folder_of_samples() else {
        return;
    };
    for (name, word) in [
        ("ps-aca-paper-bfa7557c32.ps.gz", "artificial"),
        ("ps-aca-paper-1b24118542.ps.gz", "definitely"),
        ("ps-aca-paper-3f16e30ba5.ps.gz", "difficult"),
    ] {
        let file = folder.join("pdf").join(name);
        let text = extractor().extract(&file, "application/gzip").text;
        let text = text.replace('ﬁ', "fi").replace('ﬃ', "ffi").to_lowercase();
        assert!(text.contains(word), "{name} has no {word}");
    }
}

#[test]
fn scans_are_recognised_as_such_and_read_when_asked() {
    let Some(folder) = folder_of_samples() else {
        return;
    };
    let mut options = options();
    options.ocr.page_wall = std::time::Duration::from_secs(300);
    let extractor = Extractor::new(options);
    for entry in manifest(&folder) {
        let name = entry["file"].as_str().unwrap();
        if !name.starts_with("scan-") {
            continue;
        }
        let file = folder.join("pdf").join(name);
        let extracted = extractor.extract(&file, "application/pdf");
        assert_eq!(extracted.outcome, Outcome::ImageOnly, "{name}");
        if !name.contains("minutes_agenda") && !name.contains("157c7bbc66") {
            continue;
        }
        let recognised = extractor.recognise(&file, "application/pdf", Some(1));
        assert_eq!(
            recognised.outcome,
            Outcome::Text,
            "{name}: {:?}",
            recognised.note
        );
        assert_eq!(recognised.pages, Some(1));
        assert!(recognised.words() > 100, "{name}: {}", recognised.words());
        assert!(recognised.engine.unwrap().contains("tesseract "));
    }
}
