//! Access: passwords, addresses, lists and GetRecord in agreement.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use test_support::{
    Answer, Fixture, Header, Server, basic, fetch, files_below, free_port, get, percent_encoded,
    wait_until,
};

use crate::garner;

const PREFIXES: [&str; 3] = ["oai_dc", "http_header", "oai_didl"];

/// Somebody with credentials and an address, as the headers of a request.
struct Requester {
    name: String,
    headers: Vec<(&'static str, String)>,
}

impl Requester {
    fn new(credentials: Option<(&str, &str)>, address: Option<&str>) -> Self {
        let mut headers = Vec::new();
        headers.extend(credentials.map(|(user, password)| basic(user, password)));
        headers.extend(address.map(|address| ("X-Forwarded-For", address.to_owned())));
        Self {
            name: format!("{credentials:?} from {address:?}"),
            headers,
        }
    }

    fn nobody() -> Self {
        Self::new(None, None)
    }

    fn reader() -> Self {
        Self::new(Some(("reader", "reader")), None)
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        let headers = self.headers.iter();
        headers
            .map(|(name, value)| (*name, value.as_str()))
            .collect()
    }

    fn gets(&self, url: &str) -> bool {
        fetch("GET", url, &self.headers(), b"").status == 200
    }

    fn list(&self, server: &Server, verb: &str, arguments: &str) -> Vec<Header> {
        Answer::list(&server.base_url, verb, arguments, &self.headers())
    }

