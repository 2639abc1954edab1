//! Alerts: e-mails that a real server receives, webhooks, and one message for a thousand firings.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

use catalog::{Counts, Finish, Identity, NewRun, State};
use serde_json::Value;
use test_support::{SmtpServer, SmtpSetup, wait_until};

use crate::managed::Managed;

/// A disk that is never large enough.
const ALWAYS: &str = "when = \"disk\"\ngigabytes = 1000000000\n";

/// A configuration with a rule and a mail server.
fn config(managed: &Managed, alert: &str, mail: &str) -> String {
    let text = format!("[[alert]]\nname = \"watch\"\n{alert}\n[mail]\n{mail}\n");
    let path = managed.write("garner.toml", &text);
    path.to_str().unwrap().to_owned()
}

fn mail(server: &SmtpServer, more: &str) -> String {
    let port = server.port;
    format!("host = \"127.0.0.1\"\nport = {port}\nfrom = \"garner <garner@example.org>\"\n{more}")
}

const IN_THE_CLEAR: &str = "security = \"none\"\n";

/// Repositories whose last harvest failed.
fn failing(managed: &Managed, repositories: usize) {
    let holdings = managed.holdings();
    let catalog = holdings.catalog();
    for number in 0..repositories {
        let url = format!("http://r{number}.example/oai");
        let directory = format!("records/{number}");
        let identity = Identity::default();
        let added = catalog.add_repository(&url, &directory, &identity);
        let repository = holdings.wait(added).unwrap();
        let run = holdings
            .wait(catalog.begin(&NewRun::new(repository.id, "oai_dc")))
            .unwrap();
        let finish = Finish {
            state: State::Failed,
            reason: Some(format!("no answer from r{number}")),
            next_from: None,
            quirks: None,
            counts: Counts::default(),
            job: None,
            follow_ups: Vec::new(),
        };
        holdings.wait(catalog.finish(run, &finish)).unwrap();
    }
}

#[test]
fn a_thousand_firings_are_one_message() {
    let managed = Managed::new();
    failing(&managed, 1000);
    let server = SmtpServer::start(&SmtpSetup::default());
    let rule =
        "when = \"failing\"\ntimes = 1\nemail = [\"ann@example.org\", \"bob@example.org\"]\n";
    let config = config(&managed, rule, &mail(&server, IN_THE_CLEAR));

    let up = managed.up(&["--config", &config]);
    wait_until("the message is there", || !server.messages().is_empty());
    up.stop();
    // Another process does not tell it again.
    let up = managed.up(&["--config", &config]);
    std::thread::sleep(std::time::Duration::from_secs(4));
    let status = managed.output(&["status"]);
    up.stop();

    let messages = server.messages();
    assert_eq!(messages.len(), 1, "{messages:#?}");
    let message = &messages[0];
    assert!(
        message.starts_with("from garner@example.org to ann@example.org bob@example.org\n"),
        "{message}"
    );
    assert!(
        message.contains("\nSubject: garner: watch: 1000 alerts\n"),
        "{message}"
    );
    assert_eq!(
        message
            .matches("the last 1 harvests failed: no answer from r")
            .count(),
        50,
        "{message}"
    );
    assert!(message.contains("- and 950 more\n"), "{message}");
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(
        status.contains("Alert watch: http://r") && status.contains("980 more alerts\n"),
        "{status}"
    );
}

#[test]
fn a_server_gets_mail_by_login_and_by_starttls() {
    let managed = Managed::new();
    let (key, certificate) = (managed.beside("key.pem"), managed.beside("certificate.pem"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
        ])
        .args([
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-keyout",
        ])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .unwrap();
    assert!(made.status.success());
    let both = [
        std::fs::read(&key).unwrap(),
        std::fs::read(&certificate).unwrap(),
    ]
    .concat();
    let server = SmtpServer::start(&SmtpSetup {
        login: Some(("garner".to_owned(), "lamp post".to_owned())),
        certificate: Some(managed.write("both.pem", &String::from_utf8(both).unwrap())),
        ..SmtpSetup::default()
    });
    managed.write("password", "lamp post\n");
    let more = "security = \"starttls\"\nusername = \"garner\"\npassword_file = \"password\"\n\
                [network]\nca = \"certificate.pem\"\n";
    let rule = format!("{ALWAYS}email = [\"ann@example.org\"]\n");
    let config = config(&managed, &rule, &mail(&server, more));

    let up = managed.up(&["--config", &config]);
    wait_until("the message is there", || !server.messages().is_empty());
    up.stop();

    assert!(server.messages()[0].contains("the disk of the data directory has "));
}

#[test]
fn a_server_that_hangs_refuses_or_wants_tls_holds_nothing_up() {
    for (setup, more, reason) in [
        (
            SmtpSetup {
                hangs: true,
                ..SmtpSetup::default()
            },
            "security = \"none\"\ntimeout_seconds = 1\n",
            "no e-mail can be sent",
        ),
        (
            SmtpSetup {
                refuses: true,
                ..SmtpSetup::default()
            },
            IN_THE_CLEAR,
            "nobody has this name here",
        ),
        (
            SmtpSetup {
                login: Some(("a".to_owned(), "b".to_owned())),
                ..SmtpSetup::default()
            },
            IN_THE_CLEAR,
            "no e-mail can be sent",
        ),
        // It offers no STARTTLS, and nothing is sent in the clear.
        (SmtpSetup::default(), "", "no e-mail can be sent"),
    ] {
        let managed = Managed::new();
        let server = SmtpServer::start(&setup);
        let rule = format!("{ALWAYS}email = [\"ann@example.org\"]\n");
        let config = config(&managed, &rule, &mail(&server, more));

        let up = managed.up(&["--config", &config]);
        wait_until("the failure is told", || {
            up.log().contains("an alert is not told")
        });
        let log = up.log();
        let took = up.stop();

        assert!(log.contains(reason), "{setup:?}: {log}");
        assert!(took < std::time::Duration::from_secs(10), "{took:?}");
        assert!(server.messages().is_empty());
    }
}

