//! Wrong directives, a state directory that cannot be written, a damaged index.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use test_support::{Answer, Fixture, Httpd, Mpm, fetch, get, wait_until};

use super::client::Client;
use super::site::{LOCATION, Site};

#[test]
fn wrong_values_stop_the_start_with_line_and_reason() {
    let fixture = Fixture::small();
    for (directive, culprit) in [
        ("OaiDynamic sometimes", "sometimes"),
        ("OaiDynamic off reference", "OaiDynamic"),
        ("OaiPageLimit bytes many", "many"),
        ("OaiPageLimit records -1", "-1"),
        ("OaiPageLimit apples 3", "apples"),
        ("OaiPageLimit 3", "OaiPageLimit"),
        ("OaiFlowLimit lists many", "many"),
        ("OaiFlowLimit apples 3", "apples"),
        ("OaiByValueLimit large", "large"),
        ("OaiByValueLimit 1M video", "video"),
        ("OaiFreshness soon", "soon"),
        ("OaiBaseURL nowhere", "nowhere"),
        ("OaiBaseURL ftp://example.org/", "ftp://example.org/"),
        ("OaiAdminEmail nobody", "nobody"),
        ("OaiAdminEmail \"a b@c\"", "a b@c"),
        ("OaiAdminEmail ann@example.org @example.org", "@example.org"),
        ("OaiAdminEmail ann@", "ann@"),
        (
            "OaiBaseURL http://user:pw@x/modoai",
            "holds a user or a password",
        ),
        ("OaiFixity crc32", "crc32"),
        ("OaiFixity none md5", "stands alone"),
        ("OaiFixity sha256 None", "stands alone"),
        ("OaiUserList ../../etc", "../../etc"),
        ("OaiUserList ann bob/x", "bob/x"),
        ("OaiUserList ..", "is not the name of a user"),
        ("OaiRoot relative ${ROOT}", "relative"),
        ("OaiRoot /only-one", "OaiRoot"),
        ("OaiStateDir", "OaiStateDir"),
        ("OaiPlugin", "OaiPlugin"),
        ("OaiPlugin only-a-name", "OaiPlugin"),
        ("OaiPlugin missing /nowhere/program", "/nowhere/program"),
        ("OaiUserList", "OaiUserList"),
        ("OaiSkip", "OaiSkip"),
        ("OaiNonsense on", "OaiNonsense"),
    ] {
        let (right, said) = Httpd::of(&fixture).conf(directive).config_test();
        assert!(!right, "{directive} is accepted");
        assert!(
            said.contains("Syntax error on line "),
            "{directive}: {said}"
        );
        assert!(said.contains(culprit), "{directive}: {said}");
    }
}

#[test]
fn a_root_that_is_not_there_is_accepted_with_a_warning() {
    let fixture = Fixture::small();
    let directive = "OaiRoot /later ${ROOT}/later";

    let (right, said) = Httpd::of(&fixture).conf(directive).config_test();

    assert!(right, "{said}");
    assert!(said.contains("later` does not exist"), "{said}");
}

#[test]
fn directives_of_the_whole_server_are_refused_elsewhere() {
    let fixture = Fixture::small();
    for directive in [
        "OaiStateDir /tmp",
        "OaiBaseURL http://x.org/",
        "OaiRoot /a /tmp",
    ] {
        let conf = format!("<Directory ${{SITE}}>\n{directive}\n</Directory>");
        let (right, said) = Httpd::of(&fixture).conf(&conf).config_test();
        assert!(!right, "{directive} is accepted");
        assert!(said.contains("not allowed"), "{directive}: {said}");
    }
}

