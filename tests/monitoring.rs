//! Monitoring: metrics, health, the log as JSON, and the files of contrib.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use test_support::{Fixture, fetch, free_port, get};

use crate::managed::{Managed, Process};

/// The names of all metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let named = words.filter(|word| word.starts_with("garner_"));
    named.map(str::to_owned).collect()
}

/// The metric and the labels with which a text begins: `name{label="value",…}`.
fn selector(text: &str) -> Option<(String, BTreeSet<String>)> {
    let (metric, rest) = text.split_once('{')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if metric.is_empty() || !metric.chars().all(is_name) {
        return None;
    }
    let (labels, _) = rest.split_once('}')?;
    let labels = labels.split(',').map(|label| label.trim().to_owned());
    Some((metric.to_owned(), labels.collect()))
}

fn contrib(name: &str) -> String {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/monitoring");
    fs::read_to_string(place.join(name)).unwrap()
}

#[test]
fn dashboard_and_alerts_use_metrics_that_there_are() {
    let (managed, fixture) = (Managed::new(), Fixture::small());
    let (site, console) = (free_port(), free_port());
    let config = format!(
        "[console]\nlisten = '127.0.0.1:{console}'\n[[site]]\nroot = '{}'\nlisten = '127.0.0.1:{site}'\ndata = '{}'\n",
        fixture.site().display(),
        fixture.data().display()
    );
    let config = managed.write("garner.toml", &config);
    let up = managed.command(&["up", "--config", config.to_str().unwrap()]);
    let _up = Process::start(up, "harvesters ask");
    get(&format!("http://127.0.0.1:{site}/modoai?verb=Identify"));
    let base = format!("http://127.0.0.1:{console}");

    let metrics = get(&format!("{base}/metrics"));

    assert_eq!(metrics.status, 200);
    let there = names(&metrics.text());
    for name in ["grafana.json", "alerts.yml"] {
        let used = names(&contrib(name));
        assert!(used.len() > 5, "{name}: {used:?}");
        let missing: Vec<_> = used.difference(&there).collect();
        assert!(
            missing.is_empty(),
            "{name} uses {missing:?}\n{}",
            metrics.text()
        );
    }
    // A label with a value that no metric has would make an alert that never fires.
    let text = metrics.text();
    let exported: Vec<_> = text.lines().filter_map(selector).collect();
    let mut selectors = 0;
    for name in ["grafana.json", "alerts.yml"] {
        let text = contrib(name).replace('\\', "");
        for (at, _) in text.match_indices("garner_") {
            let Some((metric, labels)) = selector(&text[at..]) else {
                continue;
            };
            selectors += 1;
            let is_there = exported.iter().any(|(other, others)| {
                *other == metric && labels.iter().all(|label| others.contains(label))
            });
            assert!(is_there, "{name}: {metric}{labels:?}\n{}", metrics.text());
        }
    }
    assert!(selectors > 1, "{selectors}");
    serde_json::from_str::<Value>(&contrib("grafana.json")).unwrap();
    assert!(metrics.text().contains("garner_catalog_up 1"));
    for path in ["/health", "/ready"] {
        assert_eq!(get(&format!("{base}{path}")).status, 200, "{path}");
    }
    // A proxy on this machine speaks for somebody else.
    let forwarded = [("X-Forwarded-For", "192.0.2.1")];
    let refused = fetch("GET", &format!("{base}/metrics"), &forwarded, b"");
    assert_eq!(refused.status, 401);
}

