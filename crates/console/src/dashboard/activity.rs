//! Harvests over time, as a chart.

use askama::Template;
use askama::filters::HtmlSafe;
use operations::Time;
use operations::statistics::{self, Activity, ActivityFilter};
use serde::Deserialize;

use crate::clock::Clock;
use crate::parts::{Bar, Chart, Link};
use crate::problem::Problem;
use crate::state::ConsoleState;

/// How far back one looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Span {
    /// 24 hours, by the hour.
    Day,
    /// 30 days, by the day.
    #[default]
    Month,
    /// A year, by the week.
    Year,
    /// Whatever else somebody writes into the address.
    #[serde(other)]
    Unknown,
}

/// The unit of the chart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Measure {
    /// Records, changed or not.
    #[default]
    Records,
    /// Harvests, the failed ones apart.
    Harvests,
    /// Bytes of answers.
    Bytes,
    /// Whatever else somebody writes into the address.
    #[serde(other)]
    Unknown,
}

#[derive(Template)]
#[template(path = "dashboard_activity.html")]
pub(super) struct ActivityChart {
    span: Span,
    measure: Measure,
    chart: Chart,
    harvests: u64,
    failed: u64,
}

impl HtmlSafe for ActivityChart {}

impl ActivityChart {
    pub(super) async fn new(
        state: &ConsoleState,
        span: Span,
        measure: Measure,
    ) -> Result<Self, Problem> {
        let (span, measure) = (span.known(), measure.known());
        let now = state.catalog().now().await?;
        let (steps, step, _) = span.steps();
        let filter = ActivityFilter {
            since: Some(Time(now - (steps - 1) * step)),
            step: Some(step),
            offset: Some(Clock::current().at(now).offset().seconds().into()),
        };
        let buckets = statistics::activity(state.context(), &filter).await?.items;
        let bars = buckets.iter().map(|bucket| span.bar(bucket, measure));
        Ok(Self {
            chart: Chart {
                title: measure.title().to_owned(),
                bars: bars.collect(),
                is_size: measure == Measure::Bytes,
                parts: span.steps().2,
            },
            span,
            measure,
            harvests: buckets.iter().map(|bucket| bucket.harvests).sum(),
            failed: buckets.iter().map(|bucket| bucket.failed).sum(),
        })
    }

    /// The address of the part that is kept up to date.
    pub(super) fn address(&self) -> Link {
        self.link("/dashboard/charts", self.span, self.measure)
    }

    fn spans(&self) -> [(bool, Link, &'static str); 3] {
        [
            (Span::Day, "24 hours"),
            (Span::Month, "30 days"),
            (Span::Year, "1 year"),
        ]
        .map(|(span, words)| (span == self.span, self.link("/", span, self.measure), words))
    }

    fn measures(&self) -> [(bool, Link, &'static str); 3] {
        [Measure::Records, Measure::Harvests, Measure::Bytes].map(|measure| {
            let link = self.link("/", self.span, measure);
            (measure == self.measure, link, measure.title())
        })
    }

    fn link(&self, path: &str, span: Span, measure: Measure) -> Link {
        Link::to(path)
            .with("span", span.name())
            .with("measure", measure.title().to_lowercase())
    }
}

impl Measure {
    fn known(self) -> Self {
        match self {
            Self::Unknown => Self::Records,
            known => known,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Harvests => "Harvests",
            Self::Bytes => "Bytes",
            _ => "Records",
        }
    }

    fn of(self, bucket: &Activity) -> u64 {
        match self {
            Self::Harvests => bucket.harvests,
            Self::Bytes => bucket.bytes,
            _ => bucket.records,
        }
    }
}

impl Span {
    fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Year => "year",
            _ => "month",
        }
    }

    fn known(self) -> Self {
        match self {
            Self::Unknown => Self::Month,
            known => known,
        }
    }

    /// How many steps of how many seconds it has, and how many of these have a label.
    fn steps(self) -> (i64, i64, usize) {
        match self {
            Self::Day => (24, 3600, 4),
            Self::Year => (52, WEEK, 4),
            _ => (30, DAY, 5),
        }
    }

    fn bar(self, bucket: &Activity, measure: Measure) -> Bar {
        let clock = Clock::current();
        let from = clock.at(bucket.from.0);
        let (label, short) = match self {
            Self::Day => ("%-d %b %H:%M", "%H:%M"),
            Self::Year => ("week of %-d %b %Y", "%-d %b"),
            _ => ("%-d %b", "%-d %b"),
        };
        let last = bucket.from.0 + self.steps().1 - 1;
        // Days as a person would type them, hours to the second.
        let (since, until) = match self {
            Self::Day => (bucket.from.to_string(), Time(last).to_string()),
            _ => {
                let day = |seconds| clock.at(seconds).date().to_string();
                (day(bucket.from.0), day(last))
            }
        };
        Bar {
            label: from.strftime(label).to_string(),
            short: from.strftime(short).to_string(),
            value: measure.of(bucket),
            failed: bucket.failed,
            is_stacked: measure == Measure::Harvests,
            link: Link::to("/runs/all")
                .with("kind", "harvest")
                .with("since", since)
                .with("until", until),
        }
    }
}

const DAY: i64 = 86_400;
const WEEK: i64 = 7 * DAY;
