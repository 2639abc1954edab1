//! `garner explain`: the rule that decides, for files, URLs and paths, and the same that the server offers.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Output};

use serde_json::Value;
use test_support::Fixture;

use crate::command_line::{fails, prints, stderr, stdout};
use crate::garner;

#[test]
fn explain_names_the_rule_for_a_file_a_url_and_a_path() {
    let fixture = explained_site();

    for (name, offered, because) in [
        (
            ".secret",
            false,
            "the name `.secret` matches `.*` (offer.skip_names)",
        ),
        (
            "notes.txt~",
            false,
            "the name `notes.txt~` matches `*~` (offer.skip_names)",
        ),
        (
            "tmp/a.txt",
            false,
            "it lies in `/tmp/` (offer.skip_directories)",
        ),
        (
            "drafts/a.pdf",
            false,
            "its URL matches `/drafts/*.pdf` (offer.skip_urls)",
        ),
        (
            "old.bak2",
            false,
            r"its URL matches `\.bak\d*$` (offer.skip_patterns)",
        ),
        (
            "page.php",
            false,
            "a server would run `.php` files instead of sending them (offer.dynamic = \"off\")",
        ),
        (
            "closed.txt",
            false,
            "`/closed.txt` cannot be read: its permissions forbid it",
        ),
        (
            "outside.txt",
            false,
            "it is a symbolic link that leaves the site, to `",
        ),
        (
            "alias.html",
            false,
            "it is a symbolic link to `/index.html`, which is offered under its own URL",
        ),
        ("nothing.html", false, "there is no such file"),
        (
            "docs",
            false,
            "it is a directory; the files in it are offered one by one",
        ),
        ("fifo", false, "it is neither a file nor a directory"),
        ("modoai", false, "the server itself answers at `/modoai`"),
        (
            "index.html",
            true,
            "media type: text/html, set mime:text:html",
        ),
        ("docs/small.txt", true, "5 bytes: by value and by reference"),
        (
            "docs/large.txt",
            true,
            "200 bytes: by reference only, the limit is 100 (by_value.limit)",
        ),
        (
            "private/minutes.txt",
            true,
            "only for those whom the area `/private/` lets in",
        ),
        (
            "a%20b.txt",
            true,
            "identifier: http://127.0.0.1:8080/a%20b.txt",
        ),
    ] {
        let file = fixture.path(name.replace("%20", " "));
        let targets = [
            file.to_string_lossy().into_owned(),
            format!("http://127.0.0.1:8080/{name}"),
            format!("/{name}"),
        ];
        for target in targets {
            let output = explain(&fixture, &[&target]);

            let text = stdout(&output);
            let verdict = if offered { "offered" } else { "not offered" };
            assert!(
                text.starts_with(&format!("{target}: {verdict}\n")),
                "{text}"
            );
            let mut reasons = text.lines().skip(1);
            assert!(
                reasons.any(|line| line.trim_start().starts_with(because)),
                "{because} is not said:\n{text}"
            );
            assert_eq!(output.status.code(), Some(i32::from(!offered)), "{text}");
            assert_eq!(stderr(&output), "");
        }
    }
}

#[test]
fn explain_takes_names_relative_to_the_place_it_is_called_at() {
    let fixture = Fixture::small();

    for (directory, name) in [
        (fixture.site(), "docs/page.html"),
        (fixture.site(), "./docs/page.html"),
        (fixture.path("docs"), "page.html"),
        (fixture.path("docs"), "../docs/page.html"),
    ] {
        let output = garner()
            .current_dir(&directory)
            .args(["explain", name, "--site"])
            .arg(fixture.site())
            .output();

        let text = prints(output);
        let identifier = "identifier: http://127.0.0.1:8080/docs/page.html";
        assert!(text.contains(identifier), "{text}");
    }
}

