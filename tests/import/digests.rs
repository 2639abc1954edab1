//! Digests of archives, compared with what they are of (issue 18, A3).

use serde_json::{Value, json};

use super::crawl::{Crawl, Warc, date, pdf, samples};

/// A response with these digests of its payload and, if it is given, its block.
fn digested(warc: &mut Warc, number: usize, payload: &str, block: Option<&str>, body: &[u8]) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n";
    let bytes = [head.as_bytes(), body].concat();
    let block = block.map(|digest| format!("WARC-Block-Digest: {digest}\r\n"));
    let headers = format!(
        "Content-Type: application/http; msgtype=response\r\nWARC-Payload-Digest: {payload}\r\n{}",
        block.unwrap_or_default()
    );
    let url = format!("http://a.example/{number}.pdf");
    warc.record("response", &url, &date(number), &headers, &bytes);
}

fn sha1(bytes: &[u8]) -> String {
    let digests = document::digest::Digests::of(bytes);
    format!("sha1:{}", digests.sha1_hex())
}

fn sha256(bytes: &[u8]) -> String {
    let digests = document::digest::Digests::of(bytes);
    format!("sha256:{}", digests.sha256_hex())
}

/// One document is as it was, one was changed, and of one nothing can be said.
fn changed() -> Warc {
    let mut warc = Warc::default();
    let mut changed = pdf(2);
    changed[40] ^= 1;
    digested(&mut warc, 1, &sha1(&pdf(1)), None, &pdf(1));
    digested(&mut warc, 2, &sha256(&pdf(2)), None, &changed);
    digested(&mut warc, 3, "sha512:abc", None, &pdf(3));
    // Damage may as well make something of a PDF that is none.
    let mut beyond = pdf(4);
    beyond[..4].fill(7);
    digested(&mut warc, 4, &sha1(&pdf(4)), None, &beyond);
    warc
}

fn report(printed: &Value) -> String {
    std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap()
}

#[test]
fn a_document_that_was_changed_in_its_archive_is_named_and_marked() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", changed().bytes);

    let printed = crawl.import(3, &["a.warc.gz"]);

    let counts = [
        "saved_New",
        "digest_Verified",
        "digest_Mismatch",
        "digest_Unverifiable",
    ];
    assert_eq!(
        counts.map(|name| &printed[name]),
        [3, 1, 2, 1].map(|n| json!(n)).each_ref()
    );
    let report = report(&printed);
    assert!(
        report.contains("2.pdf: its payload digest is sha256:"),
        "{report}"
    );
    assert!(
        report.contains("4.pdf: its payload digest is sha1:"),
        "{report}"
    );
    assert_eq!(report.lines().count(), 2, "{report}");
    let documents = crawl.documents();
    let marks: Vec<_> = documents
        .iter()
        .map(|document| &document["digest_mismatch"])
        .collect();
    assert_eq!(marks, [&json!(null), &json!("payload"), &json!(null)]);
    let met =
        std::fs::read_to_string(format!("{}.met", documents[1]["path"].as_str().unwrap())).unwrap();
    assert!(
        met.contains("<digestMismatch>payload</digestMismatch>"),
        "{met}"
    );
}

#[test]
fn documents_that_were_changed_are_left_out_or_not_looked_for_on_request() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", changed().bytes);
    crawl.write("ignore.toml", "[import]\ndigests = \"ignore\"\n");

    let printed = crawl.import(3, &["a.warc.gz", "--digests", "skip", "--dry-run"]);
    assert_eq!(
        (&printed["saved_New"], &printed["failed_Read"]),
        (&json!(2), &json!(1))
    );

    let printed = crawl.import(0, &["a.warc.gz", "--config", "ignore.toml"]);
    assert_eq!(
        (&printed["saved_New"], &printed["digest_Mismatch"]),
        (&json!(3), &json!(0))
    );
}

#[test]
fn an_archive_whose_digests_never_fit_is_told_of_once() {
    let mut warc = Warc::default();
    for number in 0..50 {
        let block = sha1(b"something else");
        digested(
            &mut warc,
            number,
            &sha1(&pdf(number)),
            Some(&block),
            &pdf(number),
        );
    }
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", &warc.bytes);

    let printed = crawl.import(3, &["a.warc.gz"]);

    assert_eq!(
        (&printed["saved_New"], &printed["digest_Mismatch"]),
        (&json!(50), &json!(50))
    );
    let report = report(&printed);
    assert_eq!(report.lines().count(), 1, "{report}");
    assert!(report.contains("none of the 50 block digests"), "{report}");
    assert!(report.contains("a.warc.gz"), "{report}");
}

/// Some of these writers digest chunks, others what is in them.
#[test]
fn the_digests_of_other_peoples_crawls_fit() {
    let Some(samples) = samples() else { return };
    let mut verified = 0;
    for name in ["pdf.warc.gz", "wget.warc.gz"] {
        let crawl = Crawl::new();
        let path = find(&samples, name);
        let all = "application/pdf,text/html,text/plain,image/png,image/gif,image/jpeg,text/css";
        let output = crawl.try_import(&[path.to_str().unwrap(), "--types", all]);
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(printed["digest_Mismatch"], json!(0), "{name}: {printed}");
        verified += printed["digest_Verified"].as_u64().unwrap();
    }
    assert!(verified > 0);
}

fn find(directory: &std::path::Path, name: &str) -> std::path::PathBuf {
    let below = test_support::files_below(directory);
    let path = below
        .into_iter()
        .find(|path| path.ends_with(name.as_bytes()));
    let path = String::from_utf8(path.unwrap()).unwrap();
    directory.join(path)
}
