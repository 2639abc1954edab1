//! Logs: beside archives, and as the list of what is in a mirror.

use serde_json::{Value, json};

use super::crawl::{Crawl, Warc, break_second_source, date, pdf};
use crate::command_line::{prints, stderr};

/// A line as Heritrix writes it.
pub(super) fn line(
    status: i32,
    size: usize,
    url: &str,
    path: &str,
    via: &str,
    media_type: &str,
) -> String {
    format!(
        "2026-03-01T08:00:09.123Z {status:>5} {size:>10} {url} {path} {via} {media_type} #042 20260301080008000+120 - - -\n"
    )
}

fn shown(crawl: &Crawl, url: &str) -> Value {
    let text = prints(crawl.garner(&["documents", "show", url, "--json"]).output());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_mirror_is_imported_as_its_log_says() {
    let crawl = Crawl::new();
    let (page, paper) = ("http://a.example/papers/", "http://a.example/papers/1.pdf");
    let query = "http://a.example/show.pdf?id=3";
    crawl.write(
        "mirror/a.example/papers/index.html",
        "<!DOCTYPE html><p>papers</p>",
    );
    crawl.write("mirror/a.example/papers/1.pdf", pdf(1));
    crawl.write("mirror/a.example/showid=3.pdf", pdf(3));
    crawl.write("mirror/a.example/papers/404.pdf", "<p>gone</p>");
    crawl.write("mirror/a.example/not-in-the-log.pdf", pdf(4));
    let log = [
        line(1, 50, "dns:a.example", "P", page, "text/dns"),
        line(200, 28, page, "-", "-", "text/html"),
        line(200, pdf(1).len(), paper, "L", page, "application/pdf"),
        line(200, pdf(3).len(), query, "LL", page, "application/pdf"),
        line(
            404,
            11,
            "http://a.example/papers/404.pdf",
            "L",
            page,
            "text/html",
        ),
        line(
            200,
            99,
            "http://a.example/papers/lost.pdf",
            "L",
            page,
            "application/pdf",
        ),
        "one two three\n".to_owned(),
    ];
    crawl.write("crawl.log", log.concat());

    let printed = crawl.import(3, &["mirror", "--log", "crawl.log"]);

    assert_eq!(printed["saved_New"], 2, "{printed}");
    assert_eq!(printed["failed_FileNotFound"], 1, "{printed}");
    assert_eq!(printed["filtered_MTF"], 1, "{printed}");
    assert_eq!(printed["skipped_Records"], 1, "{printed}");
    let document = shown(&crawl, paper);
    assert_eq!(document["parent_url"], json!(page));
    assert_eq!(document["depth"], json!(1));
    assert_eq!(document["discover_date"], "2026-03-01T08:00:08Z");
    let file = shown(&crawl, query)["path"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::read(file).unwrap(), pdf(3));

    let again = crawl.import(3, &["--log", "crawl.log", "--root", "mirror"]);
    assert_eq!(
        (&again["saved_New"], &again["saved_Duplicate"]),
        (&json!(0), &json!(2))
    );
}

#[test]
fn a_log_beside_an_archive_adds_what_that_lacks() {
    let crawl = Crawl::new();
    let (page, paper) = ("http://a.example/papers/", "http://a.example/papers/1.pdf");
    let mut warc = Warc::default();
    warc.response(paper, "2026-03-01T08:00:08Z", "application/pdf", &pdf(1));
    crawl.write("a.warc.gz", warc.bytes);
    crawl.write(
        "crawl.log",
        line(200, 9, paper, "LLX", page, "application/pdf"),
    );

    crawl.import(0, &["a.warc.gz", "--log", "crawl.log"]);

    let document = shown(&crawl, paper);
    assert_eq!(document["parent_url"], json!(page));
    assert_eq!(document["depth"], json!(3));
}

#[test]
fn an_import_that_goes_on_with_a_log_that_grew_adds_what_the_first_part_lacked() {
    let crawl = Crawl::new();
    let page = "http://a.example/papers/";
    let paper = |number: usize| format!("{page}{number}.pdf");
    let told = |number: usize| line(200, 9, &paper(number), "LL", page, "application/pdf");
    for number in 1..3 {
        let mut warc = Warc::default();
        let url = paper(number);
        warc.response(
            &url,
            "2026-03-01T08:00:08Z",
            "application/pdf",
            &pdf(number),
        );
        crawl.write(&format!("in/{number}.warc.gz"), warc.bytes);
    }
    // The crawler has got no further than the middle of a line.
    let first = line(200, 28, page, "-", "-", "text/html");
    let (half, rest) = (told(1)[..40].to_owned(), told(1)[40..].to_owned());
    crawl.write("crawl.log", format!("{first}{half}"));
    crawl.import(0, &["in/1.warc.gz", "--types", "image/png"]);
    break_second_source(&crawl, true);
    let broken = crawl.try_import(&["in", "--log", "crawl.log"]);
    assert_eq!(broken.status.code(), Some(1), "{}", stderr(&broken));
    assert_eq!(shown(&crawl, &paper(1))["parent_url"], Value::Null);
    break_second_source(&crawl, false);
    crawl.write("crawl.log", format!("{first}{half}{rest}{}", told(2)));

    let printed = crawl.import(0, &["in", "--log", "crawl.log"]);

    assert_eq!(
        (&printed["import"], &printed["all"]),
        (&json!(2), &json!(2))
    );
    for number in 1..3 {
        let document = shown(&crawl, &paper(number));
        assert_eq!(document["parent_url"], json!(page));
        assert_eq!(document["depth"], json!(2));
        assert_eq!(document["update_date"], "2026-03-01T08:00:08Z");
    }
}

#[test]
fn a_list_says_where_downloads_are_from() {
    let crawl = Crawl::new();
    crawl.write("ftp/a/1.pdf", pdf(1));
    crawl.write("ftp/b/2.pdf", pdf(2));
    crawl.write("secret.pdf", pdf(3));
    crawl.write(
        "list",
        format!(
            "a/1.pdf\tftp://ftp.example/pub/a/1.pdf\tftp://ftp.example/pub/a/\t{}\n\
             b/2.pdf\tftp://ftp.example/pub/b/2.pdf\tftp://ftp.example/pub/b/\t{}\n\
             ../secret.pdf\tftp://ftp.example/pub/secret.pdf\t\t{}\n",
            date(1),
            date(2),
            date(3)
        ),
    );

    let output = crawl.try_import(&["ftp", "--log", "list", "--log-format", "list"]);

    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["saved_New"], 2, "{}", stderr(&output));
    let document = shown(&crawl, "ftp://ftp.example/pub/a/1.pdf");
    assert_eq!(document["parent_url"], "ftp://ftp.example/pub/a/");
    assert_eq!(document["discover_date"], json!(date(1)));
}

