//! Conditional and range requests (RFC 9110, sections 13 and 14).

use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

use http::header::{self, HeaderMap, HeaderName};

/// The part of a file that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// 200 with all of it.
    Whole,
    /// 206 with a part.
    Part(Range<u64>),
    /// 304.
    NotModified,
    /// 412.
    PreconditionFailed,
    /// 416.
    RangeNotSatisfiable,
}

/// Decides by the request's headers and the file's validators.
pub(crate) fn decide(
    request: &HeaderMap,
    etag: &str,
    modified: Option<SystemTime>,
    size: u64,
) -> Answer {
    let modified = modified.map(seconds);
    let date = |name: HeaderName| {
        let value = request.get(name)?.to_str().ok()?;
        httpdate::parse_http_date(value).ok().map(seconds)
    };
    if request.contains_key(header::IF_MATCH) {
        if !matches(request, header::IF_MATCH, etag, false) {
            return Answer::PreconditionFailed;
        }
    } else if let (Some(limit), Some(modified)) = (date(header::IF_UNMODIFIED_SINCE), modified)
        && modified > limit
    {
        return Answer::PreconditionFailed;
    }
    if request.contains_key(header::IF_NONE_MATCH) {
        if matches(request, header::IF_NONE_MATCH, etag, true) {
            return Answer::NotModified;
        }
    } else if let (Some(since), Some(modified)) = (date(header::IF_MODIFIED_SINCE), modified)
        && modified <= since
    {
        return Answer::NotModified;
    }
    range(request, etag, modified, size)
}

fn range(request: &HeaderMap, etag: &str, modified: Option<u64>, size: u64) -> Answer {
    let Some(wanted) = request
        .get(header::RANGE)
        .and_then(|value| value.to_str().ok())
    else {
        return Answer::Whole;
    };
    if let Some(condition) = request.get(header::IF_RANGE) {
        let condition = condition.to_str().unwrap_or_default();
        let same = condition == etag
            || httpdate::parse_http_date(condition)
                .is_ok_and(|date| Some(seconds(date)) == modified);
        if !same {
            return Answer::Whole;
        }
    }
    // Several ranges at once are allowed to be ignored, and rarely wanted.
    match wanted.strip_prefix("bytes=") {
        Some(one) if !one.contains(',') => parse_range(one.trim(), size),
        _ => Answer::Whole,
    }
}

fn parse_range(text: &str, size: u64) -> Answer {
    let Some((first, last)) = text.split_once('-') else {
        return Answer::Whole;
    };
    let number = |text: &str| -> Option<u64> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse().unwrap_or(u64::MAX))
    };
    match (number(first), number(last)) {
        (Some(first), last) if last.is_some() || text.ends_with('-') => {
            let end = last.map_or(size, |last| last.saturating_add(1).min(size));
            if last.is_some_and(|last| last < first) {
                Answer::Whole
            } else if first >= size {
                Answer::RangeNotSatisfiable
            } else {
                Answer::Part(first..end)
            }
        }
        (None, Some(suffix)) if first.is_empty() => match suffix.min(size) {
            0 => Answer::RangeNotSatisfiable,
            suffix => Answer::Part(size - suffix..size),
        },
        _ => Answer::Whole,
    }
}

fn matches(request: &HeaderMap, name: HeaderName, etag: &str, weakly: bool) -> bool {
    let values = request
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|tag| {
            let tag = if weakly {
                tag.strip_prefix("W/").unwrap_or(tag)
            } else {
                tag
            };
            tag == "*" || tag == etag
        })
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETAG: &str = "\"a-1\"";

    fn asked(headers: &[(&str, &str)]) -> Answer {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        let modified = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        decide(&map, ETAG, Some(modified), 100)
    }

    #[test]
    fn ranges_are_cut_as_the_standard_says() {
        for (range, answer) in [
            ("bytes=0-9", Answer::Part(0..10)),
            ("bytes=90-", Answer::Part(90..100)),
            ("bytes=90-500", Answer::Part(90..100)),
            ("bytes=-5", Answer::Part(95..100)),
            ("bytes=-500", Answer::Part(0..100)),
            ("bytes=100-", Answer::RangeNotSatisfiable),
            ("bytes=-0", Answer::RangeNotSatisfiable),
            ("bytes=5-2", Answer::Whole),
            ("bytes=0-1,3-4", Answer::Whole),
            ("bytes=x-y", Answer::Whole),
            ("bytes=+1-2", Answer::Whole),
            ("lines=1-2", Answer::Whole),
        ] {
            assert_eq!(asked(&[("range", range)]), answer, "{range}");
        }
    }

    #[test]
    fn validators_decide_before_ranges() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let earlier = "Sun, 06 Nov 1994 08:49:36 GMT";
        for (headers, answer) in [
            (vec![("if-none-match", ETAG)], Answer::NotModified),
            (
                vec![("if-none-match", "W/\"a-1\", \"b\"")],
                Answer::NotModified,
            ),
            (
                vec![("if-none-match", "\"b\""), ("if-modified-since", date)],
                Answer::Whole,
            ),
            (vec![("if-modified-since", date)], Answer::NotModified),
            (vec![("if-modified-since", earlier)], Answer::Whole),
            (vec![("if-modified-since", "nonsense")], Answer::Whole),
            (vec![("if-match", "\"b\"")], Answer::PreconditionFailed),
            (vec![("if-match", "*")], Answer::Whole),
            (
                vec![("if-unmodified-since", earlier)],
                Answer::PreconditionFailed,
            ),
            (
                vec![("range", "bytes=0-1"), ("if-range", "\"b\"")],
                Answer::Whole,
            ),
            (
                vec![("range", "bytes=0-1"), ("if-range", ETAG)],
                Answer::Part(0..2),
            ),
            (
                vec![("range", "bytes=0-1"), ("if-range", date)],
                Answer::Part(0..2),
            ),
        ] {
            assert_eq!(asked(&headers), answer, "{headers:?}");
        }
    }
}
