//! Files of labelled documents.

use std::io::Write;

use classifier::{Corrected, Example, Kind, Label, read_examples};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::PAPER;

#[test]
fn corrections_are_training_data_too() {
    let correction = Example {
        label: Label::Academic,
        kind: Some(Kind::Thesis),
        text: PAPER.to_owned(),
        source: "archive.example".to_owned(),
        corrects: Some(Corrected {
            model: "0123456789ab".to_owned(),
            probability: 0.2,
            ..Corrected::default()
        }),
        ..Example::default()
    };
    let mut line = serde_json::to_vec(&correction).unwrap();
    line.extend_from_slice(b"\n\n");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&line).unwrap();

    for bytes in [line, packed.finish().unwrap()] {
        let mut read = Vec::new();
        read_examples(&bytes[..], |example| {
            read.push(example);
            Ok(())
        })
        .unwrap();

        assert_eq!(read, std::slice::from_ref(&correction));
        assert_eq!(read[0].kind(), Kind::Thesis);
    }
}

#[test]
fn null_is_as_good_as_nothing_and_a_byte_order_mark_is_skipped() {
    let data = "\u{FEFF}{\"id\": null, \"label\": \"academic\", \"subtype\": null, \"kind\": null, \"borderline\": null, \
                \"hard\": null, \"bucket\": null, \"field\": null, \"source\": null, \"pages\": null, \"text\": \"a\", \
                \"corrects\": {\"model\": null, \"probability\": null}}\n";

    let mut read = Vec::new();
    read_examples(data.as_bytes(), |example| {
        read.push(example);
        Ok(())
    })
    .unwrap();

    let expected = Example {
        label: Label::Academic,
        text: "a".to_owned(),
        corrects: Some(Corrected::default()),
        ..Example::default()
    };
    assert_eq!(read, [expected]);
}

#[test]
fn a_wrong_line_of_training_data_is_named() {
    let data =
        b"{\"label\": \"academic\", \"text\": \"a\"}\n{\"label\": \"nice\", \"text\": \"\"}\n";

    let error = read_examples(&data[..], |_| Ok(())).unwrap_err();

    assert!(
        error
            .to_string()
            .starts_with("line 2 is not a labelled document: unknown variant `nice`"),
        "{error}"
    );
}

#[test]
fn lines_that_are_no_documents_are_named_whatever_is_wrong() {
    let fine = "{\"label\": \"academic\", \"text\": \"a\"}\n";
    for (wrong, said) in [
        (&b"{\"label\": \"academic\"}\n"[..], "missing field `text`"),
        (
            b"{\"label\": \"academic\", \"text\": \"a",
            "EOF while parsing",
        ),
        (
            b"{\"label\": \"academic\", \"text\": \"\0\"}",
            "control character",
        ),
        (
            b"{\"label\": \"academic\", \"text\": \"\xff\"}",
            "invalid unicode",
        ),
        (b"\0\0\0", "expected value"),
        (b"[[[[[[[[", "invalid type"),
    ] {
        let data = [fine.as_bytes(), b"\n", wrong].concat();

        let error = read_examples(&data[..], |_| Ok(()))
            .unwrap_err()
            .to_string();

        assert!(
            error.starts_with("line 3 is not a labelled document: "),
            "{error}"
        );
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn half_a_compressed_file_is_said_to_be_damaged() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed
        .write_all(b"{\"label\": \"academic\", \"text\": \"a\"}\n")
        .unwrap();
    let packed = packed.finish().unwrap();

    let error = read_examples(&packed[..packed.len() - 12], |_| Ok(())).unwrap_err();

    assert!(
        error.to_string().contains("compressed data is damaged"),
        "{error}"
    );
}

#[test]
fn a_file_that_unpacks_without_end_is_given_up() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    let line = [&[b' '; 1 << 20][..], b"\n"].concat();
    for _ in 0..80 {
        packed.write_all(&line).unwrap();
    }
    let packed = packed.finish().unwrap();

    let error = read_examples(&packed[..], |_| Ok(())).unwrap_err();

    assert!(
        error.to_string().contains("more than 100 times its size"),
        "{error}"
    );
}

#[test]
fn a_line_of_fifty_megabytes_is_read() {
    let text = "x".repeat(50 << 20);
    let line = format!("{{\"label\": \"nonacademic\", \"text\": \"{text}\"}}\n");
    let mut lengths = Vec::new();

    read_examples(line.as_bytes(), |example| {
        lengths.push(example.text.len());
        Ok(())
    })
    .unwrap();

    assert_eq!(lengths, [50 << 20]);
}

#[test]
fn a_kind_that_is_none_is_refused_with_those_there_are_and_an_unknown_subtype_is_another() {
    let line = |field: &str, name: &str| {
        format!("{{\"label\": \"academic\", \"{field}\": \"{name}\", \"text\": \"a\"}}\n")
    };
    let long = "x".repeat(100_000);

    let unknown = read_examples(line("kind", "novel").as_bytes(), |_| Ok(())).unwrap_err();
    let endless = read_examples(line("kind", &long).as_bytes(), |_| Ok(())).unwrap_err();
    let mut kinds = Vec::new();
    read_examples(line("subtype", "cake").as_bytes(), |example| {
        kinds.push(example.kind());
        Ok(())
    })
    .unwrap();

    let told = unknown.to_string();
    assert!(
        told.starts_with("line 1") && told.contains("`novel`") && told.contains("`syllabus`"),
        "{told}"
    );
    assert!(endless.to_string().len() < 1_000);
    assert_eq!(kinds, [Kind::Other]);
}
