//! Harvested records and imported documents as a repository of their own: harvested by other people's clients, by a second
//! garner, and while everything changes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;
use test_support::{
    Answer, Fixture, Garner, Header, Postgres, Schemas, Server, basic, fetch, free_port, get,
    percent_encoded, wait_until,
};

use crate::command_line::stderr;
use crate::garner;
use crate::resource_sync::entries;

/// A data directory, and a catalog on either database.
struct Place {
    directory: TempDir,
    catalog: String,
}

impl Place {
    fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let catalog = directory.path().join("data/catalog.sqlite");
        let catalog = catalog.to_str().unwrap().to_owned();
        Self { directory, catalog }
    }

    fn postgres() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            catalog: Postgres::shared().database(),
        }
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn garner(&self, arguments: &[&str]) -> Garner {
        let place = ["--catalog", self.catalog.as_str(), "--data"];
        garner().args(arguments).args(place).arg(self.data())
    }

    /// Runs a command that does what it should.
    fn run(&self, arguments: &[&str]) -> String {
        let output = self
            .garner(arguments)
            .current_dir(self.directory.path())
            .output();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    fn harvest(&self, base_url: &str, prefix: &str) {
        self.run(&["harvest", base_url, "--prefix", prefix, "--quiet"]);
    }

    fn import_example(&self) {
        let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");
        self.run(&["import", crawl.to_str().unwrap(), "--text", "--quiet"]);
    }

    /// Exposes the catalog, with the keys of `[aggregator]`.
    fn serve(&self, config: &str) -> Server {
        let listen = format!("127.0.0.1:{}", free_port());
        self.serve_at(config, &listen)
    }

    fn serve_at(&self, config: &str, listen: &str) -> Server {
        let path = self.directory.path().join("garner.toml");
        std::fs::write(&path, format!("[aggregator]\n{config}")).unwrap();
        self.garner(&[
            "serve",
            "--listen",
            listen,
            "--admin-email",
            "admin@example.org",
        ])
        .arg("--config")
        .arg(path)
        .start()
    }
}

/// A site with a few files.
fn site(names: &[&str]) -> (Fixture, Server) {
    let fixture = Fixture::empty();
    for name in names {
        fixture.write(name, format!("<title>{name}</title>"));
    }
    let server = garner().serve(&fixture, "");
    (fixture, server)
}

/// The metadata of a record as it stands in an answer.
fn metadata(xml: &str) -> &str {
    let begin = xml.find("<metadata").unwrap();
    let begin = begin + xml[begin..].find('>').unwrap() + 1;
    &xml[begin..xml.find("</metadata>").unwrap()]
}

/// Metadata without the header `Date`, which is that of the moment at which the source was asked.
fn undated(metadata: &str) -> String {
    let Some((before, rest)) = metadata.split_once("<field name=\"Date\">") else {
        return metadata.to_owned();
    };
    let (_, after) = rest.split_once("</field>").unwrap();
    format!("{before}{after}")
}

#[test]
fn records_are_exposed_byte_for_byte_with_their_provenance_over_two_aggregators() {
    let (_fixture, source) = site(&["a.html", "b.txt", "c d.txt"]);
    let (first, second) = (Place::sqlite(), Place::sqlite());
    for prefix in ["oai_dc", "oai_didl"] {
        first.harvest(&source.base_url, prefix);
    }
    let aggregator = first.serve("");
    for prefix in ["oai_dc", "oai_didl"] {
        second.harvest(&aggregator.base_url, prefix);
    }
    let aggregator_of_aggregators = second.serve("");

    let schemas = Schemas::load();
    for header in source.all() {
        for prefix in ["oai_dc", "oai_didl"] {
            let original = source.record(&header.identifier, prefix);
            let once = aggregator.record(&header.identifier, prefix);
            let twice = aggregator_of_aggregators.record(&header.identifier, prefix);
            let held = first.run(&["records", "cat", &header.identifier, "--prefix", prefix]);
            assert_eq!(metadata(&once.xml), metadata(&held));
            assert_eq!(metadata(&twice.xml), metadata(&once.xml));
            assert_eq!(
                undated(metadata(&once.xml)),
                undated(metadata(&original.xml))
            );
            assert_eq!(once.text("baseURL").as_ref(), Some(&source.base_url));
            assert_eq!(
                twice.texts("baseURL"),
                [aggregator.base_url.clone(), source.base_url.clone()]
            );
            let datestamps = twice.texts("datestamp");
            assert_eq!(datestamps.len(), 3, "{}", twice.xml);
            assert_eq!(datestamps[2], header.datestamp);
            let set = format!("repository:1:{}", header.sets[0]);
            assert_eq!(once.headers()[0].sets, std::slice::from_ref(&set));
            assert_eq!(twice.headers()[0].sets, [format!("repository:1:{set}")]);
            for answer in schemas.iter().flat_map(|_| [&once, &twice]) {
                let valid = schemas.as_ref().unwrap().validate(&answer.xml);
                assert_eq!(valid, Ok(()), "{}", answer.xml);
            }
        }
    }
    assert_eq!(aggregator_of_aggregators.all().len(), 3);
}

