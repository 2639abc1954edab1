//! The classifier as others see it: answers, models, training data, figures, and texts that are no texts.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::time::{Duration, Instant};

use document::classify::{
    Classifier, Corrected, Decision, Evaluation, Example, Judged, Kind, Label, Policy, Sample,
    Training, cross_validate, evaluate, read_examples,
};

const PAPER: &str = include_str!("classify/paper.txt");
const GERMAN_PAPER: &str = include_str!("classify/paper-de.txt");
const MANUAL: &str = include_str!("classify/manual.txt");
const SLIDES: &str = include_str!("classify/slides.txt");
const FORM: &str = include_str!("classify/form.txt");
const MINUTES: &str = include_str!("classify/minutes.txt");
const CV: &str = include_str!("classify/cv.txt");

#[test]
fn papers_are_told_from_the_rest_in_more_than_one_language() {
    let classifier = Classifier::built_in();
    for text in [PAPER, GERMAN_PAPER] {
        let answer = classifier.classify(text, None);
        assert!(answer.probability > 0.6, "{answer:?}");
        assert_eq!(answer.kind, Kind::Paper);
        assert_eq!(Policy::default().decide(&answer), Decision::Accept);
    }
    for (text, kind) in [
        (MANUAL, Kind::Manual),
        (SLIDES, Kind::Slides),
        (FORM, Kind::Form),
        (CV, Kind::Cv),
        (MINUTES, Kind::Other),
    ] {
        let answer = classifier.classify(text, None);
        assert!(answer.probability < 0.3, "{kind}: {answer:?}");
        assert_eq!(answer.kind, kind, "{answer:?}");
        assert_eq!(Policy::default().decide(&answer), Decision::Reject);
    }
}

#[test]
fn the_user_says_which_kinds_are_wanted() {
    let slides = Classifier::built_in().classify(SLIDES, None);
    let policy = Policy {
        kinds: vec![Kind::Slides],
        ..Policy::default()
    };

    assert_eq!(policy.decide(&slides), Decision::Accept);
    assert_eq!(
        policy.decide(&Classifier::built_in().classify(PAPER, None)),
        Decision::Reject
    );
    let sum: f64 = slides.kinds.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

#[test]
fn all_between_the_thresholds_is_unsure() {
    let answer = Classifier::built_in().classify(PAPER, None);
    let policy = Policy {
        accept: 1.0,
        reject: 0.0,
        ..Policy::default()
    };

    assert_eq!(policy.decide(&answer), Decision::Unsure);
    assert!(policy.check().is_ok());
    let wrong = Policy {
        accept: 0.2,
        reject: 0.6,
        ..policy
    };
    assert!(wrong.check().unwrap_err().contains("0.6 and 0.2"));
}

#[test]
fn reasons_add_up_to_the_answer() {
    let classifier = Classifier::built_in();
    let rest = |text: &str| {
        let p = classifier.classify(text, None).probability;
        let reasons = classifier.explain(text, None);
        (p / (1.0 - p)).ln() - reasons.iter().map(|reason| reason.weight).sum::<f64>()
    };

    let (paper, manual) = (rest(PAPER), rest(MANUAL));

    // What is left is the same for all documents.
    assert!((paper - manual).abs() < 1e-6, "{paper} {manual}");
    let reasons = classifier.explain(MANUAL, None);
    let you = reasons
        .iter()
        .find(|reason| reason.feature.as_deref() == Some("phrase.you"));
    assert!(you.unwrap().weight < 0.0);
}

#[test]
fn any_text_is_judged_in_bounded_time() {
    let classifier = Classifier::built_in();
    classifier.classify(PAPER, None);
    let one_line = "word ".repeat(10_000_000);
    let no_spaces = "ab".repeat(5_000_000);
    let right_to_left = "هذا نص طويل من اليمين إلى اليسار. ".repeat(20_000);
    let ideographs = "本文提出了一种方法。".repeat(50_000);
    let nul = "\0".repeat(1_000_000);
    let form_feeds = "\x0c".repeat(1_000_000);
    let marks = "\u{301}\u{200f}\u{fffd}".repeat(200_000);
    let brackets = "[1] [".repeat(100_000);
    let texts = [
        "",
        " ",
        "\n",
        "\x0c",
        "a",
        &one_line,
        &no_spaces,
        &right_to_left,
        &ideographs,
        &nul,
        &form_feeds,
        &marks,
        &brackets,
    ];
    for text in texts {
        let start = Instant::now();
        let answer = classifier.classify(text, None);
        assert!((0.0..=1.0).contains(&answer.probability), "{answer:?}");
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{:?}",
            start.elapsed()
        );
        classifier.explain(text, Some(usize::MAX));
        assert!((0.0..=1.0).contains(&Classifier::cdi_2012().classify(text, None).probability));
    }
}

