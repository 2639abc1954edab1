//! A site seen through the origin of one request, as a module inside of a web server does it.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use oai::{Arguments, Datestamp, TokenKey};
use provider::{PageLimits, Portion, Provider, Range, View};
use site::config::ByteSize;
use site::fixity::{Algorithm, digests_of};
use site::{
    Addresses, Body, Candidate, DynamicPolicy, Fetched, Look, NotFetched, Origin, Requester,
    Served, Site, SiteConfig, SitePath,
};

/// A web server in this process. It is not `Sync`, as little as a request of httpd is.
#[derive(Debug, Default)]
struct Inside {
    /// The facts known of a file without a question; of all others nothing is known.
    looks: HashMap<&'static str, Look>,
    /// The answers to GET; all others are refused.
    responses: HashMap<&'static str, Response>,
    /// How long a look takes.
    delay: Duration,
    /// How many candidates each look had.
    looked: RefCell<Vec<usize>>,
    /// The fetched files.
    fetched: RefCell<Vec<String>>,
}

#[derive(Debug, Clone)]
enum Response {
    File(PathBuf),
    Bytes(&'static str),
    Failed,
    Status(u16),
}

impl Inside {
    fn look_at(mut self, path: &'static str, look: Look) -> Self {
        self.looks.insert(path, look);
        self
    }

    fn respond(mut self, path: &'static str, response: Response) -> Self {
        self.responses.insert(path, response);
        self
    }

    fn fetched(&self) -> Vec<String> {
        self.fetched.take()
    }
}

impl Origin for Inside {
    fn look(&self, _: &Requester, candidates: &[Candidate]) -> Result<Vec<Look>, String> {
        std::thread::sleep(self.delay);
        self.looked.borrow_mut().push(candidates.len());
        let look = |candidate: &Candidate| {
            let look = self.looks.get(candidate.path.to_url_path().as_str());
            look.cloned().unwrap_or(Look::Served(Served::default()))
        };
        Ok(candidates.iter().map(look).collect())
    }

    fn fetch(&self, _: &Requester, path: &SitePath, _: u64) -> Result<Fetched, NotFetched> {
        let path = path.to_url_path();
        self.fetched.borrow_mut().push(path.clone());
        let body = match self.responses.get(path.as_str()) {
            None => return Err(NotFetched::Refused),
            Some(Response::Failed) => {
                return Err(NotFetched::Failed {
                    reason: "broken".to_owned(),
                    headers: None,
                });
            }
            Some(Response::Status(status)) => return Err(NotFetched::Status(*status)),
            Some(Response::File(file)) => Body::File(File::open(file).unwrap()),
            Some(Response::Bytes(bytes)) => Body::Bytes(bytes.as_bytes().to_vec()),
        };
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = vec![
            header("Content-Type", "text/x-sent; charset=utf-8"),
            header("X-Sent-By", "the server"),
        ];
        Ok(Fetched { headers, body })
    }

    fn fetches_files(&self) -> bool {
        true
    }
}

/// A site in a directory of its own.
struct Fixture {
    directory: tempfile::TempDir,
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let fixture = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(fixture.path("site")).unwrap();
        for (name, content) in files {
            fs::write(fixture.path("site").join(name), content).unwrap();
        }
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn file(&self, name: &str) -> Response {
        Response::File(self.path("site").join(name))
    }

    fn config(&self) -> SiteConfig {
        SiteConfig::new(
            &self.path("site"),
            &self.path("data"),
            "http://one.example.org/",
            "http://one.example.org/oai",
        )
    }

