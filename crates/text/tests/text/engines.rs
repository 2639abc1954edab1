//! Engines that are there, missing, slow and dying.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use text::{Extractor, Limit, Outcome};

use super::{extract, extract_with, extractor, made, options};

const PDF: &str = "application/pdf";
const POSTSCRIPT: &str = "application/postscript";

/// A folder with programs of these names that do as the scripts say.
fn programs(scripts: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, script) in scripts {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    folder
}

fn extractor_with(path: &Path) -> Extractor {
    let mut options = options();
    options.path = path.into();
    Extractor::new(options)
}

#[test]
fn a_document_has_text_pages_and_an_engine() {
    let extracted = extract(
        &made::pdf(&[made::LINE, "and a second page, which has some more words"]),
        PDF,
    );
    assert_eq!(extracted.outcome, Outcome::Text);
    assert_eq!(extracted.pages, Some(2));
    assert_eq!(extracted.text.matches('\x0C').count(), 2);
    assert!(extracted.text.starts_with(made::LINE), "{extracted:?}");
    let engine = extracted.engine.unwrap();
    let version = engine.strip_prefix("pdftotext ").unwrap();
    assert!(
        version.starts_with(|c: char| c.is_ascii_digit()),
        "{engine}"
    );
}

#[test]
fn the_first_pages_are_enough_if_so_asked() {
    let mut options = options();
    options.pages = Some(2);
    let document = made::pdf(&[made::LINE; 5]);
    let extracted = extract_with(&Extractor::new(options), &document, PDF);
    assert_eq!(extracted.pages, Some(2));
}

#[test]
fn blank_pages_are_told_from_pictures() {
    assert_eq!(extract(&made::pdf(&["", ""]), PDF).outcome, Outcome::Empty);
    assert_eq!(extract(&made::drawn_pdf(), PDF).outcome, Outcome::ImageOnly);
}

#[test]
fn a_text_layer_without_readable_letters_is_read_from_the_picture_of_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("document");
    std::fs::write(&file, made::unreadable_pdf(made::LINE)).unwrap();
    let extractor = extractor();

    let extracted = extractor.extract(&file, PDF);
    let recognised = extractor.recognise(&file, PDF, Some(1));

    assert_eq!(extracted.outcome, Outcome::ImageOnly, "{extracted:?}");
    let note = extracted.note.unwrap();
    assert!(note.contains("no readable letters"), "{note}");
    assert!(
        recognised.text.contains("quick brown fox"),
        "{recognised:?}"
    );
}

#[test]
fn postscript_is_read_however_it_is_wrapped() {
    let bare = made::postscript(made::LINE);
    let job = [
        &b"\x1B%-12345X@PJL ENTER LANGUAGE=POSTSCRIPT\r\n"[..],
        &bare,
        b"\x04\x1B%-12345X",
    ]
    .concat();
    let mut dos = vec![0xC5, 0xD0, 0xD3, 0xC6, 30, 0, 0, 0];
    dos.extend((bare.len() as u32).to_le_bytes());
    dos.extend([0; 18]);
    dos.extend(&bare);
    dos.extend(b"a preview in some other format");
    let after_control_d = [b"\x04", &bare[..]].concat();
    for document in [bare.clone(), after_control_d, job, dos] {
        let extracted = extract(&document, POSTSCRIPT);
        assert_eq!(extracted.outcome, Outcome::Text, "{extracted:?}");
        assert!(extracted.text.contains("quick brown fox"), "{extracted:?}");
        let engine = extracted.engine.unwrap();
        assert!(
            engine.starts_with("ghostscript ") && engine.contains(" + pdftotext "),
            "{engine}"
        );
    }
    let packed = made::gzip(&bare);
    let extracted = extract(&packed, "application/gzip");
    assert_eq!(extracted.outcome, Outcome::Text, "{extracted:?}");

    // The checksum at the end is missing; what came before it is there.
    let extracted = extract(&packed[..packed.len() - 6], "application/gzip");
    assert_eq!(extracted.outcome, Outcome::Text, "{extracted:?}");
    assert!(extracted.note.is_some());
}

