//! Plug-ins and fixity.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use roxmltree::{Document, Node};
use test_support::{Answer, Fixture, Server, free_port, wait_until};

use crate::garner;

const PLUGIN: &str = "urn:x-garner:plugin";

#[test]
fn what_a_plug_in_prints_stands_in_oai_didl_and_mapped_in_oai_dc() {
    let fixture = Fixture::empty();
    fixture.write("a.txt", "one");
    let config = [
        plugin(
            "pairs",
            "printf 'Title=A title\\nAuthor=Ann\\nAuthor=Bob\\nunmapped=x\\n'",
            "output = 'key-value'\nmap = { Title = 'dc:title', Author = 'dc:creator' }",
        ),
        plugin(
            "words",
            "printf 'two\\nlines\\n'",
            "output = 'text'\nmap = { text = 'dc:description' }",
        ),
        plugin(
            "element",
            "printf '<?xml version=\"1.0\"?><m xmlns=\"urn:m\"><n k=\"v\">1 &amp; 2</n></m>'",
            "output = 'xml'",
        ),
        plugin("plain-element", "printf '<m><n/></m>'", "output = 'xml'"),
    ]
    .concat();

    let server = garner().serve(&fixture, &config);

    let didl = record(&server, "a.txt", "oai_didl");
    let document = Document::parse(&didl.xml).unwrap();
    assert_eq!(
        values(&document, "pairs"),
        [
            ("Title", "A title"),
            ("Author", "Ann"),
            ("Author", "Bob"),
            ("unmapped", "x")
        ]
        .map(own)
    );
    assert_eq!(
        said(&document, "words", "text").as_deref(),
        Some("two\nlines")
    );
    let element = only_child(the(&document, "element"));
    assert!(element.has_tag_name(("urn:m", "m")));
    let inner = only_child(element);
    assert_eq!(inner.attribute("k"), Some("v"));
    assert_eq!(inner.text(), Some("1 & 2"));
    // In no namespace before, in none here.
    assert_eq!(
        only_child(the(&document, "plain-element"))
            .tag_name()
            .namespace()
            .unwrap_or_default(),
        ""
    );

    let dc = record(&server, "a.txt", "oai_dc");
    assert_eq!(dc.texts("title"), ["A title"]);
    assert_eq!(dc.texts("creator"), ["Ann", "Bob"]);
    assert_eq!(dc.texts("description"), ["two\nlines"]);
    assert!(!dc.xml.contains("unmapped"));
    assert_eq!(
        didl.texts("title"),
        ["A title"],
        "DIDL holds the same Dublin Core"
    );
}

#[test]
fn whatever_a_plug_in_prints_is_text() {
    let fixture = Fixture::empty();
    fixture.write("a.txt", "one");
    let config = [
        plugin(
            "pairs",
            r#"printf 'title=<b>A & B</b> ]]> \001\033 "quoted" \351\n<k a="1">&=v\n'"#,
            "output = 'key-value'\nmap = { title = 'dc:title' }",
        ),
        plugin(
            "words",
            r"printf '<script>alert(1)</script> & \000 end'",
            "output = 'text'\nmap = { text = 'dc:description' }",
        ),
    ]
    .concat();

    let server = garner().serve(&fixture, &config);

    let title = "<b>A & B</b> ]]> \u{fffd}\u{fffd} \"quoted\" \u{fffd}";
    let description = "<script>alert(1)</script> & \u{fffd} end";
    let dc = record(&server, "a.txt", "oai_dc");
    assert_eq!(dc.texts("title"), [title]);
    assert_eq!(dc.texts("description"), [description]);
    let didl = record(&server, "a.txt", "oai_didl");
    let document = Document::parse(&didl.xml).unwrap();
    assert_eq!(
        values(&document, "pairs"),
        [("title", title), ("<k a", "\"1\">&=v")].map(own),
        "a key ends at the first separator"
    );
    assert_eq!(
        said(&document, "words", "text").as_deref(),
        Some(description)
    );
}

