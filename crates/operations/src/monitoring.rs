//! Metrics for Prometheus, and whether garner is ready to work.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use catalog::{Gauges, HealthCounts, Totals};

use crate::Context;

/// Answers monitoring: cheap however often it asks.
#[derive(Debug, Clone)]
pub struct Monitoring {
    context: Context,
    /// The last metrics, and when they were counted.
    counted: Arc<Mutex<Option<(Instant, String)>>>,
}

impl Monitoring {
    /// For a catalog and its data directory.
    pub fn new(context: Context) -> Self {
        Self {
            context,
            counted: Arc::default(),
        }
    }

    /// Whether the catalog answers in time; the error says why not.
    pub async fn ready(&self) -> Result<(), String> {
        let asked = self.context.catalog().now();
        match tokio::time::timeout(PATIENCE, asked).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => {
                metrics::counter!("garner_catalog_errors_total").increment(1);
                Err(error.to_string())
            }
            Err(_) => Err("the catalog does not answer".to_owned()),
        }
    }

    /// The metrics in the format of Prometheus. They are counted anew every few seconds at most.
    pub async fn metrics(&self) -> String {
        if let Some((at, text)) = &*self.counted.lock().unwrap_or_else(PoisonError::into_inner)
            && at.elapsed() < FRESH
        {
            return text.clone();
        }
        let text = self.count().await;
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted = Some((Instant::now(), text.clone()));
        text
    }

    async fn count(&self) -> String {
        let mut page = Page::default();
        let version = env!("CARGO_PKG_VERSION");
        page.one(
            "garner_build_info",
            "gauge",
            "The version",
            &[("version", version)],
            1.0,
        );
        let began = Instant::now();
        let up = match self.ready().await {
            Ok(()) => 1.0,
            Err(_) => 0.0,
        };
        let latency = began.elapsed().as_secs_f64();
        page.one(
            "garner_catalog_up",
            "gauge",
            "Whether the catalog answers",
            &[],
            up,
        );
        page.one(
            "garner_catalog_latency_seconds",
            "gauge",
            "Time of one question to the catalog",
            &[],
            latency,
        );
        if up > 0.0
            && let Err(error) = self.count_catalog(&mut page).await
        {
            metrics::counter!("garner_catalog_errors_total").increment(1);
            tracing::warn!("the catalog cannot be counted for monitoring: {error}");
        }
        let holdings = self.context.holdings();
        if let Ok((free, all)) = flows::disk(holdings.directory()) {
            page.one(
                "garner_disk_free_bytes",
                "gauge",
                "Free bytes on the disk of the data directory",
                &[],
                free as f64,
            );
            page.one(
                "garner_disk_size_bytes",
                "gauge",
                "Bytes of the disk of the data directory",
                &[],
                all as f64,
            );
        }
        page.text
    }

    async fn count_catalog(&self, page: &mut Page) -> Result<(), catalog::Error> {
        let catalog = self.context.catalog();
        page.gauges(&catalog.gauges().await?);
        page.totals(&catalog.totals().await?);
        page.repositories(&catalog.health_counts().await?);
        let workers = catalog.workers().await?;
        let threads: u64 = workers.iter().map(|worker| worker.threads).sum();
        page.one(
            "garner_workers",
            "gauge",
            "Processes with workers",
            &[],
            workers.len() as f64,
        );
        page.one(
            "garner_worker_threads",
            "gauge",
            "Jobs that all workers run at once",
            &[],
            threads as f64,
        );
        Ok(())
    }
}

/// Lines of metrics.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn one(&mut self, name: &str, kind: &str, help: &str, labels: &[(&str, &str)], value: f64) {
        self.head(name, kind, help);
        self.line(name, labels, value);
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // A text takes all that is written to it.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// The values of labels are words of the program, so nothing in them has to be escaped.
    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<_> = labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{value}\""))
            .collect();
        let _ = match labels.is_empty() {
            true => writeln!(self.text, "{name} {value}"),
            false => writeln!(self.text, "{name}{{{}}} {value}", labels.join(",")),
        };
    }

    fn states(&mut self, name: &str, help: &str, known: &[&str], counted: &[(String, u64)]) {
        self.head(name, "gauge", help);
        for state in known {
            let number = counted.iter().find(|(name, _)| name == state);
            let number = number.map_or(0, |(_, number)| *number);
            self.line(name, &[("state", state)], number as f64);
        }
    }

    fn gauges(&mut self, gauges: &Gauges) {
        self.states("garner_jobs", "Jobs by state", &JOBS, &gauges.jobs);
        self.one(
            "garner_jobs_due",
            "gauge",
            "Jobs that are due and wait",
            &[],
            gauges.due as f64,
        );
        self.one(
            "garner_queue_age_seconds",
            "gauge",
            "How long the first job that is due has waited",
            &[],
            gauges.oldest_due_seconds as f64,
        );
        self.states(
            "garner_harvests",
            "Harvests of the history by state",
            &RUNS,
            &gauges.harvests,
        );
        self.states(
            "garner_imports",
            "Imports of the history by state",
            &RUNS,
            &gauges.imports,
        );
        self.one(
            "garner_documents",
            "gauge",
            "Documents of the collection",
            &[],
            gauges.documents as f64,
        );
        self.one(
            "garner_contents",
            "gauge",
            "Different contents of documents",
            &[],
            gauges.contents as f64,
        );
        self.one(
            "garner_content_bytes",
            "gauge",
            "Bytes of the contents",
            &[],
            gauges.content_bytes as f64,
        );
    }

    fn totals(&mut self, totals: &Totals) {
        self.head("garner_records", "gauge", "Harvested records");
        self.line(
            "garner_records",
            &[("state", "held")],
            totals.records as f64,
        );
        self.line(
            "garner_records",
            &[("state", "deleted")],
            totals.deleted as f64,
        );
        self.one(
            "garner_records_unsearchable",
            "gauge",
            "Records whose files could not be read for the search",
            &[],
            totals.unread as f64,
        );
        self.one(
            "garner_harvested_bytes",
            "gauge",
            "Bytes of the answers to the harvests of the history",
            &[],
            totals.bytes as f64,
        );
    }

    fn repositories(&mut self, counts: &HealthCounts) {
        let name = "garner_repositories";
        self.head(
            name,
            "gauge",
            "Repositories by the end of their last harvest",
        );
        for (health, number) in [
            ("ok", counts.ok),
            ("running", counts.running),
            ("incomplete", counts.incomplete),
            ("failing", counts.failing),
            ("never", counts.never),
        ] {
            self.line(name, &[("health", health)], number as f64);
        }
    }
}

const JOBS: [&str; 5] = ["scheduled", "running", "finished", "failed", "cancelled"];
const RUNS: [&str; 5] = ["running", "ok", "incomplete", "failed", "cancelled"];
/// How long the catalog may take to answer a question that asks for nothing.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long metrics are given again.
const FRESH: Duration = Duration::from_secs(5);
