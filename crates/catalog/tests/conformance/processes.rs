//! Several processes, and ones that are killed. The other processes are this program, told by its environment what to do.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use catalog::{Catalog, Error, NewJob, NewRun, PageCommit, RecordQuery};

use crate::arrivals;
use crate::place::{Place, add, claimed, in_sets, page, run};

crate::on_both_databases!(
    many_processes_open_a_new_catalog_at_once,
    a_harvest_in_another_process_is_refused_until_that_is_killed,
    killed_at_any_moment_pages_are_there_as_a_whole_or_not_at_all,
    the_job_of_a_killed_worker_goes_on_at_once_from_its_last_page,
);

const URL: &str = "http://a.example/oai";
const ROWS: usize = 700;

pub(crate) struct Other {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Other {
    pub(crate) fn start(place: &Place, task: &str) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "processes::other_process",
                "--nocapture",
            ])
            .env("CATALOG", &place.location)
            .env("TASK", task)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Waits until it says this.
    pub(crate) fn says(&mut self, word: &str) {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it ended");
        }
    }

    /// The numbers that it says after this word until it ends.
    pub(crate) fn numbers(&mut self, word: &str) -> Vec<i64> {
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        assert!(self.child.wait().unwrap().success());
        let lines = text.lines().filter_map(|line| line.split_once(word));
        lines
            .map(|(_, number)| number.trim().parse().unwrap())
            .collect()
    }

    pub(crate) fn kill(self) {
        drop(self);
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn many_processes_open_a_new_catalog_at_once(place: Place) {
    let others: Vec<_> = (0..8).map(|_| Other::start(&place, "open")).collect();

    for mut other in others {
        other.says("opened");
        assert!(other.child.wait().unwrap().success());
    }

    let catalog = place.open().await;
    assert_eq!(catalog.repositories().await.unwrap().len(), 1);
}

async fn a_harvest_in_another_process_is_refused_until_that_is_killed(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let mut other = Other::start(&place, "harvest");
    other.says("committed");

    let error = catalog
        .begin(&NewRun::new(repository, "oai_dc"))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Busy { .. }));
    assert!(
        error
            .to_string()
            .contains(&format!("process {} on", other.child.id()))
    );
    other.kill();

    // The lease has minutes to go, but its holder is known to be gone.
    let unfinished = catalog
        .unfinished(repository, "oai_dc", None)
        .await
        .unwrap();
    let resume = NewRun {
        resume: unfinished.map(|entry| entry.id),
        ..NewRun::new(repository, "oai_dc")
    };
    let run = catalog.begin(&resume).await.unwrap();
    assert!(run.resume_state().is_some());
}

async fn killed_at_any_moment_pages_are_there_as_a_whole_or_not_at_all(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let mut pages = 0;
    for round in 0..6 {
        let mut other = Other::start(&place, "harvest");
        other.says("committed");
        // Somewhere within the commits that follow.
        std::thread::sleep(Duration::from_millis(17 * round));
        other.kill();

        let entry = catalog
            .unfinished(repository, "oai_dc", None)
            .await
            .unwrap()
            .unwrap();
        let committed: usize = entry.resume_state.unwrap().parse().unwrap();
        let counts = catalog.repository_counts(repository).await.unwrap();
        assert!(committed > pages, "it went on from page {pages}");
        assert_eq!(counts.records as usize, committed * ROWS);
        assert_eq!(entry.counts.new as usize, committed * ROWS);
        assert_eq!(entry.counts.requests as usize, committed);
        assert_eq!(entry.attempts as u64, round + 1);
        pages = committed;
    }
    let query = RecordQuery {
        set: Some("all".to_owned()),
        limit: 1_000_000,
        ..RecordQuery::default()
    };
    assert_eq!(catalog.records(&query).await.unwrap().len(), pages * ROWS);
}