#[test]
fn digests_are_those_of_the_common_tools() {
    let fixture = Fixture::empty();
    fixture.write("empty.txt", "");
    fixture.write("small.txt", "some bytes\n");
    fixture.write("streamed.bin", vec![7; 300 * 1024]);
    fixture.write("referred.bin", vec![9; 500 * 1024]);
    let config = "[fixity]\nalgorithms = [\"md5\", \"sha1\", \"sha256\"]\n\
                  [by_value]\nlimit = \"400 KiB\"\n";

    let server = garner().serve(&fixture, config);

    for name in ["empty.txt", "small.txt", "streamed.bin", "referred.bin"] {
        // Once made, once kept.
        for _ in 0..2 {
            let answer = record(&server, name, "oai_didl");
            assert_eq!(
                digests(&answer),
                expected_digests(&fixture.path(name)),
                "{name}"
            );
        }
    }

    let before = datestamp(&server, "small.txt");
    fixture.write("small.txt", "other bytes\n");
    wait_until("the change is seen", || {
        datestamp(&server, "small.txt") != before
    });
    let answer = record(&server, "small.txt", "oai_didl");
    assert_eq!(
        digests(&answer),
        expected_digests(&fixture.path("small.txt"))
    );
}

#[test]
fn sha256_is_told_unless_another_choice_is_made() {
    let fixture = Fixture::empty();
    fixture.write("a.txt", "one");
    let algorithms = |config: &str| {
        let server = garner().serve(&fixture, config);
        let answer = record(&server, "a.txt", "oai_didl");
        let names: Vec<_> = digests(&answer).into_keys().collect();
        server.stop();
        names
    };

    assert_eq!(algorithms(""), ["sha256"]);
    assert_eq!(algorithms("[fixity]\nalgorithms = [\"md5\"]\n"), ["md5"]);
    assert!(algorithms("[fixity]\nalgorithms = []\n").is_empty());
}

#[test]
fn a_rule_holds_for_its_media_types_and_urls_only() {
    let fixture = Fixture::small();
    fixture.write("docs/notes.txt", "more notes");
    fixture.write("docs/a b.txt", "a space");
    let say = "printf said";
    let config = [
        plugin("pages", say, "output = 'text'\nmedia_types = ['text/html']"),
        plugin("texts", say, "output = 'text'\nmedia_types = ['text/*']"),
        plugin(
            "in-docs",
            say,
            r"output = 'text'
url_pattern = '^/docs/.*\.(txt|pdf)$'",
        ),
        plugin(
            "both",
            say,
            "output = 'text'\nmedia_types = ['application/pdf', 'image/*']\nurl_pattern = '/docs/'",
        ),
        plugin("all", say, "output = 'text'"),
    ]
    .concat();

    let server = garner().serve(&fixture, &config);

    let of = |name: &str| -> Vec<String> {
        let pages = Answer::pages(
            &server.base_url,
            "ListRecords",
            "metadataPrefix=oai_didl",
            &[],
        );
        let mut found: Vec<_> = pages
            .iter()
            .flat_map(|page| records_with(page, name))
            .map(|identifier| identifier.replace(&server.site_url, ""))
            .collect();
        found.sort();
        found
    };
    assert_eq!(of("pages"), ["about.html", "docs/page.html", "index.html"]);
    assert_eq!(
        of("texts"),
        [
            "about.html",
            "docs/a%20b.txt",
            "docs/notes.txt",
            "docs/page.html",
            "index.html",
            "notes.txt"
        ]
    );
    assert_eq!(
        of("in-docs"),
        ["docs/a%20b.txt", "docs/notes.txt", "docs/paper.pdf"]
    );
    assert_eq!(of("both"), ["docs/paper.pdf"]);
    assert_eq!(of("all").len(), 8);
}

