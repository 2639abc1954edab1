//! Limits on what runs at once, over all processes (issue 18).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use test_support::{Answer, Connection, Httpd, Mpm, percent_encoded, wait_until};

use super::client::Client;
use super::dynamic_cases::{cgi, program};
use super::records::records;
use super::site::Site;

const LIST: &str = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";

/// A site with a program that waits until a file is there, and a count of its runs.
struct Waiting {
    site: Site,
    go: PathBuf,
    runs: PathBuf,
}

impl Waiting {
    fn new(mpm: Mpm, directives: &str) -> Self {
        let mut site = Site::empty(mpm);
        cgi(&mut site);
        site.module("remoteip");
        site.conf("RemoteIPHeader X-Client");
        site.oai(&format!("OaiDynamic processed\n{directives}"));
        let notes = site.fixture.beside("runs");
        fs::create_dir(&notes).unwrap();
        fs::set_permissions(&notes, fs::Permissions::from_mode(0o777)).unwrap();
        let (go, runs) = (notes.join("go"), notes.join("count"));
        let commands = format!(
            "echo run >> {}\nwhile [ ! -e {} ]; do sleep 0.05; done\n\
             printf 'Content-Type: text/plain\\r\\n\\r\\ndone'",
            runs.display(),
            go.display()
        );
        program(&mut site, "site/programs/waiting.cgi", &commands);
        Self { site, go, runs }
    }

    fn runs(&self) -> usize {
        let runs = fs::read_to_string(&self.runs).unwrap_or_default();
        runs.lines().count()
    }

    /// Asks for the record of the program, and waits until it runs; the answer stays away.
    fn begin(&self, httpd: &Httpd, client: &str) -> Connection {
        let before = self.runs();
        let identifier = percent_encoded(&httpd.url("/programs/waiting.cgi"));
        let request = format!(
            "GET /modoai?verb=GetRecord&metadataPrefix=oai_didl&identifier={identifier} HTTP/1.1\r\nHost: {}\r\n\
             X-Client: {client}\r\nConnection: close\r\n\r\n",
            httpd.authority()
        );
        let mut connection = Connection::open(&httpd.authority());
        connection.send(request.as_bytes());
        wait_until("the program runs", || self.runs() > before);
        connection
    }

    fn let_go(&self) {
        fs::write(&self.go, "").unwrap();
    }
}

fn client(httpd: &Httpd, address: &str) -> Client {
    Client::anonymous(httpd).with_header("X-Client", address)
}

#[test]
fn lists_are_limited_over_all_processes_and_for_one_client() {
    for mpm in Mpm::ALL {
        let limits =
            "OaiFlowLimit lists 3\nOaiFlowLimit lists-per-client 2\nOaiFlowLimit programs 0";
        let waiting = Waiting::new(mpm, limits);
        let httpd = waiting.site.httpd().start();
        let [a, b, c] = ["192.0.2.10", "192.0.2.11", "192.0.2.12"];
        let status = |address| client(&httpd, address).get(LIST).status;

        let _first = waiting.begin(&httpd, a);
        assert_eq!(status(a), 200, "{mpm:?}");
        let _second = waiting.begin(&httpd, a);
        let refused = client(&httpd, a).get(LIST);
        assert_eq!(refused.status, 503, "{mpm:?}");
        let seconds = refused.header("retry-after").map(str::parse::<u64>);
        assert!(seconds.is_some_and(|seconds| seconds.is_ok()));
        assert!(refused.text().contains("try again"), "{}", refused.text());
        // Identify is answered at any time, and other clients are not affected.
        assert_eq!(client(&httpd, a).get("/modoai?verb=Identify").status, 200);
        assert_eq!(status(b), 200, "{mpm:?}");

        let _third = waiting.begin(&httpd, b);
        assert_eq!(status(c), 503, "{mpm:?}");

        // The parent gives back what its dead children had.
        httpd.kill_children();
        wait_until("the lists of dead workers are forgotten", || {
            let asked = std::panic::catch_unwind(|| status(c));
            asked.is_ok_and(|status| status == 200)
        });
        waiting.let_go();
    }
}

#[test]
fn programs_are_limited_over_all_processes() {
    let waiting = Waiting::new(Mpm::Prefork, "OaiFlowLimit programs 1");
    waiting.site.fixture.write("first.txt", "first");
    let httpd = waiting.site.httpd().start();
    let (a, b) = (client(&httpd, "192.0.2.10"), client(&httpd, "192.0.2.11"));
    let program = httpd.url("/programs/waiting.cgi");

    let _running = waiting.begin(&httpd, "192.0.2.10");

    // A record of it must wait; a list ends before it, unless it comes first.
    assert_eq!(b.record_status(&program), 503);
    let page = b.get("/modoai?verb=ListRecords&metadataPrefix=oai_didl");
    let rest = match page.status {
        200 => format!("resumptionToken={}", Answer::of(page).token().unwrap()),
        status => {
            assert_eq!(status, 503);
            "metadataPrefix=oai_didl".to_owned()
        }
    };
    waiting.let_go();
    let rest = b.pages("ListRecords", &rest);
    let told: Vec<_> = rest.iter().flat_map(records).collect();
    let told = told.iter().find(|(identifier, _)| *identifier == program);
    assert_eq!(told.unwrap().1.by_value, Some(b"done".to_vec()));
    assert_eq!(a.record_status(&program), 200);
}

#[test]
fn a_page_runs_as_many_programs_as_it_may() {
    let mut waiting = Waiting::new(Mpm::Event, "OaiPageLimit programs 2");
    waiting.let_go();
    for number in 0..4 {
        let path = format!("site/programs/{number}.cgi");
        let commands = "printf 'Content-Type: text/plain\\r\\n\\r\\ndone'";
        program(&mut waiting.site, &path, commands);
    }
    waiting.site.fixture.write("plain.txt", "plain");
    let httpd = waiting.site.httpd().start();
    let client = Client::anonymous(&httpd);

    let pages = client.pages("ListRecords", "metadataPrefix=oai_didl");

    let programs = |page| {
        let records = records(page);
        let programs = records.keys().filter(|name| name.ends_with(".cgi"));
        programs.count()
    };
    let programs: Vec<_> = pages.iter().map(programs).collect();
    assert!(programs.iter().all(|count| *count <= 2), "{programs:?}");
    let dc = client.pages("ListRecords", "metadataPrefix=oai_dc");
    assert_eq!(dc.len(), 1);
    let listed = dc[0].identifiers();
    let all = listed.iter().filter(|name| name.ends_with(".cgi")).count();
    assert_eq!(programs.iter().sum::<usize>(), all, "{programs:?}");
    assert!(all >= 5, "{all}");
}
