//! Clients that misbehave: broken HTTP, silence, crowds, paths out of the site.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use test_support::{Connection, Fixture, Server, connect_from, fetch, get, wait_until};

use crate::bad_input::{LIST, assert_well, raw, status_number};
use crate::garner;

#[test]
fn http_garbage_is_refused_and_odd_http_understood() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let identify = "/modoai?verb=Identify";
    let status = |request: &str| raw(&server, request.as_bytes()).map(|response| response.status);

    for garbage in [
        "GET /modoai?verb=Identify\r\n\r\n".to_owned(),
        "\0\0\0\0\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "SSH-2.0-OpenSSH_9.0\r\n\r\n".to_owned(),
        format!("GET {identify} HTTP/1.1\r\nNo colon here\r\n\r\n"),
        format!("GET {identify} HTTP/1.1\r\nHost: x\0y\r\n\r\n"),
        format!("GET {identify} HTTP/9.9\r\nHost: x\r\n\r\n"),
        format!(
            "GET {identify} HTTP/1.1\r\nX: {}\r\n\r\n",
            "x".repeat(1 << 20)
        ),
        format!("GET {identify} HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(5000)),
        "POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n".to_owned(),
        "POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"
            .to_owned(),
        "POST /modoai HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_owned(),
    ] {
        let shown = &garbage[..garbage.len().min(80)];
        let refused = status(&garbage);
        assert!(
            refused.is_none_or(|status| (400..600).contains(&status)),
            "{shown}: {refused:?}"
        );
    }
    for odd in [
        format!("GET {identify} HTTP/1.0\r\n\r\n"),
        format!("GET {}?verb=Identify HTTP/1.1\r\nHost: x\r\n\r\n", server.base_url),
        format!("GET http://elsewhere.example{identify} HTTP/1.1\r\nHost: x\r\n\r\n"),
        format!("\r\n\r\nGET {identify} HTTP/1.1\r\nHost: x\r\n\r\n"),
        "POST /modoai HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
         5\r\nverb=\r\n8\r\nIdentify\r\n0\r\n\r\n".to_owned(),
        "POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Type: APPLICATION/x-www-form-urlencoded; charset=utf-8\r\n\
         Content-Length: 13\r\n\r\nverb=Identify".to_owned(),
    ] {
        assert_eq!(status(&odd), Some(200), "{odd}");
    }
    for method in [
        "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get", "BREW",
    ] {
        for path in [identify, "/about.html", "/modoai/style.xsl"] {
            let response = fetch(method, &server.url(&path[1..]), &[], b"");
            assert_eq!(response.status, 405, "{method} {path}");
            assert!(response.header("allow").unwrap().contains("GET"));
        }
    }
    let json = [("Content-Type", "application/json")];
    let refused = fetch("POST", &server.base_url, &json, b"{\"verb\":\"Identify\"}");
    assert_eq!(refused.status, 415);
    assert_eq!(
        fetch("POST", &server.url("about.html"), &[], b"x").status,
        405
    );

    assert_well(&server);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let paths = [
        "/about.html",
        "/modoai?verb=Identify",
        "/nothing",
        "/modoai?verb=x",
        "/notes.txt",
    ];
    let requests: String = paths
        .iter()
        .map(|path| format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"))
        .collect();

    let mut connection = Connection::open(server.authority());
    connection.send(requests.repeat(20).as_bytes());

    for _ in 0..20 {
        let bodies = paths.map(|_| connection.receive(false).unwrap());
        assert_eq!(
            bodies.each_ref().map(|body| body.status),
            [200, 200, 404, 200, 200]
        );
        assert!(bodies[0].text().contains("about us"));
        assert!(bodies[1].text().contains("<Identify>"));
        assert!(bodies[3].text().contains("badVerb"));
        assert_eq!(bodies[4].text(), "some notes\n");
    }
    assert_well(&server);
}

#[test]
fn a_form_is_asked_for_when_the_client_waits_to_be() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let mut connection = Connection::open(server.authority());

    connection.send(
        b"POST /modoai HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 13\r\n\r\n",
    );
    let asked = connection.receive(true).unwrap();
    connection.send(b"verb=Identify");
    let answered = connection.receive(false).unwrap();

    assert_eq!((asked.status, answered.status), (100, 200));
    assert!(answered.text().contains("<Identify>"));
}