#[test]
fn a_plug_in_runs_once_for_each_version_of_a_file() {
    let fixture = Fixture::empty();
    fixture.write("a.txt", "one");
    let runs = fixture.beside("runs");
    fs::create_dir(&runs).unwrap();
    // Unconfined a plug-in may not write, but it may make an empty file.
    let script = format!("mktemp -p '{}' >&2; cat \"$1\"", runs.display());
    let counting = |more: &str| {
        plugin(
            "counting",
            &script,
            &format!("output = 'text'\nconfined = false\n{more}"),
        )
    };
    let count = || fs::read_dir(&runs).unwrap().count();
    let ask_everything = |server: &Server| -> String {
        for prefix in ["oai_dc", "oai_didl", "http_header"] {
            record(server, "a.txt", prefix);
            server.ask(&format!("verb=ListRecords&metadataPrefix={prefix}"));
        }
        server.all();
        let answer = record(server, "a.txt", "oai_didl");
        said(&Document::parse(&answer.xml).unwrap(), "counting", "text").unwrap()
    };
    let port = free_port();

    let server = garner().serve_on(&fixture, &counting(""), port);
    assert_eq!(count(), 0, "nobody has asked");
    assert_eq!(ask_everything(&server), "one");
    assert_eq!(count(), 1);

    let before = datestamp(&server, "a.txt");
    fixture.write("a.txt", "two");
    wait_until("the change is seen", || {
        datestamp(&server, "a.txt") != before
    });
    assert_eq!(ask_everything(&server), "two");
    assert_eq!(count(), 2, "after a change of the file");

    server.stop();
    let server = garner().serve_on(&fixture, &counting(""), port);
    assert_eq!(ask_everything(&server), "two");
    assert_eq!(count(), 2, "after a restart");

    server.stop();
    let server = garner().serve_on(&fixture, &counting("timeout_seconds = 7"), port);
    assert_eq!(ask_everything(&server), "two");
    assert_eq!(count(), 3, "after a change of the rule");
}

#[test]
fn a_plug_in_that_fails_is_a_note_in_the_record_and_nothing_more() {
    let fixture = Fixture::empty();
    fixture.write("a.txt", "one");
    let config = [
        plugin(
            "failing",
            "echo \"cannot read $1\" >&2; exit 3",
            "output = 'text'\nmap = { text = 'dc:title' }",
        ),
        plugin(
            "hanging",
            "echo begun; sleep 60",
            "output = 'text'\ntimeout_seconds = 1",
        ),
        plugin("flooding", "yes", "output = 'key-value'\noutput_kb = 1"),
        plugin("crashing", "kill -SEGV $$", "output = 'text'"),
        plugin("broken", "printf '<a><b></a> %s' \"$1\"", "output = 'xml'"),
        "[[plugin]]\nname = 'absent'\ncommand = ['./no-such-program', '{file}']\noutput = 'text'\n"
            .to_owned(),
        plugin("well", "printf fine", "output = 'text'"),
    ]
    .concat();
    let server = garner().serve(&fixture, &config);

    let began = Instant::now();
    let answer = server.ask("verb=ListRecords&metadataPrefix=oai_didl");

    assert!(began.elapsed() < Duration::from_secs(30));
    let document = Document::parse(&answer.xml).unwrap();
    let failed = |name: &str| said(&document, name, "failed").unwrap_or_default();
    assert_eq!(failed("failing"), "ended with exit status 3");
    assert_eq!(failed("hanging"), "did not end within 1 s");
    assert_eq!(failed("flooding"), "printed more than 1 KB");
    assert_eq!(failed("crashing"), "was ended by signal 11");
    assert_eq!(failed("broken"), "printed XML that cannot be used");
    assert_eq!(failed("absent"), "could not be started");
    assert_eq!(said(&document, "well", "text").as_deref(), Some("fine"));
    assert!(
        answer.xml.contains("b25l"),
        "the file itself is there: {}",
        answer.xml
    );

    let dc = record(&server, "a.txt", "oai_dc");
    assert!(dc.texts("title").is_empty());
    for xml in [&answer.xml, &dc.xml] {
        for place in [
            fixture.site(),
            fixture.data(),
            fixture.beside("no-such-program"),
        ] {
            let place = place.to_str().unwrap();
            assert!(!xml.contains(place), "{place} is told");
        }
    }
    let log = server.log();
    assert!(log.contains("plug-in failing"), "{log}");
    assert!(log.contains("cannot read /"), "{log}");
    assert!(log.contains("no-such-program"), "{log}");
}

