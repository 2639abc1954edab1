//! Cuts a list into spans of time that can be harvested side by side.

use harvester::Identity;
use oai::{Datestamp, Granularity};

/// The bounds of a span, as they are sent; where there is none, it is open.
pub(super) type Span = (Option<String>, Option<String>);

/// Cuts a span in `parts` parts of about the same length. The first begins where the span does and the last ends where it
/// does, so that dates beyond all expectation are in one of them.
///
/// Each part ends at the midnight at which the next one begins, so that they overlap by one tick of the granularity: for
/// many servers `until` is exclusive, and for others it means midnight.
pub(super) fn cut(span: Span, parts: usize, identity: Option<&Identity>, now: i64) -> Vec<Span> {
    let (from, until) = span;
    let granularity = identity.map_or(Granularity::Day, |identity| identity.granularity);
    let date = |text: &String| Datestamp::parse(text).map(|(datestamp, _)| datestamp.seconds());
    let earliest = identity.and_then(|identity| identity.earliest_datestamp);
    let low = from
        .as_ref()
        .and_then(date)
        .or(earliest.map(Datestamp::seconds));
    let high = until.as_ref().and_then(date).unwrap_or(now);
    let low = low.unwrap_or(0).div_euclid(DAY);
    let high = high.div_euclid(DAY);
    let midnight = |day: i64| {
        let mut text = Datestamp::from_seconds(day * DAY).to_string();
        if granularity == Granularity::Day {
            text.truncate("YYYY-MM-DD".len());
        }
        text
    };

    let parts = i64::try_from(parts)
        .unwrap_or(i64::MAX)
        .clamp(1, (high - low).max(1));
    let mut spans = Vec::new();
    let mut begin = from;
    for part in 1..parts {
        let end = midnight(low + (high - low) * part / parts);
        spans.push((begin.replace(end.clone()), Some(end)));
    }
    spans.push((begin, until));
    spans
}

const DAY: i64 = 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(granularity: Granularity) -> Identity {
        Identity {
            repository_name: String::new(),
            base_url: String::new(),
            protocol_version: String::new(),
            admin_emails: Vec::new(),
            earliest_datestamp: Datestamp::parse("2020-01-01").map(|(datestamp, _)| datestamp),
            deleted_record: String::new(),
            granularity,
        }
    }

    fn texts(spans: &[Span]) -> Vec<(&str, &str)> {
        let text = |bound: &'_ Option<String>| -> &'static str {
            bound.clone().unwrap_or_default().leak()
        };
        spans
            .iter()
            .map(|(from, until)| (text(from), text(until)))
            .collect()
    }

    #[test]
    fn spans_overlap_by_a_day_and_stay_open_at_their_ends() {
        let (now, _) = Datestamp::parse("2020-01-09").unwrap();
        let identity = identity(Granularity::Day);

        let spans = cut((None, None), 4, Some(&identity), now.seconds());

        let expected = [
            ("", "2020-01-03"),
            ("2020-01-03", "2020-01-05"),
            ("2020-01-05", "2020-01-07"),
            ("2020-01-07", ""),
        ];
        assert_eq!(texts(&spans), expected);
    }

    #[test]
    fn bounds_that_were_given_are_kept_and_cuts_are_made_at_midnight() {
        let bounds = (
            Some("2020-01-01T12:00:00Z".to_owned()),
            Some("2020-01-03T00:00:09Z".to_owned()),
        );
        let identity = identity(Granularity::Second);

        let spans = cut(bounds, 2, Some(&identity), 0);

        let expected = [
            ("2020-01-01T12:00:00Z", "2020-01-02T00:00:00Z"),
            ("2020-01-02T00:00:00Z", "2020-01-03T00:00:09Z"),
        ];
        assert_eq!(texts(&spans), expected);
    }

    #[test]
    fn no_more_parts_are_made_than_there_are_days() {
        let (now, _) = Datestamp::parse("2020-01-03").unwrap();
        let identity = identity(Granularity::Day);
        assert_eq!(
            cut((None, None), 100, Some(&identity), now.seconds()).len(),
            2
        );
        assert_eq!(cut((None, None), 1, None, 0), [(None, None)]);
    }
}
