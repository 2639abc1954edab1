//! How a line is taken apart into fields.

use std::borrow::Cow;

use regex::bytes::Regex;

use super::field::{Field, Fields};

/// The layout of lines.
#[derive(Debug, Clone)]
pub(super) enum Layout {
    /// The twelve fields of Heritrix, read by hand: logs have millions of lines.
    Heritrix,
    /// A regular expression with named groups.
    Pattern {
        regex: Regex,
        /// Which group is which field.
        groups: Vec<(usize, Field)>,
    },
    /// Columns; those without a field are passed over.
    Columns {
        separator: Separator,
        columns: Vec<Option<Field>>,
    },
}

/// The separator of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Tab,
    Comma,
    Blanks,
    /// Tabs in lines that have some, commas in the others.
    TabOrComma,
}

impl Layout {
    /// Whether lines may have a field.
    pub(super) fn has(&self, field: Field) -> bool {
        match self {
            Self::Heritrix => !matches!(field, Field::File | Field::Depth),
            Self::Pattern { groups, .. } => groups.iter().any(|(_, known)| *known == field),
            Self::Columns { columns, .. } => columns.contains(&Some(field)),
        }
    }

    /// Takes a line apart, or says what is wrong with it. A field that is `none` is not there.
    pub(super) fn split<'l>(&self, line: &'l [u8], none: &[u8]) -> Result<Fields<'l>, String> {
        match self {
            Self::Heritrix => heritrix(line),
            Self::Pattern { regex, groups } => {
                let captures = regex
                    .captures(line)
                    .ok_or("it does not match the pattern of the format")?;
                let found = groups
                    .iter()
                    .filter_map(|(group, field)| Some((*field, captures.get(*group)?)));
                let values = found.map(|(field, value)| (field, Cow::Borrowed(value.as_bytes())));
                Ok(gathered(values, none))
            }
            Self::Columns { separator, columns } => {
                let values = separator.split(line);
                let named = columns.iter().zip(values);
                let values = named.filter_map(|(field, value)| Some(((*field)?, trimmed(value))));
                Ok(gathered(values, none))
            }
        }
    }
}

impl Separator {
    fn split(self, line: &[u8]) -> Vec<Cow<'_, [u8]>> {
        match self {
            Self::Tab => line
                .split(|byte| *byte == b'\t')
                .map(Cow::Borrowed)
                .collect(),
            Self::Comma => comma_separated(line),
            Self::Blanks => blank_separated(line).map(Cow::Borrowed).collect(),
            Self::TabOrComma if line.contains(&b'\t') => Self::Tab.split(line),
            Self::TabOrComma => Self::Comma.split(line),
        }
    }
}

fn gathered<'l>(values: impl Iterator<Item = (Field, Cow<'l, [u8]>)>, none: &[u8]) -> Fields<'l> {
    let mut fields = Fields::default();
    for (field, value) in values {
        if !value.is_empty() && *value != *none {
            fields.set(field, value);
        }
    }
    fields
}

/// A value of a column without the blanks around it, which people put there. What a pattern finds is what it says.
fn trimmed(value: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    match value {
        Cow::Borrowed(value) => Cow::Borrowed(value.trim_ascii()),
        Cow::Owned(value) => Cow::Owned(value.trim_ascii().to_vec()),
    }
}

/// Time, status, size, URI, discovery path, via, media type, thread, begin of the fetch, digest, source tag, and
/// annotations up to the end of the line.
fn heritrix(line: &[u8]) -> Result<Fields<'_>, String> {
    let mut parts: [&[u8]; 12] = [b""; 12];
    let mut rest = line.trim_ascii();
    let mut count = 0;
    while count < 11 && !rest.is_empty() {
        let end = rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
        parts[count] = &rest[..end];
        rest = rest[end..].trim_ascii_start();
        count += 1;
    }
    parts[11] = rest;
    // Logs of 2005 have no annotations, and the source tag is nothing to us.
    if count < 10 {
        return Err(format!(
            "it has {count} fields, and a line of Heritrix at least 10"
        ));
    }
    let mut fields = Fields::default();
    for (field, value) in [
        (
            Field::Date,
            if is_date(parts[8]) {
                parts[8]
            } else {
                parts[0]
            },
        ),
        (Field::Status, parts[1]),
        (Field::Size, parts[2]),
        (Field::Url, parts[3]),
        (Field::PathFromSeed, parts[4]),
        (Field::Parent, parts[5]),
        (Field::MediaType, parts[6]),
        (Field::Digest, parts[9]),
    ] {
        if value != b"-" {
            fields.set(field, value);
        }
    }
    let mut annotations = parts[11].split(|byte| matches!(byte, b',' | b' '));
    fields.is_duplicate = annotations
        .any(|note| note.starts_with(b"duplicate:") || note.starts_with(b"warcRevisit:"));
    Ok(fields)
}

/// Whether a field begins with the 17 digits of a fetch's begin.
fn is_date(field: &[u8]) -> bool {
    field.len() >= 14 && field[..14].iter().all(u8::is_ascii_digit)
}

fn blank_separated(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = line.split(u8::is_ascii_whitespace);
    parts.filter(|part| !part.is_empty())
}

/// RFC 4180, as far as one line goes.
fn comma_separated(line: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut values = Vec::new();
    let mut rest = line;
    loop {
        let (value, behind) = match rest {
            [b'"', quoted @ ..] => unquoted(quoted),
            _ => (
                Cow::Borrowed(until_comma(rest)),
                &rest[until_comma(rest).len()..],
            ),
        };
        values.push(value);
        match behind {
            [b',', behind @ ..] => rest = behind,
            _ => return values,
        }
    }
}

fn until_comma(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| *byte == b',');
    &bytes[..end.unwrap_or(bytes.len())]
}

/// The value that begins behind a quote, and what follows it. Two quotes are one.
fn unquoted(quoted: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    let mut value = Vec::new();
    let mut rest = quoted;
    loop {
        let end = rest.iter().position(|byte| *byte == b'"');
        let Some(end) = end else {
            value.extend(rest);
            return (Cow::Owned(value), b"");
        };
        value.extend(&rest[..end]);
        rest = &rest[end + 1..];
        match rest {
            [b'"', behind @ ..] => {
                value.push(b'"');
                rest = behind;
            }
            _ => {
                let junk = until_comma(rest).len();
                return (Cow::Owned(value), &rest[junk..]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_may_be_quoted() {
        for (line, expected) in [
            ("a,b,c", vec!["a", "b", "c"]),
            ("a,\"b, c\",d", vec!["a", "b, c", "d"]),
            ("\"say \"\"hi\"\"\",x", vec!["say \"hi\"", "x"]),
            ("\"open,x", vec!["open,x"]),
            ("\"a\"junk,b", vec!["a", "b"]),
            ("", vec![""]),
            (",,", vec!["", "", ""]),
        ] {
            let values: Vec<String> = comma_separated(line.as_bytes())
                .iter()
                .map(|value| String::from_utf8_lossy(value).into_owned())
                .collect();
            assert_eq!(values, expected, "{line}");
        }
    }

    #[test]
    fn annotations_may_hold_blanks_and_commas() {
        let line = b"2006-08-15T09:53:58.958Z   200        301 http://h/ L http://h/x text/html #007 20060815075358804+124 - - 3t,duplicate:\"a,1 2\",x {\"a\": 1}";

        let fields = heritrix(line).unwrap();

        assert!(fields.is_duplicate);
        assert_eq!(fields.get(Field::Digest), None);
        assert_eq!(fields.get(Field::Date), Some(&b"20060815075358804+124"[..]));
    }
}
