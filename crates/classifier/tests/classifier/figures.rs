//! Figures over judged documents.

use classifier::{Classifier, Evaluation, Example, Judged, Label, Policy, evaluate};

use super::{FORM, MANUAL, PAPER};

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
        thresholds,
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
    let half = thresholds.iter().find(|at| at.threshold == 0.5).unwrap();
    assert!(close(half.recall, 2.0 / 3.0) && close(half.false_positive_rate, 1.0 / 3.0));
    assert!(close(half.precision, 2.0 / 3.0));
    assert!(thresholds.is_sorted_by(|low, high| low.recall >= high.recall));
}
