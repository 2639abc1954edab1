//! Models that are learnt.

use std::fs::File;
use std::path::Path;

use classifier::{
    Classifier, Example, Judged, Label, Policy, Sample, Training, Vocabulary, cross_validate,
    evaluate, hold_out, read_examples,
};

use super::{MANUAL, PAPER, SLIDES, labelled, samples};

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
    let judged = labelled().into_iter().zip(answers);
    let judged: Vec<Judged> = judged
        .map(|(example, answer)| Judged::new(example, answer))
        .collect();
    assert!(evaluate(&judged, &Policy::default()).all.accuracy.unwrap() > 0.8);
}

#[test]
fn a_group_is_judged_by_a_model_that_saw_neither_it_nor_its_sources() {
    // Slides that are called papers: whoever has seen them takes slides for papers.
    let odd = |number: usize| Example {
        label: Label::Academic,
        subtype: "paper".to_owned(),
        source: "odd".to_owned(),
        text: format!("{SLIDES}\nSlide {number}\n"),
        ..Example::default()
    };
    let mut examples = labelled();
    let usual = examples.len();
    let mut groups = [["one"; 21], ["two"; 21]].concat();
    examples.extend((0..40).map(odd));
    groups.extend([["held out"; 20], ["of the same source"; 20]].concat());
    let samples: Vec<Sample> = examples.iter().map(Sample::new).collect();
    let training = Training {
        folds: 3,
        rounds: 1,
        seed: 1,
    };

    let answers = hold_out(&training, &samples, &groups, &mut |_, _| ()).unwrap();
    let seen = Classifier::train(&training, &samples, &mut |_, _| ()).unwrap();

    let alone = hold_out(
        &training,
        &samples,
        &vec!["all"; samples.len()],
        &mut |_, _| (),
    );
    let told = alone.unwrap_err().to_string();
    assert!(told.contains("without `all` and its sources"), "{told}");
    assert_eq!(answers.len(), samples.len());
    assert!(seen.classify(&examples[usual].text, None).probability > 0.5);
    for answer in &answers[usual..] {
        assert!(answer.probability < 0.5, "{answer:?}");
    }
}

#[test]
fn each_source_can_be_left_out_alone() {
    let samples = samples();
    let training = Training {
        folds: samples.len(),
        rounds: 1,
        seed: 1,
    };
    let mut steps = 0;

    let answers = cross_validate(&training, &samples, &mut |_, of| steps = of).unwrap();

    assert_eq!((answers.len(), steps), (samples.len(), 6));
}

#[test]
fn a_correction_is_learnt_also_against_what_the_data_say() {
    let mut samples = samples();
    let slides = |label| Example {
        label,
        subtype: "slides".to_owned(),
        text: SLIDES.to_owned(),
        source: "library.example".to_owned(),
        ..Example::default()
    };
    samples.push(Sample::new(&slides(Label::Nonacademic)));
    let training = Training {
        folds: 3,
        rounds: 1,
        seed: 1,
    };
    let before = Classifier::train(&training, &samples, &mut |_, _| ()).unwrap();

    // Here, slides of talks are wanted.
    samples.push(Sample::of_correction(
        &slides(Label::Academic),
        Vocabulary::built_in(),
    ));
    let after = Classifier::train(&training, &samples, &mut |_, _| ()).unwrap();

    let probability = |classifier: &Classifier| classifier.classify(SLIDES, None).probability;
    assert!(
        probability(&after) > probability(&before) + 0.1,
        "{} {}",
        probability(&before),
        probability(&after)
    );
    assert_eq!(
        after.trained().unwrap().documents,
        before.trained().unwrap().documents,
        "a correction takes the place of the document"
    );
}

#[test]
fn the_model_in_the_repository_is_what_the_labelled_documents_give() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/dcf");
    let mut samples = Vec::new();
    for name in [
        "train/train.jsonl.gz",
        "train2/train2.jsonl.gz",
        "debian/debian.jsonl.gz",
    ] {
        let Ok(data) = File::open(shared.join(name)) else {
            eprintln!("SKIPPED: the labelled documents of {name} are not there");
            return;
        };
        read_examples(data, |example| {
            samples.push(Sample::new(&example));
            Ok(())
        })
        .unwrap();
    }

    let model = Classifier::train(&Training::default(), &samples, &mut |_, _| ()).unwrap();

    assert_eq!(model.version(), Classifier::built_in().version());
}
