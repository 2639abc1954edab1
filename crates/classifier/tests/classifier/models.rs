//! Models as files, whole and damaged.

use classifier::Classifier;

use super::{PAPER, Random};

#[test]
fn a_model_that_is_written_and_read_answers_the_same() {
    let bytes = Classifier::built_in().to_bytes().unwrap();

    let read = Classifier::read(&bytes).unwrap();

    assert_eq!(read.version(), Classifier::built_in().version());
    assert_eq!(
        read.classify(PAPER, None),
        Classifier::built_in().classify(PAPER, None)
    );
    assert!(bytes.len() < 3_000_000, "a model is small");
}

#[test]
fn damaged_models_are_refused_or_harmless() {
    let bytes = Classifier::built_in().to_bytes().unwrap();
    for wrong in [
        &b""[..],
        b"{}",
        b"{}\n",
        &bytes[..bytes.len() - 3],
        &bytes[1..],
    ] {
        assert!(Classifier::read(wrong).is_err());
    }
    let mut random = Random(3);
    for _ in 0..30 {
        let mut damaged = bytes.clone();
        for _ in 0..20 {
            let at = random.below(damaged.len());
            damaged[at] = random.below(256) as u8;
        }
        if let Ok(classifier) = Classifier::read(&damaged) {
            classifier.classify(PAPER, None);
        }
    }
}

#[test]
fn models_with_numbers_that_are_none_are_refused() {
    let bytes = Classifier::built_in().to_bytes().unwrap();
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    for (number, with) in [("bias", "1e39"), ("word_scale", "-1e30"), ("spread", "0.0")] {
        let name = format!("\"{number}\":");
        let from = head.find(&name).unwrap() + name.len();
        let to = from + head[from..].find([',', '}']).unwrap();
        let mut wrong = format!("{}{with}{}", &head[..from], &head[to..]).into_bytes();
        wrong.extend_from_slice(&bytes[end..]);

        let error = Classifier::read(&wrong).unwrap_err().to_string();

        assert!(error.contains("a weight is no number"), "{number}: {error}");
    }
}

#[test]
fn models_of_other_versions_are_named() {
    let bytes = Classifier::built_in().to_bytes().unwrap();
    let replaced = |from: &str, to: &str| {
        let at = bytes
            .windows(from.len())
            .position(|part| part == from.as_bytes());
        let at = at.unwrap();
        [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
    };

    let format = Classifier::read(&replaced("garner classifier", "gatherer classifier"));
    let older = Classifier::read(&replaced("garner classifier 2", "garner classifier 1"));
    let older = older.unwrap_err().to_string();
    assert!(
        older.contains("of another version, `garner classifier 1`"),
        "{older}"
    );
    let feature = Classifier::read(&replaced("\"layout.pages\"", "\"layout.sheets\""));

    assert!(
        format
            .unwrap_err()
            .to_string()
            .contains("its format is `gatherer classifier")
    );
    assert!(
        feature
            .unwrap_err()
            .to_string()
            .contains("`layout.sheets`, which this version does not measure")
    );
}