#[test]
fn a_hostile_plug_in_can_change_nothing_and_ends_with_its_time() {
    let fixture = Fixture::empty();
    fixture.write("a.txt", "one");
    let secret = fixture.write_beside("secret", "for garner alone");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let script = include_str!("plugins/hostile.py");
    let rule = format!(
        "[[plugin]]\nname = 'hostile'\noutput = 'key-value'\ntimeout_seconds = 5\n\
         command = ['/usr/bin/python3', '-ISc', \"\"\"\n{}\"\"\", '{{file}}', '{}', '{}']\n",
        script.replace('\\', "\\\\").replace('"', "\\\""),
        secret.display(),
        listener.local_addr().unwrap().port(),
    );
    let file = fixture.path("a.txt");
    let seen = || {
        let metadata = fs::metadata(&file).unwrap();
        let (mode, ctime) = (metadata.mode(), (metadata.ctime(), metadata.ctime_nsec()));
        (mode, ctime, fs::read(&file).unwrap())
    };
    let before = seen();
    let server = garner().serve(&fixture, &rule);

    let didl = record(&server, "a.txt", "oai_didl");

    let document = Document::parse(&didl.xml).unwrap();
    assert_eq!(
        said(&document, "hostile", "failed"),
        None,
        "{}",
        server.log()
    );
    let done = values(&document, "hostile");
    assert_eq!(done[0], own(("read", "one")), "the file itself can be read");
    // Without Landlock it may read what it likes, and the log says so.
    let is_blind = !server.log().contains("Landlock is not available");
    let reads = ["list", "secret", "passwords"];
    let deeds: Vec<_> = done[1..]
        .iter()
        .filter(|(deed, end)| end != "refused" && (is_blind || !reads.contains(&deed.as_str())))
        .collect();
    assert_eq!(deeds, [&own(("child", "lives"))], "{done:?}");
    assert!(done.len() > 15, "{done:?}");
    assert_eq!(seen(), before);
    let names = fs::read_dir(fixture.site()).unwrap().count();
    assert_eq!(names, 1, "it wrote beside the file");
    // The child that it left behind has the file's name among its arguments.
    wait_until("its child has ended", || !is_left("hostile-child"));
}

/// Whether a process has this word among its arguments.
fn is_left(word: &str) -> bool {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.into_iter().any(|entry| {
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        arguments
            .split(|byte| *byte == 0)
            .any(|part| part == word.as_bytes())
    })
}

#[test]
fn a_plug_in_reads_what_its_rule_names_and_nothing_else_beside_the_file() {
    let fixture = Fixture::empty();
    fixture.write("a.txt", "one");
    fixture.write("b.txt", "two");
    let words = fixture.write_beside("words", "named");
    let script = format!(
        "echo words=$(cat {}); echo other=$(cat {})",
        words.display(),
        fixture.path("b.txt").display()
    );
    let more = "output = 'key-value'\nmedia_types = ['text/plain']\nurl_pattern = '/a'";

    let server = garner().serve(
        &fixture,
        &[
            plugin("without", &script, more),
            plugin("with", &script, &format!("{more}\nreadable = ['words']")),
        ]
        .concat(),
    );

    let didl = record(&server, "a.txt", "oai_didl");
    let document = Document::parse(&didl.xml).unwrap();
    assert_eq!(values(&document, "without"), []);
    assert_eq!(values(&document, "with"), [own(("words", "named"))]);
}