#[test]
fn pdf_is_read_without_any_program() {
    let nothing = tempfile::tempdir().unwrap();
    let document = made::pdf(&[made::LINE, "and a second page, which has some more words"]);

    let extracted = extract_with(&extractor_with(nothing.path()), &document, PDF);

    assert_eq!(extracted.outcome, Outcome::Text, "{extracted:?}");
    assert_eq!(extracted.pages, Some(2));
    assert_eq!(extracted.text.matches('\x0C').count(), 2);
    assert!(extracted.text.starts_with(made::LINE), "{extracted:?}");
    let engine = extracted.engine.unwrap();
    assert_eq!(engine, format!("garner-pdf {}", env!("CARGO_PKG_VERSION")));
    let mut options = options();
    options.path = nothing.path().into();
    options.pages = Some(1);
    let extracted = extract_with(&Extractor::new(options), &document, PDF);
    assert_eq!(extracted.pages, Some(1));
}

#[test]
fn postscript_is_read_where_pdftotext_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let ghostscript = ["/usr/local/bin/gs", "/usr/bin/gs"]
        .into_iter()
        .find(|path| Path::new(path).exists())
        .unwrap();
    std::os::unix::fs::symlink(ghostscript, folder.path().join("gs")).unwrap();

    let document = made::postscript(made::LINE);
    let extracted = extract_with(&extractor_with(folder.path()), &document, POSTSCRIPT);

    assert_eq!(extracted.outcome, Outcome::Text, "{extracted:?}");
    assert!(extracted.text.contains("quick brown fox"));
    assert_eq!(extracted.pages, Some(1));
    let engine = extracted.engine.unwrap();
    assert!(
        engine.starts_with("ghostscript ") && engine.contains(" + garner-pdf "),
        "{engine}"
    );
}

#[test]
fn a_missing_engine_is_an_outcome_of_its_own() {
    let nothing = tempfile::tempdir().unwrap();
    let extractor = extractor_with(nothing.path());
    let extracted = extract_with(&extractor, &made::postscript(made::LINE), POSTSCRIPT);
    assert_eq!(extracted.outcome, Outcome::EngineMissing);
    assert!(extracted.note.unwrap().contains("package ghostscript"));
    let missing: Vec<_> = extractor
        .missing()
        .iter()
        .map(|missing| missing.program)
        .collect();
    assert_eq!(
        missing,
        ["pdftotext", "pdfimages", "pdftoppm", "gs", "tesseract"]
    );
    // A format that needs none is read.
    assert_eq!(
        extract_with(&extractor, b"text", "text/plain").outcome,
        Outcome::Text
    );
}

#[test]
fn an_engine_that_dies_costs_one_document() {
    let folder = programs(&[("gs", "echo begun; kill -9 $$")]);
    let extractor = extractor_with(folder.path());
    let document = made::postscript(made::LINE);
    let extracted = extract_with(&extractor, &document, POSTSCRIPT);
    assert_eq!(extracted.outcome, Outcome::Failed);
    assert!(extracted.note.unwrap().contains("signal 9"));

    std::fs::remove_file(folder.path().join("gs")).unwrap();
    assert_eq!(
        extract_with(&extractor, &document, POSTSCRIPT).outcome,
        Outcome::EngineMissing
    );
}

#[test]
fn what_pdftotext_dies_on_is_read_by_another() {
    let folder = programs(&[("pdftotext", "echo begun; kill -9 $$")]);
    let extractor = extractor_with(folder.path());
    let document = made::pdf(&[made::LINE]);

    let extracted = extract_with(&extractor, &document, PDF);
    assert_eq!(extracted.outcome, Outcome::Text, "{extracted:?}");
    assert!(extracted.engine.unwrap().starts_with("garner-pdf "));

    // Nobody reads this one, and the first to try says why.
    let extracted = extract_with(&extractor, b"%PDF-1.4\nnothing", PDF);
    assert_eq!(extracted.outcome, Outcome::Failed);
    assert!(extracted.note.unwrap().contains("signal 9"));

    std::fs::write(
        folder.path().join("pdftotext"),
        format!("#!/bin/sh\nprintf '{}\\f'\n", made::LINE),
    )
    .unwrap();
    let extracted = extract_with(&extractor, &document, PDF);
    assert!(extracted.engine.unwrap().starts_with("pdftotext"));
}

