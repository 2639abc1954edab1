//! Answers as pages for a person, in a real headless Chromium.

use std::fs;
use std::process::Command;

use test_support::{Answer, Fixture, Server, get, wait_until};

use crate::garner;

#[test]
fn identify_formats_and_sets_are_pages_with_a_heading_and_the_verbs() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "[repository]\nname = \"The small site\"\n");

    for (query, heading, shown) in [
        (
            "verb=Identify",
            "The small site",
            &[
                "About this repository",
                "admin@example.org",
                "OAI-PMH 2.0",
                "persistent",
            ][..],
        ),
        (
            "verb=ListMetadataFormats",
            "Metadata formats",
            &[
                "oai_dc",
                "http_header",
                "oai_didl",
                "urn:mpeg:mpeg21:2002:02-DIDL-NS",
            ],
        ),
        (
            "verb=ListSets",
            "Sets",
            &[
                "8 sets",
                "mime:text:html",
                "mime:application:pdf",
                "all media types",
            ],
        ),
    ] {
        let page = Page::open(&server, query);

        assert_eq!(page.heading(), heading);
        assert_eq!(page.title(), format!("{heading} \u{b7} garner"));
        for text in shown {
            assert!(
                page.text().contains(text),
                "{query}: {text}\n{}",
                page.text()
            );
        }
        assert_eq!(
            page.navigation(),
            [
                "?verb=Identify",
                "?verb=ListMetadataFormats",
                "?verb=ListSets",
                "?verb=ListIdentifiers&metadataPrefix=oai_dc",
                "?verb=ListRecords&metadataPrefix=oai_dc",
                "?verb=ListRecords&metadataPrefix=http_header",
                "?verb=ListRecords&metadataPrefix=oai_didl",
            ]
        );
        for link in page.links() {
            if link.href.starts_with('?') {
                let answer = Answer::of(get(&page.resolve(&link.href)));
                assert_eq!(answer.error(), None, "{}", link.href);
            }
        }
    }
}

#[test]
fn the_link_to_the_next_page_leads_on_to_the_last() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "[pages]\nidentifiers = 4\n");

    let first = Page::open(&server, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    let next = first.next().unwrap();
    let second = Page::open_url(&first.resolve(&next));

    assert_eq!(first.heading(), "Identifiers");
    assert!(
        first.text().contains("Identifiers 1 to 4 of 6"),
        "{}",
        first.text()
    );
    assert!(
        next.starts_with("?verb=ListIdentifiers&resumptionToken="),
        "{next}"
    );
    assert_eq!(second.heading(), "Identifiers");
    assert!(
        second
            .text()
            .contains("Identifiers 5 to 6 of 6; this is the last page"),
        "{}",
        second.text()
    );
    assert_eq!(second.next(), None);
    for header in server.all() {
        let shown = [&first, &second]
            .iter()
            .filter(|page| {
                page.links()
                    .iter()
                    .any(|link| link.href == header.identifier)
            })
            .count();
        assert_eq!(shown, 1, "{}", header.identifier);
    }
}

#[test]
fn links_to_records_lead_to_records_whatever_the_file_is_called() {
    let fixture = Fixture::empty();
    for name in [
        "plain.html",
        "a b&c;d=e.txt",
        "50%.txt",
        "plus+#?.txt",
        "caf\u{e9} \"<b>\"'.txt",
    ] {
        fixture.write(name, name);
    }
    let server = garner().serve(&fixture, "");
    let list = Page::open(&server, "verb=ListIdentifiers&metadataPrefix=oai_dc");

    let links: Vec<_> = list
        .links()
        .into_iter()
        .filter(|link| link.href.starts_with("?verb=GetRecord"))
        .collect();

    assert_eq!(links.len(), 3 * 5, "each file in three formats");
    let mut identifiers: Vec<_> = links
        .iter()
        .map(|link| {
            let answer = Answer::of(get(&list.resolve(&link.href)));
            assert_eq!(answer.error(), None, "{}", link.href);
            assert_eq!(
                answer.attribute("request", "metadataPrefix"),
                Some(link.text.clone())
            );
            answer.headers()[0].identifier.clone()
        })
        .collect();
    identifiers.dedup();
    let expected: Vec<_> = server
        .all()
        .into_iter()
        .map(|header| header.identifier)
        .collect();
    assert_eq!(identifiers, expected);

    let odd = links.iter().find(|link| link.href.contains("caf")).unwrap();
    let record = Page::open_url(&list.resolve(&odd.href));
    assert_eq!(record.heading(), "Record");
    assert!(
        record.text().contains("caf%C3%A9%20%22%3Cb%3E%22%27.txt"),
        "{}",
        record.text()
    );
}

