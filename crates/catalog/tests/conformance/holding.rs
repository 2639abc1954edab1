//! How many records are held, whatever pages bring.

use catalog::{Catalog, FormatCounts, NewRun, PageCommit, RecordQuery, RecordRow, Run, Validation};

use crate::place::{Place, in_sets, page, row, tombstone};
use crate::runs::ok;

crate::on_both_databases!(
    the_counters_say_what_there_is_after_any_pages,
    a_page_that_is_refused_counts_nothing,
);

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn row(&mut self) -> RecordRow {
        let identifier = self.below(40).to_string();
        match self.below(6) {
            0 | 1 => tombstone(&identifier, 5),
            2 => RecordRow {
                validation: Validation::Skipped,
                file: None,
                sha256: None,
                ..row(&identifier)
            },
            3 => in_sets(&identifier, &["a"]),
            _ => row(&identifier),
        }
    }
}

/// The list of records, counted by format.
async fn listed(catalog: &Catalog, repository: i64) -> Vec<FormatCounts> {
    let query = RecordQuery {
        repository: Some(repository),
        limit: 10_000,
        ..RecordQuery::default()
    };
    let mut counts: Vec<FormatCounts> = Vec::new();
    for record in catalog.records(&query).await.unwrap() {
        let same = |format: &FormatCounts| format.metadata_prefix == record.metadata_prefix;
        let at = counts.iter().position(same).unwrap_or_else(|| {
            counts.push(FormatCounts {
                metadata_prefix: record.metadata_prefix.clone(),
                records: 0,
                deleted: 0,
            });
            counts.len() - 1
        });
        counts[at].records += u64::from(!record.deleted);
        counts[at].deleted += u64::from(record.deleted);
    }
    counts.sort_by(|a, b| a.metadata_prefix.cmp(&b.metadata_prefix));
    counts
}

async fn the_counters_say_what_there_is_after_any_pages(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let mut numbers = Numbers(7);
    for round in 0..12 {
        let prefix = ["oai_dc", "marc21"][round % 2];
        let mut run: Run = catalog
            .begin(&NewRun::new(repository, prefix))
            .await
            .unwrap();
        for _ in 0..3 {
            let rows: Vec<_> = (0..numbers.below(30)).map(|_| numbers.row()).collect();
            let dropped: Vec<_> = (0..numbers.below(6))
                .map(|_| numbers.below(40).to_string())
                .collect();
            let commit = PageCommit {
                dropped: &dropped,
                ..page(&rows)
            };
            catalog.commit_page(&mut run, commit).await.unwrap();
        }
        catalog.finish(run, &ok()).await.unwrap();

        let counted = catalog.format_counts(repository).await.unwrap();
        assert_eq!(counted, listed(&catalog, repository).await, "round {round}");
        let counts = catalog.repository_counts(repository).await.unwrap();
        let totals = catalog.totals().await.unwrap();
        let sum = |of: fn(&FormatCounts) -> u64| counted.iter().map(of).sum::<u64>();
        let (records, deleted) = (sum(|format| format.records), sum(|format| format.deleted));
        assert!(records > 0 && deleted > 0);
        assert_eq!((counts.records, counts.deleted), (records, deleted));
        assert_eq!((totals.records, totals.deleted), (records, deleted));
    }
    catalog.remove_repository(repository).await.unwrap();
    let totals = catalog.totals().await.unwrap();
    assert_eq!((totals.records, totals.deleted), (0, 0));
}

async fn a_page_that_is_refused_counts_nothing(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let mut order = NewRun::new(repository, "oai_dc");
    order.lease = std::time::Duration::ZERO;
    let mut run = catalog.begin(&order).await.unwrap();
    catalog
        .commit_page(&mut run, page(&[row("1")]))
        .await
        .unwrap();
    // The lease is over within the second, and another takes the harvest.
    while catalog.begin(&order).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }

    let refused = catalog.commit_page(&mut run, page(&[row("2")])).await;

    assert!(matches!(refused, Err(catalog::Error::LeaseLost { .. })));
    let counts = catalog.repository_counts(repository).await.unwrap();
    assert_eq!(counts.records, 1);
}