#[test]
fn documents_are_exposed_by_value_with_sets_and_digests() {
    let place = Place::sqlite();
    place.import_example();
    let server = place.serve("repository_identifier = 'a.example'\nby_value.limit = '1 MB'");

    let all = server.all();
    assert!(!all.is_empty());
    let schemas = Schemas::load();
    let mut titled = 0;
    for header in all.iter().filter(|header| !header.deleted) {
        assert!(header.identifier.starts_with("oai:a.example:document:"));
        let number = header.identifier.rsplit_once(':').unwrap().1;
        let shown = place.run(&["documents", "show", number, "--json"]);
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let record = server.record(&header.identifier, "oai_dc");
        assert!(
            record
                .texts("identifier")
                .contains(&shown["url"].as_str().unwrap().to_owned())
        );
        for element in ["title", "language"] {
            let known = shown[element].as_str().map(str::to_owned);
            titled += usize::from(element == "title" && known.is_some());
            assert_eq!(
                record.texts(element),
                Vec::from_iter(known),
                "{}",
                record.xml
            );
        }
        let didl = server.record(&header.identifier, "oai_didl");
        let file = std::fs::read(shown["path"].as_str().unwrap()).unwrap();
        assert_eq!(didl.by_value().unwrap(), file);
        assert!(
            didl.texts("digest")
                .contains(&shown["content_sha1"].as_str().unwrap().to_owned())
        );
        for answer in schemas.iter().flat_map(|_| [&record, &didl]) {
            let valid = schemas.as_ref().unwrap().validate(&answer.xml);
            assert_eq!(valid, Ok(()), "{}", answer.xml);
        }
    }
    assert!(titled > 1, "{titled} documents have a title");
    let sets = server.ask("verb=ListSets").texts("setSpec");
    for set in ["document", "document:mime:application:pdf", "document:host"] {
        assert!(sets.contains(&set.to_owned()), "{set}: {sets:?}");
    }
    for set in &sets {
        let arguments = format!("metadataPrefix=oai_dc&set={set}");
        let listed = Answer::list(&server.base_url, "ListIdentifiers", &arguments, &[]);
        assert!(!listed.is_empty(), "{set}");
        let is_in = |header: &Header| {
            header
                .sets
                .iter()
                .any(|spec| spec == set || spec.starts_with(&format!("{set}:")))
        };
        assert!(listed.iter().all(is_in), "{set}");
    }
}

#[test]
fn sickle_and_scythe_harvest_the_aggregator() {
    let (fixture, source) = site(&["a.html", "b.txt", "c.txt", "d.txt"]);
    let place = Place::sqlite();
    place.harvest(&source.base_url, "oai_dc");
    let server = place.serve("documents = false\npages.records = 2\npages.identifiers = 2");
    let last = server
        .all()
        .into_iter()
        .map(|header| header.datestamp)
        .max();
    wait_until("what comes now is stamped later", || {
        server.ask("verb=Identify").text("responseDate") > last
    });
    let changed_since = server.ask("verb=Identify").text("responseDate").unwrap();
    std::fs::remove_file(fixture.path("b.txt")).unwrap();
    fixture.write("c.txt", "another text");
    wait_until("the site has noticed", || {
        let all = source.all();
        all.iter().any(|header| header.deleted)
    });
    place.harvest(&source.base_url, "oai_dc");

    let records: Vec<_> = source
        .all()
        .iter()
        .map(|header| {
            json!({
                "identifier": header.identifier,
                "sets": header.sets.iter().map(|set| format!("repository:1:{set}")).collect::<Vec<_>>(),
                "deleted": header.deleted,
                "by_value": false,
            })
        })
        .collect();
    let mut sets = vec!["repository".to_owned(), "repository:1".to_owned()];
    let of_source = source.ask("verb=ListSets").texts("setSpec");
    sets.extend(of_source.iter().map(|set| format!("repository:1:{set}")));
    let expected = json!({
        "records": records,
        "sets": sets,
        "formats": ["oai_dc"],
        "changes": {
            "from": changed_since,
            "identifiers": [source.url("b.txt"), source.url("c.txt")],
        },
    });
    let file = fixture.write_beside("expected.json", expected.to_string());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for client in ["sickle_client.py", "scythe_client.py"] {
        let output = Command::new(root.join(".venv/bin/python"))
            .arg("-B")
            .arg(root.join("tests/interop").join(client))
            .arg(&server.base_url)
            .arg(&file)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{client}\n{said}{}",
            stderr(&output)
        );
        assert!(said.contains("checks passed"), "{said}");
    }
}

