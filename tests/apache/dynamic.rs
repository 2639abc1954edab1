//! Files that the server runs: policies, limits, programs that hang or die.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use test_support::{Answer, Mpm, percent_encoded, wait_until};

use super::client::Client;
use super::dynamic_cases::{cgi, php, program};
use super::oracle::Oracle;
use super::records::{Record, records};
use super::site::Site;

const HEAD: &str = "printf 'Content-Type: text/plain\\r\\n\\r\\n'";

/// A site with programs, and a program that notes each run.
fn site_with_programs(mpm: Mpm) -> (Site, PathBuf) {
    let mut site = Site::empty(mpm);
    cgi(&mut site);
    php(&mut site);
    let notes = site.fixture.beside("runs");
    fs::create_dir(&notes).unwrap();
    fs::set_permissions(&notes, fs::Permissions::from_mode(0o777)).unwrap();
    let run = format!("echo run >> {}/count\n{HEAD}\necho output", notes.display());
    program(&mut site, "site/programs/counted.cgi", &run);
    (site, notes.join("count"))
}

fn record(client: &Client, path: &str) -> (Record, Answer) {
    let identifier = client.url(path);
    let answer = client.record(&identifier, "oai_didl");
    let record = records(&answer).remove(&identifier);
    (
        record.unwrap_or_else(|| panic!("{path}: {}", answer.xml)),
        answer,
    )
}

/// The record says that its bytes could not be had, and gives no part of them.
fn assert_failed(client: &Client, path: &str) {
    let (record, answer) = record(client, path);
    assert_eq!(record.by_value, None, "{path}");
    assert_eq!(record.reference, Some(client.url(path)), "{path}");
    assert!(answer.text("failed").is_some(), "{path}: {}", answer.xml);
}

/// No record has the item, and from then on no list has it.
fn assert_not_offered(client: &Client, path: &str) {
    let identifier = client.url(path);
    for prefix in ["oai_didl", "http_header", "oai_dc"] {
        let error = client.record(&identifier, prefix).error();
        assert_eq!(error.as_deref(), Some("idDoesNotExist"), "{path} {prefix}");
    }
    assert!(!client.identifiers().contains(&identifier), "{path}");
}

/// A program that a GET always refuses is no item: neither by reference nor processed (issue 18).
#[test]
fn programs_that_a_get_refuses_are_not_offered() {
    for (mpm, policy) in [
        (Mpm::Event, "reference"),
        (Mpm::Prefork, "reference"),
        (Mpm::Event, "processed"),
    ] {
        let (mut site, _) = site_with_programs(mpm);
        site.oai(&format!("OaiDynamic {policy}"));
        let output = format!("{HEAD}\necho output");
        program(&mut site, "site/docs/no-option.cgi", &output);
        program(&mut site, "site/programs/no-mode.cgi", &output);
        program(&mut site, "cgi/no-mode", &output);
        for path in ["site/programs/no-mode.cgi", "cgi/no-mode"] {
            let path = site.fixture.beside(path);
            fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
        }
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        for path in [
            "/docs/no-option.cgi",
            "/programs/no-mode.cgi",
            "/cgi-bin/no-mode",
        ] {
            assert_ne!(client.get(path).status, 200, "{path}");
            assert_not_offered(&client, path);
        }
        assert!(client.identifiers().contains(&client.url("/cgi-bin/tool")));
    }
}

/// The status and the type of a program's answer are those of a GET, in every format (issue 18).
#[test]
fn what_programs_answer_is_told_and_remembered() {
    for mpm in Mpm::ALL {
        let (mut site, _) = site_with_programs(mpm);
        site.oai("OaiDynamic processed\nOaiFreshness 0");
        let switch = site.fixture.write_beside("switch", "500");
        let source = format!(
            "printf 'Status: %s\\r\\nContent-Type: image/x-made\\r\\n\\r\\nmade' $(cat {})",
            switch.display()
        );
        program(&mut site, "site/programs/switched.cgi", &source);
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);
        let identifier = client.url("/programs/switched.cgi");
        let set = |client: &Client| {
            let pages = client.pages("ListIdentifiers", "metadataPrefix=oai_dc");
            let headers = pages.iter().flat_map(Answer::headers);
            let own = headers.filter(|header| header.identifier == identifier && !header.deleted);
            own.map(|header| header.sets).next()
        };
        assert_eq!(set(&client), Some(Vec::new()), "nobody has run it");

        // The list that runs it first tells it as deleted, later ones leave it out or do so too.
        let list = client.pages("ListRecords", "metadataPrefix=http_header");
        let told: Vec<_> = list.iter().flat_map(records).collect();
        let own = told.iter().find(|(one, _)| *one == identifier);
        assert!(own.is_some_and(|(_, record)| record.deleted));
        assert_eq!(set(&client), None);

        // A changed program is run again.
        fs::write(&switch, "200").unwrap();
        program(
            &mut site,
            "site/programs/switched.cgi",
            &format!("{source}\n# new"),
        );
        wait_until("the program is told again", || set(&client).is_some());
        let (record, _) = record(&client, "/programs/switched.cgi");
        assert_eq!(record.by_value, Some(b"made".to_vec()));
        assert!(record.formats.contains(&"image/x-made".to_owned()));
        wait_until("its set is known", || {
            set(&client) == Some(vec!["mime:image:x-made".to_owned()])
        });
        let answer = client.record(&identifier, "oai_dc");
        assert!(answer.texts("format").contains(&"image/x-made".to_owned()));
    }
}