#[test]
fn random_bytes_and_random_damage_do_no_harm() {
    let mut random = Random(7);
    for round in 0..300 {
        let mut bytes = match round % 3 {
            0 => vec![0; random.below(3_000)],
            1 => PAPER.as_bytes().to_vec(),
            _ => GERMAN_PAPER.as_bytes().to_vec(),
        };
        let damaged = if round % 3 == 0 {
            bytes.len()
        } else {
            random.below(200)
        };
        for at in 0..damaged {
            let at = if round % 3 == 0 {
                at
            } else {
                random.below(bytes.len())
            };
            bytes[at] = random.below(256) as u8;
        }
        let answer = Classifier::built_in().classify(&String::from_utf8_lossy(&bytes), None);
        assert!((0.0..=1.0).contains(&answer.probability));
    }
}

#[test]
fn a_text_that_was_cut_is_judged_like_the_whole() {
    let body = PAPER.repeat(60);
    let (head, tail) = (&body[..60_000], &body[body.len() - 15_000..]);
    let cut = format!("{head}\n[... text cut here ...]\n{tail}");

    let whole = Classifier::built_in().classify(&body, Some(50));
    let cut = Classifier::built_in().classify(&cut, Some(50));

    assert!(
        (whole.probability - cut.probability).abs() < 1e-3,
        "{whole:?} {cut:?}"
    );
    assert_eq!(whole.kind, cut.kind);
}

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
fn the_same_documents_give_the_same_model() {
    let samples = samples();
    let training = Training {
        folds: 3,
        rounds: 1,
        seed: 1,
    };

    let first = Classifier::train(&training, &samples, &mut |_, _| ()).unwrap();
    let second = Classifier::train(&training, &samples, &mut |_, _| ()).unwrap();

    assert_eq!(first.to_bytes().unwrap(), second.to_bytes().unwrap());
    assert_eq!(first.trained().unwrap().documents, samples.len());
    assert!(first.classify(PAPER, None).probability > 0.5);
    assert!(first.classify(MANUAL, None).probability < 0.5);
}

#[test]
fn too_few_documents_are_said_to_be_too_few() {
    let samples = samples();

    let error = Classifier::train(&Training::default(), &samples[..3], &mut |_, _| ()).unwrap_err();

    assert!(
        error
            .to_string()
            .contains("at least 5 of each and 4 sources"),
        "{error}"
    );
}

#[test]
fn cross_validation_answers_about_every_document() {
    let samples = samples();
    let training = Training {
        folds: 3,
        ..Training::default()
    };

    let answers = cross_validate(&training, &samples, &mut |_, _| ()).unwrap();

    assert_eq!(answers.len(), samples.len());
    let judged = examples().into_iter().zip(answers);
    let judged: Vec<Judged> = judged
        .map(|(example, answer)| Judged::new(example, answer))
        .collect();
    assert!(evaluate(&judged, &Policy::default()).all.accuracy.unwrap() > 0.8);
}