#[test]
fn right_values_are_accepted() {
    let fixture = Fixture::small();
    for directive in [
        "OaiDynamic Processed",
        "OaiByValueLimit 10M",
        "OaiByValueLimit 0 video/* audio/mpeg",
        "OaiPageLimit bytes 1M\nOaiPageLimit seconds 0\nOaiPageLimit programs 3",
        "OaiFlowLimit lists 3\nOaiFlowLimit lists-per-client 0\nOaiFlowLimit programs 1",
        "OaiSkip none\nOaiSkip *.tmp /private/*",
        "OaiAdminEmail a@example.org b@example.org",
        "OaiFixity md5 sha1 sha256",
        "OaiFixity none",
        "OaiBaseURL https://www.example.org:8443/a@b/",
        "OaiUserList ann bob.b www-data",
        "OaiRepositoryName \"A name with blanks\"",
        "<Directory ${SITE}>\nOaiDynamic off\nOaiSkip *.tmp\n</Directory>",
    ] {
        let httpd = Httpd::of(&fixture).conf(LOCATION).conf(directive);
        let (right, said) = httpd.config_test();
        assert!(right, "{directive}: {said}");
    }
}

#[test]
fn shadows_do_not_hide_that_their_owner_is_missing() {
    let fixture = Fixture::small();

    let (right, said) = Httpd::of(&fixture)
        .conf("UserDir public_html")
        .config_test();

    assert!(!right);
    assert!(said.contains("UserDir"), "{said}");
    let wrong = Httpd::of(&fixture).conf("Alias /one-argument-only");
    assert!(!wrong.config_test().0);
}

#[test]
fn a_state_directory_that_cannot_be_written_is_a_503_with_a_reason() {
    if !Httpd::drops_privileges() {
        eprintln!(
            "SKIPPED: a directory that the workers may not write needs workers of another user"
        );
        return;
    }
    for mpm in Mpm::ALL {
        let site = Site::empty(mpm);
        site.fixture.write("notes.txt", "notes");
        let closed = site.fixture.beside("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
        site.fixture.write_beside("a-file", "no directory");
        for state in ["closed", "a-file", "not/yet/there"] {
            let directive = format!("OaiStateDir ${{ROOT}}/{state}");
            let httpd = site.httpd().conf(&directive).start();

            let url = format!(
                "{}?verb=ListIdentifiers&metadataPrefix=oai_dc",
                httpd.base_url()
            );
            for _ in 0..3 {
                let response = get(&url);
                assert_eq!(response.status, 503, "{state}: {}", response.text());
                assert!(response.header("retry-after").is_some());
                assert!(response.text().len() > 20, "{}", response.text());
                // Where things lie on this machine is for the log.
                assert!(!response.text().contains(state));
            }
            let log = httpd.error_log();
            assert!(log.contains(state), "{log}");
            assert_eq!(httpd.crashes(), [""; 0], "{log}");
            assert_eq!(get(&httpd.url("/notes.txt")).status, 200);
        }
    }
}

#[test]
fn a_state_directory_that_is_missing_is_made_for_the_workers() {
    let site = Site::empty(Mpm::Event);
    site.fixture.write("notes.txt", "notes");

    let httpd = site.httpd().conf("OaiStateDir ${ROOT}/not-yet");
    let httpd = httpd.start();

    let client = Client::anonymous(&httpd);
    assert_eq!(client.identifiers(), [client.url("/notes.txt")]);
}

#[test]
fn a_state_directory_in_what_is_served_is_refused() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        site.fixture.write("notes.txt", "notes");
        site.fixture.write_beside("pictures/a.txt", "a");
        site.fixture.write_beside("extra/deep/a.txt", "a");
        let link = site.fixture.beside("link");
        std::os::unix::fs::symlink(site.fixture.site(), link).unwrap();
        site.conf("Alias /pictures ${ROOT}/pictures");
        site.oai("OaiRoot /extra ${ROOT}/extra");
        for (state, place) in [
            ("site", "site"),
            ("site/state", "site"),
            ("site/not/yet", "site"),
            ("link/state", "site"),
            ("pictures/state", "pictures"),
            ("extra/deep", "extra"),
        ] {
            let directive = format!("OaiStateDir ${{ROOT}}/{state}");
            let (right, said) = site.httpd().conf(&directive).config_test();
            assert!(!right, "{state} is accepted");
            for word in [
                &format!("{}` lies in", site.fixture.beside(state).display()),
                site.fixture.beside(place).to_str().unwrap(),
                "OaiStateDir",
            ] {
                assert!(said.contains(word), "{state}: {said}");
            }
        }
    }
}

