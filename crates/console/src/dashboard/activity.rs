//! Harvested over time, as charts.

use askama::Template;
use askama::filters::HtmlSafe;
use operations::Time;
use operations::statistics::{self, Activity, ActivityFilter};
use serde::Deserialize;

use crate::filters::date;
use crate::parts::{Bar, Chart};
use crate::problem::Problem;
use crate::state::ConsoleState;

/// How far back one looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Span {
    /// 24 hours, by the hour.
    #[default]
    Day,
    /// 30 days, by the day.
    Month,
    /// A year, by the week.
    Year,
    /// Whatever else somebody writes into the address.
    #[serde(other)]
    Unknown,
}

#[derive(Template)]
#[template(path = "dashboard_activity.html")]
pub(super) struct ActivityCharts {
    pub(super) span: Span,
    records: Chart,
    bytes: Chart,
    harvests: u64,
    failed: u64,
}

impl HtmlSafe for ActivityCharts {}

impl ActivityCharts {
    pub(super) async fn new(state: &ConsoleState, span: Span) -> Result<Self, Problem> {
        let now = state.catalog().now().await?;
        let (steps, step) = span.steps();
        let filter = ActivityFilter {
            since: Some(Time(now - (steps - 1) * step)),
            step: Some(step),
        };
        let buckets = statistics::activity(state.context(), &filter).await?.items;
        let chart = |title: &str, value: fn(&Activity) -> u64, is_size| Chart {
            title: title.to_owned(),
            bars: buckets
                .iter()
                .map(|bucket| span.bar(bucket, value))
                .collect(),
            is_size,
        };
        Ok(Self {
            span,
            records: chart("Records", |bucket| bucket.records, false),
            bytes: chart("Bytes", |bucket| bucket.bytes, true),
            harvests: buckets.iter().map(|bucket| bucket.harvests).sum(),
            failed: buckets.iter().map(|bucket| bucket.failed).sum(),
        })
    }

    fn spans(&self) -> [(Span, &'static str, &'static str); 3] {
        [
            (Span::Day, "day", "24 hours"),
            (Span::Month, "month", "30 days"),
            (Span::Year, "year", "1 year"),
        ]
    }

    fn is(&self, span: Span) -> bool {
        self.span.known() == span
    }
}

impl Span {
    pub(super) fn name(self) -> &'static str {
        match self.known() {
            Self::Month => "month",
            Self::Year => "year",
            _ => "day",
        }
    }

    fn known(self) -> Self {
        match self {
            Self::Unknown => Self::Day,
            known => known,
        }
    }

    /// How many steps of how many seconds it has.
    fn steps(self) -> (i64, i64) {
        match self.known() {
            Self::Month => (30, 86_400),
            Self::Year => (52, 7 * 86_400),
            _ => (24, 3600),
        }
    }

    fn bar(self, bucket: &Activity, value: fn(&Activity) -> u64) -> Bar {
        let from = date(bucket.from.0);
        let label = match self.known() {
            Self::Month => from.strftime("%-d %b").to_string(),
            Self::Year => from.strftime("week of %-d %b %Y").to_string(),
            _ => from.strftime("%-d %b %H:%M").to_string(),
        };
        Bar {
            label,
            value: value(bucket),
            failed: bucket.failed,
        }
    }
}