#[test]
fn records_are_shown_in_each_of_the_three_formats() {
    let fixture = Fixture::empty();
    fixture.write("picture.png", b"\x89PNG\r\n\x1a\n");
    fixture.write("gone-wrong.txt", "four");
    let config = "[[plugin]]\nname = \"checker\"\nmedia_types = [\"text/plain\"]\n\
                  command = [\"false\"]\noutput = \"text\"\n\
                  [[plugin]]\nname = \"teller\"\nmedia_types = [\"image/png\"]\n\
                  command = [\"echo\", \"Depth=8\"]\noutput = \"key-value\"\n\
                  map = { Depth = \"dc:description\" }\n";
    let server = garner().serve(&fixture, config);

    let dc = Page::open(&server, "verb=ListRecords&metadataPrefix=oai_dc");
    let header = Page::open(&server, "verb=ListRecords&metadataPrefix=http_header");
    let didl = Page::open(&server, "verb=ListRecords&metadataPrefix=oai_didl");

    for page in [&dc, &header, &didl] {
        assert_eq!(page.heading(), "Records");
        assert!(page.text().contains("2 records"), "{}", page.text());
        assert!(
            page.links()
                .iter()
                .any(|link| link.href == server.url("picture.png"))
        );
    }
    for text in [
        "Identifier",
        "Description",
        "StillImage",
        "image/png",
        "8 bytes",
    ] {
        assert!(dc.text().contains(text), "{text}\n{}", dc.text());
    }
    for text in [
        "HTTP status 200",
        "Content-Type",
        "Content-Length",
        "text/plain",
    ] {
        assert!(header.text().contains(text), "{text}\n{}", header.text());
    }
    for text in [
        "Dublin Core",
        "HTTP header",
        "sha256",
        "Resource by value",
        "4 bytes, as 8 base64 characters",
        "Resource by reference",
        "checker plug-in",
        "No result: ended with exit status 1",
        "teller plug-in",
    ] {
        assert!(didl.text().contains(text), "{text}\n{}", didl.text());
    }
    assert!(
        didl.dom
            .contains("src=\"data:image/png;base64,iVBORw0KGgo=\""),
        "{}",
        didl.dom
    );
}

#[test]
fn a_removed_file_is_shown_as_deleted() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    fs::remove_file(fixture.path("about.html")).unwrap();
    wait_until("the tombstone is there", || {
        server.all().iter().any(|header| header.deleted)
    });
    let identifier = server.url("about.html");

    let record = Page::open(
        &server,
        &format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}"),
    );
    let list = Page::open(&server, "verb=ListIdentifiers&metadataPrefix=oai_dc");

    assert_eq!(record.heading(), "Record");
    assert!(
        record.text().contains("about.html deleted"),
        "{}",
        record.text()
    );
    assert!(
        record.text().contains("This resource has been removed."),
        "{}",
        record.text()
    );
    assert_eq!(list.dom.matches("class=\"gn-gone\"").count(), 1);
    assert!(
        list.text().contains("about.html deleted"),
        "{}",
        list.text()
    );
}