#[test]
fn a_state_directory_in_what_another_host_serves_is_refused() {
    let mut site = Site::empty(Mpm::Event);
    site.beside("one/a.txt");
    site.beside("two/b.txt");
    let one = "DocumentRoot ${ROOT}/one\n";
    let two = "DocumentRoot ${ROOT}/two\nOaiStateDir ${ROOT}/one/state\n";
    let httpd = site.httpd().vhost("one.test", one);

    let (right, said) = httpd.vhost("two.test", two).config_test();

    assert!(!right);
    assert!(said.contains("OaiStateDir"), "{said}");
    assert!(!site.fixture.beside("one/state").exists());
}

#[test]
fn an_alias_that_cannot_be_enumerated_is_told_until_a_root_names_it() {
    let fixture = Fixture::small();
    fs::create_dir(fixture.beside("data")).unwrap();
    let alias = "AliasMatch \"^/data/v[0-9]+/(.*)\" \"${ROOT}/data/$1\"\n";
    for (root, told) in [
        ("", true),
        ("OaiRoot /data/v1 ${ROOT}/data", false),
        ("OaiRoot /data/latest ${ROOT}/data", true),
        ("OaiRoot /data/v1 ${SITE}", true),
    ] {
        let httpd = Httpd::of(&fixture).conf(LOCATION).conf(alias).conf(root);

        let (right, said) = httpd.config_test();

        assert!(right, "{said}");
        assert_eq!(
            said.contains("cannot be enumerated"),
            told,
            "{root}: {said}"
        );
    }
}

#[test]
fn a_state_directory_that_becomes_writable_is_used() {
    if !Httpd::drops_privileges() {
        eprintln!(
            "SKIPPED: a directory that the workers may not write needs workers of another user"
        );
        return;
    }
    let site = Site::empty(Mpm::Event);
    site.fixture.write("notes.txt", "notes");
    let state = site.fixture.beside("later");
    fs::create_dir(&state).unwrap();
    let httpd = site.httpd().conf("OaiStateDir ${ROOT}/later").start();
    let client = Client::anonymous(&httpd);
    let list = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";
    assert_eq!(client.get(list).status, 503);

    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();

    wait_until("it answers", || client.get(list).status == 200);
    assert_eq!(client.identifiers(), [client.url("/notes.txt")]);
}

/// The indexes below a directory.
fn indexes(state: &Path) -> Vec<PathBuf> {
    let hosts = fs::read_dir(state).unwrap().map(|entry| entry.unwrap());
    let indexes = hosts.map(|host| host.path().join("index.sqlite"));
    indexes.filter(|index| index.exists()).collect()
}

/// Brings everything into the one file; workers that end leave their last changes beside it.
fn checkpoint(index: &Path) {
    let program = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('pragma wal_checkpoint(truncate)')";
    let python = Command::new("python3")
        .arg("-c")
        .arg(program)
        .arg(index)
        .status();
    assert!(python.unwrap().success());
}

fn count(client: &Client) -> (usize, usize) {
    let pages = client.pages("ListIdentifiers", "metadataPrefix=oai_dc");
    let headers: Vec<_> = pages.iter().flat_map(Answer::headers).collect();
    let deleted = headers.iter().filter(|header| header.deleted).count();
    (headers.len() - deleted, deleted)
}