    fn ask(&self, server: &Server, query: &str) -> Answer {
        Answer::ask_as(&server.base_url, query, &self.headers())
    }
}

#[test]
fn all_answers_agree_with_what_a_get_gives_the_same_requester() {
    let fixture = with_passwords(Fixture::empty());
    let names = [
        "index.html",
        "notes.txt",
        "closed.txt",
        "closed/page.html",
        "closed/only-here.pdf",
        "closed/open/leaflet.txt",
        "closed/open/inner/secret.csv",
        "closedness/page.html",
        "open/closed/page.html",
        "open/page.html",
        "editors/draft.html",
        "house/map.png",
        "any/a.txt",
        "all/a.txt",
        "never/a.wav",
        "single.json",
    ];
    for name in names {
        fixture.write(name, name);
    }
    let config = "[server]\ntrusted_proxies = [\"127.0.0.1\"]\n[pages]\nidentifiers = 3\nrecords = 2\n\
        [[area]]\npath = \"/closed/\"\nhtpasswd = \"htpasswd\"\n\
        [[area]]\npath = \"/closed/open/\"\nallow = [\"0.0.0.0/0\", \"::/0\"]\n\
        [[area]]\npath = \"/closed/open/inner/\"\nhtpasswd = \"htpasswd\"\nusers = [\"legacy\"]\n\
        [[area]]\npath = \"/open/closed/\"\nhtpasswd = \"htpasswd\"\n\
        [[area]]\npath = \"/editors/\"\nhtpasswd = \"htpasswd\"\nusers = [\"editor\"]\n\
        [[area]]\npath = \"/house/\"\nallow = [\"192.0.2.0/24\", \"2001:db8::/32\"]\n\
        [[area]]\npath = \"/any/\"\nallow = [\"192.0.2.7\"]\nhtpasswd = \"htpasswd\"\nrequire = \"any\"\n\
        [[area]]\npath = \"/all/\"\nallow = [\"192.0.2.7\"]\nhtpasswd = \"htpasswd\"\nrequire = \"all\"\n\
        [[area]]\npath = \"/never/\"\n\
        [[area]]\npath = \"/single.json\"\nhtpasswd = \"htpasswd\"\n";
    let server = garner().serve(&fixture, config);

    let urls: Vec<_> = names.iter().map(|name| server.url(name)).collect();
    let (reader, house) = (Some(("reader", "reader")), Some("192.0.2.7"));
    for (requester, seen) in [
        (Requester::nobody(), 6),
        (Requester::new(Some(("reader", "wrong")), None), 6),
        (Requester::new(Some(("stranger", "reader")), None), 6),
        (Requester::new(None, house), 8),
        (Requester::new(None, Some("2001:db8::1")), 7),
        (Requester::new(reader, None), 11),
        (Requester::new(reader, house), 13),
        (Requester::new(Some(("editor", "editor")), None), 12),
        (Requester::new(Some(("legacy", "legacy")), house), 14),
    ] {
        let gets = urls.iter().filter(|url| requester.gets(url)).cloned();
        let visible: BTreeSet<String> = gets.collect();
        assert_eq!(visible.len(), seen, "{}: {visible:?}", requester.name);
        check_agreement(&server, &requester, &urls, &visible);
    }
}

/// Every way of asking shows exactly what is visible.
fn check_agreement(
    server: &Server,
    requester: &Requester,
    urls: &[String],
    visible: &BTreeSet<String>,
) {
    let who = &requester.name;
    let headers = requester.list(server, "ListIdentifiers", "metadataPrefix=oai_dc");
    assert!(headers.iter().all(|header| !header.deleted), "{who}");
    assert_eq!(identifiers(&headers), *visible, "{who}");
    for prefix in PREFIXES {
        let arguments = format!("metadataPrefix={prefix}");
        let records = requester.list(server, "ListRecords", &arguments);
        assert_eq!(records, headers, "{who} {prefix}");
    }

    let mut sets = BTreeMap::<String, Vec<Header>>::new();
    for header in &headers {
        let deepest = header.sets[0].clone();
        let ancestors = deepest.match_indices(':').map(|(at, _)| &deepest[..at]);
        for set in ancestors.chain([deepest.as_str()]) {
            sets.entry(set.to_owned()).or_default().push(header.clone());
        }
    }
    let told = requester.ask(server, "verb=ListSets").texts("setSpec");
    let expected: Vec<_> = sets.keys().cloned().collect();
    assert_eq!(told, expected, "{who}");
    // Sets that nobody is told of, and those held only where this requester does not see them.
    for set in ["mime:audio:x-wav", "mime:application:pdf", "mime:no:such"] {
        sets.entry(set.to_owned()).or_default();
    }
    for (set, members) in sets {
        let arguments = format!("metadataPrefix=oai_dc&set={set}");
        let pages = Answer::pages(
            &server.base_url,
            "ListIdentifiers",
            &arguments,
            &requester.headers(),
        );
        let listed: Vec<_> = pages.iter().flat_map(Answer::headers).collect();
        assert_eq!(listed, members, "{who} {set}");
        for page in &pages {
            let size = page.attribute("resumptionToken", "completeListSize");
            let expected = (pages.len() > 1).then(|| members.len().to_string());
            assert_eq!(size, expected, "{who} {set}");
        }
    }

    for url in urls {
        let identifier = percent_encoded(url);
        let answers = PREFIXES
            .iter()
            .map(|prefix| format!("verb=GetRecord&metadataPrefix={prefix}&identifier={identifier}"))
            .chain([format!("verb=ListMetadataFormats&identifier={identifier}")])
            .map(|query| requester.ask(server, &query));
        for answer in answers {
            let expected = (!visible.contains(url)).then(|| "idDoesNotExist".to_owned());
            assert_eq!(answer.error(), expected, "{who} {url}");
        }
    }
}

#[test]
fn refusals_say_whether_a_password_would_help() {
    let fixture = with_passwords(Fixture::small());
    let config = "[[area]]\npath = \"/docs/\"\nrealm = \"The \\\"inner\\\" circle\"\nhtpasswd = \"htpasswd\"\n\
                  [[area]]\npath = \"/logo.png\"\nallow = [\"192.0.2.7\"]\n";
    let server = garner().serve(&fixture, config);

    for path in ["docs/paper.pdf", "docs/missing", "docs/", "docs"] {
        let response = get(&server.url(path));
        assert_eq!(response.status, 401, "{path}");
        assert_eq!(
            response.header("www-authenticate"),
            Some("Basic realm=\"The inner circle\", charset=\"UTF-8\"")
        );
    }
    assert_eq!(get(&server.url("logo.png")).status, 403);
    for authorization in [
        "Basic",
        "Basic ",
        "Basic !!!!",
        "Basic cmVhZGVy",
        "Bearer cmVhZGVyOnJlYWRlcg==",
    ] {
        let headers = [("Authorization", authorization)];
        let response = fetch("GET", &server.url("docs/paper.pdf"), &headers, b"");
        assert_eq!(response.status, 401, "{authorization}");
        let list = Answer::list(
            &server.base_url,
            "ListIdentifiers",
            "metadataPrefix=oai_dc",
            &headers,
        );
        assert_eq!(list.len(), 3, "{authorization}");
    }
}

#[test]
fn a_forwarded_address_that_cannot_be_read_opens_nothing() {
    let fixture = Fixture::small();
    let config = "[server]\ntrusted_proxies = [\"127.0.0.1\"]\n\
                  [[area]]\npath = \"/docs/\"\nallow = [\"127.0.0.1\", \"192.0.2.7\"]\n\
                  [[area]]\npath = \"/logo.png\"\nallow = [\"0.0.0.0/0\"]\n";
    let server = garner().serve(&fixture, config);

    for (forwarded, seen) in [
        ("192.0.2.7", 6),
        ("192.0.2.7:4711", 6),
        ("203.0.113.9:4711", 4),
        ("unknown", 3),
        ("192.0.2.7, unknown", 3),
        ("", 3),
    ] {
        let requester = Requester::new(None, Some(forwarded));
        let listed = requester.list(&server, "ListIdentifiers", "metadataPrefix=oai_dc");
        assert_eq!(listed.len(), seen, "{forwarded}");
        let fetched = requester.gets(&server.url("docs/paper.pdf"));
        assert_eq!(fetched, seen == 6, "{forwarded}");
    }
}

/// Issue 18: passwords could be tried as fast as they were sent.
#[test]
fn those_who_try_passwords_have_to_wait() {
    let fixture = with_passwords(Fixture::small());
    let config = "[[area]]\npath = \"/docs/\"\nhtpasswd = \"htpasswd\"\n";
    let server = garner().serve(&fixture, config);
    let url = server.url("docs/");
    let status = |user: &str, password: &str| {
        let headers = Requester::new(Some((user, password)), None);
        fetch("GET", &url, &headers.headers(), b"")
    };
    assert_eq!(status("reader", "reader").status, 200);

    let tried: Vec<_> = (0..9)
        .map(|guess| status(&format!("user-{guess}"), "guess").status)
        .collect();

    assert_eq!(tried, [401, 401, 401, 401, 401, 401, 429, 429, 429]);
    let refused = status("nobody", "guess");
    assert_eq!(refused.status, 429);
    assert!(refused.header("retry-after").is_some());
    let list = Requester::new(Some(("nobody", "guess")), None);
    let answer = fetch(
        "GET",
        &format!(
            "{}?verb=ListIdentifiers&metadataPrefix=oai_dc",
            server.base_url
        ),
        &list.headers(),
        b"",
    );
    assert_eq!(answer.status, 429);
    // Neither those who were let in before nor those without a password wait.
    assert_eq!(status("reader", "reader").status, 200);
    assert_eq!(get(&server.url("about.html")).status, 200);
}

#[test]
fn passwords_made_by_htpasswd_are_understood_and_take_effect_at_once() {
    let fixture = Fixture::small();
    let file = fixture.write_beside("users", "");
    let set = |flags: &[&str], user: &str, password: &str| {
        let mut command = Command::new("htpasswd");
        let status = command.arg("-b").args(flags).arg(&file);
        let output = status.args([user, password]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    set(&["-B", "-C", "4"], "bea", "b\u{fc}cher");
    set(&["-m"], "mia", "with:colon");
    set(&["-s"], "sam", "");
    let config = "[[area]]\npath = \"/docs/\"\nhtpasswd = \"users\"\n";
    let server = garner().serve(&fixture, config);
    let sees = |user: &str, password: &str| {
        let requester = Requester::new(Some((user, password)), None);
        let fetched = requester.gets(&server.url("docs/paper.pdf"));
        let listed = requester.list(&server, "ListIdentifiers", "metadataPrefix=oai_dc");
        assert_eq!(listed.len(), if fetched { 6 } else { 4 }, "{user}");
        fetched
    };

    for (user, password) in [("bea", "b\u{fc}cher"), ("mia", "with:colon"), ("sam", "")] {
        assert!(sees(user, password), "{user}");
        assert!(!sees(user, "other"), "{user}");
    }
    set(&["-m"], "mia", "new");
    wait_until("the new password holds", || sees("mia", "new"));
    assert!(!sees("mia", "with:colon"));
    set(&["-D"], "sam", "");
    wait_until("the user is gone", || !sees("sam", ""));
}

#[test]
fn who_is_added_to_a_password_file_gets_what_was_there_before() {
    let fixture = with_passwords(Fixture::small());
    for path in files_below(&fixture.site()) {
        fixture.set_mtime(path, 1_000_000_000);
    }
    let config = "[[area]]\npath = \"/docs/\"\nhtpasswd = \"htpasswd\"\n";
    let port = free_port();
    let server = garner().serve_on(&fixture, config, port);
    let docs: BTreeSet<_> = ["docs/page.html", "docs/paper.pdf"]
        .map(|name| server.url(name))
        .into();
    let file = fixture.beside("htpasswd");
    let add = |line: &str| fs::write(&file, fs::read_to_string(&file).unwrap() + line).unwrap();
    let bob = Requester::new(Some(("bob", "123")), None);
    let harvest = |server: &Server, harvester: &mut Harvester| {
        harvester.harvest(server, &bob);
        harvester.copy.clone()
    };
    let mut harvester = Harvester::default();
    assert_eq!(harvest(&server, &mut harvester).len(), 4);
    harvester.copy.clear();

    add("bob:{SHA}QL0AFWMIX8NRZTKeof9cXsvbvu8=\n");
    assert_eq!(harvest(&server, &mut harvester), docs);

    // The same text again is no change.
    let state = |server: &Server| bob.list(server, "ListIdentifiers", "metadataPrefix=oai_dc");
    let before = state(&server);
    add("");
    assert_eq!(state(&server), before);
    server.stop();
    let server = garner().serve_on(&fixture, config, port);
    assert_eq!(state(&server), before);
    server.stop();

    // Nor is it missed while nothing runs.
    harvester.copy.clear();
    add("eve:{SHA}QL0AFWMIX8NRZTKeof9cXsvbvu8=\n");
    let server = garner().serve_on(&fixture, config, port);
    let after = state(&server);
    let newer = |header: &Header| before.iter().all(|old| header.datestamp > old.datestamp);
    assert_eq!(
        identifiers(after.iter().filter(|header| newer(header))),
        docs
    );
    assert_eq!(harvest(&server, &mut harvester), docs);
}

#[test]
fn a_token_does_not_carry_its_makers_rights() {
    let fixture = with_passwords(Fixture::empty());
    for at in 0..10 {
        fixture.write(format!("closed/{at}.txt"), "closed");
        fixture.write(format!("open/{at}.txt"), "open");
    }
    let config =
        "[pages]\nidentifiers = 2\n[[area]]\npath = \"/closed/\"\nhtpasswd = \"htpasswd\"\n";
    let server = garner().serve(&fixture, config);

    let first = Requester::reader().ask(&server, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    let mut token = first.token();
    let mut seen = first.identifiers();
    assert_eq!(seen.len(), 2);
    seen.clear();
    while let Some(text) = token {
        let query = format!("verb=ListIdentifiers&resumptionToken={text}");
        let page = Requester::nobody().ask(&server, &query);
        seen.extend(page.identifiers());
        token = page.token();
    }

    assert!(!seen.is_empty());
    assert!(seen.iter().all(|url| get(url).status == 200), "{seen:?}");
}

#[test]
fn tombstones_of_protected_files_are_for_those_with_access() {
    let fixture = with_passwords(Fixture::small());
    let config = "[[area]]\npath = \"/docs/\"\nhtpasswd = \"htpasswd\"\n";
    let server = garner().serve(&fixture, config);
    let (nobody, reader) = (Requester::nobody(), Requester::reader());

    fs::remove_file(fixture.path("docs/paper.pdf")).unwrap();
    fs::remove_file(fixture.path("notes.txt")).unwrap();
    let deleted = |requester: &Requester| -> BTreeSet<String> {
        let all = requester.list(&server, "ListRecords", "metadataPrefix=oai_didl");
        identifiers(all.iter().filter(|header| header.deleted))
    };
    let both = [server.url("docs/paper.pdf"), server.url("notes.txt")];
    wait_until("both are deleted", || {
        deleted(&reader) == both.clone().into()
    });

    assert_eq!(deleted(&nobody), [both[1].clone()].into());
    let (hidden, shown) = (
        server.record_as(&both[0], "oai_dc", &nobody.headers()),
        server.record_as(&both[0], "oai_dc", &reader.headers()),
    );
    assert_eq!(hidden.error().as_deref(), Some("idDoesNotExist"));
    assert!(shown.headers()[0].deleted);
    let by_set = "metadataPrefix=oai_dc&set=mime:application:pdf";
    assert!(nobody.list(&server, "ListIdentifiers", by_set).is_empty());
    assert_eq!(reader.list(&server, "ListIdentifiers", by_set).len(), 1);
}

#[test]
fn protection_withdraws_items_and_its_end_brings_them_back() {
    let fixture = with_passwords(Fixture::small());
    let port = free_port();
    let url = format!("http://127.0.0.1:{port}/docs/paper.pdf");
    let (nobody, reader) = (Requester::nobody(), Requester::reader());
    let closed = "[[area]]\npath = \"/docs/\"\nhtpasswd = \"htpasswd\"\n";
    let state = |config: &str| {
        let server = garner().serve_on(&fixture, config, port);
        let [nobodys, readers] = [&nobody, &reader].map(|requester| {
            let record = server.record_as(&url, "oai_dc", &requester.headers());
            record.headers().remove(0)
        });
        let sets = nobody.ask(&server, "verb=ListSets").texts("setSpec");
        let told = sets.iter().any(|set| set == "mime:application:pdf");
        assert_eq!(told, !nobodys.deleted);
        (nobodys, readers)
    };

    let (public, same) = state("");
    let (withdrawn, protected) = state(closed);
    let (public_again, same_again) = state("");
    let (withdrawn_again, protected_again) = state(closed);

    assert!(!public.deleted && !public_again.deleted);
    assert_eq!((&public, &public_again), (&same, &same_again));
    assert!(withdrawn.deleted && withdrawn_again.deleted);
    assert!(!protected.deleted && !protected_again.deleted);
    assert_eq!(withdrawn.sets, public.sets);
    for (before, after) in [
        (&public, &withdrawn),
        (&public, &protected),
        (&withdrawn, &public_again),
        (&protected, &public_again),
        (&public_again, &withdrawn_again),
        (&public_again, &protected_again),
    ] {
        assert!(before.datestamp < after.datestamp, "{before:?} {after:?}");
    }
}

/// The records of an incremental harvester over several starts of the server.
#[derive(Default)]
struct Harvester {
    from: Option<String>,
    copy: BTreeSet<String>,
    /// All it ever heard of, live or deleted.
    heard_of: BTreeSet<String>,
}

impl Harvester {
    fn harvest(&mut self, server: &Server, requester: &Requester) {
        let from = self.from.as_ref().map(|from| format!("&from={from}"));
        let arguments = format!("metadataPrefix=oai_dc{}", from.unwrap_or_default());
        let pages = Answer::pages(
            &server.base_url,
            "ListIdentifiers",
            &arguments,
            &requester.headers(),
        );
        self.from = pages[0].text("responseDate");
        for header in pages.iter().flat_map(Answer::headers) {
            self.heard_of.insert(header.identifier.clone());
            match header.deleted {
                true => self.copy.remove(&header.identifier),
                false => self.copy.insert(header.identifier),
            };
        }
    }
}

/// Starts the server with one configuration after the other; after each, the copies of incremental
/// harvesters must be what a GET gives, and nobody hears of what was never open to them.
fn check_transitions(configs: &[&str]) {
    let fixture = with_passwords(Fixture::small());
    fixture.write("docs/open/leaflet.txt", "open");
    fixture.write("docs/secret/minutes.txt", "secret");
    let names = [
        "index.html",
        "docs/paper.pdf",
        "docs/page.html",
        "docs/open/leaflet.txt",
        "docs/secret/minutes.txt",
    ];
    let port = free_port();
    let requesters = [Requester::nobody(), Requester::reader()];
    let mut harvesters = [Harvester::default(), Harvester::default()];
    let mut ever_open = [BTreeSet::new(), BTreeSet::new()];

    for (at, config) in configs.iter().enumerate() {
        let server = garner().serve_on(&fixture, config, port);
        for (who, requester) in requesters.iter().enumerate() {
            harvesters[who].harvest(&server, requester);
            for url in names.map(|name| server.url(name)) {
                let open = requester.gets(&url);
                let copied = harvesters[who].copy.contains(&url);
                assert_eq!(copied, open, "{at}: {} {url}", requester.name);
                if open {
                    ever_open[who].insert(url.clone());
                }
                if harvesters[who].heard_of.contains(&url) {
                    assert!(
                        ever_open[who].contains(&url),
                        "{at}: {} {url}",
                        requester.name
                    );
                }
            }
        }
        server.stop();
    }
}

const DOCS: &str = "[[area]]\npath = \"/docs/\"\nhtpasswd = \"htpasswd\"\n";
const OPEN: &str = "[[area]]\npath = \"/docs/open/\"\nallow = [\"0.0.0.0/0\", \"::/0\"]\n";
const SECRET: &str = "[[area]]\npath = \"/docs/secret/\"\nhtpasswd = \"htpasswd\"\n";

#[test]
fn harvesters_follow_an_area_that_is_opened_inside_of_a_closed_one() {
    let both = [DOCS, OPEN].concat();
    check_transitions(&["", DOCS, &both, DOCS]);
}

#[test]
fn closing_an_area_tells_nobody_what_was_closed_in_it_before() {
    let both = [DOCS, SECRET].concat();
    check_transitions(&[SECRET, &both, DOCS, ""]);
}

#[test]
fn the_whole_site_can_be_closed_and_opened() {
    let all = "[[area]]\npath = \"/\"\nhtpasswd = \"htpasswd\"\n";
    let inner = [all, OPEN].concat();
    check_transitions(&[&inner, "", all]);
}

#[test]
fn a_link_does_not_lead_around_what_protects_its_target() {
    let fixture = with_passwords(Fixture::small());
    fixture.write("closed/secret.txt", "protected bytes");
    fixture.write("closed/.draft.txt", "protected bytes");
    fixture.write("closed/skipped/x.txt", "protected bytes");
    symlink("closed", fixture.path("way")).unwrap();
    symlink("closed/secret.txt", fixture.path("secret.txt")).unwrap();
    symlink("closed/.draft.txt", fixture.path("draft.txt")).unwrap();
    symlink("../closed/skipped/x.txt", fixture.path("docs/x.txt")).unwrap();
    symlink(".draft.txt", fixture.path("closed/draft.txt")).unwrap();

    for symlinks in ["inside", "all"] {
        let config = format!(
            "[offer]\nsymlinks = \"{symlinks}\"\nskip_directories = [\"/closed/skipped/\"]\n\
             [[area]]\npath = \"/closed/\"\nhtpasswd = \"htpasswd\"\n"
        );
        let server = garner().serve(&fixture, &config);
        let (nobody, reader) = (Requester::nobody(), Requester::reader());

        for path in [
            "way/secret.txt",
            "way/.draft.txt",
            "way/",
            "secret.txt",
            "draft.txt",
            "docs/x.txt",
        ] {
            let response = get(&server.url(path));
            assert_ne!(response.status, 200, "{symlinks}: {path}");
            assert!(!response.text().contains("secret"), "{symlinks}: {path}");
            assert!(!response.text().contains("bytes"), "{symlinks}: {path}");
        }
        for requester in [&nobody, &reader] {
            let all = requester.list(&server, "ListRecords", "metadataPrefix=oai_didl");
            for header in all {
                let url = &header.identifier;
                assert!(requester.gets(url), "{symlinks}: {url}");
                let record = server.record_as(url, "oai_didl", &requester.headers());
                let protected = record.by_value() == Some(b"protected bytes".to_vec());
                let inside = url.starts_with(&server.url("closed/"));
                assert_eq!(protected, inside, "{symlinks}: {url}");
            }
        }
        let closed = reader.list(&server, "ListIdentifiers", "metadataPrefix=oai_dc");
        assert_eq!(closed.len(), 8, "{symlinks}: {closed:?}");
    }
}

#[test]
fn a_link_that_takes_the_place_of_an_indexed_file_leads_to_no_more_than_a_get() {
    let fixture = with_passwords(Fixture::empty());
    fixture.write("pub/a.txt", "public");
    fixture.write("b.txt", "public");
    fixture.write("kept.txt", "public");
    fixture.write("closed/a.txt", "protected bytes, and more of them");
    fixture.write("run.php", "<?php $source = 1; ?>");
    // Nobody notices what changes.
    let config = "[index]\nwatch = false\nrescan_seconds = 86400\n[fixity]\nalgorithms = [\"sha256\"]\n\
                  [[area]]\npath = \"/closed/\"\nhtpasswd = \"htpasswd\"\n\
                  [[plugin]]\nname = \"words\"\nmedia_types = [\"text/*\"]\n\
                  command = [\"cat\", \"{file}\"]\noutput = \"text\"\nmap = { text = \"dc:description\" }\n";
    let server = garner().serve(&fixture, config);
    let records =
        |name: &str| PREFIXES.map(|prefix| server.record_as(&server.url(name), prefix, &[]));
    let [_, _, before] = records("b.txt");
    assert_eq!(before.by_value(), Some(b"public".to_vec()));
    assert_eq!(before.texts("description"), ["public"]);

    fs::rename(fixture.path("pub"), fixture.path("old")).unwrap();
    symlink("closed", fixture.path("pub")).unwrap();
    fs::remove_file(fixture.path("b.txt")).unwrap();
    symlink("run.php", fixture.path("b.txt")).unwrap();

    for (name, size) in [("pub/a.txt", "33"), ("b.txt", "21")] {
        assert_ne!(get(&server.url(name)).status, 200, "{name}");
        for (prefix, record) in PREFIXES.iter().zip(records(name)) {
            // The headers of a GET are those of a refusal.
            let error = (*prefix == "http_header").then(|| "idDoesNotExist".to_owned());
            assert_eq!(record.error(), error, "{name} {prefix}");
            assert_eq!(record.by_value(), None, "{name}");
            let traces = [
                "protected",
                "$source",
                "Content-Length",
                "Last-Modified",
                "ETag",
            ];
            let digested = ["digest", "plugin", &format!("{size} bytes")];
            for trace in traces.iter().chain(&digested) {
                assert!(
                    !record.xml.contains(trace),
                    "{name}: {trace}\n{}",
                    record.xml
                );
            }
        }
        let [_, _, didl] = records(name);
        let reference = didl.attribute("Resource", "ref");
        assert_eq!(reference, Some(server.url(name)), "{name}");
    }
    let [_, _, kept] = records("kept.txt");
    assert_eq!(kept.by_value(), Some(b"public".to_vec()));
}

fn identifiers<'a>(headers: impl IntoIterator<Item = &'a Header>) -> BTreeSet<String> {
    let identifiers = headers.into_iter().map(|header| header.identifier.clone());
    identifiers.collect()
}

/// Puts the example's password file beside the site.
fn with_passwords(fixture: Fixture) -> Fixture {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/htpasswd");
    fixture.write_beside("htpasswd", fs::read(example).unwrap());
    fixture
}