#[test]
fn a_web_server_is_told_with_a_signature() {
    let managed = Managed::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/alerts", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"}") {
            let mut block = [0; 1024];
            let length = stream.read(&mut block).unwrap();
            heard.extend_from_slice(&block[..length]);
        }
        stream
            .write_all(b"HTTP/1.1 204 Noted\r\nContent-Length: 0\r\n\r\n")
            .unwrap();
        String::from_utf8(heard).unwrap()
    });
    let rule = format!("{ALWAYS}webhook = \"{url}\"\nsecret = \"key\"\n");
    let config = config(&managed, &rule, "");

    let up = managed.up(&["--config", &config]);
    let heard = heard.join().unwrap();
    up.stop();

    let (head, body) = heard.split_once("\r\n\r\n").unwrap();
    assert!(
        head.to_ascii_lowercase().contains("webhook-signature: v1,"),
        "{head}"
    );
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["alert"], &body["new"]), (&"watch".into(), &1.into()));
    assert_eq!(body["alerts"][0]["subject"], "disk");
}

#[test]
fn rules_of_the_catalog_are_kept_told_within_the_network_and_removed() {
    let managed = Managed::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/alerts", listener.local_addr().unwrap());
    listener.set_nonblocking(true).unwrap();
    let key = managed.write("key", "hush\n");
    let set = [
        "alert",
        "set",
        "full",
        "--when",
        "disk",
        "--limit",
        "1000000000",
    ];
    let more = ["--webhook", &url, "--secret-file", key.to_str().unwrap()];
    let saved = managed.lines(&[&set[..], &more[..]].concat());
    assert_eq!(
        (&saved[0]["signed"], &saved[0]["secret"]),
        (&true.into(), &Value::Null)
    );
    for (arguments, reason) in [
        (
            ["alert", "set", "x", "--when", "disk", "--limit", "0"].as_slice(),
            "must be more than 0",
        ),
        (
            &[
                "alert",
                "set",
                "x",
                "--when",
                "queue",
                "--limit",
                "1",
                "--email",
                "a@b.example",
            ],
            "no [mail]",
        ),
        (
            &["alert", "set", "<x>", "--when", "queue", "--limit", "1"],
            "a name has",
        ),
        (&["alert", "remove", "x"], "there is no alert rule `x`"),
        (
            &["webhook", "set", "x", "--webhook", "ftp://a.example/"],
            "http",
        ),
    ] {
        let output = managed.output(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && said.contains(reason),
            "{reason}: {said}"
        );
    }

    // A person named the server, so it may not lie on this machine.
    let up = managed.process(&["up", "--no-console"], "garner is up");
    wait_until("the rule fires", || {
        let status = managed.output(&["status"]);
        String::from_utf8(status.stdout)
            .unwrap()
            .contains("Alert full")
    });
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(listener.accept().is_err(), "it was told");
    up.stop();
    managed.garner(&["alert", "remove", "full"]);
    managed.garner(
        &[
            &set[..4],
            &["disk", "--limit", "900000000", "--webhook", &url],
        ]
        .concat(),
    );
    let up = managed.up(&[]);
    wait_until("it is told", || listener.accept().is_ok());
    up.stop();

    managed.garner(&[
        "webhook",
        "set",
        "tell",
        "--on",
        "failed",
        "--webhook",
        &url,
    ]);
    let hooks = managed.lines(&["webhook", "list"]);
    assert_eq!((hooks.len(), &hooks[0]["on"][0]), (1, &"failed".into()));
    managed.garner(&["webhook", "remove", "tell"]);
    managed.garner(&["alert", "remove", "full"]);
    assert_eq!(managed.lines(&["alert", "list"]).len(), 0);
}

#[test]
fn a_wrong_rule_is_refused_at_the_start() {
    let managed = Managed::new();
    for (alert, mail, reason) in [
        ("when = \"failing\"", "", "the alert `watch` lacks `times`"),
        (
            "when = \"disk\"\ngigabytes = 1\ndays = 3",
            "",
            "`days` does not go with",
        ),
        (
            "when = \"queue\"\nminutes = 0",
            "",
            "`minutes` of the alert `watch` must be more than 0",
        ),
        ("when = \"rain\"", "", "unknown variant `rain`"),
        (
            "when = \"disk\"\ngigabytes = 1\nemail = [\"ann\"]",
            "",
            "`ann` of the alert `watch` is no e-mail address",
        ),
        (
            "when = \"disk\"\ngigabytes = 1\nemail = [\"a@b.example\"]",
            "",
            "[mail] has no `host`",
        ),
        (
            "when = \"disk\"\ngigabytes = 1\nemail = [\"a@b.example\"]",
            "host = \"h\"",
            "[mail] has no `from`",
        ),
    ] {
        let config = config(&managed, alert, mail);
        let output = managed.output(&["up", "--no-console", "--config", &config]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(reason), "{reason}: {said}");
    }
}