/// httpd itself sends the file where a handler is named that no module answers to (issue 18).
#[test]
fn files_under_a_handler_that_nobody_implements_are_files() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        site.conf("AddHandler no-such-handler .strange\nAddHandler lua-script .lua\nAddType application/x-httpd-php .php");
        for path in ["a.strange", "b.strange", "c.lua", "d.php"] {
            site.file(path, 200);
        }
        let httpd = site.httpd().start();

        Oracle::new(&site, Client::anonymous(&httpd)).check();

        assert_eq!(Client::anonymous(&httpd).identifiers().len(), 4, "{mpm:?}");
    }
}

#[test]
fn plug_ins_are_not_given_what_the_server_makes_of_a_file() {
    let mut site = Site::empty(Mpm::Event);
    cgi(&mut site);
    site.module("actions");
    program(
        &mut site,
        "site/programs/act.cgi",
        &format!("{HEAD}\necho acted"),
    );
    site.conf("AddHandler acting .act\nAction acting /programs/act.cgi");
    site.oai("OaiDynamic reference\nOaiPlugin words output=text /usr/bin/wc -w {file}");
    site.fixture.write("a.act", "not to be told");
    site.fixture.write("a.txt", "three words here");
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);
    assert_eq!(client.get("/a.act").body, b"acted\n");

    let (acted, answer) = record(&client, "/a.act");
    assert_eq!(acted.by_value, None);
    assert!(
        !answer.xml.contains("urn:x-garner:plugin"),
        "{}",
        answer.xml
    );
    let (plain, answer) = record(&client, "/a.txt");
    assert_eq!(plain.by_value.unwrap(), b"three words here");
    assert!(answer.text("text").unwrap().starts_with("3 "));
}

/// Every face of the repository, and the program itself, as one requester is given them.
fn faces(client: &Client, program: &str) -> Vec<(String, String)> {
    let page = client.clone().with_header("Sec-Fetch-Dest", "document");
    let mut told = vec![(program.to_owned(), client.get(program).text())];
    let mut paths: Vec<_> = [
        "sitemap",
        "resourcesync/resourcelist",
        "resourcesync/changelist",
    ]
    .map(|list| format!("/modoai/{list}.xml"))
    .to_vec();
    let identifier = percent_encoded(&client.url(program));
    for prefix in ["oai_dc", "http_header", "oai_didl"] {
        for verb in ["ListIdentifiers", "ListRecords"] {
            paths.push(format!("/modoai?verb={verb}&metadataPrefix={prefix}"));
        }
        paths.push(format!(
            "/modoai?verb=GetRecord&metadataPrefix={prefix}&identifier={identifier}"
        ));
    }
    for path in paths {
        for client in [client, &page] {
            told.push((path.clone(), client.get(&path).text()));
        }
    }
    told
}