#[test]
fn a_new_crawler_needs_a_description_and_no_code() {
    let crawl = Crawl::new();
    crawl.write("files/0001.bin", pdf(1));
    crawl.write(
        "mine.log",
        "0001.bin|http://a.example/1.pdf|http://a.example/|20260301080008\nnonsense\n",
    );
    crawl.write(
        "mine.toml",
        "line = '^(?<file>[^|]+)\\|(?<url>[^|]+)\\|(?<parent>[^|]+)\\|(?<date>\\d+)$'\n\
         date = '%Y%m%d%H%M%S'\npath = 'field'\n",
    );

    let output = crawl.try_import(&["files", "--log", "mine.log", "--log-format", "mine.toml"]);

    let printed: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_eq!(printed["saved_New"], 1, "{}", stderr(&output));
    assert_eq!(printed["skipped_Records"], 1, "{printed}");
    assert_eq!(
        shown(&crawl, "http://a.example/1.pdf")["discover_date"],
        "2026-03-01T08:00:08Z"
    );
}

#[test]
fn files_below_a_directory_have_urls_by_their_paths() {
    let crawl = Crawl::new();
    crawl.write("mirror/papers/a b.pdf", pdf(1));
    crawl.write("mirror/index.html", "<!DOCTYPE html><p>papers</p>");

    let printed = crawl.import(0, &["mirror", "--base-url", "http://a.example/sub"]);
    assert_eq!(
        (&printed["saved_New"], &printed["filtered_MTF"]),
        (&json!(1), &json!(1))
    );
    let document = shown(&crawl, "http://a.example/sub/papers/a%20b.pdf");
    assert_eq!(document["parent_url"], "http://a.example/sub/papers/");
    assert!(
        document["source"].as_str().unwrap().contains("mirror"),
        "{document}"
    );

    let again = crawl.import(0, &["mirror", "--base-url", "http://a.example/sub"]);
    assert_eq!(
        (&again["saved_New"], &again["saved_Duplicate"]),
        (&json!(0), &json!(1))
    );
}
