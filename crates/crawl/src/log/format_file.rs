//! Log formats as TOML.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use regex::bytes::RegexBuilder;
use serde::Deserialize;

use super::LogFormat;
use super::date;
use super::field::{COUNT, Field};
use super::format::PathRule;
use super::layout::{Layout, Separator};
use super::template::Template;

/// A format as it is written. All of it may come from another one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatFile {
    based_on: Option<String>,
    line: Option<String>,
    columns: Option<Vec<String>>,
    separator: Option<String>,
    none: Option<String>,
    comment: Option<String>,
    header_lines: Option<u64>,
    date: Option<OneOrMany>,
    path: Option<String>,
    statuses: Option<Vec<StatusRange>>,
    #[serde(default)]
    values: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum StatusRange {
    One(i32),
    Range(String),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    Number(i64),
    Flag(bool),
}

pub(super) fn parse(toml: &str) -> Result<LogFormat, String> {
    let file: FormatFile = toml::from_str(toml).map_err(|error| error.to_string())?;
    let base = match &file.based_on {
        Some(name) => Some(LogFormat::named(name).map_err(|error| error.to_string())?),
        None => None,
    };
    let layout = match (file.layout()?, &base) {
        (Some(layout), _) => layout,
        (None, Some(base)) => base.layout.clone(),
        (None, None) => return Err("it lacks `line`, a pattern, or `columns`, a list".to_owned()),
    };
    let mut format = base.unwrap_or_else(|| LogFormat {
        layout: layout.clone(),
        none: "-".to_owned(),
        comment: None,
        header_lines: 0,
        dates: Vec::new(),
        path: PathRule::Field,
        statuses: Vec::new(),
        values: Default::default(),
    });
    format.layout = layout;
    file.overlay(&mut format)?;
    check(&format)?;
    Ok(format)
}

impl FormatFile {
    fn layout(&self) -> Result<Option<Layout>, String> {
        match (&self.line, &self.columns) {
            (Some(_), Some(_)) => Err("it has both `line` and `columns`; remove one".to_owned()),
            (Some(pattern), None) => self::pattern(pattern).map(Some),
            (None, Some(columns)) => self.columns(columns).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn columns(&self, columns: &[String]) -> Result<Layout, String> {
        let separator = match self.separator.as_deref() {
            Some("tab") => Separator::Tab,
            Some("comma") => Separator::Comma,
            Some("blanks") => Separator::Blanks,
            None | Some("tab or comma") => Separator::TabOrComma,
            Some(other) => {
                return Err(format!(
                    "the separator `{other}` is not known; there are tab, comma, blanks, tab or comma"
                ));
            }
        };
        let columns = columns.iter().map(|name| match name.as_str() {
            "" => Ok(None),
            name => field(name).map(Some),
        });
        Ok(Layout::Columns {
            separator,
            columns: columns.collect::<Result<_, _>>()?,
        })
    }

    fn overlay(self, format: &mut LogFormat) -> Result<(), String> {
        if let Some(none) = self.none {
            format.none = none;
        }
        if let Some(comment) = self.comment {
            format.comment = Some(comment).filter(|comment| !comment.is_empty());
        }
        if let Some(lines) = self.header_lines {
            format.header_lines = lines;
        }
        if let Some(dates) = self.date {
            format.dates = match dates {
                OneOrMany::One(date) => vec![date],
                OneOrMany::Many(dates) => dates,
            };
        }
        if let Some(path) = &self.path {
            format.path = path_rule(path)?;
        }
        if let Some(statuses) = &self.statuses {
            let ranges = statuses.iter().map(StatusRange::range);
            format.statuses = ranges.collect::<Result<_, _>>()?;
        }
        for (name, value) in &self.values {
            let template = Template::parse(&value.text())?;
            format.values[field(name)? as usize] = Some(template);
        }
        Ok(())
    }
}

/// Refuses a format that could never give a capture, before a log is read.
fn check(format: &LogFormat) -> Result<(), String> {
    for date in &format.dates {
        date::check(date)
            .map_err(|error| format!("the date format `{date}` cannot be used: {error}"))?;
    }
    let has = |field| format.layout.has(field) || format.values[field as usize].is_some();
    if !has(Field::Url) {
        return Err("it has no `url`, neither in its lines nor among its values".to_owned());
    }
    if format.value(Field::Url).is_some_and(Template::needs_url) {
        return Err("the value of `url` cannot be made of parts of the URL".to_owned());
    }
    if format.path == PathRule::Field && !has(Field::File) {
        return Err(
            "it has no `file`; name it, or let `path` be \"mirror\" or a template".to_owned(),
        );
    }
    Ok(())
}

fn pattern(pattern: &str) -> Result<Layout, String> {
    // Without Unicode, so that bytes of any encoding match.
    let regex = RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(LARGEST)
        .build();
    let regex = regex.map_err(|error| format!("the pattern of `line` cannot be used: {error}"))?;
    let mut groups = Vec::with_capacity(COUNT);
    for (group, name) in regex.capture_names().enumerate() {
        if let Some(name) = name {
            groups.push((group, field(name)?));
        }
    }
    Ok(Layout::Pattern { regex, groups })
}

fn path_rule(path: &str) -> Result<PathRule, String> {
    match path {
        "mirror" => Ok(PathRule::Mirror),
        "field" => Ok(PathRule::Field),
        template if template.contains('{') => Template::parse(template).map(PathRule::Template),
        other => Err(format!(
            "`path` is `{other}`; it can be mirror, field, or a template such as {{host}}/{{path}}"
        )),
    }
}

fn field(name: &str) -> Result<Field, String> {
    Field::named(name).ok_or_else(|| {
        format!(
            "the field `{name}` is not known; there are {}",
            Field::names()
        )
    })
}

impl StatusRange {
    fn range(&self) -> Result<RangeInclusive<i32>, String> {
        let text = match self {
            Self::One(status) => return Ok(*status..=*status),
            Self::Range(text) => text,
        };
        let ends = text
            .split_once("..")
            .map(|(from, to)| (from.trim().parse(), to.trim().parse()));
        match ends {
            Some((Ok(from), Ok(to))) => Ok(from..=to),
            _ => Err(format!(
                "the statuses `{text}` cannot be read; write \"200..299\", or a number"
            )),
        }
    }
}

impl Value {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
        }
    }
}

/// The compiled pattern takes no more bytes than this.
const LARGEST: usize = 4 * 1024 * 1024;