/// The source is for the users that the directive names, whether httpd knows them at the repository or at the file.
#[test]
fn nobody_but_a_named_user_is_told_the_source_of_a_program() {
    for (mpm, directive, others_get) in [
        (Mpm::Event, "source archive", "nothing"),
        (Mpm::Prefork, "source archive", "nothing"),
        (Mpm::Event, "reference source archive", "a reference"),
        (Mpm::Event, "processed source archive", "the output"),
    ] {
        let mut site = Site::empty(mpm);
        cgi(&mut site);
        let people = site.fixture.write_beside(
            "people",
            "archive:{SHA}mzMEbtOdGC462vqQRa1nh9S7wyE=\nreader:{SHA}mzMEbtOdGC462vqQRa1nh9S7wyE=\n",
        );
        let secret = "password=geheim-4711";
        program(
            &mut site,
            "site/programs/open.cgi",
            &format!("# {secret}\n{HEAD}\necho output"),
        );
        program(
            &mut site,
            "site/programs/closed/a.cgi",
            &format!("# {secret}\n{HEAD}\necho output"),
        );
        site.protect("programs/closed", &people, "Require valid-user");
        site.oai(&format!(
            "OaiDynamic {directive}\n<Location \"/inner\">\nSetHandler oai\nAuthType Basic\nAuthName inner\n\
             AuthUserFile {}\nRequire valid-user\n</Location>",
            people.display()
        ));
        let httpd = site.httpd().start();
        let anonymous = Client::anonymous(&httpd);
        let archive = anonymous.clone().with_password("archive", "legacy");
        let reader = anonymous.clone().with_password("reader", "legacy");
        let wrong = anonymous.clone().with_password("archive", "wrong");
        let source = fs::read(site.fixture.path("programs/open.cgi")).unwrap();
        let encoded = test_support::base64(&source);

        for client in [&anonymous, &reader, &wrong] {
            for (path, text) in faces(client, "/programs/open.cgi") {
                for part in ["geheim", &encoded[..40], &format!("{} bytes", source.len())] {
                    assert!(!text.contains(part), "{mpm:?} {directive} {path}: {text}");
                }
            }
            assert_eq!(client.get("/programs/open.cgi").body, b"output\n");
            let identifier = client.url("/programs/open.cgi");
            let told = client.record(&identifier, "oai_didl");
            match others_get {
                "nothing" => assert_eq!(told.error().as_deref(), Some("idDoesNotExist")),
                "a reference" => assert_eq!(told.by_value(), None),
                _ => assert_eq!(told.by_value().as_deref(), Some(b"output\n".as_slice())),
            }
        }

        // A name that no password was asked for is no user, so the open repository tells the closed program alone.
        assert_eq!(archive.get("/programs/open.cgi").body, b"output\n");
        let closed = archive.record(&archive.url("/programs/closed/a.cgi"), "oai_didl");
        let closed = closed.by_value().unwrap_or_default();
        assert!(String::from_utf8_lossy(&closed).contains(secret));
        let open = archive.record(&archive.url("/programs/open.cgi"), "oai_didl");
        assert!(!open.xml.contains(&encoded[..40]), "{}", open.xml);
        // The repository behind a password knows its users.
        let inner = |client: &Client, path: &str| {
            let identifier = percent_encoded(&client.url(path));
            let query = "/inner?verb=GetRecord&metadataPrefix=oai_didl";
            let answer = client.get(&format!("{query}&identifier={identifier}"));
            (answer.status, answer.text())
        };
        let (status, text) = inner(&archive, "/programs/open.cgi");
        assert_eq!(status, 200);
        assert!(text.contains(&encoded), "{text}");
        assert!(
            !text.contains(" ref="),
            "a GET gives something else: {text}"
        );
        let (status, text) = inner(&reader, "/programs/open.cgi");
        assert_eq!(status, 200);
        assert!(!text.contains(&encoded[..40]), "{text}");
        assert_eq!(inner(&wrong, "/programs/open.cgi").0, 401);
        let log = httpd.error_log();
        assert!(
            log.contains("the source of programs is given to archive"),
            "{log}"
        );
    }
}

#[test]
fn another_policy_holds_after_a_graceful_restart() {
    for mpm in Mpm::ALL {
        let (mut site, runs) = site_with_programs(mpm);
        let policy = site.fixture.write_beside("policy.conf", "OaiDynamic off\n");
        site.oai(&format!("OaiFreshness 0\nInclude {}", policy.display()));
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);
        let identifier = client.url("/programs/counted.cgi");
        let told = || client.identifiers().contains(&identifier);
        assert!(!told());

        fs::write(&policy, "OaiDynamic reference\n").unwrap();
        httpd.graceful();
        wait_until("the program is told", told);
        assert_eq!(record(&client, "/programs/counted.cgi").0.by_value, None);
        assert!(!runs.exists());

        fs::write(&policy, "OaiDynamic processed\n").unwrap();
        httpd.graceful();
        let output = || record(&client, "/programs/counted.cgi").0.by_value;
        wait_until("its output is told", || output().is_some());
        assert_eq!(output().unwrap(), b"output\n");

        fs::write(&policy, "OaiDynamic off\n").unwrap();
        httpd.graceful();
        wait_until("it is not told any more", || !told());
        let answer = client.record(&identifier, "oai_didl");
        assert!(answer.headers().iter().all(|header| header.deleted));
    }
}

