//! Totals, over time and by repository.

use catalog::{
    Catalog, Counts, Finish, Health, HealthCounts, Identity, NewJob, NewRun, RepositoryListQuery,
    RepositorySort, State,
};

use crate::place::{Place, page, row, tombstone};
use crate::runs::ok;

crate::on_both_databases!(
    everything_is_counted,
    activity_has_a_bucket_for_every_step,
    a_harvest_of_a_job_fares_as_the_job_does,
    repositories_are_listed_by_how_they_fare,
    repositories_are_searched_and_sorted,
);

async fn named(catalog: &Catalog, base_url: &str, name: Option<&str>) -> i64 {
    let identity = Identity {
        name: name.map(str::to_owned),
        ..Identity::default()
    };
    let added = catalog.add_repository(base_url, "a", &identity).await;
    added.unwrap().id
}

async fn harvested(catalog: &Catalog, repository: i64, state: State) -> i64 {
    let mut run = catalog
        .begin(&NewRun::new(repository, "oai_dc"))
        .await
        .unwrap();
    let rows = [row("1"), tombstone("2", 5)];
    let commit = catalog::PageCommit {
        counts: Counts {
            bytes: 3_000_000_000,
            ..Counts::default()
        },
        ..page(&rows)
    };
    catalog.commit_page(&mut run, commit).await.unwrap();
    let finish = Finish {
        state,
        reason: Some(format!("{state:?}")),
        ..ok()
    };
    catalog.finish(run, &finish).await.unwrap().id
}

fn harvest_job(repository: i64, run_at: i64) -> NewJob {
    NewJob {
        run_at: Some(run_at),
        ..NewJob::harvest(repository, "oai_dc")
    }
}

async fn everything_is_counted(place: Place) {
    let catalog = place.open().await;
    assert_eq!(catalog.totals().await.unwrap(), catalog::Totals::default());
    let first = named(&catalog, "http://a.example/", None).await;
    named(&catalog, "http://b.example/", None).await;
    harvested(&catalog, first, State::Ok).await;
    harvested(&catalog, first, State::Failed).await;
    let far = catalog.now().await.unwrap() + 1_000;
    catalog.add_job(&harvest_job(first, far)).await.unwrap();
    let job = catalog.add_job(&harvest_job(first, far)).await.unwrap();
    catalog.cancel_job(job.id).await.unwrap();

    let totals = catalog.totals().await.unwrap();

    assert_eq!((totals.repositories, totals.harvests), (2, 2));
    assert_eq!((totals.records, totals.deleted), (1, 1));
    assert_eq!(totals.bytes, 6_000_000_000);
    assert_eq!((totals.jobs.scheduled, totals.jobs.cancelled), (1, 1));
}

async fn activity_has_a_bucket_for_every_step(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    harvested(&catalog, repository, State::Ok).await;
    harvested(&catalog, repository, State::Failed).await;
    let now = catalog.now().await.unwrap();
    const DAY: i64 = 86_400;

    let days = catalog.activity(now - 6 * DAY, DAY, 0).await.unwrap();

    assert!((7..=8).contains(&days.len()));
    assert!(days.iter().all(|day| day.from % DAY == 0));
    assert!(days.is_sorted_by(|a, b| a.from + DAY == b.from));
    let sum = |of: fn(&catalog::Bucket) -> u64| days.iter().map(of).sum::<u64>();
    // The second harvest found the same again.
    assert_eq!(sum(|day| day.records), 4);
    assert_eq!(sum(|day| day.bytes), 6_000_000_000);
    assert_eq!((sum(|day| day.harvests), sum(|day| day.failed)), (2, 1));
    assert_eq!(days[0].harvests, 0);
    for (since, step) in [
        (i64::MIN, 1),
        (i64::MAX, 1),
        (0, i64::MIN),
        (0, i64::MAX),
        (-1, 0),
    ] {
        let buckets = catalog.activity(since, step, 0).await.unwrap();
        assert!((1..=2_000).contains(&buckets.len()), "{since} {step}");
    }
}

async fn a_harvest_of_a_job_fares_as_the_job_does(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let other = named(&catalog, "http://b.example/", None).await;
    let now = catalog.now().await.unwrap();
    catalog
        .add_job(&harvest_job(repository, now))
        .await
        .unwrap();
    let claim = crate::place::claimed(&catalog).await.unwrap();
    let of_job = NewRun {
        job: Some(claim.lease()),
        ..NewRun::new(repository, "oai_dc")
    };
    catalog.begin(&of_job).await.unwrap();
    let command = NewRun::new(other, "oai_dc");
    catalog.begin(&command).await.unwrap();

    // Only the lease of the job is made longer while no page comes.
    place.sql("UPDATE history SET lease_until = lease_until - 1000");

    let counts = catalog.health_counts().await.unwrap();
    assert_eq!((counts.running, counts.failing), (1, 1));
}

