//! An evaluation as tables for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use classifier::{Evaluation, Figures, Kind};

use crate::text::plain;

/// Writes all tables.
pub(super) fn write(
    out: &mut impl Write,
    model: &str,
    microseconds: Option<u64>,
    evaluation: &Evaluation,
) -> io::Result<()> {
    let time = microseconds.map(|microseconds| format!(", {microseconds} µs a document"));
    writeln!(out, "model {}{}\n", plain(model), time.unwrap_or_default())?;
    writeln!(
        out,
        "{:<26} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "documents", "accuracy", "precision", "recall", "F1", "accepted", "ECE"
    )?;
    row(out, "all", &evaluation.all)?;
    row(out, "hard", &evaluation.hard)?;
    row(out, "other languages", &evaluation.other_languages)?;
    group(out, "by group of fields", &evaluation.bucket)?;
    group(out, "by field", &evaluation.field)?;
    group(out, "by subtype", &evaluation.subtype)?;
    group(out, "by language", &evaluation.language)?;
    writeln!(out)?;
    row(out, "borderline", &evaluation.borderline.all)?;
    group(out, "borderline by subtype", &evaluation.borderline.subtype)?;
    decisions(out, evaluation)?;
    base_rate(out, evaluation)?;
    kinds(out, evaluation)?;
    writeln!(
        out,
        "\ncalibration: probability, share of academic documents, documents"
    )?;
    for bin in &evaluation.calibration {
        writeln!(
            out,
            "  from {:.1}  {:.3}  {:.3}  {}",
            bin.from, bin.probability, bin.academic, bin.documents
        )?;
    }
    writeln!(
        out,
        "\naccepted: share of the documents that are not academic but were taken for it; ECE: expected calibration error"
    )
}

fn group(out: &mut impl Write, name: &str, figures: &BTreeMap<String, Figures>) -> io::Result<()> {
    if figures.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{name}")?;
    figures
        .iter()
        .try_for_each(|(name, figures)| row(out, name, figures))
}

fn row(out: &mut impl Write, name: &str, figures: &Figures) -> io::Result<()> {
    let percent = |share: Option<f64>| {
        share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
    };
    let error = figures.expected_calibration_error;
    writeln!(
        out,
        "{:<26} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        plain(name),
        figures.documents,
        percent(figures.accuracy),
        percent(figures.precision),
        percent(figures.recall),
        percent(figures.f1),
        percent(figures.false_positive_rate),
        error.map_or("-".to_owned(), |error| format!("{error:.3}")),
    )
}

fn decisions(out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
    writeln!(
        out,
        "\n{:<26} {:>9} {:>9} {:>9}",
        "decisions", "accept", "unsure", "reject"
    )?;
    let decisions = &evaluation.decisions;
    for (label, of) in [
        ("academic", &decisions.academic),
        ("nonacademic", &decisions.nonacademic),
    ] {
        let count = |name: &str| of.get(name).copied().unwrap_or_default();
        writeln!(
            out,
            "{label:<26} {:>9} {:>9} {:>9}",
            count("accept"),
            count("unsure"),
            count("reject")
        )?;
    }
    Ok(())
}

/// How many of the accepted documents are papers where papers are rare, and how often sure answers are wrong.
fn base_rate(out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
    let percent = |share: Option<f64>| {
        share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
    };
    let sure = &evaluation.sure;
    writeln!(
        out,
        "\nsure (above 0.95 or below 0.05): {} documents, {} of them wrong",
        sure.documents,
        percent(sure.wrong_share)
    )?;
    let Some(rare) = &evaluation.base_rate else {
        return Ok(());
    };
    writeln!(
        out,
        "at {} academic documents, accepted from {:.3}: precision {}, recall {}, others accepted {}",
        percent(Some(rare.base_rate)),
        rare.threshold,
        percent(rare.precision),
        percent(rare.recall),
        percent(rare.false_positive_rate)
    )
}

fn kinds(out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
    let right = evaluation.kind_accuracy.unwrap_or_default();
    writeln!(
        out,
        "\nkinds: {:.1} % right; rows are what documents are, columns what was answered",
        100.0 * right
    )?;
    write!(out, "{:<14}", "")?;
    for kind in Kind::ALL {
        write!(out, " {:>8.8}", kind.name())?;
    }
    writeln!(out)?;
    for (is, answered) in &evaluation.kinds {
        write!(out, "{is:<14}")?;
        for kind in Kind::ALL {
            write!(
                out,
                " {:>8}",
                answered.get(kind.name()).copied().unwrap_or_default()
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}