#[test]
fn a_changed_plug_in_configuration_stamps_the_records_anew() {
    let fixture = Fixture::small();
    for name in [
        "index.html",
        "about.html",
        "docs/paper.pdf",
        "docs/page.html",
        "logo.png",
        "notes.txt",
    ] {
        fixture.set_mtime(name, 1_000_000_000);
    }
    let port = free_port();
    let stamps = |config: &str| {
        let server = garner().serve_on(&fixture, config, port);
        let stamps: Vec<_> = server
            .all()
            .into_iter()
            .map(|header| header.datestamp)
            .collect();
        assert_eq!(stamps.len(), 6);
        server.stop();
        stamps
    };
    let with = plugin("words", "printf said", "output = 'text'");
    let changed = plugin("words", "printf other", "output = 'text'");

    let without = stamps("");
    let first = stamps(&with);
    let again = stamps(&with);
    let second = stamps(&changed);
    let last = stamps("");

    assert!(without.iter().all(|stamp| stamp == "2001-09-09T01:46:40Z"));
    assert!(first.iter().all(|stamp| *stamp > without[0]), "{first:?}");
    assert_eq!(again, first, "a restart changes nothing");
    assert!(
        second.iter().zip(&first).all(|(new, old)| new > old),
        "{second:?}"
    );
    assert!(
        last.iter().zip(&second).all(|(new, old)| new > old),
        "{last:?}"
    );
}

#[test]
fn the_plug_ins_of_the_example_describe_its_pages_and_papers() {
    let fixture = Fixture::empty();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    copy(&examples.join("site"), &fixture.site());
    copy(&examples.join("plugins"), &fixture.beside("plugins"));
    for name in ["site.toml", "htpasswd"] {
        fs::copy(examples.join(name), fixture.beside(name)).unwrap();
    }

    let server = garner()
        .arg("serve")
        .arg(fixture.site())
        .args([
            "--listen",
            "127.0.0.1:0",
            "--admin-listen",
            "127.0.0.1:0",
            "--config",
        ])
        .arg(fixture.beside("site.toml"))
        .arg("--data")
        .arg(fixture.data())
        .start();

    let dc = |path: &str| record(&server, path, "oai_dc");
    let lens = dc("papers/lens-of-1871.pdf");
    assert_eq!(
        lens.texts("title"),
        ["The lens of 1871: glass, brass and mercury"]
    );
    assert_eq!(
        lens.texts("description"),
        ["The first-order lens of Skerrow Point"]
    );
    let guide = dc("papers/visitor-guide.pdf");
    assert_eq!(
        guide.texts("title"),
        ["Guide for visitors \u{2013} tower, lens and caf\u{e9}"]
    );
    assert_eq!(guide.texts("creator"), ["Maren Holt"]);

    let start = dc("index.html");
    assert_eq!(start.texts("title"), ["Skerrow Point Lighthouse Museum"]);
    assert_eq!(
        start.texts("description"),
        ["A small museum in a lighthouse that has stood on Skerrow Point since 1871."]
    );
    assert_eq!(
        start.texts("subject"),
        ["lighthouse", "museum", "Skerrow Point"]
    );
    let french = dc("phare.html");
    assert_eq!(
        french.texts("title"),
        ["Le mus\u{e9}e du phare de Skerrow Point"]
    );
    assert_eq!(
        french.texts("subject"),
        ["phare", "mus\u{e9}e", "\u{e9}t\u{e9}"]
    );
    assert_eq!(french.texts("language"), ["fr"]);

    for path in [
        "images/tower.png",
        "sound/fog-horn.wav",
        "empty.txt",
        "index.html",
    ] {
        let answer = record(&server, path, "oai_didl");
        let document = Document::parse(&answer.xml).unwrap();
        let brief = tool("file", &["--brief", "--"], &fixture.path(path));
        assert_eq!(
            said(&document, "file", "text").as_deref(),
            Some(brief.trim()),
            "{path}"
        );
    }
    for page in Answer::pages(
        &server.base_url,
        "ListRecords",
        "metadataPrefix=oai_didl",
        &[],
    ) {
        assert!(page.texts("failed").is_empty(), "{}", page.xml);
    }
}

