//! The text of documents, and what is said of those that have none.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::command_line::{stderr, stdout};
use crate::garner;

const PDF: &str = "%PDF-1.4\n\
    1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
    2 0 obj\n<< /Type /Pages /Count 1 /Kids [3 0 R] >>\nendobj\n\
    3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
    /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>\nendobj\n\
    4 0 obj\n<< /Length 104 >>\nstream\n\
    BT /F1 12 Tf 50 700 Td (The quick brown fox jumps over the lazy dog and runs away into the wood) Tj ET\n\
    endstream\nendobj\ntrailer\n<< /Root 1 0 R /Size 5 >>\n%%EOF\n";

/// The output of `garner text` for a file with this content and a neutral name.
fn text(content: &[u8], options: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("document");
    fs::write(&file, content).unwrap();
    garner().arg("text").arg(file).args(options).output()
}

#[test]
fn the_text_goes_to_stdout_and_what_is_known_to_stderr() {
    let output = text(PDF.as_bytes(), &[]);

    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let line = "The quick brown fox jumps over the lazy dog and runs away into the wood\n";
    assert_eq!(
        stdout(&output).trim_end_matches(['\n', '\x0C']),
        line.trim_end()
    );
    let told = stderr(&output);
    assert!(
        told.contains("application/pdf: text, 1 pages, 15 words, by pdftotext "),
        "{told}"
    );
}

#[test]
fn json_has_the_outcome_the_engine_the_pages_and_the_words() {
    let output = text(PDF.as_bytes(), &["--json"]);

    let said: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(said["media_type"], "application/pdf");
    assert_eq!(
        (&said["outcome"], &said["pages"], &said["words"]),
        (&"text".into(), &1.into(), &15.into())
    );
    assert!(said["engine"].as_str().unwrap().starts_with("pdftotext "));
    assert!(
        said["text"]
            .as_str()
            .unwrap()
            .starts_with("The quick brown fox")
    );
}

#[test]
fn a_text_with_control_characters_is_read_without_them() {
    let output = text(
        b"An abstract with a \x01 control character and NUL \0.",
        &[],
    );

    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "An abstract with a  control character and NUL ."
    );
}

#[test]
fn what_has_no_text_says_why() {
    let damaged = text(b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\n", &["--json"]);
    let said: Value = serde_json::from_str(&stdout(&damaged)).unwrap();
    assert_eq!(said["outcome"], "damaged");
    assert_eq!(damaged.status.code(), Some(1));

    let empty = text(b"", &[]);
    assert!(stderr(&empty).contains("empty"), "{}", stderr(&empty));

    let none = garner().args(["text", "/nowhere/document"]).output();
    assert_eq!(none.status.code(), Some(1));
    assert!(
        stderr(&none).starts_with("garner: cannot read `/nowhere/document`"),
        "{}",
        stderr(&none)
    );
}

#[test]
fn a_missing_program_is_named_with_its_package() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("document");
    let told = |content: &str| {
        fs::write(&file, content).unwrap();
        let output = garner().arg("text").arg(&file).env("PATH", "").output();
        stderr(&output)
    };

    let postscript = told("%!PS-Adobe-3.0\n72 700 moveto (text) show showpage\n");
    assert!(
        postscript.contains("engine-missing") && postscript.contains("package ghostscript"),
        "{postscript}"
    );

    // PDF is read without any.
    let pdf = told(PDF);
    assert!(
        pdf.contains("application/pdf: text, 1 pages, 15 words, by garner-pdf "),
        "{pdf}"
    );
}

#[test]
fn a_helper_beside_garner_is_taken_only_if_it_understands_and_is_nobody_elses() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("garner");
    fs::copy(env!("CARGO_BIN_EXE_garner"), &own).unwrap();
    let document = folder.path().join("document");
    fs::write(&document, PDF).unwrap();
    let helper = folder.path().join("garner-confine");
    let opened = |mode: u32| {
        fs::set_permissions(&helper, PermissionsExt::from_mode(mode)).unwrap();
        let output = Command::new(&own).arg("text").arg(&document).output();
        let output = output.unwrap();
        assert!(stdout(&output).contains("quick brown fox"), "{output:?}");
    };

    // Something that is no helper, and one that everybody may change: garner does it itself.
    fs::write(&helper, "#!/bin/sh\nexit 1\n").unwrap();
    opened(0o755);
    fs::remove_file(&helper).unwrap();
    fs::copy("/bin/false", &helper).unwrap();
    opened(0o755);
    opened(0o777);

    // The real one, which has the same make.
    let real = Path::new(env!("CARGO_BIN_EXE_garner")).with_file_name("garner-confine");
    if !real.exists() {
        return;
    }
    let make = |program: &mut Command| stdout(&program.arg("--make").output().unwrap());
    assert_eq!(
        make(&mut Command::new(&real)),
        make(Command::new(&own).arg("confine"))
    );
    fs::copy(&real, &helper).unwrap();
    opened(0o755);
}