#[test]
fn an_identifier_of_two_repositories_stays_that_of_the_first_and_both_are_told() {
    let fixtures = [Fixture::empty(), Fixture::empty()];
    let config = "[server]\nsite_url = 'http://www.example.org/'\n";
    let servers: Vec<_> = fixtures
        .iter()
        .enumerate()
        .map(|(at, fixture)| {
            fixture.write("same.txt", format!("text {at}"));
            fixture.write(format!("own-{at}.txt"), "own");
            garner().serve(fixture, config)
        })
        .collect();
    let place = Place::sqlite();
    for server in &servers {
        place.harvest(&server.base_url, "oai_dc");
    }
    let aggregator = place.serve("repository_identifier = 'a.example'");

    let same = "http://www.example.org/same.txt";
    let qualified = format!("oai:a.example:repository:2:{same}");
    let mut identifiers: Vec<_> = aggregator
        .all()
        .into_iter()
        .map(|it| it.identifier)
        .collect();
    identifiers.sort();
    assert_eq!(
        identifiers,
        [
            "http://www.example.org/own-0.txt",
            "http://www.example.org/own-1.txt",
            same,
            qualified.as_str(),
        ]
    );
    for (identifier, server) in [(same, &servers[0]), (qualified.as_str(), &servers[1])] {
        let record = aggregator.record(identifier, "oai_dc");
        assert_eq!(record.text("baseURL"), Some(server.base_url.clone()));
    }

    // The first is removed: its tombstone keeps the identifier, and the second stays what it was.
    place.run(&["repository", "remove", "1"]);
    wait_until("the removal is seen", || {
        aggregator
            .record(same, "oai_dc")
            .headers()
            .iter()
            .all(|header| header.deleted)
    });
    let record = aggregator.record(&qualified, "oai_dc");
    assert_eq!(record.text("baseURL"), Some(servers[1].base_url.clone()));
    let deleted: Vec<_> = aggregator
        .all()
        .into_iter()
        .filter(|it| it.deleted)
        .collect();
    assert_eq!(deleted.len(), 2, "{deleted:?}");
    assert!(
        deleted
            .iter()
            .all(|header| header.sets[0].starts_with("repository:1"))
    );

    // It is added again, and has its number and its identifiers again.
    place.harvest(&servers[0].base_url, "oai_dc");
    wait_until("it is back", || {
        !aggregator.all().iter().any(|header| header.deleted)
    });
    let record = aggregator.record(same, "oai_dc");
    assert_eq!(record.text("baseURL"), Some(servers[0].base_url.clone()));

    drop(aggregator);
    place.run(&["repository", "remove", "1"]);
    let silent = place.serve("removed_repositories = 'gone'\nrepository_identifier = 'a.example'");
    assert!(!silent.all().iter().any(|header| header.deleted));
    let gone = silent.record(same, "oai_dc");
    assert_eq!(gone.error().as_deref(), Some("idDoesNotExist"));
}