#[test]
fn clients_that_fall_silent_are_given_up() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "[flow_control]\nstall_seconds = 1\n");
    let starts: [&[u8]; 5] = [
        b"",
        b"GET /modoai?verb=Iden",
        b"GET /modoai?verb=Identify HTTP/1.1\r\nHost: x\r\n",
        b"POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Length: 13\r\n\r\nverb=",
        b"POST /modoai HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nverb=\r\n",
    ];

    let streams = starts.map(|start| {
        let mut stream = TcpStream::connect(server.authority()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(8)))
            .unwrap();
        stream.write_all(start).unwrap();
        stream
    });

    for (mut stream, start) in streams.into_iter().zip(starts) {
        let shown = String::from_utf8_lossy(start);
        let mut told = Vec::new();
        let end = stream.read_to_end(&mut told);
        let timed_out = end.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!timed_out, "{shown:?} is still waited for");
        let told = String::from_utf8_lossy(&told);
        assert!(
            told.is_empty() || told.contains(" 408 ") || told.contains(" 400 "),
            "{told}"
        );
    }
    assert_well(&server);
}

#[test]
fn no_path_leads_out_of_the_site() {
    let fixture = Fixture::small();
    fixture.write_beside("outside.txt", "secret");
    fixture.write(".htpasswd", "secret");
    symlink(fixture.beside("outside.txt"), fixture.path("link.txt")).unwrap();
    symlink("/etc", fixture.path("etc")).unwrap();
    let server = garner().serve(&fixture, "");

    for path in [
        "/../outside.txt",
        "/../../../../../../etc/passwd",
        "/docs/../../outside.txt",
        "/%2e%2e/outside.txt",
        "/%2e%2e%2foutside.txt",
        "/..%2foutside.txt",
        "/.%2e/outside.txt",
        "/docs/%2e%2e/%2e%2e/outside.txt",
        "/%252e%252e/outside.txt",
        "/..%5coutside.txt",
        "/..\\outside.txt",
        "/%c0%ae%c0%ae/outside.txt",
        "/..;/outside.txt",
        "/./about.html/../../outside.txt",
        "/about.html%00.txt",
        "/%00",
        "/docs/%00/../../outside.txt",
        "/link.txt",
        "/etc/passwd",
        "/etc/",
        "/%65tc/passwd",
        "/.htpasswd",
        "/%2ehtpasswd",
        "/docs/../.htpasswd",
        "//etc/passwd",
        "/modoai/../outside.txt",
        "/modoai/../../outside.txt",
        "/modoai/%2e%2e/.htpasswd",
        "/about.html/../about.html",
        "/about.html/x",
        "/%",
        "/%4",
        "/%zz",
    ] {
        for method in ["GET", "HEAD"] {
            let response = fetch(method, &server.url(&path[1..]), &[], b"");
            assert!(
                [400, 403, 404].contains(&response.status),
                "{path}: {}",
                response.status
            );
            let text = response.text();
            assert!(
                !text.contains("secret") && !text.contains("root:"),
                "{path}"
            );
        }
    }
    let listing = get(&server.site_url.clone()).text();
    assert!(!listing.contains("htpasswd"));
    assert_well(&server);
}

#[test]
fn a_client_that_stops_reading_a_long_list_holds_up_nobody() {
    let fixture = Fixture::small();
    for number in 0..9 {
        fixture.write(format!("large-{number}.bin"), vec![b'x'; 6 << 20]);
    }
    let config = "[pages]\nbytes = 0\nrecords = 0\n[flow_control]\nstall_seconds = 1\n";
    let server = garner().serve(&fixture, config);
    let threads = status_number(&server, "Threads:");

    let list = "/modoai?verb=ListRecords&metadataPrefix=oai_didl";
    let stalled: Vec<_> = (0..6).map(|_| stalled(&server, list)).collect();

    let began = Instant::now();
    assert_eq!(server.all().len(), 15);
    assert!(began.elapsed() < Duration::from_secs(1));
    let head = format!("GET {list} HTTP/1.1");
    assert!(status_number(&server, "Threads:") < threads + 40, "{head}");
    assert_well(&server);
    wait_until("the stalled lists are given up", || {
        server.log().matches("does not read").count() + server.log().matches("is gone").count() >= 6
    });
    for mut stream in stalled {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.len() < 40 << 20 && !rest.ends_with(b"0\r\n\r\n"));
    }
    assert_well(&server);
}

#[test]
fn many_clients_that_stop_reading_a_file_hold_up_nobody() {
    let fixture = Fixture::small();
    fixture.write("large.bin", vec![b'x'; 20 << 20]);
    let server = garner().serve(&fixture, "");

    let stalled: Vec<_> = (0..200).map(|_| stalled(&server, "/large.bin")).collect();

    let began = Instant::now();
    for _ in 0..5 {
        assert_well(&server);
        assert_eq!(get(&server.url("notes.txt")).text(), "some notes\n");
    }
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    drop(stalled);
    assert_eq!(get(&server.url("large.bin")).body.len(), 20 << 20);
}

