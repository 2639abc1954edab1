//! Words that are added to those that the program brings along.

use classifier::{Classifier, Error, Vocabulary};

/// A paper in a language that nobody speaks.
const PAPER: &str = "Vorbul tanem\n\nZiluk\nTa mora keno tanem vorbul, ta sim nare keno.\n\nBakta mora\nTanem; vorbul\n\n\
    1 Hufera\nTa tanem vorbul keno sim nare mora keno [1]. Ta mora sim keno vorbul tanem nare [2, 3].\n\n\
    2 Ponimo\nTanem keno ta vorbul sim nare mora keno vorbul tanem ta sim keno mora [4].\n\n\
    3 Kraselo\nVorbul ta tanem sim keno nare mora.\n\nDurinal\n\
    [1] Tanem, A. & Keno, B. Vorbul mora. 1998, 12(3): 45-67.\n[2] Nare, C. Sim keno. 2004, 5: 1-20.\n[3] Mora, D. Ta vorbul. 2001.\n";

const WORDS: &str = "# A language that nobody speaks.\nheading abstract: ziluk\nheading keywords: bakta mora\n\
    heading introduction: hufera\nheading methods: ponimo\nheading conclusion: kraselo\nheading references: durinal\n\
    phrase self_paper: keno tanem vorbul\nsmall xx: ta sim keno nare mora\n";

#[test]
fn a_language_that_is_added_is_understood_without_training() {
    let built_in = Classifier::built_in();
    let extended = built_in.with_words(WORDS).unwrap();

    let before = built_in.classify(PAPER, Some(8)).probability;
    let after = extended.classify(PAPER, Some(8)).probability;

    assert!(after > before, "{before} became {after}");
    assert_ne!(extended.version(), built_in.version());
    let found = |classifier: &Classifier| {
        let reasons = classifier.explain(PAPER, Some(8));
        let keywords = reasons
            .into_iter()
            .find(|reason| reason.feature.as_deref() == Some("heading.keywords_early"));
        keywords.map(|reason| reason.value)
    };
    assert_eq!(found(built_in).as_deref(), Some("no"));
    assert_eq!(found(&extended).as_deref(), Some("yes"));
}

#[test]
fn a_model_keeps_its_words_in_its_file() {
    let extended = Classifier::built_in().with_words(WORDS).unwrap();
    let more = extended.with_words("heading appendix: sufelo").unwrap();

    let read = Classifier::read(&more.to_bytes().unwrap()).unwrap();

    assert_eq!(read.version(), more.version());
    assert_eq!(read.classify(PAPER, Some(8)), more.classify(PAPER, Some(8)));
    assert_eq!(
        read.classify(PAPER, Some(8)),
        extended.classify(PAPER, Some(8))
    );
}

#[test]
fn no_words_change_nothing() {
    let same = Classifier::built_in().with_words("\n").unwrap();
    assert_eq!(
        same.classify(PAPER, None),
        Classifier::built_in().classify(PAPER, None)
    );
    assert_eq!(
        Classifier::cdi_2012().with_words(WORDS).unwrap().version(),
        "cdi-2012"
    );
}

#[test]
fn lines_that_have_no_words_are_named_with_what_would_do() {
    let long = format!("heading abstract: {}", "a".repeat(80));
    for (line, told) in [
        ("abstract", "`heading NAME: words; words`"),
        ("heading: ziluk", "`heading NAME: words; words`"),
        ("heding abstract: ziluk", "the sort `heding`"),
        (
            "heading abstracts: ziluk",
            "there is no `abstracts`; the names are abstract, keywords",
        ),
        ("phrase self_paper: zi*", "`zi*` needs 4 to 14 letters"),
        ("phrase self_paper: !!", "`!!` has no letters"),
        ("phrase self_paper: a b c d e f g", "more than 6 words"),
        (long.as_str(), "aaa…` is longer than 70 characters"),
    ] {
        let lines = format!("# comment\n\n{line}\n");
        let error = Vocabulary::extended(&lines).unwrap_err();
        assert!(
            matches!(error, Error::Vocabulary { line: 3, .. }),
            "{error:?}"
        );
        assert!(error.to_string().contains(told), "{line}: {error}");
    }
    let many: String = (0..70)
        .map(|number| format!("small x{number}: aa\n"))
        .collect();
    assert!(
        Vocabulary::extended(&many)
            .unwrap_err()
            .to_string()
            .contains("as many as can be told apart")
    );
    assert!(
        Vocabulary::extended(&"#".repeat(2 << 20))
            .unwrap_err()
            .to_string()
            .contains("bytes")
    );
}

#[test]
fn headings_of_scripts_without_capitals_are_found() {
    for (text, feature) in [
        ("सारांश: इस लेख में\n", "heading.abstract_early"),
        ("निष्कर्ष\n", "heading.conclusion"),
        ("الملخص: يهدف هذا البحث\n", "heading.abstract_early"),
        ("บทคัดย่อ\nข้อความ\n", "heading.abstract_early"),
        ("უკან\nუკან\nლიტერატურა\n", "heading.references_late"),
        ("Laburpena\nArtikulu honetan\n", "heading.abstract_early"),
    ] {
        let reasons = Classifier::built_in().explain(text, Some(1));
        let reason = reasons
            .iter()
            .find(|reason| reason.feature.as_deref() == Some(feature));
        let value = &reason.unwrap().value;
        assert!(
            value == "yes" || value.starts_with('1'),
            "{text}: {feature} is {value}"
        );
    }
}