#[test]
fn areas_are_told_to_those_alone_who_have_the_password() {
    let (_fixture, source) = site(&["a.html"]);
    let place = Place::sqlite();
    place.harvest(&source.base_url, "oai_dc");
    place.import_example();
    let htpasswd = place.directory.path().join("htpasswd");
    std::fs::write(htpasswd, "reader:{SHA}mzMEbtOdGC462vqQRa1nh9S7wyE=\n").unwrap();
    let (name, value) = basic("reader", "legacy");
    let reader = [(name, value.as_str())];
    let list = |server: &Server, headers: &[(&str, &str)]| {
        let arguments = "metadataPrefix=oai_dc";
        Answer::list(&server.base_url, "ListIdentifiers", arguments, headers)
    };

    let server = place.serve("[[aggregator.area]]\npath = '/document'\nhtpasswd = 'htpasswd'\n");
    let (anybody, known) = (list(&server, &[]), list(&server, &reader));
    assert_eq!(anybody.len(), 1);
    assert!(known.len() > 1);
    let sets = |headers: &[(&str, &str)]| {
        Answer::ask_as(&server.base_url, "verb=ListSets", headers).texts("setSpec")
    };
    let is_of_documents = |set: &String| set.starts_with("document");
    assert!(!sets(&[]).iter().any(is_of_documents));
    assert!(sets(&reader).iter().any(is_of_documents));
    for header in &known {
        let told = anybody.iter().any(|it| it.identifier == header.identifier);
        let record = server.record(&header.identifier, "oai_dc");
        assert_eq!(record.error().is_none(), told, "{}", header.identifier);
        let record = server.record_as(&header.identifier, "oai_dc", &reader);
        assert_eq!(record.error(), None);
    }
    drop(server);

    // A set of the operator's own whose repository is closed is not named either.
    let server = place.serve(
        "[[aggregator.set]]\nspec = 'query:mine'\nname = 'mine'\nrepositories = ['1']\n\
         [[aggregator.area]]\npath = '/repository/1'\nhtpasswd = 'htpasswd'\n",
    );
    let sets = |headers: &[(&str, &str)]| {
        Answer::ask_as(&server.base_url, "verb=ListSets", headers).texts("setSpec")
    };
    let is_own = |set: &String| set.starts_with("query");
    assert!(!sets(&[]).iter().any(is_own), "{:?}", sets(&[]));
    assert!(sets(&reader).iter().any(is_own));
    drop(server);

    let server = place.serve("[[aggregator.area]]\npath = '/'\nhtpasswd = 'htpasswd'\n");
    let url = format!("{}?verb=Identify", server.base_url);
    assert_eq!(fetch("GET", &url, &[], b"").status, 401);
    assert_eq!(list(&server, &reader).len(), known.len());
}

#[test]
fn no_harvester_misses_a_committed_change() {
    while_everything_changes(&Place::sqlite());
}

#[test]
fn no_harvester_misses_a_committed_change_on_postgres() {
    while_everything_changes(&Place::postgres());
}

/// Harvests of three repositories and imports run in processes of their own, while a harvester asks again and again for
/// what changed since the time of the answer before. In the end it knows what a full harvest tells, to the datestamp.
fn while_everything_changes(place: &Place) {
    const ROUNDS: usize = 4;
    let sites: Vec<_> = (0..3)
        .map(|_| site(&["a.html", "b.txt", "c.txt", "d.txt"]))
        .collect();
    place.harvest(&sites[0].1.base_url, "oai_dc");
    let aggregator = place.serve("pages.identifiers = 3");
    let done = AtomicBool::new(false);

    let mut known = BTreeMap::new();
    thread::scope(|scope| {
        let writers: Vec<_> = sites
            .iter()
            .map(|(fixture, source)| {
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        fixture.write(format!("new-{round}.txt"), "new");
                        fixture.write("b.txt", format!("text {round}"));
                        if round == 2 {
                            std::fs::remove_file(fixture.path("c.txt")).unwrap();
                        }
                        wait_until("the site has noticed", || {
                            let all = source.all();
                            all.len() == 5 + round
                        });
                        place.harvest(&source.base_url, "oai_dc");
                    }
                })
            })
            .collect();
        let importer = scope.spawn(|| place.import_example());
        let harvester = scope.spawn(|| {
            let mut known = BTreeMap::new();
            let mut from = None;
            loop {
                let is_last = done.load(Ordering::SeqCst);
                from = Some(changes(&aggregator, from.as_deref(), &mut known));
                if is_last {
                    return known;
                }
            }
        });
        for writer in writers {
            writer.join().unwrap();
        }
        importer.join().unwrap();
        done.store(true, Ordering::SeqCst);
        known = harvester.join().unwrap();
    });

    let all = aggregator.all();
    assert!(all.len() > 3 * (4 + ROUNDS));
    assert_eq!(known, by_identifier(all));
}

