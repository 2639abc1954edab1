//! Texts judged by the built program, and models trained and evaluated with it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::command_line::{fails, prints, stderr, stdout};
use crate::garner;

#[test]
fn a_line_for_each_file_says_what_it_is() {
    let output = garner()
        .arg("classify")
        .arg(text("paper.txt"))
        .arg(text("manual.txt"))
        .arg("--json")
        .output();

    let lines: Vec<Value> = prints(output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [paper, manual] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!(paper["path"], json!(text("paper.txt").to_str()));
    assert_eq!(
        (&paper["decision"], &paper["kind"]),
        (&json!("accept"), &json!("short_paper"))
    );
    assert!(paper["probability"].as_f64().unwrap() > 0.6);
    assert_eq!(
        (&manual["decision"], &manual["kind"]),
        (&json!("reject"), &json!("manual"))
    );
    assert_eq!(paper["model"].as_str().unwrap().len(), 12);
}

#[test]
fn reasons_are_told_in_words() {
    let said = prints(
        garner()
            .args(["classify", "--explain"])
            .arg(text("manual.txt"))
            .output(),
    );

    assert!(said.starts_with("reject"), "{said}");
    let (_, against) = said.split_once("  against\n").unwrap();
    assert!(against.contains("speaks to the reader as you"), "{said}");
}

#[test]
fn a_file_that_cannot_be_read_does_not_keep_others_from_being_judged() {
    let directory = tempfile::tempdir().unwrap();
    let pdf = directory.path().join("a.pdf");
    fs::write(&pdf, "%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\n").unwrap();

    let output = garner()
        .arg("classify")
        .arg(directory.path().join("none.txt"))
        .arg(&pdf)
        .arg(text("paper.txt"))
        .output();

    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).starts_with("accept"), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("none.txt: No such file"),
        "{}",
        stderr(&output)
    );
    assert!(
        stderr(&output).contains("a.pdf has no text: damaged"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_file_that_cannot_be_judged_has_a_line_of_json_too() {
    let directory = tempfile::tempdir().unwrap();
    let empty = directory.path().join("empty.txt");
    fs::write(&empty, "").unwrap();
    let none = directory.path().join("none.txt");

    let output = garner()
        .args(["classify", "--json"])
        .args([&empty, &text("paper.txt"), &none])
        .output();

    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [empty_one, paper, missing] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!(paper["decision"], "accept");
    assert_eq!(paper["error"], Value::Null);
    for (line, path, error) in [
        (empty_one, &empty, "has no text: empty"),
        (missing, &none, "No such file"),
    ] {
        assert_eq!(line["path"], json!(path.to_str()));
        for unknown in ["probability", "decision", "kind"] {
            assert!(line.as_object().unwrap().contains_key(unknown));
            assert_eq!(line[unknown], Value::Null);
        }
        assert!(line["error"].as_str().unwrap().contains(error), "{line}");
    }
}

#[test]
fn thresholds_and_kinds_can_be_chosen_and_nonsense_is_refused() {
    let slides = |options: &[&str]| {
        prints(
            garner()
                .arg("classify")
                .args(options)
                .arg(text("slides.txt"))
                .output(),
        )
    };

    assert!(slides(&[]).starts_with("reject"));
    assert!(slides(&["--kinds", "slides,manual"]).starts_with("accept"));
    assert!(slides(&["--accept", "1", "--reject", "0"]).starts_with("unsure"));
    let wrong = garner()
        .args(["classify", "--accept", "0.1"])
        .arg(text("slides.txt"))
        .output();
    assert!(fails(&wrong).contains("thresholds are from 0 to 1"));
    let wrong = garner()
        .args(["classify", "--kinds", "poem"])
        .arg(text("slides.txt"))
        .output();
    assert!(stderr(&wrong).contains("unknown kind of document `poem`"));
}

#[test]
fn a_model_is_trained_used_and_evaluated() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data.jsonl");
    fs::write(&data, examples()).unwrap();
    let (model, again) = (
        directory.path().join("a.model"),
        directory.path().join("b.model"),
    );

    let said = prints(
        garner()
            .args(["classifier", "train", "-o"])
            .arg(&model)
            .arg(&data)
            .output(),
    );
    prints(
        garner()
            .args(["classifier", "train", "-o"])
            .arg(&again)
            .arg("--corrections")
            .arg(&data)
            .output(),
    );

    assert!(said.contains("of 42 documents from 6 sources"), "{said}");
    assert_eq!(fs::read(&model).unwrap(), fs::read(&again).unwrap());
    let used = prints(
        garner()
            .arg("classify")
            .arg("--model")
            .arg(&model)
            .arg(text("paper.txt"))
            .output(),
    );
    assert!(used.contains("paper"), "{used}");
    let figures = garner()
        .args(["classifier", "evaluate", "--json", "--model"])
        .arg(&model)
        .arg(&data)
        .output();
    let figures: Value = serde_json::from_str(&prints(figures)).unwrap();
    assert_eq!(figures["documents"], 42);
    assert_eq!(figures["accuracy"], 1.0);
    assert_eq!(figures["subtype"]["manual"]["false_positive_rate"], 0.0);
    assert_eq!(figures["borderline"]["documents"], 0);
    let table = prints(
        garner()
            .args(["classifier", "evaluate", "--cross-validate"])
            .arg(&data)
            .output(),
    );
    assert!(table.contains("cross-validation by source"), "{table}");
    assert!(table.contains("minutes_agenda"), "{table}");
}

#[test]
fn languages_and_files_are_judged_by_models_that_have_not_seen_them() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (
        directory.path().join("one.jsonl"),
        directory.path().join("other.jsonl"),
    );
    let german = examples()
        .replace("\"source\":\"", "\"lang\":\"de\",\"source\":\"german ")
        .replace("\"text\":\"", "\"text\":\"Zusammenfassung. ");
    fs::write(&one, examples()).unwrap();
    fs::write(&other, german).unwrap();
    let figures = |by: &str| {
        let output = garner()
            .args(["classifier", "evaluate", "--json", by])
            .args([&one, &other])
            .output();
        serde_json::from_str::<Value>(&prints(output)).unwrap()
    };

    for by in ["language", "file"] {
        let found = figures(&format!("--cross-validate={by}"));

        assert_eq!(found["model"], format!("each {by} left out"));
        assert_eq!(found["documents"], 84);
        assert_eq!(found["language"]["de"]["documents"], 42);
    }
    let unknown = garner()
        .args(["classifier", "evaluate", "--cross-validate=week"])
        .arg(&one)
        .output();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("parts, source, language, file"));
}