#[test]
fn an_engine_that_hangs_is_ended_and_its_text_kept() {
    let folder = programs(&[("pdftotext", "echo begun; exec sleep 60")]);
    let mut options = options();
    options.path = folder.path().into();
    options.wall = Duration::from_millis(1500);
    let begun = Instant::now();
    let extracted = extract_with(&Extractor::new(options), &made::pdf(&[made::LINE]), PDF);
    assert_eq!(extracted.outcome, Outcome::Limit(Limit::Time));
    assert_eq!(extracted.text, "begun\n");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn many_threads_share_the_places() {
    let mut options = options();
    options.parallel = 2;
    let extractor = Extractor::new(options);
    let document = made::pdf(&[made::LINE]);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..3 {
                    assert_eq!(
                        extract_with(&extractor, &document, PDF).outcome,
                        Outcome::Text
                    );
                }
            });
        }
    });
}

#[test]
fn a_pipe_is_no_document() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    let extracted = extractor().extract(&pipe, PDF);
    assert_eq!(extracted.outcome, Outcome::Failed);
    assert_eq!(
        extractor().extract(folder.path(), PDF).outcome,
        Outcome::Failed
    );
    assert_eq!(
        extractor().extract(Path::new("/nowhere"), PDF).outcome,
        Outcome::Failed
    );
}

#[test]
fn nothing_is_left_behind_in_the_temporary_directory() {
    let temporary = tempfile::tempdir().unwrap();
    let mut options = options();
    options.temporary = temporary.path().into();
    let extractor = Extractor::new(options);
    extract_with(&extractor, &made::postscript(made::LINE), POSTSCRIPT);
    extract_with(&extractor, b"%!PS\n(unclosed", POSTSCRIPT);
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn scans_are_read_in_the_languages_of_their_script() {
    let data = tempfile::tempdir().unwrap();
    let programs = programs(&[
        ("pdftoppm", "printf 'P5 1 1 255\\n\\0'"),
        (
            "tesseract",
            "case \"$*\" in
                --list-langs) printf 'List of languages in %s\\neng\\nosd\\nrus\\nukr\\n' \"$TESSDATA_PREFIX\";;
                *'--psm 0'*) printf 'Script: Cyrillic\\nScript confidence: 5.00\\n';;
                *) printf '%s of %s, in letters enough for a page that has a text of some length' \"$4\" \"$TESSDATA_PREFIX\";;
            esac",
        ),
    ]);
    let mut extractor_options = options();
    extractor_options.path = programs.path().into();
    extractor_options.ocr.data = Some(data.path().to_owned());
    let extractor = Extractor::new(extractor_options);
    let file = data.path().join("document");
    std::fs::write(&file, made::drawn_pdf()).unwrap();

    let recognised = extractor.recognise(&file, PDF, Some(1));

    let directory = data.path().display().to_string();
    assert!(
        recognised
            .text
            .starts_with(&format!("rus+ukr+eng of {directory}")),
        "{recognised:?}"
    );
    assert_eq!(extractor.languages().unwrap(), ["eng", "rus", "ukr"]);
    assert!(extractor.tells_scripts());
}

#[test]
fn a_language_that_is_not_installed_is_named_with_its_package() {
    let mut options = options();
    options.ocr.languages = vec!["eng".to_owned(), "zzz".to_owned()];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("document");
    std::fs::write(&file, made::drawn_pdf()).unwrap();

    let recognised = Extractor::new(options).recognise(&file, PDF, Some(1));

    assert_eq!(recognised.outcome, Outcome::EngineMissing);
    let note = recognised.note.unwrap();
    assert!(
        note.contains("`zzz`") && note.contains("tesseract-ocr-zzz"),
        "{note}"
    );
}