#[test]
fn each_error_is_explained_and_offers_a_way_on() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let unanswered = "This request could not be answered";

    for (query, heading, code) in [
        ("verb=Idenfity", unanswered, "badVerb"),
        ("verb=ListRecords", unanswered, "badArgument"),
        (
            "verb=ListRecords&resumptionToken=nonsense",
            unanswered,
            "badResumptionToken",
        ),
        (
            "verb=ListRecords&metadataPrefix=marc21",
            unanswered,
            "cannotDisseminateFormat",
        ),
        (
            "verb=GetRecord&metadataPrefix=oai_dc&identifier=urn:none",
            unanswered,
            "idDoesNotExist",
        ),
        (
            "verb=ListIdentifiers&metadataPrefix=oai_dc&from=2999-01-01",
            "Nothing matches this request",
            "noRecordsMatch",
        ),
    ] {
        let page = Page::open(&server, query);

        assert_eq!(page.heading(), heading, "{query}");
        assert_eq!(page.headings("h2"), ["Request", code], "{query}");
        assert_eq!(page.navigation().len(), 7, "{query}");
        let (_, error) = page.dom.split_once("class=\"gn-error").unwrap();
        let ways = links(error);
        assert!(!ways.is_empty(), "{query}");
        for way in ways {
            let answer = Answer::of(get(&page.resolve(&way.href)));
            assert_eq!(answer.error(), None, "{query}: {}", way.href);
        }
    }
}

#[test]
fn the_base_url_itself_is_a_page_that_leads_to_lists_and_records() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");

    let page = Page::open(&server, "");

    assert_eq!(page.heading(), "site");
    assert_eq!(
        page.headings("h2"),
        ["Base URL", "Metadata formats", "Find a record"]
    );
    let (_, ways) = page.dom.split_once("gn-error gn-start").unwrap();
    assert!(page.text().contains(&server.base_url), "{}", page.text());
    let ways: Vec<_> = links(ways)
        .into_iter()
        .filter(|way| way.href.starts_with('?'))
        .collect();
    assert!(ways.len() > 6);
    for way in ways {
        let answer = Answer::of(get(&page.resolve(&way.href)));
        assert_eq!(answer.error(), None, "{}", way.href);
    }
}

#[test]
fn hostile_names_and_values_are_shown_as_text() {
    let fixture = Fixture::empty();
    let script = "<script>document.title=1<\u{2215}script>";
    let image = "<img src=x onerror=\"document.title=2\">.txt";
    fixture.write(format!("{script}.txt"), "a");
    fixture.write(image, "b");
    let config = "[repository]\nname = \"</title><script>document.title=3</script> & <b>bold</b>\"\n\
                  [[plugin]]\nname = \"<i>name</i>\"\n\
                  command = [\"printf\", \"a=<script>document.title=4</script>\\\\nb=javascript:alert(1)\"]\n\
                  output = \"key-value\"\nmap = { a = \"dc:title\", b = \"dc:relation\" }\n";
    let server = garner().serve(&fixture, config);

    let identify = Page::open(&server, "verb=Identify");
    let records = Page::open(&server, "verb=ListRecords&metadataPrefix=oai_didl");
    let error = Page::open(
        &server,
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=javascript:document.title=5",
    );
    let verb = Page::open(&server, "verb=%3Cscript%3Edocument.title=6%3C/script%3E");
    let listing = Page::open_url(&server.site_url);

    let name = "</title><script>document.title=3</script> & <b>bold</b>";
    assert_eq!(identify.heading(), name);
    assert_eq!(identify.title(), format!("{name} \u{b7} garner"));
    for text in [
        "<i>name</i> plug-in",
        "<script>document.title=4</script>",
        "javascript:alert(1)",
    ] {
        assert!(records.text().contains(text), "{text}\n{}", records.text());
    }
    let echoed = "javascript:document.title=5";
    assert!(error.text().contains(echoed), "{}", error.text());
    let echoed = "<script>document.title=6</script>";
    assert!(verb.text().contains(echoed), "{}", verb.text());
    for text in [script, image] {
        assert!(listing.text().contains(text), "{text}\n{}", listing.text());
    }
    for page in [&identify, &records, &error, &verb, &listing] {
        assert!(
            !page.title().starts_with(|c: char| c.is_ascii_digit()),
            "a script has run"
        );
        for link in page.links() {
            let harmless = ["?verb=", "#content", "/", "./", "http://"];
            assert!(
                harmless.iter().any(|start| link.href.starts_with(start)),
                "{}",
                link.href
            );
        }
    }
    for link in listing.links() {
        let url = format!("{}{}", server.site_url, link.href.trim_start_matches("./"));
        assert_eq!(get(&url).status, 200, "{url}");
    }
}

/// A page as the browser has it after all is loaded.
struct Page {
    url: String,
    dom: String,
}

