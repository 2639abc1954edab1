//! Everything in one process: started, stopped, killed; the configuration file.

use std::cell::Cell;
use std::net::TcpListener;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use test_support::{Answer, Fault, Fixture, Misbehaving, Script, free_port};

use crate::command_line::stderr;
use crate::managed::{Managed, Process};

/// A repository whose pages take their time.
fn slow(records: usize, pause: u64) -> Misbehaving {
    let pages = records / 10;
    let script = (0..pages).fold(Script::new(records, 10), |script, page| {
        script.with(Fault::Slow { page, pause })
    });
    Misbehaving::start(script)
}

#[test]
fn a_stop_gives_harvests_back_and_the_next_start_goes_on() {
    let (managed, repository) = (Managed::new(), slow(100, 300));
    managed.schedule(&repository, &["--once"]);
    let up = managed.up(&[]);
    managed.wait_for_jobs("pages were committed", |jobs| {
        jobs.iter().any(|job| job["done"].as_u64() >= Some(20))
    });

    let took = up.stop();

    assert!(took < Duration::from_secs(5), "{took:?}");
    let job = &managed.jobs()[0];
    assert_eq!(
        (&job["state"], &job["attempt"]),
        (&"scheduled".into(), &0.into())
    );
    let held = managed.live().len();
    assert!((9..90).contains(&held), "{held}");
    let _up = managed.up(&[]);
    let job = managed.wait_for(job, "finished");
    assert_eq!(managed.live().len(), 90);
    assert_eq!(job["attempt"], 1);
    let history = managed.history();
    assert_eq!(history.len(), 1, "{history:#?}");
    assert_eq!(history[0]["attempts"], 2);
    assert_eq!(history[0]["counts"]["new"], 90);
    let log = managed.log_of(&job);
    assert!(log.contains("given back"), "{log}");
    assert!(log.contains("resuming harvest"), "{log}");
}

#[test]
fn a_kill_loses_nothing_and_the_history_says_so() {
    let (managed, repository) = (Managed::new(), slow(100, 300));
    managed.schedule(&repository, &["--once"]);
    let up = managed.up(&[]);
    managed.wait_for_jobs("pages were committed", |jobs| {
        jobs.iter().any(|job| job["done"].as_u64() >= Some(20))
    });

    up.kill();
    let _up = managed.up(&[]);

    let job = managed.wait_for(&managed.jobs()[0], "finished");
    assert_eq!(managed.live().len(), 90);
    let history = managed.history();
    assert_eq!(history.len(), 1, "{history:#?}");
    assert_eq!(history[0]["state"], "ok");
    assert_eq!(history[0]["counts"]["new"], 90);
    let log = managed.log_of(&job);
    assert!(log.contains("was not heard of any more"), "{log}");
    assert!(log.contains("took over from"), "{log}");
    let entry = managed.garner(&["history", &history[0]["id"].to_string()]);
    assert!(entry.contains("went on with it"), "{entry}");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let (managed, repository) = (Managed::new(), slow(100, 300));
    managed.schedule(&repository, &["--once"]);
    let mut up = managed.up(&[]);
    managed.wait_for_jobs("it runs", |jobs| {
        jobs.iter().any(|job| job["state"] == "running")
    });

    // It may be through with stopping before the second comes.
    up.signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(5));
    up.signal(Signal::INT);

    let code = up.wait().code();
    assert!(matches!(code, Some(130 | 0)), "{code:?}");
}

#[test]
fn many_repositories_are_harvested_at_once_but_only_one_at_a_host() {
    let managed = Managed::new();
    let repositories: Vec<_> = (0..3).map(|_| slow(30, 300)).collect();
    for repository in &repositories {
        managed.schedule(repository, &["--once"]);
    }
    // Another repository at the host of the first.
    let beside = format!("{}/beside", repositories[0].base_url());
    managed.garner(&["schedule", "add", &beside, "--once"]);
    let _up = managed.up(&["--workers", "4"]);

    let most = Cell::new(0);
    managed.wait_for_jobs("all are finished", |jobs| {
        let running: Vec<_> = jobs
            .iter()
            .filter(|job| job["state"] == "running")
            .collect();
        most.set(most.get().max(running.len()));
        let host = repositories[0].base_url();
        let at_host = |job: &&&Value| job["base_url"].as_str().unwrap().starts_with(&host);
        assert!(running.iter().filter(at_host).count() < 2, "{running:#?}");
        jobs.len() == 4 && jobs.iter().all(|job| job["state"] == "finished")
    });

    assert!(most.get() > 1);
    assert_eq!(managed.live().len(), 4 * 27);
}

#[test]
fn private_addresses_are_asked_only_if_they_are_allowed() {
    let managed = Managed::new();
    let repository = Misbehaving::start(Script::new(30, 10));
    managed.schedule(&repository, &["--once"]);
    let asked = repository.requests().len();
    let _up = Process::start(managed.command(&["up", "--no-console"]), "garner is up");

    let jobs = managed.wait_for_jobs("it failed", |jobs| {
        jobs.first().is_some_and(|job| job["state"] == "failed")
    });

    let reason = jobs[0]["error"].as_str().unwrap();
    assert!(reason.contains("network.allow"), "{reason}");
    assert_eq!(repository.requests().len(), asked);
}

#[test]
fn a_site_is_exposed_and_the_console_answers() {
    let managed = Managed::new();
    let fixture = Fixture::small();
    let (site, console) = (free_port(), free_port());
    let config = format!(
        "data = 'data'\n[console]\nlisten = '127.0.0.1:{console}'\n\
         [[site]]\nroot = '{}'\ndata = 'index'\nlisten = '127.0.0.1:{site}'\n[site.repository]\nname = 'A site'\n",
        fixture.site().display()
    );
    let config = managed.write("garner.toml", &config);
    let command = managed.command(&["up", "--config", config.to_str().unwrap()]);
    let up = Process::start(command, "harvesters ask");

    let answer = Answer::ask(&format!("http://127.0.0.1:{site}/modoai"), "verb=Identify");
    assert_eq!(answer.text("repositoryName").as_deref(), Some("A site"));
    let log = up.log();
    assert!(
        log.contains(&format!("http://127.0.0.1:{console}/")),
        "{log}"
    );
    assert!(log.contains("/setup/"), "{log}");
    up.stop();
}

#[test]
fn an_address_that_is_taken_is_named_with_the_remedy() {
    let managed = Managed::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();

    let output = managed.output(&["up", "--listen", &address]);

    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(
        said.contains(&address) && said.contains("--listen"),
        "{said}"
    );
}

#[test]
fn a_configuration_that_cannot_work_is_refused_with_the_key() {
    let managed = Managed::new();
    for (config, said) in [
        ("[jobs]\nworker = 2\n", "did you mean `workers`?"),
        ("[jobs]\nworkers = 0\n", "jobs.workers"),
        ("[jobs]\nlease_seconds = 1\n", "jobs.lease_seconds"),
        ("[network]\nallow = ['not a network']\n", "not a network"),
        (
            "[network]\ntimeout_seconds = 0\n",
            "network.timeout_seconds",
        ),
        ("[[site]]\nroot = '/no/such/site'\n", "/no/such/site"),
        ("[[hook]]\nname = 'a'\n", "hook"),
        ("nonsense", "line 1"),
    ] {
        let config = managed.write("garner.toml", config);
        let output = managed.output(&["up", "--no-console", "--config", config.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            stderr(&output).contains(said),
            "{said}: {}",
            stderr(&output)
        );
    }
}