#[test]
fn figures_are_those_of_the_counts() {
    // Three papers, of which one is missed; three others, of which one is taken for a paper; one borderline.
    let rows = [
        ("academic", "CS", true, false, PAPER),
        ("academic", "CS", false, false, PAPER),
        ("academic", "biomedical", false, false, MANUAL),
        ("nonacademic", "none", false, false, MANUAL),
        ("nonacademic", "none", false, false, FORM),
        ("nonacademic", "none", true, false, PAPER),
        ("academic", "CS", false, true, MANUAL),
    ];
    let judged = rows.map(|(label, bucket, hard, borderline, text)| {
        let example = Example {
            label: if label == "academic" {
                Label::Academic
            } else {
                Label::Nonacademic
            },
            bucket: bucket.to_owned(),
            subtype: if label == "academic" {
                "paper"
            } else {
                "manual"
            }
            .to_owned(),
            hard,
            borderline,
            ..Example::default()
        };
        Judged::new(example, Classifier::built_in().classify(text, None))
    });

    let Evaluation {
        all,
        hard,
        bucket,
        subtype,
        borderline,
        ..
    } = evaluate(&judged, &Policy::default());

    assert_eq!((all.documents, all.academic), (6, 3));
    let close = |share: Option<f64>, expected: f64| (share.unwrap() - expected).abs() < 1e-9;
    for share in [all.accuracy, all.precision, all.recall, all.f1] {
        assert!(close(share, 2.0 / 3.0), "{all:?}");
    }
    assert!(close(all.false_positive_rate, 1.0 / 3.0));
    assert!(close(hard.accuracy, 0.5));
    assert!(close(bucket["CS"].recall, 1.0) && close(bucket["biomedical"].recall, 0.0));
    assert_eq!(bucket["none"].recall, None);
    assert!(close(subtype["manual"].false_positive_rate, 1.0 / 3.0));
    assert_eq!(borderline.all.documents, 1);
}

#[test]
fn the_rule_of_the_original_likes_papers_and_dislikes_you() {
    let rule = Classifier::cdi_2012();

    assert_eq!(rule.version(), "cdi-2012");
    assert!(
        rule.classify(
            &"this paper is about lichens. figure 1 shows them. ".repeat(40),
            None
        )
        .probability
            > 0.5
    );
    assert!(
        rule.classify(&"you can see your lamp. ".repeat(40), None)
            .probability
            < 0.5
    );
    assert!(rule.explain(PAPER, None).is_empty());
}

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
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &line).unwrap();

    for bytes in [line, packed.finish().unwrap()] {
        let mut read = Vec::new();
        read_examples(&bytes[..], |example| {
            read.push(example);
            Ok(())
        })
        .unwrap();

        assert_eq!(read, [correction.clone()]);
        assert_eq!(read[0].kind(), Kind::Thesis);
    }
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

fn samples() -> Vec<Sample> {
    examples().iter().map(Sample::new).collect()
}

/// Small variations of the texts above, from several sources.
fn examples() -> Vec<Example> {
    let texts = [
        (PAPER, Label::Academic, "paper"),
        (GERMAN_PAPER, Label::Academic, "paper"),
        (MANUAL, Label::Nonacademic, "manual"),
        (SLIDES, Label::Nonacademic, "slides"),
        (FORM, Label::Nonacademic, "form"),
        (MINUTES, Label::Nonacademic, "minutes_agenda"),
        (CV, Label::Nonacademic, "cv"),
    ];
    let mut examples = Vec::new();
    for source in 0..6 {
        for (text, label, subtype) in texts {
            let lines: Vec<&str> = text
                .split_inclusive('\n')
                .enumerate()
                .filter(|(at, _)| (at + source) % 9 != 4)
                .map(|(_, line)| line)
                .collect();
            examples.push(Example {
                label,
                subtype: subtype.to_owned(),
                source: format!("source {source}"),
                text: lines.concat(),
                ..Example::default()
            });
        }
    }
    examples
}

/// Numbers that look random and are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}