async fn repositories_are_listed_by_how_they_fare(place: Place) {
    let catalog = place.open().await;
    let ids = [
        named(&catalog, "http://never.example/", None).await,
        named(&catalog, "http://ok.example/", None).await,
        named(&catalog, "http://incomplete.example/", None).await,
        named(&catalog, "http://failing.example/", None).await,
        named(&catalog, "http://running.example/", None).await,
    ];
    harvested(&catalog, ids[1], State::Failed).await;
    let last = harvested(&catalog, ids[1], State::Ok).await;
    harvested(&catalog, ids[2], State::Incomplete).await;
    harvested(&catalog, ids[3], State::Failed).await;
    let run = catalog.begin(&NewRun::new(ids[4], "oai_dc")).await.unwrap();
    let at = catalog.now().await.unwrap() + 1_000;
    catalog.add_job(&harvest_job(ids[1], at)).await.unwrap();

    for (health, expected) in [
        (Health::Never, ids[0]),
        (Health::Ok, ids[1]),
        (Health::Incomplete, ids[2]),
        (Health::Failing, ids[3]),
        (Health::Running, ids[4]),
    ] {
        let query = RepositoryListQuery {
            health: Some(health),
            ..RepositoryListQuery::default()
        };
        let (number, listed) = catalog.repository_overview(&query).await.unwrap();
        assert_eq!((number, listed.len()), (1, 1), "{health:?}");
        assert_eq!(
            (listed[0].repository.id, listed[0].health),
            (expected, health)
        );
    }
    let counts = catalog.health_counts().await.unwrap();
    assert_eq!(
        counts,
        HealthCounts {
            failing: 1,
            incomplete: 1,
            never: 1,
            running: 1,
            ok: 1
        }
    );
    let query = RepositoryListQuery {
        text: Some("ok.example".to_owned()),
        ..RepositoryListQuery::default()
    };
    let (_, listed) = catalog.repository_overview(&query).await.unwrap();
    let ok = &listed[0];
    assert_eq!((ok.records, ok.deleted, ok.schedules), (1, 1, 0));
    assert_eq!(ok.next_run, Some(at));
    let harvest = ok.last.as_ref().unwrap();
    assert_eq!((harvest.id, harvest.state), (last, State::Ok));
    assert_eq!(harvest.reason.as_deref(), Some("Ok"));
    catalog.finish(run, &crate::runs::ok()).await.unwrap();
    assert_eq!(catalog.health_counts().await.unwrap().running, 0);
}

async fn repositories_are_searched_and_sorted(place: Place) {
    let catalog = place.open().await;
    let zebra = named(&catalog, "http://a.example/", Some("zebra")).await;
    let ecole = named(&catalog, "http://b.example/", Some("École")).await;
    let apple = named(&catalog, "http://c.example/", Some("Apple")).await;
    let bare = named(&catalog, "http://d.example/", None).await;
    harvested(&catalog, ecole, State::Ok).await;

    let listed = async |query: RepositoryListQuery| {
        let (number, listed) = catalog.repository_overview(&query).await.unwrap();
        let ids: Vec<_> = listed.iter().map(|line| line.repository.id).collect();
        (number, ids)
    };
    let all = RepositoryListQuery::default;
    let by = |sort, descending| RepositoryListQuery {
        sort,
        descending,
        ..all()
    };
    assert_eq!(listed(all()).await, (4, vec![apple, ecole, bare, zebra]));
    assert_eq!(
        listed(by(RepositorySort::Name, true)).await.1,
        [zebra, bare, ecole, apple]
    );
    assert_eq!(
        listed(by(RepositorySort::BaseUrl, true)).await.1,
        [bare, apple, ecole, zebra]
    );
    // Repositories that were never harvested come last in both directions.
    for descending in [false, true] {
        let listed = listed(by(RepositorySort::LastHarvest, descending)).await.1;
        assert_eq!(listed[0], ecole);
    }
    assert_eq!(listed(by(RepositorySort::Records, true)).await.1[0], ecole);
    assert_eq!(listed(by(RepositorySort::Records, false)).await.1[3], ecole);
    assert_eq!(listed(by(RepositorySort::Health, true)).await.1[0], ecole);
    let page = RepositoryListQuery {
        offset: 1,
        limit: 2,
        ..all()
    };
    assert_eq!(listed(page).await, (4, vec![ecole, bare]));
    for (text, expected) in [
        ("ECOLE", vec![ecole]),
        ("D.example", vec![bare]),
        ("100%", vec![]),
    ] {
        let query = RepositoryListQuery {
            text: Some(text.to_owned()),
            ..all()
        };
        assert_eq!(listed(query).await.1, expected, "{text}");
    }
}
