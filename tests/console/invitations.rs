//! Invitations and forgotten passwords: the link comes by e-mail, from a real server.

use std::process::{Command, Output};

use serde_json::Value;
use test_support::{Browser, SmtpServer, SmtpSetup, fetch};

use super::api::token;
use super::{Console, PASSWORD, account, picture};
use crate::command_line::{stderr, stdout};
use crate::managed::Managed;

/// `[mail]` of a server in the clear.
fn mail(server: &SmtpServer) -> String {
    let port = server.port;
    format!(
        "[mail]\nhost = '127.0.0.1'\nport = {port}\nfrom = 'garner <garner@example.org>'\nsecurity = 'none'\ntimeout_seconds = 1\n"
    )
}

/// The messages so far, as mail programs show them: long lines come in pieces (quoted-printable).
fn messages(server: &SmtpServer) -> Vec<String> {
    let messages = server.messages().into_iter();
    let whole = messages.map(|message| message.replace("=\n", "").replace("=3D", "="));
    whole.collect()
}

/// The only link in a message.
fn link(message: &str) -> &str {
    let mut lines = message.lines();
    let link = lines.find(|line| line.starts_with("http"));
    link.unwrap_or_else(|| panic!("there is no link in {message}"))
}

#[test]
fn an_invitation_comes_by_mail_and_lets_its_owner_in() {
    let (managed, server) = (Managed::new(), SmtpServer::start(&SmtpSetup::default()));
    account(&managed, "root", "admin");
    let console = Console::start(managed, &mail(&server));
    let admin = console.browser("root");

    admin.open(&console.at("/accounts"));
    admin.fill("Name", "eve");
    admin.fill("E-mail", "eve@example.org");
    admin.press_at("#mail");
    admin.picture(&picture("account-invited"));
    admin.press("Create account");
    admin.wait_for("A link was sent to eve@example.org.");
    assert_eq!(admin.count("#link"), 0, "the link is for its owner alone");

    let message = messages(&server).remove(0);
    let envelope = "from garner@example.org to eve@example.org\n";
    assert!(message.starts_with(envelope), "{message}");
    assert!(
        message.contains("Subject: garner: your account\n"),
        "{message}"
    );
    assert!(message.contains("root added the account eve"), "{message}");
    let owner = Browser::start();
    owner.open(link(&message));
    owner.fill("Password", PASSWORD);
    owner.fill("Repeat password", PASSWORD);
    owner.press("Set password");
    owner.wait("she is inside", || owner.path() == "/");

    // A password that was forgotten, by the same way; the earlier link is over.
    admin.press("Send link by e-mail");
    admin.wait_for("A link was sent to eve@example.org.");
    let second = messages(&server).remove(1);
    assert!(
        second.contains("Subject: garner: a new password\n"),
        "{second}"
    );
    assert_eq!(fetch("GET", link(&message), &[], b"").status, 404);
    assert_eq!(fetch("GET", link(&second), &[], b"").status, 200);
    let trail = console.managed.garner(&["audit"]);
    assert!(trail.contains("account.mail"), "{trail}");
    assert!(!trail.contains("/password/"), "{trail}");
}

#[test]
fn programs_and_commands_send_the_same_message() {
    let (managed, server) = (Managed::new(), SmtpServer::start(&SmtpSetup::default()));
    account(&managed, "root", "admin");
    let console = Console::start(managed, &mail(&server));
    let config = console.managed.beside("garner.toml");
    let config = config.to_str().unwrap();
    let run = |arguments: &[&str]| -> Output {
        let arguments = [arguments, &["--config", config]].concat();
        console.managed.output(&arguments)
    };

    let nowhere = run(&["account", "add", "ann", "--invite", "--mail"]);
    assert!(
        stderr(&nowhere).contains("--email ADDRESS"),
        "{}",
        stderr(&nowhere)
    );
    let add = ["account", "add", "ann", "--email", "ann@example.org"];
    let invite = [
        "--invite",
        "--mail",
        "--console-url",
        "https://garner.example.org",
    ];
    let added = run(&[&add[..], &invite].concat());
    assert!(added.status.success(), "{}", stderr(&added));
    assert!(!stderr(&added).contains("/password/"), "{}", stderr(&added));
    let url = "https://garner.example.org/password/";
    let sent = messages(&server);
    assert!(link(&sent[0]).starts_with(url), "{sent:?}");
    // Port 0 is no address that somebody else could use.
    let unknown = run(&["account", "link", "ann", "--mail"]);
    assert!(
        stderr(&unknown).contains("--console-url"),
        "{}",
        stderr(&unknown)
    );

    let (cookie, token) = token(&console, "root");
    let send = |headers: &[(&str, &str)]| {
        fetch(
            "POST",
            &console.at("/api/v1/accounts/2/link/mail"),
            headers,
            b"",
        )
    };
    let sent = send(&[("Cookie", &cookie)]);
    assert_eq!(sent.status, 200, "{}", sent.text());
    let answer: Value = serde_json::from_slice(&sent.body).unwrap();
    assert_eq!(answer["email"], "ann@example.org");
    assert!(answer.get("path").is_none(), "{answer}");
    assert_eq!(
        link(&messages(&server)[1]).split("/password/").next(),
        Some(console.at("").as_str())
    );
    // A token that leaked makes no way into an account.
    let bearer = format!("Bearer {token}");
    assert_eq!(send(&[("Authorization", &bearer)]).status, 403);
    assert_eq!(server.messages().len(), 2);
}

#[test]
fn a_mail_server_that_hangs_or_refuses_is_told_and_its_link_is_void() {
    for (setup, reason) in [
        (
            SmtpSetup {
                hangs: true,
                ..SmtpSetup::default()
            },
            "no e-mail was sent",
        ),
        (
            SmtpSetup {
                refuses: true,
                ..SmtpSetup::default()
            },
            "nobody has this name here",
        ),
    ] {
        let (managed, server) = (Managed::new(), SmtpServer::start(&setup));
        account(&managed, "root", "admin");
        let console = Console::start(managed, &mail(&server));
        let browser = console.browser("root");
        browser.open(&console.at("/accounts/1"));
        browser.fill("E-mail", "root@example.org");
        browser.press("Save address");
        browser.wait("the address is kept", || {
            browser.offers("Send link by e-mail")
        });

        browser.press("Send link by e-mail");
        browser.wait_for(reason);

        assert!(server.messages().is_empty());
        let catalog = console.managed.data().join("catalog.sqlite");
        let count = "SELECT count(*) FROM password_link";
        let links = Command::new("sqlite3").arg(catalog).arg(count).output();
        assert_eq!(stdout(&links.unwrap()).trim(), "0");
    }
}