#[test]
fn explain_says_the_same_in_json() {
    let fixture = explained_site();

    let output = explain(&fixture, &["--json", "/index.html", "/.secret", "/"]);

    let text = stdout(&output);
    let values: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let expected = serde_json::json!([
        {
            "target": "/index.html",
            "offered": true,
            "because": [
                "identifier: http://127.0.0.1:8080/index.html",
                "media type: text/html, set mime:text:html",
                "5 bytes: by value and by reference",
            ],
        },
        {
            "target": "/.secret",
            "offered": false,
            "because": ["the name `.secret` matches `.*` (offer.skip_names)"],
        },
        {
            "target": "/",
            "offered": false,
            "because": ["it is a directory; the files in it are offered one by one"],
        },
    ]);
    assert_eq!(Value::Array(values), expected);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn explain_agrees_with_what_the_server_offers() {
    let fixture = explained_site();
    let server = garner().serve(&fixture, EXPLAINED);
    let offered: Vec<_> = server
        .all()
        .into_iter()
        .map(|header| header.identifier.replace(&server.site_url, "/"))
        .collect();

    let mut names: Vec<_> = EXPLAINED_FILES.map(|name| format!("/{name}")).into();
    names.extend(["/fifo", "/outside.txt", "/alias.html"].map(str::to_owned));
    for name in names {
        let text = stdout(&explain(&fixture, &[&name.replace(' ', "%20")]));
        let anybody = !text.contains("only for those");
        let said = text.contains(": offered\n") && anybody;
        let url_path = name.replace(' ', "%20");
        assert_eq!(offered.contains(&url_path), said, "{name}: {text}");
    }
}

#[test]
fn explain_refuses_what_is_not_of_this_site() {
    let fixture = Fixture::small();

    for target in ["../elsewhere.html", "", "http://127.0.0.1:8080/../x"] {
        let output = garner()
            .args(["explain", target, "--site"])
            .arg(fixture.site())
            .output();
        let line = fails(&output);
        assert!(
            line.starts_with(&format!("garner: `{target}` is neither a URL below ")),
            "{line}"
        );
    }
}

/// A site with one file for each thing that `explain` can say.
fn explained_site() -> Fixture {
    let fixture = Fixture::empty();
    for name in EXPLAINED_FILES {
        fixture.write(name, "short");
    }
    fixture.write("docs/large.txt", "x".repeat(200));
    fixture.write_beside("elsewhere.txt", "outside");
    fixture.write_beside("htpasswd", "reader:{SHA}mzMEbtOdGC462vqQRa1nh9S7wyE=\n");
    fixture.write_beside("site.toml", EXPLAINED);
    symlink("../elsewhere.txt", fixture.path("outside.txt")).unwrap();
    symlink("index.html", fixture.path("alias.html")).unwrap();
    let mode = fs::Permissions::from_mode(0o000);
    fs::set_permissions(fixture.path("closed.txt"), mode).unwrap();
    let made = Command::new("mkfifo").arg(fixture.path("fifo")).status();
    assert!(made.unwrap().success());
    fixture
}

fn explain(fixture: &Fixture, arguments: &[&str]) -> Output {
    let command = garner().arg("explain").arg("--site").arg(fixture.site());
    let command = command.arg("--config").arg(fixture.beside("site.toml"));
    command.args(arguments).output()
}

const EXPLAINED: &str = r#"
[offer]
skip_directories = ["/tmp/"]
skip_urls = ["/drafts/*.pdf"]
skip_patterns = ['\.bak\d*$']

[by_value]
limit = 100

[[area]]
path = "/private/"
htpasswd = "htpasswd"
"#;

const EXPLAINED_FILES: [&str; 13] = [
    "index.html",
    ".secret",
    "notes.txt~",
    "tmp/a.txt",
    "drafts/a.pdf",
    "old.bak2",
    "page.php",
    "closed.txt",
    "docs/small.txt",
    "docs/large.txt",
    "private/minutes.txt",
    "a b.txt",
    "modoai/file.txt",
];

/// Issue 18: any host was called offered.
#[test]
fn explain_refuses_the_urls_of_other_hosts() {
    let fixture = Fixture::small();
    let output = garner()
        .args(["explain", "http://other.example/notes.txt", "--site"])
        .arg(fixture.site())
        .output();
    let line = fails(&output);
    assert!(line.contains("is not a URL of this site"), "{line}");
    assert!(line.contains("http://127.0.0.1:8080/"), "{line}");
}