/// A WordPress site must not list its `wp-config.php` because nobody said anything (issue 18).
#[test]
fn programs_are_left_out_by_default() {
    for mpm in Mpm::ALL {
        let (mut site, runs) = site_with_programs(mpm);
        site.file("plain.txt", 200);
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        let plain = [
            client.url("/plain.txt"),
            client.url("/unconfigured/page.php"),
        ];
        assert_eq!(client.identifiers().len(), plain.len());
        assert!(client.identifiers().iter().all(|one| plain.contains(one)));
        assert!(!runs.exists(), "{mpm:?}");
    }
}

#[test]
fn programs_are_not_run_to_be_told_by_reference() {
    for mpm in Mpm::ALL {
        let (mut site, runs) = site_with_programs(mpm);
        site.oai("OaiDynamic reference");
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);
        let identifier = client.url("/programs/counted.cgi");

        for prefix in ["oai_dc", "oai_didl"] {
            let arguments = format!("metadataPrefix={prefix}");
            let pages = client.pages("ListRecords", &arguments);
            let told: Vec<_> = pages.iter().flat_map(records).collect();
            let told = told.iter().find(|(one, _)| *one == identifier);
            let record = &told.unwrap().1;
            assert_eq!(record.by_value, None);
            // Nobody knows what a GET returns, so nothing is said of it (issue 18).
            assert_eq!(record.formats, [""; 0], "{mpm:?} {prefix}");
            assert_eq!(record.fields, [], "{mpm:?} {prefix}");
            let mut headers = pages.iter().flat_map(Answer::headers);
            let header = headers.find(|header| header.identifier == identifier);
            assert_eq!(header.unwrap().sets, [""; 0], "{mpm:?} {prefix}");
        }
        for verb in ["ListRecords", "ListIdentifiers"] {
            let pages = client.pages(verb, "metadataPrefix=http_header");
            let told = pages.iter().any(|page| page.xml.contains("counted.cgi"));
            assert!(!told, "{mpm:?} {verb}");
        }
        let answer = client.record(&identifier, "http_header");
        let error = answer.error();
        assert_eq!(error.as_deref(), Some("cannotDisseminateFormat"));
        let escaped = percent_encoded(&identifier);
        let formats = client.ask(&format!("verb=ListMetadataFormats&identifier={escaped}"));
        assert_eq!(formats.texts("metadataPrefix"), ["oai_dc", "oai_didl"]);
        let sets = client.pages("ListIdentifiers", "metadataPrefix=oai_dc&set=mime");
        assert!(sets.iter().all(|page| !page.xml.contains("counted.cgi")));

        assert!(!runs.exists(), "{mpm:?}");
        assert_eq!(client.get("/programs/counted.cgi").body, b"output\n");
        assert!(runs.exists());
    }
}

#[test]
fn programs_are_run_for_their_bytes_only() {
    for mpm in Mpm::ALL {
        let (mut site, runs) = site_with_programs(mpm);
        site.oai("OaiDynamic processed");
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        client.identifiers();
        client.pages("ListRecords", "metadataPrefix=oai_dc");
        client.ask("verb=ListSets");
        assert!(!runs.exists(), "{mpm:?}");

        let (record, _) = record(&client, "/programs/counted.cgi");
        assert_eq!(record.by_value, Some(b"output\n".to_vec()));
        let runs = fs::read_to_string(runs).unwrap();
        assert_eq!(runs.lines().count(), 1, "{mpm:?}");
    }
}

#[test]
fn programs_are_left_out_if_so_configured() {
    for mpm in Mpm::ALL {
        let (mut site, _) = site_with_programs(mpm);
        site.file("plain.txt", 200);
        site.oai("OaiDynamic off\n<Location \"/cgi-bin\">\nOaiDynamic reference\n</Location>");
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        let listed = client.identifiers();

        for path in ["/plain.txt", "/cgi-bin/tool"] {
            assert!(listed.contains(&client.url(path)), "{mpm:?} {path}");
        }
        for path in ["/programs/run.cgi", "/programs/page.php"] {
            let identifier = client.url(path);
            assert!(!listed.contains(&identifier), "{mpm:?} {path}");
            let error = client.record(&identifier, "oai_dc").error();
            assert_eq!(error.as_deref(), Some("idDoesNotExist"), "{path}");
        }
    }
}

