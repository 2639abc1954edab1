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
        // Both are shorter than four pages.
        assert_eq!(answer.kind, Kind::ShortPaper);
        assert_eq!(Policy::default().decide(&answer), Decision::Accept);
    }
    for (text, kind) in [
        (MANUAL, Kind::Manual),
        (SLIDES, Kind::Slides),
        (FORM, Kind::Form),
        (CV, Kind::Cv),
        (MINUTES, Kind::Minutes),
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
    let zalgo = "Z\u{341}\u{315}\u{321}a\u{300}\u{317}l\u{358}\u{489}g\u{35e}\u{31d}o\u{348} "
        .repeat(10_000);
    let scripts = "本文 и the في של एक の 이 και ใน ".repeat(20_000);
    let references =
        "[1] Smith, J. and Jones, A. On lichens. Journal of Lichens 12 (1998), 1–20.\n"
            .repeat(2_000);
    let controls: String = (0..200_000_u32)
        .filter_map(|n| char::from_u32(n % 32))
        .collect();
    let cover = "See discussions, stats, and author profiles for this publication at: https://example.org\n\x0c";
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
        &zalgo,
        &scripts,
        &references,
        &controls,
        cover,
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

#[test]
fn a_short_paper_is_wanted_where_papers_are() {
    let policy = Policy {
        kinds: vec![Kind::Paper],
        ..Policy::default()
    };

    assert!(policy.wants(Kind::ShortPaper) && !policy.wants(Kind::Thesis));
}

#[test]
fn where_papers_are_rare_more_is_asked_of_each() {
    let answer = Classifier::built_in().classify(PAPER, None);
    let rare = |base_rate| Policy {
        base_rate: Some(base_rate),
        ..Policy::default()
    };

    // Nine to one becomes even odds where one of ten documents is a paper.
    assert!((rare(0.1).at_base_rate(0.9) - 0.5).abs() < 1e-9);
    assert!((rare(0.5).at_base_rate(0.3) - 0.3).abs() < 1e-9);
    assert_eq!(rare(1e-9).decide(&answer), Decision::Reject);
    for wrong in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(rare(wrong).check().unwrap_err().contains("base rate"));
    }
}

#[test]
fn papers_in_languages_that_few_models_know_are_told_by_their_words() {
    // The shapes of papers and of manuals, in languages of which no document was learnt from.
    let paper = "УДК 519.2\nО СВОЙСТВАХ ОЦЕНОК\nИванов И. И., Петров П. П.\nИнститут математики\nАннотация. В статье исследуются оценки параметров модели. \
        Показано, что метод состоятелен [1, 2].\nКлючевые слова: оценка, выборка, модель.\nВведение\nВ настоящей работе рассматривается задача [3]. \
        Полученные результаты обобщают [4, 5].\n";
    let references = "Список литературы\n1. Иванов И. И. Теория оценок. М.: Наука, 1985. 230 с.\n2. Петров П. П. О методе // Вестник МГУ. 1999. Т. 3, № 2. С. 15–27.\n\
        3. Smith J., Jones A. On estimates // Ann. Stat. 2004. V. 12. P. 100–120.\n";
    let text = format!("{}{references}", paper.repeat(6));
    let answer = Classifier::built_in().classify(&text, Some(6));
    assert!(answer.probability > 0.6, "{answer:?}");
    let broken = encoding(&text);
    let answer = Classifier::built_in().classify(&broken, Some(6));
    assert!(answer.probability > 0.6, "as Latin-1: {answer:?}");
}

/// The bytes of windows-1251 shown as Latin-1.
fn encoding(text: &str) -> String {
    let shown = |c: char| match u32::from(c) {
        number @ 0x410..=0x44f => char::from_u32(number - 0x410 + 0xc0).unwrap_or(c),
        _ => c,
    };
    text.chars().map(shown).collect()
}
