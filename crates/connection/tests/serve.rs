//! Real connections: crowds, clients that do not read, requests without a host.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::convert::Infallible;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use connection::{Limits, RequestBody};
use http::{Request, Response};
use http_body::{Body, Frame};
use test_support::connect_from;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

const VISITOR: Ipv4Addr = Ipv4Addr::LOCALHOST;
const BLOCK: &[u8] = &[b'x'; 16 * 1024];

/// A running server, and what it tells of its answers.
struct Running {
    address: SocketAddr,
    dropped: Receiver<()>,
    _runtime: Runtime,
}

/// `/endless` never ends, `/` is short; any other path reads the body of the request first.
fn running(limits: Limits) -> Running {
    let runtime = Runtime::new().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, dropped) = channel();
    let handler = move |request: Request<RequestBody>, _| {
        let sender = sender.clone();
        async move {
            let left = match request.uri().path() {
                "/endless" => usize::MAX,
                "/" => 1,
                _ => {
                    let mut body = request.into_body();
                    while std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx))
                        .await
                        .is_some_and(|frame| frame.is_ok())
                    {}
                    1
                }
            };
            Response::new(Text { left, sender })
        }
    };
    runtime.spawn(connection::serve(
        listener,
        limits,
        |_| false,
        handler,
        std::future::pending(),
    ));
    Running {
        address,
        dropped,
        _runtime: runtime,
    }
}

fn limits() -> Limits {
    Limits {
        connections: 64,
        per_client: 16,
        stall: Duration::from_secs(600),
        head: 64 * 1024,
        last_words: Duration::from_secs(1),
    }
}

struct Text {
    left: usize,
    sender: Sender<()>,
}

impl Body for Text {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(BLOCK)))))
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        let _ = self.sender.send(());
    }
}

/// The answer to a request, or what came of it before the connection was closed.
fn ask(from: Ipv4Addr, to: SocketAddr, request: &str) -> String {
    let mut stream = connect_from(from, to);
    let patience = Some(Duration::from_secs(30));
    stream.set_read_timeout(patience).unwrap();
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn is_answered(from: Ipv4Addr, to: SocketAddr) -> bool {
    let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    ask(from, to, request).starts_with("HTTP/1.1 200 OK")
}

/// How an attacker keeps a connection: in silence, without reading, without the rest of a form.
fn attack(from: Ipv4Addr, to: SocketAddr, number: usize) -> TcpStream {
    let mut stream = connect_from(from, to);
    let request = match number % 3 {
        0 => "GET / HTT",
        1 => "GET /endless HTTP/1.1\r\nHost: a\r\n\r\n",
        _ => "POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx",
    };
    let _ = stream.write_all(request.as_bytes());
    if number % 3 == 1 {
        // It is not read any further, so that the answer gets stuck.
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let _ = stream.read(&mut [0; 12]);
    }
    stream
}

#[test]
fn connections_of_one_address_do_not_lock_out_the_same_address_nor_another() {
    let server = running(limits());
    let attacker = Ipv4Addr::new(127, 0, 0, 9);

    let held: Vec<_> = (0..100)
        .map(|number| attack(attacker, server.address, number))
        .collect();

    assert!(is_answered(VISITOR, server.address));
    assert!(is_answered(attacker, server.address));
    // Those above the limit for one client have been closed.
    let open = held.iter().filter(|stream| is_open(stream)).count();
    assert!(open <= 16, "{open}");
}

#[test]
fn connections_of_sixty_addresses_do_not_lock_anybody_out() {
    let server = running(limits());
    for spread in [
        |number: u8| Ipv4Addr::new(127, 0, 0, number + 2),
        |number: u8| Ipv4Addr::new(127, number, number, 1),
    ] {
        let held: Vec<_> = (0..240)
            .map(|number| attack(spread((number % 60) as u8), server.address, number))
            .collect();

        for _ in 0..20 {
            assert!(is_answered(VISITOR, server.address));
        }
        drop(held);
    }
}

#[test]
fn a_client_that_does_not_read_is_given_up() {
    let stall = Duration::from_millis(200);
    let server = running(Limits { stall, ..limits() });

    let mut stream = connect_from(VISITOR, server.address);
    let request = b"GET /endless HTTP/1.1\r\nHost: a\r\n\r\n";
    stream.write_all(request).unwrap();

    let dropped = server.dropped.recv_timeout(Duration::from_secs(30));
    dropped.expect("the answer is given up");
}

#[test]
fn a_request_names_its_host_once() {
    let server = running(limits());
    let status = |head: &str| {
        let request = format!("GET / {head}Connection: close\r\n\r\n");
        let answer = ask(VISITOR, server.address, &request);
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    for (head, expected) in [
        ("HTTP/1.1\r\nHost: a\r\n", "200"),
        ("HTTP/1.0\r\n", "200"),
        ("HTTP/1.1\r\n", "400"),
        ("HTTP/1.1\r\nHost: a\r\nHost: a\r\n", "400"),
        ("HTTP/1.1\r\nHost: a\r\nHost: b\r\n", "400"),
        ("HTTP/1.0\r\nHost: a\r\nhost: b\r\n", "400"),
        ("HTTP/1.1\r\nHost: a b\r\n", "400"),
    ] {
        assert_eq!(status(head), expected, "{head:?}");
    }
    let frame = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\nConnection: close\r\n\r\n".len();
    for (length, expected) in [(limits().head, "200"), (limits().head + 1, "431")] {
        let filled = "x".repeat(length - frame);
        let head = format!("HTTP/1.1\r\nHost: a\r\nX: {filled}\r\n");
        assert_eq!(status(&head), expected, "{length}");
    }
    // With Host and Connection there are a hundred lines, and one more.
    for (lines, expected) in [(98, "200"), (99, "431")] {
        let head = format!("HTTP/1.1\r\nHost: a\r\n{}", "X: y\r\n".repeat(lines));
        assert_eq!(status(&head), expected, "{lines}");
    }
}

/// Whether the server has not closed a connection yet.
fn is_open(mut stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let mut block = vec![0; 1 << 16];
    loop {
        match stream.read(&mut block) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}
