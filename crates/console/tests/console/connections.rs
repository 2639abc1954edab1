//! Real connections, and the end of them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use console::{Console, ConsoleConfig};
use jobs::Holdings;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

#[test]
fn answers_until_it_is_told_to_stop() {
    let directory = tempfile::tempdir().unwrap();
    let holdings = Arc::new(Holdings::create(directory.path(), None).unwrap());
    let config = ConsoleConfig {
        connections: 2,
        ..ConsoleConfig::default()
    };
    let console = Console::new(Arc::clone(&holdings), config).unwrap();
    let listener = holdings.wait(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let (ended, end) = std::sync::mpsc::channel();
    holdings.spawn(async move {
        console.serve(listener, async { drop(stopped.await) }).await;
        ended.send(()).unwrap();
    });

    let ask = || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let request =
            format!("GET /login HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    assert!(ask().starts_with("HTTP/1.1 200 OK"));

    // Those who hold all connections and say nothing keep others out, but not the end.
    let silent = [
        TcpStream::connect(address).unwrap(),
        TcpStream::connect(address).unwrap(),
    ];
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(ask(), "");
    let begin = Instant::now();
    stop.send(()).unwrap();
    end.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(8));
    drop(silent);
}
