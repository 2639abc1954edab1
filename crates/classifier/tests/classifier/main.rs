//! The classifier as others see it.

/// Answers about texts, and about what is no text.
mod answers;
/// Files of labelled documents.
mod examples;
/// Figures over judged documents.
mod figures;
/// Models as files, whole and damaged.
mod models;
/// Models that are learnt.
mod training;
/// Words that are added to those that the program brings along.
mod words;

use classifier::{Example, Label, Sample};

const PAPER: &str = include_str!("paper.txt");
const GERMAN_PAPER: &str = include_str!("paper-de.txt");
const MANUAL: &str = include_str!("manual.txt");
const SLIDES: &str = include_str!("slides.txt");
const FORM: &str = include_str!("form.txt");
const MINUTES: &str = include_str!("minutes.txt");
const CV: &str = include_str!("cv.txt");

fn samples() -> Vec<Sample> {
    labelled().iter().map(Sample::new).collect()
}

/// Small variations of the texts above, from several sources.
fn labelled() -> Vec<Example> {
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
