//! Answers about texts, and about what is no text.

use std::time::{Duration, Instant};

use classifier::{Classifier, Decision, Kind, Policy};

use super::{CV, FORM, GERMAN_PAPER, MANUAL, MINUTES, PAPER, Random, SLIDES};

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

    // The rest is the same for all documents.
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
}

#[test]
fn what_has_no_words_is_no_paper_and_of_no_kind() {
    for text in ["", "\n\x0c\n", "\0\0 \0", "— … · ☐"] {
        let answer = Classifier::built_in().classify(text, Some(3));

        assert_eq!(answer.kind, Kind::Other, "{answer:?}");
        assert_eq!(Policy::default().decide(&answer), Decision::Reject);
    }
}

#[test]
fn the_rule_of_the_original_importer_says_what_it_weighed() {
    let rule = Classifier::cdi_2012();

    let reasons = rule.explain(MANUAL, None);

    assert_eq!(reasons.len(), 13);
    let you = reasons
        .iter()
        .find(|reason| reason.feature.as_deref() == Some("you"));
    assert!(you.unwrap().weight < 0.0, "{you:?}");
    // With its constant they add up to what it answers.
    let sum: f64 = 0.91 + reasons.iter().map(|reason| reason.weight).sum::<f64>();
    let odds = 1.0 / (1.0 + (-sum).exp());
    assert!((odds - rule.classify(MANUAL, None).probability).abs() < 1e-9);
}
