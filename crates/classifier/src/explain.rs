//! Why a document was judged as it was: what spoke for and against, in words.

use std::collections::BTreeMap;

use serde::Serialize;

use super::features::{self, Form};
use super::model::Model;
use super::reading::Reading;
use super::words;

/// Something that was measured, and how it weighed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// Positive if it speaks for an academic document. A sum of 0 stands for even odds; 2 makes seven to one.
    pub weight: f64,
    /// The name of the feature; none for words of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// The measured value, for people.
    pub said: String,
    /// The measured value, for people.
    pub value: String,
}

/// All reasons, the weightiest first.
pub(super) fn reasons(model: &Model, reading: &Reading) -> Vec<Reason> {
    let measured = features::measure(reading);
    let slope = f64::from(model.head.calibration.slope);
    let features = features::all().iter().zip(&model.head.features);
    let reasons = features.enumerate().map(|(index, (feature, weighed))| {
        let value = weighed.value(measured.values[index]);
        Reason {
            weight: slope * f64::from(weighed.weight) * value,
            feature: Some(feature.name.clone()),
            said: feature.said.clone(),
            value: said(feature.form, measured.raw[index], value),
        }
    });
    let mut reasons: Vec<Reason> = reasons.collect();
    reasons.extend(word_reasons(model, reading));
    reasons.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    reasons
}

/// Each word and pair of words once.
fn word_reasons(model: &Model, reading: &Reading) -> Vec<Reason> {
    let value =
        model.word_value(words::buckets(reading).len()) * f64::from(model.head.calibration.slope);
    let mut found: BTreeMap<u32, Reason> = BTreeMap::new();
    words::visit(reading, |bucket, of, at_end| {
        found.entry(bucket).or_insert_with(|| {
            let of: Vec<&str> = of.iter().map(|word| reading.word(word)).collect();
            let place = if at_end { "the end" } else { "the beginning" };
            Reason {
                weight: f64::from(model.words[bucket as usize]) * value,
                feature: None,
                said: format!("words near {place}"),
                value: format!("“{}”", of.join(" ")),
            }
        });
    });
    found
        .into_values()
        .filter(|reason| reason.weight != 0.0)
        .collect()
}

fn said(form: Form, raw: f32, value: f64) -> String {
    let usual = match value {
        v if v > 0.3 => ", more than usual",
        v if v < -0.3 => ", less than usual",
        _ => "",
    };
    match form {
        Form::Flag if raw > 0.5 => "yes".to_owned(),
        Form::Flag => "no".to_owned(),
        Form::Share => format!("{:.0} %{usual}", 100.0 * raw),
        Form::Number | Form::Count | Form::Rate if raw < 10.0 && raw.fract() != 0.0 => {
            format!("{raw:.1}{usual}")
        }
        Form::Number | Form::Count | Form::Rate => format!("{raw:.0}{usual}"),
    }
}