    fn open(&self) -> Site {
        open(self.config())
    }
}

fn open(config: SiteConfig) -> Site {
    Site::open(config, None, false, &|_| ()).unwrap()
}

fn addresses() -> Addresses {
    Addresses {
        site_url: "http://two.example.org/".to_owned(),
        base_url: "http://two.example.org/oai".to_owned(),
    }
}

fn requester() -> Requester {
    Requester::anonymous(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

fn ask(site: &Site, origin: &Inside, query: &str) -> String {
    let view = site.view_through(requester(), origin, addresses()).unwrap();
    let mut answer = Vec::new();
    provider(site)
        .answer(&view, &Arguments::parse(query), &mut answer)
        .unwrap();
    String::from_utf8(answer).unwrap()
}

fn provider(site: &Site) -> Provider {
    Provider {
        base_url: addresses().base_url,
        repository_name: "inside".to_owned(),
        admin_emails: vec!["admin@example.org".to_owned()],
        descriptions: Vec::new(),
        compressions: Vec::new(),
        limits: PageLimits::default(),
        token_key: TokenKey::new(site.token_secret()),
    }
}

fn record(site: &Site, origin: &Inside, name: &str, prefix: &str) -> String {
    let identifier = format!("http://two.example.org/{name}");
    let query = format!("verb=GetRecord&metadataPrefix={prefix}&identifier={identifier}");
    ask(site, origin, &query)
}

fn dynamic(policy: DynamicPolicy) -> Look {
    Look::Served(Served {
        headers: None,
        media_type: Some("text/x-made".to_owned()),
        dynamic: Some(policy),
    })
}

/// The headers that a GET of these tests' files is told to send.
const SENT: &str = "X-Sent-By";
/// "hello" and "made" in base64.
const HELLO: &str = "aGVsbG8=";
const MADE: &str = "bWFkZQ==";

#[test]
fn headers_and_bytes_of_a_plain_file_are_those_of_a_get() {
    let fixture = Fixture::new(&[("a.txt", "hello")]);
    let site = fixture.open();
    let origin = Inside::default().respond("a.txt", fixture.file("a.txt"));

    let header = record(&site, &origin, "a.txt", "http_header");
    let didl = record(&site, &origin, "a.txt", "oai_didl");

    assert!(header.contains(SENT), "{header}");
    assert!(didl.contains(SENT) && didl.contains(HELLO), "{didl}");
    assert!(didl.contains("<dc:format>5 bytes</dc:format>"), "{didl}");
    assert!(didl.contains("mimeType=\"text/x-sent\""), "{didl}");
    assert_eq!(origin.fetched(), ["a.txt", "a.txt"]);
}

#[test]
fn headers_that_are_known_are_not_fetched() {
    let fixture = Fixture::new(&[("a.txt", "hello")]);
    let site = fixture.open();
    let served = Served {
        headers: Some(vec![("X-Known".to_owned(), "yes".to_owned())]),
        ..Served::default()
    };
    let origin = Inside::default().look_at("a.txt", Look::Served(served));

    let header = record(&site, &origin, "a.txt", "http_header");

    assert!(header.contains("X-Known"), "{header}");
    assert!(origin.fetched().is_empty());
}

#[test]
fn lists_of_identifiers_and_descriptions_fetch_nothing() {
    let fixture = Fixture::new(&[("a.txt", "hello"), ("b.txt", "x"), ("c.txt", "secret")]);
    let site = fixture.open();
    let typed = Look::Served(Served {
        media_type: Some("text/x-looked".to_owned()),
        ..Served::default()
    });
    let origin = Inside::default()
        .look_at("a.txt", typed)
        .look_at("b.txt", dynamic(DynamicPolicy::Processed))
        .look_at("c.txt", Look::Refused);

    let identifiers = ask(
        &site,
        &origin,
        "verb=ListIdentifiers&metadataPrefix=oai_didl",
    );
    let records = ask(&site, &origin, "verb=ListRecords&metadataPrefix=oai_dc");

    assert_eq!(identifiers.matches("<identifier>").count(), 2);
    assert!(records.contains("<dc:format>text/x-looked</dc:format>"));
    assert!(records.contains("<dc:format>5 bytes</dc:format>"));
    assert!(records.contains("<dc:format>text/x-made</dc:format>"));
    // Nothing of the source of what the server runs.
    assert!(!records.contains("<dc:format>1 bytes</dc:format>"));
    assert!(origin.fetched().is_empty());
}

#[test]
fn what_is_told_of_a_file_is_told_of_the_one_that_was_fetched() {
    let fixture = Fixture::new(&[("a.txt", "indexed")]);
    fs::write(fixture.path("other"), "hello").unwrap();
    let mut config = fixture.config();
    config.fixity.algorithms = vec![Algorithm::Md5];
    let mut small = config.clone();
    small.data = fixture.path("other-data");
    small.by_value.limit = ByteSize(3);
    let origin = Inside::default().respond("a.txt", Response::File(fixture.path("other")));

    let by_value = record(&open(config), &origin, "a.txt", "oai_didl");
    let by_reference = record(&open(small), &origin, "a.txt", "oai_didl");

    for didl in [&by_value, &by_reference] {
        assert!(didl.contains("<dc:format>5 bytes</dc:format>"), "{didl}");
        assert!(didl.contains("5d41402abc4b2a76b9719d911017c592"), "{didl}");
        assert!(didl.contains(SENT), "{didl}");
    }
    assert!(by_value.contains(HELLO));
    assert!(!by_reference.contains(HELLO));
}

#[test]
fn what_the_server_makes_of_a_plain_file_is_not_given() {
    let fixture = Fixture::new(&[("a.txt", "hello")]);
    let site = fixture.open();
    let origin = Inside::default().respond("a.txt", Response::Bytes("made"));

    let didl = record(&site, &origin, "a.txt", "oai_didl");

    assert!(didl.contains(SENT), "{didl}");
    assert!(!didl.contains(MADE) && !didl.contains(HELLO), "{didl}");
    assert!(
        !didl.contains(" bytes<") && !didl.contains("failed"),
        "{didl}"
    );
}

#[test]
fn what_is_offered_by_reference_is_never_fetched() {
    let fixture = Fixture::new(&[("a.txt", "hello")]);
    let site = fixture.open();
    let origin = Inside::default()
        .look_at("a.txt", dynamic(DynamicPolicy::Reference))
        .respond("a.txt", Response::Bytes("made"));

    let headers = record(&site, &origin, "a.txt", "http_header");
    assert!(headers.contains("cannotDisseminateFormat"), "{headers}");
    for prefix in ["oai_dc", "oai_didl"] {
        let answer = record(&site, &origin, "a.txt", prefix);
        assert!(answer.contains("text/x-made"), "{answer}");
        assert!(!answer.contains("status="), "{answer}");
        assert!(
            !answer.contains(MADE) && !answer.contains(HELLO),
            "{answer}"
        );
        assert!(!answer.contains(" bytes<"), "{answer}");
    }
    assert!(origin.fetched().is_empty());
}

#[test]
fn what_is_offered_processed_is_fetched_for_headers_and_bytes() {
    let fixture = Fixture::new(&[("a.txt", "hello")]);
    let site = fixture.open();
    let origin = Inside::default()
        .look_at("a.txt", dynamic(DynamicPolicy::Processed))
        .respond("a.txt", Response::Bytes("made"));

    let header = record(&site, &origin, "a.txt", "http_header");
    let didl = record(&site, &origin, "a.txt", "oai_didl");

    assert!(header.contains(SENT), "{header}");
    assert!(didl.contains(SENT) && didl.contains(MADE), "{didl}");
    assert!(didl.contains("<dc:format>4 bytes</dc:format>"), "{didl}");
    assert_eq!(origin.fetched().len(), 2);
}

#[test]
fn a_failure_is_told_and_a_refusal_is_a_bare_reference() {
    let fixture = Fixture::new(&[("failed.txt", "hello"), ("refused.txt", "hello")]);
    let mut config = fixture.config();
    config.fixity.algorithms = vec![Algorithm::Md5];
    config.plugins = vec![plugin()];
    let site = open(config);
    let origin = Inside::default().respond("failed.txt", Response::Failed);

    let failed = record(&site, &origin, "failed.txt", "oai_didl");
    let refused = record(&site, &origin, "refused.txt", "oai_didl");
    let headers = record(&site, &origin, "refused.txt", "http_header");

    assert!(failed.contains("name=\"by-value\""), "{failed}");
    assert!(!refused.contains("name=\"by-value\""), "{refused}");
    for didl in [failed, refused] {
        assert!(!didl.contains(HELLO) && !didl.contains(" bytes<"), "{didl}");
        assert!(!didl.contains("found by a program"), "{didl}");
        assert!(!didl.contains("5d41402abc4b2a76b9719d911017c592"), "{didl}");
    }
    assert!(headers.contains("idDoesNotExist"), "{headers}");
}

/// A program that fails is no item until it works again, which is tried after an hour (issue 18).
#[test]
fn a_program_that_fails_is_left_out_and_tried_again_after_an_hour() {
    let fixture = Fixture::new(&[("a.txt", "hello"), ("b.txt", "hello")]);
    let site = fixture.open();
    let origin = |response| {
        let look = dynamic(DynamicPolicy::Processed);
        let origin = Inside::default().look_at("a.txt", look);
        origin.respond("a.txt", response)
    };
    let list = "verb=ListRecords&metadataPrefix=oai_didl";
    let lists = |origin: &Inside| {
        let list = ask(&site, origin, "verb=ListIdentifiers&metadataPrefix=oai_dc");
        let mut headers = list.split("<header");
        headers.any(|header| header.contains("a.txt") && !header.contains("deleted"))
    };

    let first = ask(&site, &origin(Response::Status(500)), list);
    assert_eq!(first.matches("status=\"deleted\"").count(), 1, "{first}");
    let working = origin(Response::Bytes("made"));
    assert!(!lists(&working));
    assert!(!lists(&working));
    assert!(working.fetched().is_empty(), "not within the hour");

    let index = rusqlite::Connection::open(fixture.path("data/index.sqlite")).unwrap();
    let sql =
        "UPDATE plugin_result SET outcome = replace(outcome, '\"at\":', '\"at\":0, \"was\":')";
    assert!(index.execute(sql, []).unwrap() > 0);
    assert!(lists(&working));
    assert_eq!(working.fetched(), ["a.txt"]);
    assert!(lists(&working));
    assert!(working.fetched().is_empty(), "it is known to work");
    assert!(ask(&site, &working, list).contains(MADE));
}

#[test]
fn plug_ins_speak_of_plain_files_that_are_as_indexed() {
    let fixture = Fixture::new(&[("a.txt", "hello"), ("b.txt", "hello"), ("c.txt", "hello")]);
    fs::write(fixture.path("other"), "hello").unwrap();
    let mut config = fixture.config();
    config.plugins = vec![plugin()];
    let site = open(config);
    let origin = Inside::default()
        .respond("a.txt", fixture.file("a.txt"))
        .look_at("b.txt", dynamic(DynamicPolicy::Processed))
        .respond("b.txt", Response::Bytes("made"))
        .respond("c.txt", Response::File(fixture.path("other")));

    for (name, told) in [("a.txt", true), ("b.txt", false), ("c.txt", false)] {
        let didl = record(&site, &origin, name, "oai_didl");
        assert_eq!(didl.contains("found by a program"), told, "{didl}");
    }
    fs::write(fixture.path("site/a.txt"), "changed").unwrap();
    let changed = record(&site, &origin, "a.txt", "oai_dc");
    assert!(!changed.contains("found by a program"), "{changed}");
}

#[test]
fn the_site_goes_by_the_name_it_was_asked_under() {
    let fixture = Fixture::new(&[("a.txt", "hello")]);
    let site = fixture.open();
    let origin = Inside::default().respond("a.txt", fixture.file("a.txt"));

    let list = ask(&site, &origin, "verb=ListRecords&metadataPrefix=oai_didl");
    let formats = ask(&site, &origin, "verb=ListMetadataFormats");
    let other_name = "verb=GetRecord&metadataPrefix=oai_dc&identifier=http://one.example.org/a.txt";
    let other = ask(&site, &origin, other_name);

    assert!(list.contains("<identifier>http://two.example.org/a.txt</identifier>"));
    for answer in [list, formats] {
        assert!(!answer.contains("one.example.org"), "{answer}");
    }
    assert!(other.contains("idDoesNotExist"), "{other}");
}

#[test]
fn a_slow_origin_ends_a_batch_early() {
    let fixture = hundred_files();
    let site = fixture.open();
    let mut origin = Inside::default();
    let quick = site.view_through(requester(), &origin, addresses());
    let quick = quick.unwrap();
    let all = Range {
        set: None,
        from: Datestamp::MIN,
        until: quick.response_date(),
        metadata_prefix: "oai_dc".to_owned(),
    };

    let whole = quick.list(&all, None, headers(512)).unwrap();
    drop(quick);
    assert_eq!(origin.looked.take(), [32, 32, 32, 4]);
    origin.delay = Duration::from_millis(1100);
    let slow = site.view_through(requester(), &origin, addresses());
    let part = slow.unwrap().list(&all, None, headers(512)).unwrap();

    assert_eq!((whole.items.len(), whole.lookups), (100, 100));
    assert!(whole.exhausted);
    assert_eq!((part.items.len(), part.lookups), (32, 32));
    assert!(!part.exhausted && part.behind.is_some());
}

#[test]
fn no_more_is_looked_at_than_fills_a_page() {
    let fixture = hundred_files();
    for number in 0..100 {
        let path = fixture.path("site").join(format!("{number:03}.txt"));
        fs::write(path, vec![b'x'; 3000]).unwrap();
    }
    let site = fixture.open();
    let origin = Inside::default();
    let view = site.view_through(requester(), &origin, addresses());
    let view = view.unwrap();
    let all = Range {
        set: None,
        from: Datestamp::MIN,
        until: view.response_date(),
        metadata_prefix: "oai_dc".to_owned(),
    };

    let by_value = Portion {
        metadata_prefix: Some("oai_didl"),
        bytes: 10_000,
        ..headers(100)
    };
    let some = view.list(&all, None, by_value).unwrap();

    // Two take 8,000 bytes in base64, and the third tells that the list goes on.
    assert_eq!((some.items.len(), some.lookups), (3, 3));
    assert!(!some.exhausted && some.behind.is_some());
}

#[test]
fn records_come_in_order_with_their_own_bytes_whoever_reads_them() {
    let sizes = [
        3, 70_000, 0, 2_000_000, 5, 900_000, 1_048_577, 12, 300_000, 1,
    ];
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let fixture = Fixture::new(&[]);
    let mut origin = Inside::default();
    for (name, size) in names.into_iter().zip(sizes) {
        let content = vec![name.as_bytes()[0]; size];
        fs::write(fixture.path("site").join(name), content).unwrap();
        origin = origin.respond(name, fixture.file(name));
    }
    let no_thread = SiteConfig {
        start_thread: |_| Err(std::io::ErrorKind::WouldBlock.into()),
        data: fixture.path("other-data"),
        ..fixture.config()
    };
    for site in [fixture.open(), open(no_thread)] {
        // The digests are made the first time, and known the second.
        for _ in 0..2 {
            let list = list_all(&site, &origin);
            assert_eq!(list.len(), names.len());
            for ((name, size), record) in names.into_iter().zip(sizes).zip(&list) {
                let identifier = format!("<identifier>http://two.example.org/{name}</identifier>");
                assert!(record.contains(&identifier), "{name}");
                let content = vec![name.as_bytes()[0]; size];
                assert_eq!(by_value(record), content, "{name}");
                let digests = digests_of(&mut content.as_slice(), &[Algorithm::Sha256]);
                assert!(record.contains(&digests.unwrap()[0].1), "{name}");
            }
        }
    }
}

#[test]
fn what_is_refused_is_passed_over_part_by_part() {
    let fixture = hundred_files();
    let site = fixture.open();
    let refused = (0..99).map(|number| format!("{number:03}.txt").leak() as &str);
    let origin = Inside {
        looks: refused.map(|name| (name, Look::Refused)).collect(),
        ..Inside::default()
    };

    let list = ask(&site, &origin, "verb=ListIdentifiers&metadataPrefix=oai_dc");

    assert_eq!(list.matches("<identifier>").count(), 1);
    assert!(list.contains("099.txt"), "{list}");
    assert!(!list.contains("resumptionToken"), "{list}");
    assert!(origin.looked.take().iter().all(|size| *size <= 32));
}

#[test]
fn an_answer_is_given_even_if_no_notes_can_be_kept() {
    let fixture = Fixture::new(&[("a.txt", "hello")]);
    let site = fixture.open();
    let index = rusqlite::Connection::open(fixture.path("data/index.sqlite")).unwrap();
    index.execute("DROP TABLE seen_by", []).unwrap();

    let list = ask(
        &site,
        &Inside::default(),
        "verb=ListIdentifiers&metadataPrefix=oai_dc",
    );

    assert!(list.contains("a.txt"), "{list}");
}

fn hundred_files() -> Fixture {
    let fixture = Fixture::new(&[]);
    for number in 0..100 {
        let name = format!("site/{number:03}.txt");
        fs::write(fixture.path(&name), "x").unwrap();
    }
    fixture
}

/// A program that says the same of every file, in Dublin Core too.
fn plugin() -> site::plugin::PluginRule {
    let json = r#"{"name":"test","command":["echo","title=found by a program"],"output":"key-value",
                   "map":{"title":"dc:title"}}"#;
    serde_json::from_str(json).unwrap()
}

/// All records by value, on one page.
fn list_all(site: &Site, origin: &Inside) -> Vec<String> {
    let view = site.view_through(requester(), origin, addresses()).unwrap();
    let provider = Provider {
        limits: PageLimits {
            bytes: 0,
            ..PageLimits::default()
        },
        ..provider(site)
    };
    let query = Arguments::parse("verb=ListRecords&metadataPrefix=oai_didl");
    let mut answer = Vec::new();
    provider.answer(&view, &query, &mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let records = answer.split("<record>").skip(1);
    records.map(str::to_owned).collect()
}

/// The bytes of a record.
fn by_value(record: &str) -> Vec<u8> {
    let (_, rest) = record.split_once("encoding=\"base64\">").unwrap();
    let (text, _) = rest.split_once('<').unwrap();
    base64_simd::STANDARD.decode_to_vec(text).unwrap()
}

/// Number of headers.
fn headers(at_most: usize) -> Portion<'static> {
    Portion {
        at_most,
        metadata_prefix: None,
        bytes: u64::MAX,
    }
}
