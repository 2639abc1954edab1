//! Large files by value in little memory.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use test_support::{Mpm, percent_encoded};

use super::client::Client;
use super::records::records;
use super::site::Site;

const SIZE: u64 = 300_000_000;

#[test]
fn three_hundred_megabytes_by_value_take_little_memory() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        site.oai("OaiByValueLimit 1G\nOaiPageLimit bytes 0");
        let path = site.fixture.write("large.bin", "");
        fs::File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_len(SIZE)
            .unwrap();
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);
        assert_eq!(client.identifiers().len(), 1);
        let before = httpd.peak_memory();

        let identifier = percent_encoded(&client.url("/large.bin"));
        for query in [
            format!("verb=GetRecord&metadataPrefix=oai_didl&identifier={identifier}"),
            "verb=ListRecords&metadataPrefix=oai_didl".to_owned(),
        ] {
            let letters = base64_letters(&httpd.authority(), &query);
            assert_eq!(letters, SIZE.div_ceil(3) * 4, "{mpm:?} {query}");
        }

        let grown = httpd.peak_memory() - before;
        assert!(grown < 32_000_000, "{mpm:?}: {grown} bytes more");
    }
}

#[test]
fn a_file_that_is_sent_slowly_is_described_at_once() {
    if !Path::new("/usr/lib/apache2/modules/mod_ratelimit.so").exists() {
        eprintln!("SKIPPED: mod_ratelimit is not installed");
        return;
    }
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        site.module("ratelimit");
        // 4 KiB a second.
        site.conf(
            "<Location \"/slow\">\nSetOutputFilter RATE_LIMIT\nSetEnv rate-limit 4\n\
             SetEnv rate-initial-burst 8\n</Location>",
        );
        let content = vec![b'x'; 2_000_000];
        site.fixture.write("slow/large.txt", &content);
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);
        let url = client.url("/slow/large.txt");

        let began = Instant::now();
        for prefix in ["http_header", "oai_didl"] {
            let record = records(&client.record(&url, prefix)).remove(&url).unwrap();
            let length = record
                .fields
                .iter()
                .find(|(name, _)| name == "Content-Length");
            assert_eq!(length.unwrap().1, "2000000");
            assert!(prefix == "http_header" || record.by_value.unwrap() == content);
        }

        assert!(began.elapsed() < Duration::from_secs(10), "{mpm:?}");
    }
}

#[test]
fn a_file_that_is_too_large_for_digests_is_described_at_once() {
    for mpm in Mpm::ALL {
        let site = Site::empty(mpm);
        let path = site.fixture.write("huge.bin", "");
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_len(2 << 30).unwrap();
        site.fixture.write("small.bin", "small");
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        let began = Instant::now();
        let answer = client.ask("verb=ListRecords&metadataPrefix=oai_didl");

        assert!(began.elapsed() < Duration::from_secs(5), "{mpm:?}");
        assert_eq!(answer.error(), None);
        assert_eq!(records(&answer).len(), 2);
        assert_eq!(answer.xml.matches("<digest ").count(), 1);
    }
}

#[test]
fn a_file_that_the_server_keeps_open_is_given_whole_each_time() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        site.module("file_cache");
        let kept: Vec<u8> = (0..400_000).map(|n: u32| n.to_le_bytes()[1]).collect();
        site.fixture.write("kept.bin", &kept);
        site.fixture.write("other.bin", b"other");
        site.conf("CacheFile ${SITE}/kept.bin");
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        for _ in 0..3 {
            assert_eq!(client.get("/kept.bin").body, kept);
            let answer = client.record(&client.url("/kept.bin"), "oai_didl");
            let record = records(&answer).remove(&client.url("/kept.bin")).unwrap();
            assert_eq!(record.by_value.unwrap(), kept);
        }
        assert_eq!(client.identifiers().len(), 2);
    }
}

/// How many letters of base64 the one resource of an answer has. All of them stand for zeros.
fn base64_letters(authority: &str, query: &str) -> u64 {
    let mut stream = TcpStream::connect(authority).unwrap();
    let wait = Some(Duration::from_secs(60));
    stream.set_read_timeout(wait).unwrap();
    // HTTP/1.0, so that no chunks are between the letters.
    let request = format!("GET /modoai?{query} HTTP/1.0\r\nHost: {authority}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::with_capacity(1 << 20, stream);
    let mut before = Vec::new();
    while !before.ends_with(b"encoding=\"base64\">") {
        let read = reader.read_until(b'>', &mut before).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&before));
    }
    let mut letters = 0;
    loop {
        let block = reader.fill_buf().unwrap();
        let other = block.iter().position(|letter| *letter != b'A');
        let length = other.unwrap_or(block.len());
        letters += length as u64;
        let ended = other.is_some() || block.is_empty();
        reader.consume(length);
        if ended {
            break;
        }
    }
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert!(rest.trim_end().ends_with("</OAI-PMH>"), "{rest}");
    let padding = rest.bytes().take_while(|letter| *letter == b'=');
    letters + padding.count() as u64
}
