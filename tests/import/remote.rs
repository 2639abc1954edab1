//! Sources on other machines: fetched over FTP and SFTP, then imported as if they were here.

use std::fs::FileTimes;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use test_support::{FtpServer, FtpSetup, SshServer, files_below, wait_until};

use super::crawl::{Crawl, Warc, date, pdf};
use crate::command_line::stderr;
use crate::managed::Managed;

fn retrieved(server: &FtpServer) -> usize {
    let commands = server.commands().into_iter();
    commands.filter(|line| line.starts_with("RETR")).count()
}

#[test]
fn downloads_keep_the_urls_and_dates_that_they_have_on_the_server() {
    let crawl = Crawl::new();
    let paper = crawl.write("there/pub/2026/a b.pdf", pdf(1));
    crawl.write("there/pub/page.html", "<!DOCTYPE html><p>no paper</p>");
    let modified = UNIX_EPOCH + Duration::from_secs(1_767_323_045);
    let file = std::fs::File::options().write(true).open(paper).unwrap();
    file.set_times(FileTimes::new().set_modified(modified))
        .unwrap();
    let server = FtpServer::start(&crawl.path("there"), &FtpSetup::default());
    let address = server.address("pub");

    let printed = crawl.import(0, &[&address]);

    assert_eq!(
        (&printed["saved_New"], &printed["filtered_MTF"]),
        (&json!(1), &json!(1))
    );
    let document = &crawl.documents()[0];
    assert_eq!(document["url"], format!("{address}/2026/a%20b.pdf"));
    assert_eq!(document["discover_date"], "2026-01-02T03:04:05Z");
    server.forget();
    let again = crawl.import(0, &[&address]);
    assert_eq!(
        (&again["saved_New"], &again["saved_Duplicate"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(retrieved(&server), 0);
}

#[test]
fn a_crawl_that_is_still_written_is_continued() {
    let crawl = Crawl::new();
    let mut warc = Warc::default();
    // More than is compared before a file is gone on with, and nothing that could be compressed.
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state.to_be_bytes()[0]
    };
    let noise: Vec<u8> = (0..300_000).map(|_| next()).collect();
    let long = [pdf(1000), noise].concat();
    warc.response(
        "http://a.example/long.pdf",
        &date(0),
        "application/pdf",
        &long,
    );
    for number in 0..60 {
        let url = format!("http://a.example/{number}.pdf");
        warc.response(&url, &date(number), "application/pdf", &pdf(number));
    }
    let half = warc.offsets[warc.offsets.len() / 2] + 20;
    crawl.write("there/a.warc.gz", &warc.bytes[..half]);
    let server = FtpServer::start(&crawl.path("there"), &FtpSetup::default());
    let address = server.address("");
    let first = crawl.try_import(&[&address]);
    assert!(
        first
            .status
            .code()
            .is_some_and(|code| code == 0 || code == 3),
        "{}",
        stderr(&first)
    );
    crawl.write("there/a.warc.gz", &warc.bytes);

    crawl.import(0, &[&address]);

    let whole = Crawl::new();
    whole.write("a.warc.gz", &warc.bytes);
    whole.import(0, &["a.warc.gz"]);
    assert_eq!(crawl.left().contents, whole.left().contents);
    assert_eq!(crawl.documents().len(), whole.documents().len());
    assert!(
        server
            .commands()
            .iter()
            .any(|line| line.starts_with("REST"))
    );
}

#[test]
fn a_mirror_and_its_log_come_over_sftp() {
    let crawl = Crawl::new();
    let page = "http://a.example/papers/";
    crawl.write("there/mirror/a.example/papers/1.pdf", pdf(1));
    let length = pdf(1).len();
    crawl.write(
        "there/logs/crawl.log",
        format!(
            "2026-03-01T08:00:09.123Z   200 {length:>10} {page}1.pdf L {page} application/pdf #042 20260301080008000+120 - - -\n"
        ),
    );
    let server = SshServer::start();
    let known = crawl.write("known_hosts", server.known_host() + "\n");
    let config = format!(
        "[import]\nknown_hosts = '{}'\nssh_key = '{}'\n",
        known.display(),
        server.key().display()
    );
    crawl.write("garner.toml", config);
    let mirror = server.address(&crawl.path("there/mirror"));
    let log = server.address(&crawl.path("there/logs/crawl.log"));

    let printed = crawl.import(0, &[&mirror, "--log", &log, "--config", "garner.toml"]);

    assert_eq!(printed["saved_New"], 1, "{printed}");
    let document = &crawl.documents()[0];
    assert_eq!(document["url"], format!("{page}1.pdf"));
    assert_eq!(document["parent_url"], page);
}

#[test]
fn an_unknown_server_a_password_in_an_address_and_other_schemes_are_refused() {
    let crawl = Crawl::new();
    let server = SshServer::start();
    let address = server.address(&crawl.path(""));
    let output = crawl.try_import(&[&address]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(
        said.contains("is not known") && said.contains(&server.known_host()),
        "{said}"
    );

    let output = crawl.try_import(&["ftp://me:geheim@127.0.0.1/"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("~/.netrc") && !said.contains("geheim"),
        "{said}"
    );

    let output = crawl.try_import(&["https://a.example/a.warc.gz"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("ftp://"));
}

#[test]
fn what_is_fetched_without_the_database_lies_in_the_data_directory_too() {
    let crawl = Crawl::new();
    crawl.write("there/1.pdf", pdf(1));
    let server = FtpServer::start(&crawl.path("there"), &FtpSetup::default());
    let address = server.address("");

    let printed = crawl.import(0, &[&address, "--dry-run"]);
    assert_eq!(printed["saved_New"], 1);
    let printed = crawl.import(0, &[&address, "--no-database", "out"]);
    assert_eq!(printed["saved_Separate"], 1);

    assert_eq!(retrieved(&server), 1);
    assert!(!crawl.data().join("catalog.sqlite").exists());
}

#[test]
fn killed_while_it_fetches_it_goes_on_and_fetches_nothing_twice() {
    // Enough files that the kill comes before the last.
    const FILES: usize = 400;
    let crawl = Crawl::new();
    for number in 0..FILES {
        crawl.write(&format!("there/{number}.pdf"), pdf(number));
    }
    let server = FtpServer::start(&crawl.path("there"), &FtpSetup::default());
    let address = server.address("");
    let mut child = Command::new(env!("CARGO_BIN_EXE_garner"))
        .args(["import", &address, "--data"])
        .arg(crawl.data())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("five files are there", || {
        let place = crawl.data().join("fetched/ftp");
        place.exists() && files_below(&place).len() >= 5
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let before = retrieved(&server);
    assert!(before < FILES);
    let whole = files_below(&crawl.data().join("fetched/ftp")).len();

    let printed = crawl.import(0, &[&address]);

    assert_eq!(printed["saved_New"], FILES);
    assert_eq!(retrieved(&server) - before, FILES - whole);
}

#[test]
fn a_signal_stops_a_fetch_within_seconds() {
    let crawl = Crawl::new();
    crawl.write("there/a.pdf", vec![b'a'; 4_000_000]);
    let setup = FtpSetup {
        rate: Some(200_000),
        ..FtpSetup::default()
    };
    let server = FtpServer::start(&crawl.path("there"), &setup);
    let mut child = Command::new(env!("CARGO_BIN_EXE_garner"))
        .args(["import", &server.address(""), "--data"])
        .arg(crawl.data())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("it fetches", || retrieved(&server) > 0);
    let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();

    kill_process(pid, Signal::INT).unwrap();
    let began = Instant::now();
    let ended = child.wait().unwrap();

    assert!(
        began.elapsed() < Duration::from_secs(4),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(ended.code(), Some(1));
}

#[test]
fn a_job_fetches_where_it_may_and_stops_when_it_is_cancelled() {
    let managed = Managed::new();
    std::fs::create_dir(managed.beside("there")).unwrap();
    std::fs::write(managed.beside("there/a.pdf"), vec![b'a'; 8_000_000]).unwrap();
    let setup = FtpSetup {
        rate: Some(200_000),
        ..FtpSetup::default()
    };
    let server = FtpServer::start(&managed.beside("there"), &setup);
    let address = server.address("");

    managed.garner(&["import", &address, "--queue"]);
    let worker = managed.worker(&[]);
    wait_until("it fetches", || retrieved(&server) > 0);
    let id = managed.jobs()[0]["id"].to_string();
    managed.garner(&["job", "cancel", &id]);
    let began = Instant::now();
    managed.wait_for(&managed.jobs()[0].clone(), "cancelled");
    assert!(began.elapsed() < Duration::from_secs(10));
    worker.stop();

    server.forget();
    let other = Managed::new();
    other.garner(&["import", &address, "--queue"]);
    let strict = other.process(&["worker"], "garner works");
    other.wait_for_jobs("it is refused", |jobs| {
        let log = other.log_of(&jobs[0]);
        log.contains("network.allow")
    });
    strict.stop();
    assert!(server.commands().is_empty());
}

#[test]
fn a_password_is_neither_shown_nor_kept() {
    let managed = Managed::new();
    std::fs::create_dir(managed.beside("there")).unwrap();
    std::fs::write(managed.beside("there/a.pdf"), pdf(1)).unwrap();
    let setup = FtpSetup {
        password: Some("geheimnis".to_owned()),
        ..FtpSetup::default()
    };
    let server = FtpServer::start(&managed.beside("there"), &setup);
    let netrc = managed.write(
        "netrc",
        "machine 127.0.0.1 login archivist password geheimnis\n",
    );
    std::fs::set_permissions(&netrc, std::fs::Permissions::from_mode(0o600)).unwrap();
    let address = format!("ftp://archivist@127.0.0.1:{}/", server.port);

    let imported = managed
        .command(&["import", &address])
        .env("GARNER_NETRC", &netrc)
        .env("RUST_LOG", "trace")
        .output()
        .unwrap();

    assert!(imported.status.success(), "{}", stderr(&imported));
    assert!(!stderr(&imported).contains("geheimnis"));
    let document = managed.json(&["documents", "list"]);
    assert_eq!(
        document["url"],
        format!("ftp://127.0.0.1:{}/a.pdf", server.port)
    );
    for file in files_below(&managed.data()) {
        let path = managed.data().join(String::from_utf8(file).unwrap());
        let bytes = std::fs::read(path).unwrap();
        let secret = b"geheimnis";
        assert!(!bytes.windows(secret.len()).any(|window| window == secret));
    }
}
