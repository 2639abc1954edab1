//! Real connections, and the end of them.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use console::{Console, ConsoleConfig};
use flows::Holdings;
use test_support::connect_from;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A console with real connections.
struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    end: Receiver<()>,
    _holdings: Arc<Holdings>,
    _directory: tempfile::TempDir,
}

fn running(config: ConsoleConfig) -> Running {
    let directory = tempfile::tempdir().unwrap();
    let holdings = Arc::new(Holdings::create(directory.path(), None).unwrap());
    let console = Console::new(Arc::clone(&holdings), config).unwrap();
    let listener = holdings.wait(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let (ended, end) = channel();
    holdings.spawn(async move {
        console.serve(listener, async { drop(stopped.await) }).await;
        ended.send(()).unwrap();
    });
    Running {
        address,
        stop,
        end,
        _holdings: holdings,
        _directory: directory,
    }
}

/// The answer of the login page to a request with these lines in its head.
fn ask(address: SocketAddr, lines: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let request = format!("GET /login HTTP/1.1\r\n{lines}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// Issue 18: connections that were never read locked everybody out.
#[test]
fn clients_that_do_not_read_lock_nobody_out() {
    let console = running(ConsoleConfig {
        connections: 100,
        connections_per_client: 20,
        ..ConsoleConfig::default()
    });
    let address = console.address;
    let host = format!("Host: {address}\r\n");
    // Many answers that are not read, forms that never come, heads that never end.
    let page = format!("GET /assets/console.css HTTP/1.1\r\n{host}\r\n").repeat(200);
    let form = format!("POST /login HTTP/1.1\r\n{host}Content-Length: 100\r\n\r\nname=");
    let starts = [page.as_str(), form.as_str(), "GET /login HTTP/1.1\r\n"];

    let held: Vec<_> = (0..240_u8)
        .map(|number| {
            let from = Ipv4Addr::new(127, 0, 0, number % 60 + 2);
            let mut stream = connect_from(from, address);
            let start = starts[usize::from(number) % starts.len()];
            // A connection that has lost its place meanwhile cannot be written to.
            let _ = stream.write_all(start.as_bytes());
            stream
        })
        .collect();

    for _ in 0..10 {
        assert!(ask(address, &host).starts_with("HTTP/1.1 200 OK"));
    }
    drop(held);
}

#[test]
fn silent_clients_are_given_up() {
    let console = running(ConsoleConfig {
        stall_seconds: 1,
        ..ConsoleConfig::default()
    });
    let mut silent = TcpStream::connect(console.address).unwrap();
    silent
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    assert_eq!(silent.read(&mut [0; 100]).unwrap(), 0);
}

#[test]
fn a_request_names_its_host_once() {
    let console = running(ConsoleConfig::default());
    let host = format!("Host: {}\r\n", console.address);
    for (lines, status) in [
        (host.as_str(), "200"),
        ("", "400"),
        (&host.repeat(2), "400"),
        ("Host: evil.example\r\n", "421"),
    ] {
        let answer = ask(console.address, lines);
        assert_eq!(answer.split(' ').nth(1), Some(status), "{lines}");
    }
}

#[test]
fn answers_until_it_is_told_to_stop() {
    let console = running(ConsoleConfig {
        connections: 2,
        ..ConsoleConfig::default()
    });
    let address = console.address;
    let ask = || ask(address, &format!("Host: {address}\r\n"));
    assert!(ask().starts_with("HTTP/1.1 200 OK"));

    // Those who hold all connections and say nothing keep neither others out nor the end away.
    let silent = [
        TcpStream::connect(address).unwrap(),
        TcpStream::connect(address).unwrap(),
    ];
    assert!(ask().starts_with("HTTP/1.1 200 OK"));
    let begin = Instant::now();
    console.stop.send(()).unwrap();
    console.end.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(8));
    drop(silent);
}