#[test]
fn a_model_takes_words_of_another_language() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let words =
        "# A language that nobody speaks.\nheading abstract: ziluk\nheading references: durinal\n";
    fs::write(path("words.txt"), words).unwrap();
    let paper = "Vorbul tanem\n\nZiluk\nTa mora keno tanem vorbul.\n\nDurinal\n[1] Tanem, A. Vorbul. 1998, 12(3): 45-67.\n";
    fs::write(path("paper.txt"), paper).unwrap();
    let extend = |file: &str| {
        garner()
            .args(["classifier", "extend", "-o"])
            .arg(path("ours.model"))
            .arg(path(file))
            .output()
    };
    let judged = |option: &str, file: &str| {
        let output = garner()
            .args(["classify", "--json", option])
            .arg(path(file))
            .arg(path("paper.txt"))
            .output();
        serde_json::from_str::<Value>(&prints(output)).unwrap()
    };

    prints(extend("words.txt"));

    let (tried, extended) = (
        judged("--vocabulary", "words.txt"),
        judged("--model", "ours.model"),
    );
    assert_eq!(tried, extended);
    let plain = garner()
        .args(["classify", "--json"])
        .arg(path("paper.txt"))
        .output();
    let plain: Value = serde_json::from_str(&prints(plain)).unwrap();
    assert!(plain["probability"].as_f64() < extended["probability"].as_f64());

    fs::write(
        path("wrong.txt"),
        "heading abstract: ziluk\nheading foreword: hu\n",
    )
    .unwrap();
    let told = fails(&extend("wrong.txt"));
    assert!(
        told.contains("wrong.txt")
            && told.contains("line 2")
            && told.contains("there is no `foreword`"),
        "{told}"
    );
    fs::write(path("latin.txt"), b"heading abstract: r\xe9sum\xe9\n").unwrap();
    assert!(fails(&extend("latin.txt")).contains("is not text in UTF-8"));
}