/// Takes over what changed since a moment. Gives the time of the first answer.
fn changes(
    aggregator: &Server,
    from: Option<&str>,
    known: &mut BTreeMap<String, (String, bool)>,
) -> String {
    let from = from.map(|from| format!("&from={from}")).unwrap_or_default();
    let arguments = format!("metadataPrefix=oai_dc{from}");
    let pages = Answer::pages(&aggregator.base_url, "ListIdentifiers", &arguments, &[]);
    for page in &pages {
        // The rest of a list may have changed while it was read; it comes again.
        let error = page.error();
        assert!(
            matches!(
                error.as_deref(),
                None | Some("noRecordsMatch" | "badResumptionToken")
            ),
            "{}",
            page.xml
        );
        known.extend(by_identifier(page.headers()));
    }
    pages[0].text("responseDate").unwrap()
}

fn by_identifier(headers: Vec<Header>) -> BTreeMap<String, (String, bool)> {
    let pair = |header: Header| (header.identifier, (header.datestamp, header.deleted));
    headers.into_iter().map(pair).collect()
}

#[test]
fn crawlers_find_every_record_and_document_at_a_url_that_answers() {
    let (fixture, source) = site(&["a.html", "b & c.txt"]);
    let place = Place::sqlite();
    place.import_example();
    for prefix in ["oai_dc", "oai_didl"] {
        place.harvest(&source.base_url, prefix);
    }
    let server = place.serve("by_value.limit = '0'");
    let root = server.base_url.trim_end_matches("/oai");
    let list = format!("{}/resourcesync/resourcelist.xml", server.base_url);
    let changes = format!("{}/resourcesync/changelist.xml", server.base_url);

    let found = entries(&list, &[]);
    let (documents, records): (Vec<_>, Vec<_>) = found
        .iter()
        .partition(|entry| entry.url.contains("/oai/document/"));
    let all = server.all();
    let live = all.iter().filter(|header| !header.deleted);
    let of_documents = live.filter(|header| header.identifier.contains(":document:"));
    assert_eq!(documents.len(), of_documents.count());
    assert_eq!(records.len(), 2 * 2);
    let files = tempfile::tempdir().unwrap();
    for entry in &documents {
        let given = get(&entry.url);
        assert_eq!(given.status, 200, "{}", entry.url);
        assert_eq!(given.body.len().to_string(), entry.facts["length"]);
        assert_eq!(
            given.header("content-type"),
            Some(entry.facts["type"].as_str())
        );
        let file = files.path().join("file");
        std::fs::write(&file, &given.body).unwrap();
        let sum = Command::new("sha256sum").arg(&file).output().unwrap();
        let sum = String::from_utf8(sum.stdout).unwrap();
        assert!(entry.facts["hash"].contains(&format!("sha-256:{}", &sum[..64])));
        let known = [("If-None-Match", given.header("etag").unwrap())];
        assert_eq!(fetch("GET", &entry.url, &known, b"").status, 304);
        let part = fetch("GET", &entry.url, &[("Range", "bytes=1-3")], b"");
        assert_eq!((part.status, &part.body[..]), (206, &given.body[1..4]));
        let head = fetch("HEAD", &entry.url, &[], b"");
        assert_eq!((head.status, head.body.len()), (200, 0));
    }
    for entry in &records {
        let given = get(&entry.url).text();
        assert!(
            given.contains("<header><identifier>"),
            "{}: {given}",
            entry.url
        );
    }
    for sitemap in ["/sitemap.xml", "/oai/sitemap.xml"] {
        let urls: Vec<_> = entries(&format!("{root}{sitemap}"), &[]);
        let urls: Vec<_> = urls.into_iter().map(|entry| entry.url).collect();
        assert_eq!(
            urls,
            found
                .iter()
                .map(|entry| entry.url.clone())
                .collect::<Vec<_>>()
        );
    }
    let described = get(&format!("{root}/.well-known/resourcesync"));
    assert!(
        described
            .text()
            .contains("/oai/resourcesync/capabilitylist.xml</loc>")
    );
    for nothing in [
        "/oai/document/999999",
        "/oai/document/01",
        "/oai/document/",
        "/oai/nothing",
    ] {
        assert_eq!(get(&format!("{root}{nothing}")).status, 404, "{nothing}");
    }

    std::fs::remove_file(fixture.path("a.html")).unwrap();
    wait_until("the site has noticed", || {
        source.all().iter().any(|header| header.deleted)
    });
    place.harvest(&source.base_url, "oai_dc");
    place.run(&["repository", "remove", "1"]);
    wait_until("the records are told as deleted", || {
        let told = entries(&changes, &[]);
        let deleted = told.iter().filter(|entry| entry.change() == "deleted");
        deleted.count() == 4
    });
    assert_eq!(entries(&list, &[]).len(), documents.len());
}