#[test]
fn a_damaged_index_is_rebuilt_at_the_next_start() {
    let mut site = Site::empty(Mpm::Event);
    site.oai("OaiFreshness 0");
    for number in 0..2000 {
        site.fixture
            .write(format!("{}/{number}.txt", number % 20), "text");
    }
    let mut httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);
    assert_eq!(count(&client), (2000, 0));
    for number in 0..100 {
        fs::remove_file(site.fixture.path(format!("{}/{number}.txt", number % 20))).unwrap();
    }
    assert_eq!(count(&client), (1900, 100));
    httpd.stop();
    let index = indexes(&httpd.state()).remove(0);
    checkpoint(&index);
    let sound = fs::read(&index).unwrap();
    let rebuilt = |httpd: &Httpd| httpd.error_log().matches("the index was rebuilt").count();

    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage, usize); 4] = [
        ("junk", |bytes| *bytes = b"no index\n".repeat(5000), 0),
        ("nothing", |bytes| bytes.clear(), 0),
        ("cut", |bytes| bytes.truncate(bytes.len() / 2 + 100), 0),
        (
            "one page of junk",
            |bytes| {
                let middle = bytes.len() / 8192 / 4 * 8192;
                bytes[middle..middle + 8192].fill(0xA5);
            },
            1,
        ),
    ];
    for (damage, harm, kept) in damages {
        let mut bytes = sound.clone();
        harm(&mut bytes);
        fs::write(&index, bytes).unwrap();
        let before = rebuilt(&httpd);
        httpd.start();

        let (live, deleted) = count(&client);

        assert_eq!(live, 1900, "{damage}");
        assert!(deleted >= kept, "{damage}: {deleted} tombstones");
        assert_eq!(rebuilt(&httpd), before + 1, "{damage}");
        assert_eq!(httpd.crashes(), [""; 0], "{damage}");
        httpd.stop();
        checkpoint(&index);
    }
}

#[test]
fn an_index_that_is_damaged_under_the_running_server_is_rebuilt() {
    let mut site = Site::empty(Mpm::Prefork);
    site.oai("OaiFreshness 0");
    for number in 0..500 {
        site.fixture.write(format!("{number}.txt"), "text");
    }
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);
    assert_eq!(count(&client), (500, 0));

    let index = indexes(&httpd.state()).remove(0);
    let length = usize::try_from(fs::metadata(&index).unwrap().len()).unwrap();
    let file = fs::File::options().write(true).open(&index).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &vec![0xA5; length], 0).unwrap();
    site.fixture.write("new.txt", "new");

    let list = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";
    wait_until("it answers again", || client.get(list).status == 200);
    wait_until("the new file is told", || count(&client).0 == 501);
    assert_eq!(httpd.crashes(), [""; 0]);
}

#[test]
fn wrong_requests_get_a_correct_answer() {
    let site = Site::empty(Mpm::Event);
    site.fixture.write("notes.txt", "notes");
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);

    for (query, code) in [
        ("", "badVerb"),
        ("verb=Nonsense", "badVerb"),
        ("verb=Identify&verb=Identify", "badVerb"),
        ("verb=ListIdentifiers", "badArgument"),
        (
            "verb=ListIdentifiers&metadataPrefix=marc",
            "cannotDisseminateFormat",
        ),
        (
            "verb=ListIdentifiers&resumptionToken=none",
            "badResumptionToken",
        ),
        (
            "verb=GetRecord&metadataPrefix=oai_dc&identifier=%FF%00",
            "badArgument",
        ),
    ] {
        let error = client.ask(query).error();
        assert_eq!(error.as_deref(), Some(code), "{query}");
    }
    let base_url = httpd.base_url();
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let posted = fetch("POST", &base_url, &[form], b"verb=Identify");
    assert_eq!(Answer::of(posted).error(), None);
    for method in ["PUT", "DELETE", "OPTIONS"] {
        let refused = fetch(method, &base_url, &[], b"");
        assert_eq!(refused.status, 405, "{method}");
        let allowed = refused.header("allow").unwrap();
        // Whether there is TRACE is for the server to say.
        let allowed = allowed.split(',').filter(|name| *name != "TRACE");
        let mut allowed: Vec<_> = allowed.collect();
        allowed.sort_unstable();
        assert_eq!(allowed, ["GET", "HEAD", "POST"], "{method}");
    }
    assert_eq!(get(&format!("{base_url}/nothing")).status, 404);
    assert_eq!(fetch("HEAD", &base_url, &[], b"").status, 200);
}