#[test]
fn the_rule_of_the_original_can_be_compared() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data.jsonl");
    fs::write(&data, examples()).unwrap();

    let figures = garner()
        .args(["classifier", "evaluate", "--json", "--model", "cdi-2012"])
        .arg(&data)
        .output();

    let figures: Value = serde_json::from_str(&prints(figures)).unwrap();
    assert_eq!(figures["model"], "cdi-2012");
    assert!(figures["recall"].is_number());
}

#[test]
fn what_is_no_model_and_no_data_is_said_to_be_none() {
    let model = garner()
        .args(["classify", "--model"])
        .arg(text("paper.txt"))
        .arg(text("paper.txt"))
        .output();
    let data = garner()
        .args(["classifier", "evaluate"])
        .arg(text("paper.txt"))
        .output();

    assert!(fails(&model).contains("is not a model of this classifier"));
    assert!(fails(&data).contains("line 1 is not a labelled document"));
}

#[test]
fn data_without_documents_and_half_a_line_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let (empty, half) = (
        directory.path().join("empty.jsonl"),
        directory.path().join("half.jsonl"),
    );
    fs::write(&empty, "\n\n").unwrap();
    let whole = examples();
    fs::write(&half, &whole[..whole.len() - 20]).unwrap();

    let evaluate =
        |data: &Path| fails(&garner().args(["classifier", "evaluate"]).arg(data).output());

    assert!(evaluate(&empty).contains("there are no labelled documents in"));
    let said = evaluate(&half);
    assert!(
        said.contains("half.jsonl: line 42 is not a labelled document"),
        "{said}"
    );
}

#[test]
fn figures_stand_by_field_and_with_what_was_taken_for_what() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data.jsonl");
    fs::write(
        &data,
        examples().replace(
            "\"label\":\"academic\"",
            "\"field\":\"biology\",\"label\":\"academic\"",
        ),
    )
    .unwrap();

    let figures = garner()
        .args(["classifier", "evaluate", "--json"])
        .arg(&data)
        .output();

    let figures: Value = serde_json::from_str(&prints(figures)).unwrap();
    let confusion =
        json!({"true_positive": 12, "false_positive": 0, "true_negative": 0, "false_negative": 0});
    assert_eq!(figures["field"]["biology"]["confusion"], confusion);
    // They are papers of about a page.
    let papers = &figures["kinds"]["paper"];
    let of_kind = |kind: &str| papers[kind].as_u64().unwrap_or_default();
    assert_eq!(of_kind("paper") + of_kind("short_paper"), 12, "{papers}");
    assert_eq!(figures["hard"]["accuracy"], Value::Null);
}

/// Texts that were written for tests.
fn text(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../classifier/tests/classifier")
        .join(name)
}

/// Small variations of the texts, from several sources.
fn examples() -> String {
    let texts = [
        ("paper.txt", "academic", "paper"),
        ("paper-de.txt", "academic", "paper"),
        ("manual.txt", "nonacademic", "manual"),
        ("slides.txt", "nonacademic", "slides"),
        ("form.txt", "nonacademic", "form"),
        ("minutes.txt", "nonacademic", "minutes_agenda"),
        ("cv.txt", "nonacademic", "cv"),
    ];
    let mut lines = String::new();
    for source in 0..6 {
        for (name, label, subtype) in texts {
            let whole = fs::read_to_string(text(name)).unwrap();
            let kept = whole
                .split_inclusive('\n')
                .enumerate()
                .filter(|(at, _)| (at + source) % 9 != 4);
            let text: String = kept.map(|(_, line)| line).collect();
            let example = json!({"label": label, "subtype": subtype, "source": format!("source {source}"), "text": text});
            lines.push_str(&format!("{example}\n"));
        }
    }
    lines
}