struct Link {
    href: String,
    text: String,
}

impl Page {
    fn open(server: &Server, query: &str) -> Self {
        Self::open_url(&format!("{}?{query}", server.base_url))
    }

    fn open_url(url: &str) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let output = Command::new("chromium")
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-proxy-server",
                "--virtual-time-budget=10000",
                "--dump-dom",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(url)
            .output()
            .expect("chromium is installed by scripts/setup test");
        let dom = String::from_utf8(output.stdout).unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            dom.trim_end().ends_with("</html>"),
            "{url}\n{dom}\n{complaint}"
        );
        for tag in ["<script", "<iframe", "<object", " onerror=\"", " onload=\""] {
            assert!(!without_text(&dom).contains(tag), "{url}: {tag}\n{dom}");
        }
        let url = url.to_owned();
        Self { url, dom }
    }

    /// The one heading that says what the page is.
    fn heading(&self) -> String {
        let headings = self.headings("h1");
        assert_eq!(headings.len(), 1, "{}", self.dom);
        headings[0].clone()
    }

    fn title(&self) -> String {
        self.headings("title")[0].clone()
    }

    fn headings(&self, tag: &str) -> Vec<String> {
        let elements = elements(&self.dom, tag).into_iter();
        elements.map(|(_, content)| text(content)).collect()
    }

    fn links(&self) -> Vec<Link> {
        links(&self.dom)
    }

    /// Where the links of the bar at the top lead.
    fn navigation(&self) -> Vec<String> {
        let bars = elements(&self.dom, "nav");
        let (_, bar) = bars
            .iter()
            .find(|(tag, _)| tag.contains("\"Verbs\""))
            .unwrap();
        links(bar).into_iter().map(|link| link.href).collect()
    }

    /// Where the next page is.
    fn next(&self) -> Option<String> {
        let all = elements(&self.dom, "a");
        let (tag, _) = all.iter().find(|(tag, _)| tag.contains("rel=\"next\""))?;
        attribute(tag, "href")
    }

    fn resolve(&self, href: &str) -> String {
        match href.starts_with('?') {
            true => format!("{}{href}", self.url.split('?').next().unwrap()),
            false => href.to_owned(),
        }
    }

    fn text(&self) -> String {
        let (_, body) = self.dom.split_once("<body").unwrap();
        text(&format!("<body{body}"))
    }
}

fn links(html: &str) -> Vec<Link> {
    let elements = elements(html, "a").into_iter();
    elements
        .filter_map(|(tag, content)| {
            let href = attribute(tag, "href")?;
            let text = text(content);
            Some(Link { href, text })
        })
        .collect()
}

/// The start tags and the contents of all elements of a name that do not hold others of that name.
fn elements<'a>(html: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    let (start, end) = (format!("<{name}"), format!("</{name}>"));
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find(&start) {
        rest = &rest[at..];
        let length = tag_length(rest);
        let (tag, after) = rest.split_at(length);
        rest = after;
        if tag[start.len()..].starts_with(['>', ' ']) {
            let content = after.find(&end).map_or(after, |at| &after[..at]);
            found.push((tag, content));
        }
    }
    found
}

/// How long the tag at the beginning is; a `>` within quotes does not end it.
fn tag_length(html: &str) -> usize {
    let mut quoted = false;
    for (at, c) in html.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return at + 1,
            _ => {}
        }
    }
    html.len()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    Some(unescaped(rest.split('"').next()?))
}

/// The text of a page without its tags, with single spaces.
fn text(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        let tag = &rest[at..at + tag_length(&rest[at..])];
        // A browser sets cells and list items apart, but not a possible line break.
        if tag != "<wbr>" && !tag.starts_with("<span") && !tag.starts_with("</span") {
            text.push(' ');
        }
        rest = &rest[at + tag.len()..];
    }
    text.push_str(rest);
    let words: Vec<_> = text.split_whitespace().collect();
    unescaped(&words.join(" "))
}

/// The tags alone.
fn without_text(html: &str) -> String {
    let tags = html.match_indices('<');
    tags.map(|(at, _)| &html[at..at + tag_length(&html[at..])])
        .collect()
}

fn unescaped(text: &str) -> String {
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
