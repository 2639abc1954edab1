//! The module under valgrind.

use std::fs;

use test_support::Mpm;

use super::client::Client;
use super::dynamic_cases;
use super::site::Site;

#[test]
fn valgrind_finds_no_errors_and_no_leaks() {
    let mut site = Site::empty(Mpm::Prefork);
    dynamic_cases::cgi(&mut site);
    site.oai("OaiDynamic processed\nOaiFreshness 0\nOaiPageLimit identifiers 5");
    site.conf("<Location \"/closed\">\nRequire all denied\n</Location>");
    for path in ["a.txt", "b.html", "c/d.pdf", "e.txt", "f.txt", "g.txt"] {
        site.file(path, 200);
    }
    site.file("closed/secret.txt", 403);
    let log = site.fixture.beside("valgrind.log");
    let log_option = format!("--log-file={}", log.display());
    let valgrind = [
        "valgrind",
        "--leak-check=full",
        "--show-leak-kinds=definite",
        "--errors-for-leak-kinds=definite",
        "--num-callers=40",
        "--keep-debuginfo=yes",
        "--child-silent-after-fork=yes",
        // Its pipes for debuggers would stay behind: who made them is root, who ends is not.
        "--vgdb=no",
        &log_option,
    ];
    let mut httpd = site.httpd().below(&valgrind).start();
    let client = Client::anonymous(&httpd);

    for round in 0..3 {
        let listed = client.identifiers();
        assert!(listed.contains(&client.url("/c/d.pdf")));
        for prefix in ["oai_dc", "http_header", "oai_didl"] {
            client.pages("ListRecords", &format!("metadataPrefix={prefix}"));
            client.record(&client.url("/cgi-bin/tool"), prefix);
            client.record(&client.url("/closed/secret.txt"), prefix);
        }
        client.ask("verb=Nonsense");
        client.ask("verb=ListSets");
        site.fixture.write("a.txt", vec![b'x'; round + 1]);
    }
    httpd.stop();

    let report = fs::read_to_string(log).unwrap();
    assert!(report.contains("ERROR SUMMARY: 0 errors"), "{report}");
}
