//! Lists of repositories that somebody may want to add: the ListFriends of the Open Archives, or one base URL a line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use anyhow::{Context, bail};
use harvester::{Client, canonical_base_url};
use rules::xml::{self, Limits};
use serde::Serialize;

/// A repository that a list names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Friend {
    /// Where it answers.
    pub base_url: String,
    /// The name in the list.
    pub name: Option<String>,
}

/// Reads a list from a file or a URL: each repository once, by their base URLs. What is not on the web is left out.
pub fn read(source: &str, client: &Client) -> anyhow::Result<Vec<Friend>> {
    let content = match source.starts_with("http://") || source.starts_with("https://") {
        // A server is as good as a repository here: it is asked as politely.
        true => bounded(client.repository(source)?.download(source)?),
        false => File::open(source).map_err(Into::into).and_then(bounded),
    };
    let content = content.with_context(|| format!("the list of repositories {source}"))?;
    parse(&content).with_context(|| format!("the list of repositories {source}"))
}

/// Reads the content of a list.
pub fn parse(content: &[u8]) -> anyhow::Result<Vec<Friend>> {
    let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content);
    let mut friends = BTreeMap::new();
    let mut add = |url: &str, name: Option<&str>| {
        let name = name.map(shortened).filter(|name| !name.is_empty());
        if let Ok(base_url) = canonical_base_url(url) {
            let known = friends.entry(base_url).or_insert(None);
            *known = known.take().or(name);
        }
    };
    match content.trim_ascii_start().starts_with(b"<") {
        true => in_xml(content, &mut add)?,
        false => in_lines(content, &mut add)?,
    }
    if friends.is_empty() {
        bail!(
            "there is no base URL in it; it should be a ListFriends file, or have one URL a line"
        );
    }
    let friends = friends.into_iter();
    Ok(friends
        .map(|(base_url, name)| Friend { base_url, name })
        .collect())
}

type Add<'a> = dyn FnMut(&str, Option<&str>) + 'a;

/// `<BaseURLs><baseURL id="name">…`, or the `friends` that repositories tell of in Identify.
fn in_xml(content: &[u8], add: &mut Add) -> anyhow::Result<()> {
    let limits = Limits {
        bytes: MOST_BYTES,
        ..Limits::default()
    };
    let document = xml::parse(content, &limits)?;
    for node in document.descendants().filter(|node| node.is_element()) {
        if node.tag_name().name() == "baseURL" {
            add(node.text().unwrap_or_default(), node.attribute("id"));
        }
    }
    Ok(())
}

/// A URL a line, and behind it a name if there is one. Lines may be comments.
fn in_lines(content: &[u8], add: &mut Add) -> anyhow::Result<()> {
    let text = std::str::from_utf8(content).context("it is not UTF-8")?;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (url, name) = match line.split_once(char::is_whitespace) {
            Some((url, name)) => (url, Some(name)),
            None => (line, None),
        };
        add(url, name);
    }
    Ok(())
}

fn shortened(name: &str) -> String {
    let words: Vec<_> = name.split_whitespace().collect();
    words.join(" ").chars().take(LONGEST_NAME).collect()
}

fn bounded(source: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut content = Vec::new();
    let most = MOST_BYTES as u64;
    source.take(most + 1).read_to_end(&mut content)?;
    if content.len() > MOST_BYTES {
        bail!("it is longer than {} MiB", MOST_BYTES >> 20);
    }
    Ok(content)
}

const MOST_BYTES: usize = 8 << 20;
const LONGEST_NAME: usize = 200;

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use harvester::ClientOptions;

    use super::*;

    fn listed(content: &str) -> Vec<(String, Option<String>)> {
        let friends = parse(content.as_bytes()).unwrap().into_iter();
        friends
            .map(|friend| (friend.base_url, friend.name))
            .collect()
    }

    fn client() -> Client {
        Client::new(ClientOptions {
            attempts: 1,
            ..ClientOptions::default()
        })
        .unwrap()
    }

    #[test]
    fn list_friends_gives_each_repository_once_and_in_order() {
        let friends = listed(
            "<?xml version='1.0'?>\n<BaseURLs>\n<baseURL id='b'>http://b.example/oai</baseURL>\n\
             <baseURL>\n http://a.example/oai?x=1&amp;y=2 \n</baseURL>\n<baseURL id='again'>http://b.example/oai</baseURL>\n\
             <baseURL id='c'>ftp://c.example/</baseURL><baseURL>file:///etc/passwd</baseURL>\n<baseURL/></BaseURLs>",
        );
        assert_eq!(
            friends,
            [
                ("http://a.example/oai?x=1&y=2".to_owned(), None),
                ("http://b.example/oai".to_owned(), Some("b".to_owned())),
            ]
        );
    }

    #[test]
    fn one_url_a_line_is_enough() {
        let friends = listed(
            "# ours\r\n\r\nhttp://b.example/oai  The  B\r\nhttps://me:pw@a.example/oai\nnonsense\n",
        );
        assert_eq!(
            friends,
            [
                ("http://b.example/oai".to_owned(), Some("The B".to_owned())),
                ("https://a.example/oai".to_owned(), None),
            ]
        );
    }

    #[test]
    fn hostile_lists_are_refused() {
        for content in [
            "",
            "<html><body>404</body></html>",
            "<!DOCTYPE b [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><b><baseURL>http://&e;/</baseURL></b>",
            "<BaseURLs><baseURL>http://a/",
        ] {
            assert!(parse(content.as_bytes()).is_err(), "{content}");
        }
        let long = " ".repeat(MOST_BYTES + 1);
        assert!(bounded(long.as_bytes()).is_err());
    }

    #[test]
    fn a_file_and_a_url_are_read_alike() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("friends.txt");
        std::fs::write(&path, "http://a.example/oai\n").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/friends", listener.local_addr().unwrap());
        let answers = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\nhttp://a.example/oai\n";
            stream.write_all(answer).unwrap();
        });

        let from_file = read(path.to_str().unwrap(), &client()).unwrap();
        let from_url = read(&url, &client()).unwrap();

        assert_eq!(from_file, from_url);
        answers.join().unwrap();
        let missing = read("/nowhere/friends.xml", &client()).unwrap_err();
        assert!(missing.to_string().contains("/nowhere/friends.xml"));
    }
}