#[test]
fn a_token_opens_the_metrics_and_nothing_else_does() {
    let managed = Managed::new();
    let (console, admin) = (free_port(), free_port());
    let config =
        format!("[console]\nlisten = '127.0.0.1:{console}'\n[admin]\ntoken_file = 'token'\n");
    managed.write("token", "a-token-of-some-length\n");
    let config = managed.write("garner.toml", &config);
    let config = config.to_str().unwrap();
    let _up = Process::start(managed.command(&["up", "--config", config]), "garner is up");
    let worker = format!("127.0.0.1:{admin}");
    let arguments = [
        "worker",
        "--config",
        config,
        "--admin-listen",
        worker.as_str(),
    ];
    let _worker = managed.process(&arguments, "garner works");
    let asked = |port: u16, token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("X-Real-IP", "192.0.2.1"),
        ];
        fetch(
            "GET",
            &format!("http://127.0.0.1:{port}/metrics"),
            &headers,
            b"",
        )
        .status
    };
    for port in [console, admin] {
        assert_eq!(asked(port, "a-token-of-some-length"), 200);
        assert_eq!(asked(port, "a-token-of-some-other"), 401);
    }
    assert_eq!(get(&format!("http://127.0.0.1:{admin}/ready")).status, 200);
    assert_eq!(get(&format!("http://127.0.0.1:{admin}/other")).status, 404);
}

#[test]
fn systemd_is_told_when_it_is_ready_and_that_it_lives() {
    let managed = Managed::new();
    let socket = managed.beside("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    manager
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut command = managed.command(&["up", "--no-console"]);
    command
        .env("NOTIFY_SOCKET", &socket)
        .env("WATCHDOG_USEC", "200000");
    let up = Process::start(command, "garner is up");
    let heard = || {
        let mut bytes = [0; 64];
        let length = manager.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    assert_eq!(heard(), "READY=1");
    for _ in 0..3 {
        assert_eq!(heard(), "WATCHDOG=1");
    }
    up.stop();
    let rest: Vec<_> = (0..20)
        .map(|_| heard())
        .take_while(|word| word != "STOPPING=1")
        .collect();
    assert!(rest.len() < 20, "{rest:?}");
}

#[test]
fn the_log_is_json_if_it_is_to_be() {
    let managed = Managed::new();
    let arguments = ["up", "--no-console", "--log-format", "json"];
    let mut command = managed.command(&arguments);
    command.env("GARNER_LOG_LEVEL", "debug");
    let up = Process::start(command, "garner is up");
    std::thread::sleep(Duration::from_secs(2));
    let log = up.log();
    let lines: Vec<Value> = log
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!lines.is_empty(), "{log}");
    for line in lines {
        for field in ["time", "level", "target", "message"] {
            assert!(line[field].is_string(), "{line}");
        }
    }
}

#[test]
fn slow_statements_and_pages_are_logged_with_their_time_and_without_values() {
    for (slow_ms, is_logged) in [("0", true), ("60000", false)] {
        let (managed, console) = (Managed::new(), free_port());
        let mut command = managed.command(&["up", "--log-format", "json"]);
        command
            .env("GARNER_CONSOLE_LISTEN", format!("127.0.0.1:{console}"))
            .env("GARNER_LOG_SLOW_MS", slow_ms);
        let up = Process::start(command, "garner is up");

        let address = format!("http://127.0.0.1:{console}/setup/a-secret");
        assert_eq!(get(&address).status, 404);
        get(&format!(
            "http://127.0.0.1:{console}/api/v1/search?query=a-secret"
        ));

        let log = up.log();
        let slow = |target: &str| {
            let lines = log.lines().filter(|line| line.contains("slow"));
            lines.filter(|line| line.contains(target)).count()
        };
        assert_eq!(
            slow("slow page: GET /setup/{token}") > 0,
            is_logged,
            "{log}"
        );
        assert_eq!(slow("\"target\":\"sqlx::query\"") > 0, is_logged, "{log}");
        assert!(!log.contains("a-secret"), "{log}");
    }
}

#[test]
fn the_level_of_one_area_leaves_the_others_as_they_are() {
    let managed = Managed::new();
    let mut command = managed.command(&["up", "--no-console", "--log-format", "json"]);
    command.env("GARNER_LOG_LEVEL", "warn,sqlx=debug");
    let up = Process::start(command, "garner is up");

    let log = up.log();
    let lines: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    assert!(!lines.is_empty(), "{log}");
    for line in lines {
        let of_area = line["target"].as_str().unwrap().starts_with("sqlx");
        assert!(
            of_area || line["level"] == "WARN" || line["level"] == "ERROR",
            "{line}"
        );
    }
}