async fn the_job_of_a_killed_worker_goes_on_at_once_from_its_last_page(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let new = NewJob {
        max_attempts: 2,
        ..NewJob::harvest(repository, "oai_dc")
    };
    let job = catalog.add_job(&new).await.unwrap();
    let mut other = Other::start(&place, "work");
    other.says("committed");
    assert!(claimed(&catalog).await.is_none());
    let process = format!("process {} on ", other.child.id());
    other.kill();

    // PostgreSQL may take a moment to notice that nobody goes on with the last transaction.
    let claim = loop {
        match claimed(&catalog).await {
            Some(claim) => break claim,
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };

    assert_eq!((claim.job.id, claim.job.attempt), (job.id, 2));
    assert!(claim.taken_over.as_ref().unwrap().contains(&process));
    let unfinished = catalog.unfinished(repository, "oai_dc", None).await;
    let resume = NewRun {
        resume: Some(unfinished.unwrap().unwrap().id),
        job: Some(claim.lease()),
        ..NewRun::new(repository, "oai_dc")
    };
    let run = catalog.begin(&resume).await.unwrap();
    assert!(run.resume_state().is_some());
    let told = catalog.warnings(run.id(), 9).await.unwrap();
    assert!(told[0].reason.contains(&process), "{told:?}");
}

#[test]
#[ignore = "is run by other tests as a process of its own"]
fn other_process() {
    let (Ok(location), Ok(task)) = (env::var("CATALOG"), env::var("TASK")) else {
        return;
    };
    run(async {
        let catalog = Catalog::open(&location).await.unwrap();
        let repository = add(&catalog, URL).await;
        if let Some(task) = task.strip_prefix("import ") {
            return arrivals::import_alone(&catalog, task).await;
        }
        match task.as_str() {
            "open" => say("opened"),
            "claim" => claim_all(&catalog).await,
            "work" => work(&catalog, repository).await,
            "hold" => hold(&catalog).await,
            _ => harvest(&catalog, repository).await,
        }
    });
}

/// Goes on where the last process was killed, and commits pages until it is killed itself.
async fn harvest(catalog: &Catalog, repository: i64) {
    let unfinished = catalog
        .unfinished(repository, "oai_dc", None)
        .await
        .unwrap();
    let new = NewRun {
        resume: unfinished.map(|entry| entry.id),
        ..NewRun::new(repository, "oai_dc")
    };
    harvest_on(catalog, &new).await;
}

/// Claims jobs until there are none, and stays alive so that nobody takes them over.
async fn claim_all(catalog: &Catalog) {
    let mut jobs = Vec::new();
    while let Some(claim) = claimed(catalog).await {
        jobs.push(claim.job.id);
    }
    // Nobody is gone before all is claimed.
    let waiting = catalog::JobState::Scheduled;
    let query = catalog::JobQuery {
        states: vec![waiting],
        ..catalog::JobQuery::default()
    };
    assert!(catalog.jobs(&query).await.unwrap().is_empty());
    for job in jobs {
        let lease = catalog::JobLease { job, token: 1 };
        let end = catalog::JobEnd::Finished;
        catalog.end_job(&lease, &end, &[]).await.unwrap();
        say(&format!("claimed {job}"));
    }
}

/// Claims all jobs that it can have, and keeps them until it is killed.
async fn hold(catalog: &Catalog) {
    let mut jobs = 0;
    while claimed(catalog).await.is_some() {
        jobs += 1;
    }
    say(&format!("holds {jobs}"));
    tokio::time::sleep(Duration::from_secs(60)).await;
}

/// Claims a job, and commits pages for it until it is killed.
async fn work(catalog: &Catalog, repository: i64) {
    let claim = claimed(catalog).await.unwrap();
    let new = NewRun {
        job: Some(claim.lease()),
        ..NewRun::new(repository, "oai_dc")
    };
    harvest_on(catalog, &new).await;
}

async fn harvest_on(catalog: &Catalog, new: &NewRun) {
    let mut run = catalog.begin(new).await.unwrap();
    let from: usize = run.resume_state().map_or(0, |state| state.parse().unwrap());
    for number in from.. {
        let rows: Vec<_> = (0..ROWS)
            .map(|n| in_sets(&format!("oai:a:{number}:{n}"), &["all"]))
            .collect();
        let state = (number + 1).to_string();
        let mut commit = PageCommit {
            resume_state: Some(&state),
            ..page(&rows)
        };
        commit.counts.requests = 1;
        catalog.commit_page(&mut run, commit).await.unwrap();
        say("committed");
    }
}

#[expect(
    clippy::print_stdout,
    reason = "the test that started this process waits for it"
)]
fn say(word: &str) {
    println!("{word}");
}