#[test]
fn two_hundred_connections_at_once_are_all_answered() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let authority = server.authority();
    let request = b"GET /modoai?verb=ListSets HTTP/1.1\r\nHost: x\r\n\r\n";

    let mut connections: Vec<_> = (0..200).map(|_| Connection::open(authority)).collect();
    for round in 0..3 {
        for connection in &mut connections {
            connection.send(request);
        }
        for connection in &mut connections {
            let response = connection.receive(false).unwrap();
            assert_eq!((response.status, response.complete), (200, true), "{round}");
        }
    }

    assert!(status_number(&server, "Threads:") < 200);
    assert_well(&server);
}

#[test]
fn connections_beyond_the_limit_take_the_place_of_those_that_wait() {
    let fixture = Fixture::small();
    fixture.write("large.bin", vec![b'x'; 20 << 20]);
    for config in [
        "[flow_control]\nconnections = 20\n",
        "[flow_control]\nconnections_per_client = 5\n",
    ] {
        let server = garner().serve(&fixture, config);
        let address = server.authority().parse().unwrap();

        let silent: Vec<_> = (0..20)
            .map(|_| TcpStream::connect(server.authority()).unwrap())
            .collect();
        assert_well(&server);
        let large = "GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n";
        let stalled: Vec<_> = (0..20)
            .map(|_| {
                let mut stream = TcpStream::connect(server.authority()).unwrap();
                let _ = stream.write_all(large.as_bytes());
                stream
            })
            .collect();
        // Until it is stuck, an answer is being sent, and its connection kept.
        wait_until("the answers are stuck", || {
            raw(&server, b"GET /notes.txt HTTP/1.0\r\n\r\n").is_some()
        });
        assert_well(&server);
        // Issue 18: an attack from sixty addresses.
        let spread: Vec<_> = (2..62)
            .map(|last| connect_from(Ipv4Addr::new(127, 0, 0, last), address))
            .collect();
        assert_well(&server);

        drop((silent, stalled, spread));
        let told = server.log().matches("too many connections").count();
        assert_eq!(told, 1, "{}", server.log());
    }
}

#[test]
fn a_request_names_its_host_once_and_its_head_is_bounded() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let status = |path: &str, lines: &str| {
        let request = format!("GET {path} HTTP/1.1\r\n{lines}\r\n");
        raw(&server, request.as_bytes()).map(|response| response.status)
    };
    let identify = "/modoai?verb=Identify";
    let filled = |length: usize| format!("Host: x\r\nX: {}\r\n", "x".repeat(length));
    let path = |length: usize| format!("/{}", "x".repeat(length - 1));

    for (path, lines, expected) in [
        (identify, "Host: x\r\n".to_owned(), 200),
        (identify, String::new(), 400),
        (identify, "Host: x\r\nHost: x\r\n".to_owned(), 400),
        ("/about.html", "Host: x\r\nHost: y\r\n".to_owned(), 400),
        (identify, "Host: a b\r\n".to_owned(), 400),
        (identify, filled(255 * 1024), 200),
        (identify, filled(256 * 1024), 431),
        (
            identify,
            format!("Host: x\r\n{}", "X: y\r\n".repeat(99)),
            200,
        ),
        (
            identify,
            format!("Host: x\r\n{}", "X: y\r\n".repeat(100)),
            431,
        ),
        (&path(65_534), "Host: x\r\n".to_owned(), 404),
        (&path(65_535), "Host: x\r\n".to_owned(), 414),
    ] {
        let shown = &lines[..lines.len().min(40)];
        assert_eq!(status(path, &lines), Some(expected), "{shown}");
    }
}

#[test]
fn a_list_too_many_is_told_when_to_come_back() {
    let fixture = Fixture::small();
    for number in 0..4 {
        fixture.write(format!("large-{number}.bin"), vec![b'x'; 6 << 20]);
    }
    let config = "[pages]\nbytes = 0\n\
        [flow_control]\nlists = 1\nlists_per_client = 1\nretry_after_seconds = 7\n";
    let server = garner().serve(&fixture, config);
    let running = stalled(&server, "/modoai?verb=ListRecords&metadataPrefix=oai_didl");

    for query in [LIST, "verb=ListRecords&metadataPrefix=oai_dc"] {
        let refused = get(&format!("{}?{query}", server.base_url));

        assert_eq!(refused.status, 503, "{query}");
        assert_eq!(refused.header("retry-after"), Some("7"));
    }
    assert_eq!(server.ask("verb=ListSets").error(), None);

    drop(running);
    wait_until("lists are answered again", || {
        get(&format!("{}?{LIST}", server.base_url)).status == 200
    });
    assert_well(&server);
}

/// Asks for something long and does not read the answer beyond its first bytes.
fn stalled(server: &Server, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.authority()).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
    stream
}
