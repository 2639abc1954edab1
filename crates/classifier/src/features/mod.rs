//! The measurements of a text. Each file is a group of features; the order here is that of every model.

mod authors;
mod headings;
mod identifiers;
mod language;
mod layout;
mod marks;
mod phrases;
mod references;
mod symbols;
mod tables;

use std::sync::LazyLock;

use super::reading::Reading;
use super::vocabulary::Vocabulary;

/// How a number becomes a feature's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// There or not.
    Flag,
    /// A part of the whole.
    Share,
    /// A number that is small by itself.
    Number,
    /// So many; the first ones say most.
    Count,
    /// Number in a thousand words.
    Rate,
}

impl Form {
    fn value(self, raw: f32) -> f32 {
        let value = match self {
            Self::Flag | Self::Share | Self::Number => raw,
            Self::Count | Self::Rate => raw.max(0.0).ln_1p(),
        };
        if value.is_finite() { value } else { 0.0 }
    }
}

/// A feature: its name in models, and what it is in words.
#[derive(Debug, Clone)]
pub(crate) struct Feature {
    pub(crate) name: String,
    pub(crate) said: String,
    pub(crate) form: Form,
}

/// Where the groups write their numbers.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    raw: Vec<f32>,
    values: Vec<f32>,
    /// Filled only to know what there is.
    features: Option<Vec<Feature>>,
    thousands: f32,
}

impl Sheet {
    fn flag(&mut self, name: &str, said: &str, is_so: bool) {
        self.put(name, said, Form::Flag, f32::from(u8::from(is_so)));
    }

    fn share(&mut self, name: &str, said: &str, part: f32) {
        self.put(name, said, Form::Share, part);
    }

    fn number(&mut self, name: &str, said: &str, number: f32) {
        self.put(name, said, Form::Number, number);
    }

    fn count(&mut self, name: &str, said: &str, count: f32) {
        self.put(name, said, Form::Count, count);
    }

    /// Given as a count; kept as so many in a thousand words.
    fn rate(&mut self, name: &str, said: &str, count: f32) {
        self.put(name, said, Form::Rate, count / self.thousands);
    }

    /// A name that has to be put together first; nothing where nobody asks for names.
    fn name(&self, name: std::fmt::Arguments<'_>) -> String {
        match self.features {
            Some(_) => name.to_string(),
            None => String::new(),
        }
    }

    fn put(&mut self, name: &str, said: &str, form: Form, raw: f32) {
        let raw = if raw.is_finite() { raw } else { 0.0 };
        self.raw.push(raw);
        self.values.push(form.value(raw));
        if let Some(features) = &mut self.features {
            let (name, said) = (name.to_owned(), said.to_owned());
            features.push(Feature { name, said, form });
        }
    }
}

/// All features of a text: as measured, and as models take them.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) raw: Vec<f32>,
    pub(crate) values: Vec<f32>,
}

/// Measures a text.
pub(crate) fn measure(reading: &Reading) -> Measured {
    let sheet = fill(reading, false);
    Measured {
        raw: sheet.raw,
        values: sheet.values,
    }
}

/// All features there are, in the order of their values.
pub(crate) fn all() -> &'static [Feature] {
    static ALL: LazyLock<Vec<Feature>> = LazyLock::new(|| {
        let sheet = fill(&Reading::new("", None, Vocabulary::built_in()), true);
        sheet.features.unwrap_or_default()
    });
    &ALL
}

fn fill(reading: &Reading, named: bool) -> Sheet {
    let mut sheet = Sheet {
        features: named.then(Vec::new),
        // Of the shortest texts rates would say nothing but how short they are.
        thousands: (reading.words.len().max(150) as f32) / 1000.0,
        ..Sheet::default()
    };
    layout::measure(reading, &mut sheet);
    symbols::measure(reading, &mut sheet);
    language::measure(reading, &mut sheet);
    let found = headings::measure(reading, &mut sheet);
    references::measure(reading, &found, &mut sheet);
    identifiers::measure(reading, &mut sheet);
    authors::measure(reading, &mut sheet);
    tables::measure(reading, &mut sheet);
    phrases::measure(reading, &mut sheet);
    marks::measure(&mut sheet);
    sheet
}

/// A part of a whole; none of nothing.
fn part(some: usize, all: usize) -> f32 {
    if all == 0 {
        return 0.0;
    }
    some as f32 / all as f32
}