#[test]
fn a_program_that_is_installed_later_is_run_after_a_restart() {
    let fixture = Fixture::small();
    let port = free_port();
    let config = "[[plugin]]\nname = 'late'\ncommand = ['./late', '{file}']\noutput = 'text'\n";
    let server = garner().serve_on(&fixture, config, port);
    let before = record(&server, "notes.txt", "oai_didl");
    assert!(before.xml.contains("<failed>"));
    server.stop();

    let program = fixture.write_beside("late", "#!/bin/sh\necho here now\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(program, mode).unwrap();
    let server = garner().serve_on(&fixture, config, port);

    assert!(
        record(&server, "notes.txt", "oai_didl")
            .xml
            .contains("here now")
    );
    // The record is another one than before, so it has another date.
    let after = record(&server, "notes.txt", "oai_didl");
    assert!(after.headers()[0].datestamp > before.headers()[0].datestamp);
}

/// A rule that runs a shell script; the file is its first argument.
fn plugin(name: &str, script: &str, more: &str) -> String {
    format!(
        "[[plugin]]\nname = '{name}'\ncommand = ['sh', '-c', '''{script}''', 'sh', '{{file}}']\n{more}\n"
    )
}

fn record(server: &Server, path: &str, prefix: &str) -> Answer {
    let answer = server.record(&server.url(path), prefix);
    assert_eq!(answer.error(), None, "{}", answer.xml);
    answer
}

fn datestamp(server: &Server, path: &str) -> String {
    let identifier = server.url(path);
    let mut headers = server.all().into_iter();
    let header = headers.find(|header| header.identifier == identifier);
    header.unwrap().datestamp
}

/// The part of a record that a plug-in has, if it has one.
fn part<'a, 'i>(document: &'a Document<'i>, name: &str) -> Option<Node<'a, 'i>> {
    document
        .descendants()
        .find(|node| node.has_tag_name((PLUGIN, "plugin")) && node.attribute("name") == Some(name))
}

fn the<'a, 'i>(document: &'a Document<'i>, name: &str) -> Node<'a, 'i> {
    part(document, name).unwrap()
}

fn only_child<'a, 'i>(node: Node<'a, 'i>) -> Node<'a, 'i> {
    let children: Vec<_> = node.children().filter(Node::is_element).collect();
    assert_eq!(children.len(), 1);
    children[0]
}

/// The text of an element that a plug-in's part holds.
fn said(document: &Document, name: &str, element: &str) -> Option<String> {
    let mut children = part(document, name)?.children();
    let child = children.find(|child| child.has_tag_name((PLUGIN, element)))?;
    Some(child.text().unwrap_or_default().to_owned())
}

fn values(document: &Document, name: &str) -> Vec<(String, String)> {
    let children = the(document, name).children().filter(Node::is_element);
    children
        .map(|child| {
            assert!(child.has_tag_name((PLUGIN, "value")));
            own((child.attribute("name").unwrap(), child.text().unwrap()))
        })
        .collect()
}

/// The identifiers of the records that have a part of a plug-in.
fn records_with(page: &Answer, name: &str) -> Vec<String> {
    let document = Document::parse(&page.xml).unwrap();
    let parts = document.descendants().filter(|node| {
        node.has_tag_name((PLUGIN, "plugin")) && node.attribute("name") == Some(name)
    });
    parts
        .map(|part| {
            let mut above = part.ancestors();
            let record = above
                .find(|node| node.tag_name().name() == "record")
                .unwrap();
            let mut inside = record.descendants();
            let identifier = inside.find(|node| node.tag_name().name() == "identifier");
            identifier.unwrap().text().unwrap().to_owned()
        })
        .collect()
}

fn digests(answer: &Answer) -> BTreeMap<String, String> {
    let document = Document::parse(&answer.xml).unwrap();
    let digests = document
        .descendants()
        .filter(|node| node.has_tag_name(("urn:x-garner:fixity", "digest")));
    digests
        .map(|node| own((node.attribute("algorithm").unwrap(), node.text().unwrap())))
        .collect()
}

fn expected_digests(path: &Path) -> BTreeMap<String, String> {
    let names = ["md5", "sha1", "sha256"].into_iter();
    names
        .map(|name| {
            let line = tool(&format!("{name}sum"), &[], path);
            own((name, line.split(' ').next().unwrap()))
        })
        .collect()
}

fn tool(program: &str, arguments: &[&str], path: &Path) -> String {
    let output = Command::new(program).args(arguments).arg(path).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

fn copy(from: &Path, to: &Path) {
    let from = from.join(".");
    let status = Command::new("cp").arg("-a").args([&from, to]).status();
    assert!(status.unwrap().success());
}

fn own((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.to_owned())
}
