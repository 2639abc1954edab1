//! A database that cannot be reached for a while is told from one that never can.

use catalog::{Catalog, Identity};
use test_support::Postgres;

use crate::place::{Place, run};

#[test]
fn a_server_that_does_not_answer_may_do_so_later() {
    run(async {
        let nowhere = "postgres://garner@localhost/a?host=/nowhere";
        let error = Catalog::open(nowhere).await.unwrap_err();

        assert!(error.is_transient(), "{error}");
    });
}

#[test]
fn a_database_that_is_not_there_will_not_be_later() {
    run(async {
        let missing = Postgres::shared().database().replace("/test_", "/missing_");
        let error = Catalog::open(&missing).await.unwrap_err();

        assert!(!error.is_transient(), "{error}");
    });
}

#[test]
fn connections_that_the_server_ends_are_replaced() {
    run(async {
        let place = Place::postgres();
        let (catalog, repository) = place.with_repository().await;

        place.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );

        let mut failures = 0;
        while let Err(error) = catalog.repository(repository).await {
            assert!(error.is_transient(), "{error}");
            failures += 1;
            assert!(failures < 20);
        }
    });
}

/// Issue 25: after a failover the server is a replica for a moment.
#[test]
fn a_server_that_may_not_write_is_named_with_a_remedy_and_may_later() {
    run(async {
        let place = Place::postgres();
        drop(place.with_repository().await);
        place.sql(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$",
        );
        let (catalog, identity) = (place.open().await, Identity::default());

        let added = catalog.add_repository("http://b.example/oai", "b", &identity);
        let error = added.await.unwrap_err();

        assert!(error.is_transient(), "{error}");
        assert!(error.to_string().contains("name the primary"), "{error}");
        assert!(catalog.repository(1).await.unwrap().is_some());
    });
}
