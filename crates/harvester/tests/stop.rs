//! Waits that end: whatever a server lets us wait for is over within a second when we are asked to stop, and after the time
//! that a server may be silent.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use harvester::{Client, ClientOptions, ErrorKind, Harvest, Plan, Stop};

/// A server that does with each connection, once a request has come, what it is told. Its address.
fn server(behave: fn(TcpStream)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                behave(stream);
            });
        }
    });
    address
}

fn silent(_stream: TcpStream) {
    thread::sleep(Duration::from_secs(60));
}

fn begins_and_is_silent(mut stream: TcpStream) {
    let _ = stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n<?xml version=\"1.0\"?>");
    thread::sleep(Duration::from_secs(60));
}

fn drips(mut stream: TcpStream) {
    let _ = stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n<?xml version=\"1.0\"?>");
    while stream.write_all(b" ").is_ok() {
        thread::sleep(Duration::from_millis(50));
    }
}

fn busy(mut stream: TcpStream) {
    let _ = stream.write_all(
        b"HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
}

/// Asks to stop in a while. What was being done then, and how long it took to end.
fn stopped_after<T>(stop: &Stop, work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let wait = Duration::from_millis(300);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(wait);
            stop.set();
        });
        let done = work();
        let passed = begun.elapsed();
        assert!(passed >= wait, "it ended by itself");
        (done, passed - wait)
    })
}

fn client(stop: &Stop) -> Client {
    Client::new(ClientOptions {
        stop: stop.clone(),
        ..ClientOptions::default()
    })
    .unwrap()
}

const SOON: Duration = Duration::from_secs(1);

#[test]
fn a_server_that_keeps_us_waiting_is_left_within_a_second() {
    for (name, scheme, behave) in [
        ("silent", "http", silent as fn(TcpStream)),
        ("silent while a connection is made", "https", silent),
        ("silent after a beginning", "http", begins_and_is_silent),
        ("dripping", "http", drips),
        ("busy for an hour", "http", busy),
    ] {
        let stop = Stop::default();
        let client = client(&stop);
        let repository = client
            .repository(&format!("{scheme}://{}/oai", server(behave)))
            .unwrap();

        let (answer, late) = stopped_after(&stop, || repository.identify());

        assert_eq!(*answer.unwrap_err().kind(), ErrorKind::Stopped, "{name}");
        assert!(late < SOON, "{name}: {late:?}");
    }
}

#[test]
fn a_harvest_and_a_download_end_as_stopped() {
    let stop = Stop::default();
    let client = client(&stop);
    let base_url = format!("http://{}/oai", server(begins_and_is_silent));
    let repository = client.repository(&base_url).unwrap();

    let ((listed, got), late) = stopped_after(&stop, || {
        thread::scope(|scope| {
            let download = scope.spawn(|| {
                let mut download = repository.download(&base_url).unwrap();
                download.read_to_end(&mut Vec::new())
            });
            let harvest = Harvest::new(&repository, Plan::all("oai_dc"), None);
            let listed = harvest.and_then(|mut harvest| harvest.next().transpose());
            (listed.map(|_| ()), download.join().unwrap())
        })
    });

    let error = listed.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Stopped, "{error}");
    assert!(got.unwrap_err().to_string().contains("stopped"));
    assert!(late < SOON, "{late:?}");
}

#[test]
fn who_waits_for_his_turn_at_a_host_is_released_too() {
    let stop = Stop::default();
    let client = client(&stop);
    let base_url = format!("http://{}/oai", server(silent));
    let repository = client.repository(&base_url).unwrap();

    let (answers, late) = stopped_after(&stop, || {
        thread::scope(|scope| {
            let both = [(); 2].map(|()| scope.spawn(|| repository.identify()));
            both.map(|one| one.join().unwrap())
        })
    });

    for answer in answers {
        assert_eq!(*answer.unwrap_err().kind(), ErrorKind::Stopped);
    }
    assert!(late < SOON, "{late:?}");
}

#[test]
fn a_server_that_is_silent_for_too_long_is_given_up() {
    for (behave, scheme) in [
        (silent as fn(TcpStream), "http"),
        (silent, "https"),
        (begins_and_is_silent, "http"),
    ] {
        let client = Client::new(ClientOptions {
            connect_timeout: Duration::from_millis(100),
            read_timeout: Duration::from_millis(200),
            attempts: 1,
            ..ClientOptions::default()
        });
        let base_url = format!("{scheme}://{}/oai", server(behave));
        let repository = client.unwrap().repository(&base_url).unwrap();
        let begun = Instant::now();

        let error = repository.identify().unwrap_err();

        assert!(matches!(error.kind(), ErrorKind::Transport(_)), "{error}");
        let told = error.to_string();
        assert!(told.contains("silent") || scheme == "https", "{told}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{told}");
    }
}

#[test]
fn what_is_stopped_already_asks_for_nothing() {
    let stop = Stop::default();
    stop.set();
    let repository = client(&stop).repository(&format!("http://{}/", server(silent)));
    let error = repository.unwrap().identify().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Stopped);
}

#[test]
fn a_server_whose_answer_is_not_wanted_any_more_is_let_go_at_once() {
    let (gone, is_gone) = mpsc::channel();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/oai", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nbeginning";
        stream.write_all(head).unwrap();
        // The end, or an error: both mean that nobody listens.
        let _ = stream.read(&mut [0; 1]);
        gone.send(()).unwrap();
    });
    let client = client(&Stop::default());
    let repository = client.repository(&base_url).unwrap();

    let mut download = repository.download(&base_url).unwrap();
    download.read_exact(&mut [0; 9]).unwrap();
    drop(download);

    is_gone.recv_timeout(Duration::from_secs(5)).unwrap();
}

#[test]
fn a_connection_that_the_server_closed_meanwhile_is_no_failure() {
    let base_url = format!(
        "http://{}/oai",
        server(|mut stream| {
            let answer = b"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno";
            let _ = stream.write_all(answer);
            // It seems to stay open.
            thread::sleep(Duration::from_millis(20));
        })
    );
    let client = client(&Stop::default());
    let repository = client.repository(&base_url).unwrap();

    for round in 1..=5 {
        let begun = Instant::now();
        assert!(repository.identify().is_err());
        // A second attempt would come after a wait.
        assert_eq!(client.traffic().requests, round);
        assert!(begun.elapsed() < SOON);
        // The connection is closed by then also on a busy machine.
        thread::sleep(Duration::from_millis(400));
    }
}
