//! A parsed line: a capture, and the expected place of its bytes.

use super::date;
use super::field::{Field, Fields};
use super::format::{LogFormat, PathRule};
use crate::{Capture, Kind};

/// The meaning of a line.
#[derive(Debug)]
pub(super) enum Meaning {
    Capture(Box<Entry>),
    /// It stands for no document: a comment, a look-up of a name, something that was not got.
    Nothing,
    /// It cannot be read, and why.
    Broken(String),
}

/// A capture as a line tells it.
#[derive(Debug)]
pub(super) struct Entry {
    /// Without its place, which the line does not know.
    pub(super) capture: Capture,
    /// The file named by the line or the template; none for a mirror, where it follows from the URL.
    pub(super) file: Option<Vec<u8>>,
    /// The size of its file.
    pub(super) size: Option<u64>,
}

/// Makes a capture of fields.
pub(super) fn of(mut fields: Fields<'_>, format: &LogFormat) -> Meaning {
    let status = match fields
        .text(Field::Status)
        .map(|status| status.parse::<i32>())
    {
        Some(Ok(status)) => Some(status),
        Some(Err(_)) => return Meaning::Broken("its status is not a number".to_owned()),
        None => None,
    };
    if !counts(status, format) {
        return Meaning::Nothing;
    }
    fill_in(&mut fields, format, Field::File, "");
    fill_in(&mut fields, format, Field::Url, "");
    let Some(url) = fields.text(Field::Url).map(String::from) else {
        return Meaning::Broken("it has no URL".to_owned());
    };
    if is_no_document(&url) {
        return Meaning::Nothing;
    }
    if !url.contains("://") {
        return Meaning::Broken(format!(
            "`{}` is not a URL",
            url.chars().take(200).collect::<String>()
        ));
    }
    for field in Field::ALL {
        fill_in(&mut fields, format, field, &url);
    }
    let file = match &format.path {
        PathRule::Mirror => None,
        PathRule::Field => fields.get(Field::File).map(<[u8]>::to_vec),
        PathRule::Template(template) => template.fill(&fields, &url, false),
    };
    let size = fields.text(Field::Size).and_then(|size| size.parse().ok());
    Meaning::Capture(Box::new(Entry {
        capture: capture(url, status, &fields, format),
        file,
        size,
    }))
}

fn capture(url: String, status: Option<i32>, fields: &Fields<'_>, format: &LogFormat) -> Capture {
    let text = |field| fields.text(field).map(String::from);
    let path_from_seed = text(Field::PathFromSeed);
    let is_seed = fields.text(Field::Seed).and_then(|seed| flag(&seed));
    // Every URL but a seed was found on some path.
    let has_paths = format.layout.has(Field::PathFromSeed);
    let is_seed = is_seed.or(has_paths.then_some(path_from_seed.is_none()));
    let depth = fields
        .text(Field::Depth)
        .and_then(|depth| depth.parse().ok());
    let by_path = path_from_seed.as_deref().map(hops);
    let depth = depth.or(by_path).or((is_seed == Some(true)).then_some(0));
    let status = status.or_else(|| fields.text(Field::Status)?.parse().ok());
    let declared = fields
        .text(Field::MediaType)
        .and_then(|declared| media_type(&declared));
    let kind = match fields.is_duplicate {
        true => Kind::Revisit {
            refers_to: None,
            refers_to_date: None,
        },
        false => Kind::Document,
    };
    Capture {
        url,
        // Seeds were found by nobody.
        parent: text(Field::Parent).filter(|_| is_seed != Some(true)),
        is_seed,
        path_from_seed,
        depth,
        crawled: fields
            .text(Field::Date)
            .and_then(|date| date::parse(&date, &format.dates)),
        status,
        declared,
        digest: text(Field::Digest),
        kind,
        ..Capture::default()
    }
}

/// Puts the value of the format where the line has none.
fn fill_in(fields: &mut Fields<'_>, format: &LogFormat, field: Field, url: &str) {
    if fields.get(field).is_some() {
        return;
    }
    let in_url = matches!(field, Field::Url | Field::Parent);
    let filled = format
        .value(field)
        .and_then(|value| value.fill(fields, url, in_url));
    if let Some(filled) = filled {
        fields.set(field, filled);
    }
}

fn counts(status: Option<i32>, format: &LogFormat) -> bool {
    let known = |status: &i32| format.statuses.iter().any(|range| range.contains(status));
    format.statuses.is_empty() || status.as_ref().is_none_or(known)
}

/// Whether a URL is a crawler's note and no document.
fn is_no_document(url: &str) -> bool {
    ["dns:", "whois:"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
}

/// The number of hops of a discovery path. Heritrix keeps the last 50 and counts those before: `12+LLE`.
fn hops(path: &str) -> u32 {
    let (before, letters) = match path.split_once('+') {
        Some((before, letters)) => (before.parse().unwrap_or(0), letters),
        None => (0u32, path),
    };
    let letters = letters.bytes().filter(u8::is_ascii_alphabetic).count();
    before.saturating_add(u32::try_from(letters).unwrap_or(u32::MAX))
}

fn media_type(declared: &str) -> Option<String> {
    let bare = declared.split(';').next().unwrap_or_default().trim();
    let known = !bare.is_empty() && bare != "no-type" && bare != "unknown";
    known.then(|| bare.to_ascii_lowercase())
}

fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" | "seed" | "t" => Some(true),
        "false" | "no" | "0" | "f" => Some(false),
        _ => None,
    }
}