#[test]
fn files_of_documents_are_given_to_those_alone_who_may_see_them() {
    let place = Place::sqlite();
    place.import_example();
    std::fs::write(
        place.directory.path().join("htpasswd"),
        "reader:{SHA}mzMEbtOdGC462vqQRa1nh9S7wyE=\n",
    )
    .unwrap();
    let area = "[[aggregator.area]]\npath = '/document'\nhtpasswd = 'htpasswd'\n";
    let server = place.serve(area);
    let list = format!("{}/resourcesync/resourcelist.xml", server.base_url);
    let (name, password) = basic("reader", "legacy");
    let reader = [(name, password.as_str())];

    assert!(entries(&list, &[]).is_empty());
    let found = entries(&list, &reader);
    assert!(!found.is_empty());
    for entry in &found {
        let refused = get(&entry.url);
        assert_eq!(refused.status, 401, "{}", entry.url);
        assert!(refused.header("www-authenticate").is_some());
        assert_eq!(fetch("GET", &entry.url, &reader, b"").status, 200);
    }
    drop(server);

    for closed in [
        "downloads = false",
        "documents = false",
        "formats = ['oai_dc']",
    ] {
        let server = place.serve(closed);
        let list = format!("{}/resourcesync/resourcelist.xml", server.base_url);
        assert!(entries(&list, &[]).is_empty(), "{closed}");
        let number = found[0].url.rsplit_once('/').unwrap().1;
        let url = format!("{}/document/{number}", server.base_url);
        assert_eq!(get(&url).status, 404, "{closed}");
    }
}

#[test]
fn an_aggregator_ends_in_good_order_while_somebody_is_connected() {
    let (_fixture, source) = site(&["a.html"]);
    let place = Place::sqlite();
    place.harvest(&source.base_url, "oai_dc");
    let server = place.serve("");
    let (authority, path) = server.base_url["http://".len()..].split_once('/').unwrap();
    let mut connection = TcpStream::connect(authority).unwrap();
    write!(
        connection,
        "GET /{path}?verb=Identify HTTP/1.1\r\nHost: {authority}\r\n\r\n"
    )
    .unwrap();
    let mut begin = [0; 12];
    connection.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");

    let log = server.stop();

    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn it_ends_in_good_order_on_both_databases() {
    let (_fixture, source) = site(&["a.html"]);
    for place in [Place::sqlite(), Place::postgres()] {
        place.harvest(&source.base_url, "oai_dc");
        for signal in [Signal::TERM, Signal::INT] {
            let server = place.serve("");
            assert_eq!(server.ask("verb=Identify").error(), None);
            server.stop_by(signal);
        }
    }
}

#[test]
fn tokens_outlive_the_process() {
    let (_fixture, source) = site(&["a.html", "b.txt", "c.txt"]);
    let place = Place::sqlite();
    place.harvest(&source.base_url, "oai_dc");
    let listen = format!("127.0.0.1:{}", free_port());
    let server = place.serve_at("pages.identifiers = 1", &listen);
    let first = server.ask("verb=ListIdentifiers&metadataPrefix=oai_dc");
    let token = first.token().unwrap();
    server.stop();

    let server = place.serve_at("pages.identifiers = 1", &listen);

    let second = server.ask(&format!("verb=ListIdentifiers&resumptionToken={token}"));
    assert_eq!(second.headers().len(), 1);
    assert_ne!(second.identifiers(), first.identifiers());
    let unknown = server.record("oai:nowhere:1", "oai_dc");
    assert_eq!(unknown.error().as_deref(), Some("idDoesNotExist"));
    let held = first.identifiers().into_iter().next().unwrap();
    let not_held = server.record(&held, "oai_didl");
    assert_eq!(not_held.error().as_deref(), Some("cannotDisseminateFormat"));
    let formats = format!(
        "verb=ListMetadataFormats&identifier={}",
        percent_encoded(&held)
    );
    assert_eq!(server.ask(&formats).texts("metadataPrefix"), ["oai_dc"]);
}
