//! A repository that plays every fault met in the wild, one by one or together.
//! Without faults it behaves, and serves the records of its script.

mod fault;
mod play;
mod records;
mod script;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use self::play::{Play, Sending};

pub use fault::Fault;
pub use script::Script;

/// A running repository; it ends when it is dropped.
#[derive(Debug)]
pub struct Misbehaving {
    address: SocketAddr,
    play: Arc<Play>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Misbehaving {
    /// Starts on a free port of the loopback address.
    pub fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let play = Arc::new(Play::new(script, format!("http://{address}/oai")));
        let ended = Arc::new(AtomicBool::new(false));
        let thread = {
            let (play, ended) = (Arc::clone(&play), Arc::clone(&ended));
            std::thread::spawn(move || accept(&listener, &play, &ended))
        };
        Self {
            address,
            play,
            ended,
            thread: Some(thread),
        }
    }

    /// Its base URL.
    pub fn base_url(&self) -> String {
        format!("http://{}/oai", self.address)
    }

    /// The queries so far, decoded, in order.
    pub fn requests(&self) -> Vec<String> {
        self.play.requests.lock().unwrap().clone()
    }

    /// The heads of all requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.play.heads.lock().unwrap().clone()
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        *self.play.connections.lock().unwrap()
    }

    /// Changes the script while it runs.
    pub fn change(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.play.script.lock().unwrap());
    }
}

impl Drop for Misbehaving {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, play: &Arc<Play>, ended: &AtomicBool) {
    for stream in listener.incoming() {
        if ended.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else { continue };
        *play.connections.lock().unwrap() += 1;
        let play = Arc::clone(play);
        // A client may vanish at any moment; that ends its thread and nothing else.
        std::thread::spawn(move || {
            let _ = serve(stream, &play);
        });
    }
}

fn serve(stream: TcpStream, play: &Play) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut form = vec![0; form_length(&head)];
        reader.read_exact(&mut form)?;
        play.heads.lock().unwrap().push(head);
        let answer = play.answer(&target, &String::from_utf8_lossy(&form));
        let stream = reader.get_mut();
        if !send(stream, answer)? {
            return Ok(());
        }
    }
}

fn form_length(head: &str) -> usize {
    let head = head.to_ascii_lowercase();
    let mut lines = head.lines();
    let length = lines.find_map(|line| line.strip_prefix("content-length:"));
    length.map_or(0, |length| length.trim().parse().unwrap())
}

/// Sends an answer; whether the connection can be used again.
fn send(stream: &mut TcpStream, answer: play::Answer) -> std::io::Result<bool> {
    let mut head = format!("HTTP/1.1 {} Answer\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let length = match answer.sending {
        Sending::Endless(length) => length + answer.body.len() as u64,
        _ => answer.body.len() as u64,
    };
    head.push_str(&format!("Content-Length: {length}\r\n\r\n"));
    stream.write_all(head.as_bytes())?;
    match answer.sending {
        Sending::Whole => stream.write_all(&answer.body)?,
        Sending::Drip(pause) => {
            for byte in answer.body {
                stream.write_all(&[byte])?;
                std::thread::sleep(Duration::from_millis(pause));
            }
        }
        Sending::Reset => {
            stream.write_all(&answer.body[..answer.body.len() / 2])?;
            std::thread::sleep(Duration::from_millis(20));
            rustix::net::sockopt::set_socket_linger(&*stream, Some(Duration::ZERO))?;
            return Ok(false);
        }
        Sending::Endless(mut length) => {
            // Padding goes where the body says; it has no place in memory.
            let at = answer.body.len() / 2;
            stream.write_all(&answer.body[..at])?;
            let block = [b'x'; 64 * 1024];
            while length > 0 {
                let part = length.min(block.len() as u64);
                stream.write_all(&block[..part as usize])?;
                length -= part;
            }
            stream.write_all(&answer.body[at..])?;
        }
    }
    Ok(true)
}

/// Counts how often something happened.
#[derive(Debug, Default)]
struct Counter(Mutex<Vec<(String, u32)>>);

impl Counter {
    /// Whether `what`, which may happen `times` times, may happen once more.
    fn spend(&self, what: String, times: u32) -> bool {
        let mut counts = self.0.lock().unwrap();
        if let Some((_, count)) = counts.iter_mut().find(|(name, _)| *name == what) {
            *count += 1;
            return *count <= times;
        }
        counts.push((what, 1));
        times > 0
    }
}