#[test]
fn output_that_is_too_long_is_left_to_the_reference() {
    for mpm in Mpm::ALL {
        let (mut site, _) = site_with_programs(mpm);
        site.oai("OaiDynamic processed\nOaiByValueLimit 100K");
        let endless = format!("{HEAD}\nexec yes $0-endless");
        program(&mut site, "site/programs/endless.cgi", &endless);
        site.fixture.write(
            "programs/endless.php",
            "<?php while (true) echo str_repeat('x', 999);",
        );
        let long = format!("{HEAD}\nhead -c 102401 /dev/zero");
        program(&mut site, "site/programs/long.cgi", &long);
        let fitting = format!("{HEAD}\nhead -c 102400 /dev/zero");
        program(&mut site, "site/programs/fitting.cgi", &fitting);
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        let began = Instant::now();
        for path in ["endless.cgi", "endless.php", "long.cgi"] {
            assert_failed(&client, &format!("/programs/{path}"));
        }

        assert!(began.elapsed() < Duration::from_secs(20), "{mpm:?}");
        let (record, _) = record(&client, "/programs/fitting.cgi");
        assert_eq!(record.by_value.map(|bytes| bytes.len()), Some(102_400));
        let place = site.fixture.path("programs/endless.cgi-endless");
        wait_until("the endless program is gone", || !is_running(&place));
    }
}

/// Whether a process has a path among its arguments.
fn is_running(path: &std::path::Path) -> bool {
    let path = path.as_os_str().as_encoded_bytes();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| line.split(|byte| *byte == 0).any(|word| word == path))
}

#[test]
fn programs_that_hang_or_die_are_marked_as_failed_or_left_out() {
    for mpm in Mpm::ALL {
        let (mut site, _) = site_with_programs(mpm);
        site.oai("OaiDynamic processed");
        site.conf(match mpm {
            Mpm::Event => "Timeout 2\nCGIDScriptTimeout 2",
            Mpm::Prefork => "Timeout 2\nCGIScriptTimeout 2",
        });
        for (name, commands) in [
            ("silent", "sleep 6".to_owned()),
            ("cut", format!("{HEAD}\necho part\nsleep 6\necho rest")),
            ("dead", "kill -9 $$".to_owned()),
            ("headless", "echo this is no head".to_owned()),
            (
                "missing",
                "printf 'Status: 404 None\\r\\nContent-Type: text/plain\\r\\n\\r\\nnothing'"
                    .to_owned(),
            ),
            (
                "failing",
                "printf 'Status: 500 Bad\\r\\nContent-Type: text/plain\\r\\n\\r\\nbad'".to_owned(),
            ),
        ] {
            program(&mut site, &format!("site/programs/{name}.cgi"), &commands);
        }
        site.file("plain.txt", 200);
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        let began = Instant::now();
        assert_failed(&client, "/programs/cut.cgi");
        for name in ["silent", "dead", "headless", "missing", "failing"] {
            assert_not_offered(&client, &format!("/programs/{name}.cgi"));
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{mpm:?}");

        // The others in the same list are whole.
        let pages = client.pages("ListRecords", "metadataPrefix=oai_didl");
        let all: Vec<_> = pages.iter().flat_map(records).collect();
        let plain = client.url("/plain.txt");
        let plain = all.iter().find(|(identifier, _)| *identifier == plain);
        assert!(plain.is_some_and(|(_, record)| record.by_value.is_some()));
        assert_eq!(httpd.crashes(), [""; 0], "{mpm:?}");
    }
}

#[test]
fn what_php_does_at_its_end_is_its_output() {
    for mpm in Mpm::ALL {
        let (mut site, _) = site_with_programs(mpm);
        site.oai("OaiDynamic processed");
        site.fixture.write(
            "programs/exit.php",
            "<?php echo 'before'; exit(); echo 'after';",
        );
        site.fixture.write(
            "programs/input.php",
            "<?php echo '[', file_get_contents('php://input'), ']';",
        );
        site.fixture.write(
            "programs/query.php",
            "<?php echo count($_GET), count($_POST);",
        );
        site.fixture.write(
            "programs/status.php",
            "<?php http_response_code(404); echo 'none';",
        );
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        for (name, output) in [("exit", "before"), ("input", "[]"), ("query", "00")] {
            let path = format!("/programs/{name}.php");
            let (record, _) = record(&client, &path);
            assert_eq!(client.get(&path).text(), output, "{mpm:?}");
            assert_eq!(record.by_value, Some(output.into()), "{mpm:?} {name}");
        }
        assert_not_offered(&client, "/programs/status.php");
    }
}
