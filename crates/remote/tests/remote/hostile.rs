//! A server that does what no honest one does: everything it can do is bounded, and leaves nothing outside.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use remote::Limits;

use crate::common::{Place, files};

/// The server's behaviour when it is asked for data, or instead of an answer.
type Play = dyn Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync;

/// Answers as an FTP server does, up to the point where `play` takes over.
fn server(
    play: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let play: Arc<Play> = Arc::new(play);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let play = Arc::clone(&play);
            // An error here means that the client gave up.
            std::thread::spawn(move || drop(converse(stream, &*play)));
        }
    });
    port
}

fn converse(stream: TcpStream, play: &Play) -> std::io::Result<()> {
    let mut out = stream.try_clone()?;
    out.write_all(b"220 welcome\r\n")?;
    let mut data = None;
    let mut lines = BufReader::new(stream);
    let mut bytes = Vec::new();
    while lines.read_until(b'\n', &mut bytes)? > 0 {
        let line = String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned();
        bytes.clear();
        let command = line.split(' ').next().unwrap_or_default().to_owned();
        let answer = match command.as_str() {
            "USER" => "331 password".to_owned(),
            "PASS" => "230 in".to_owned(),
            "PWD" => "257 \"/\"".to_owned(),
            "CWD" if line.contains("file") => "550 no directory".to_owned(),
            "CWD" => "250 there".to_owned(),
            "FEAT" => "211-features\r\n MLST type*;size*;\r\n211 end".to_owned(),
            "EPSV" => {
                let listener = TcpListener::bind("127.0.0.1:0")?;
                let port = listener.local_addr()?.port();
                data = Some(listener);
                format!("229 here (|||{port}|)")
            }
            "REST" => "350 go on".to_owned(),
            "SIZE" => "213 10".to_owned(),
            "MDTM" => "213 20260102030405".to_owned(),
            "MLSD" | "RETR" => {
                out.write_all(b"150 coming\r\n")?;
                let Some(listener) = data.take() else {
                    continue;
                };
                let (mut transfer, _) = listener.accept()?;
                // Nobody listens to the end of it.
                let _ = play(&line, &mut transfer);
                drop(transfer);
                "226 done".to_owned()
            }
            _ => "200 fine".to_owned(),
        };
        out.write_all(format!("{answer}\r\n").as_bytes())?;
    }
    Ok(())
}

fn place() -> Place {
    let mut place = Place::new();
    place.limits = Limits {
        entries: 1000,
        listing: 1 << 20,
        line: 4096,
        depth: 4,
        silence: Duration::from_secs(1),
        attempts: 2,
        ..place.limits
    };
    place
}

fn address(port: u16, path: &str) -> String {
    format!("ftp://127.0.0.1:{port}/{path}")
}

#[test]
fn names_that_lead_elsewhere_are_refused_and_the_others_come() {
    let port = server(|line, data| {
        match line {
        "MLSD" => data.write_all(
            b"type=file;size=3; ../../../escaped\r\ntype=file;size=3; /etc/escaped\r\n\
              type=dir; ..\r\ntype=file;size=3; a\x1b[2Jb\r\ntype=file;size=3; nul\x00\r\n\
              type=OS.unix=slink:/etc; link\r\ntype=file;size=3; good\r\ntype=file;size=3; latin\xe9\r\n",
        ),
        _ => data.write_all(b"yes"),
    }
    });
    let place = place();

    let fetched = place.fetch(&address(port, "")).unwrap();

    let names: Vec<_> = files(&fetched.path).into_keys().collect();
    assert_eq!(names, ["good", "latin\u{fffd}"]);
    assert_eq!(std::fs::read(fetched.path.join("good")).unwrap(), b"yes");
    assert_eq!(fetched.refused.len(), 5, "{:?}", fetched.refused);
    assert!(
        !fetched
            .refused
            .iter()
            .any(|(name, _)| name.contains('\x1b'))
    );
    assert!(!place.beside("escaped").exists());
    assert_eq!(files(&place.base()).len(), 2);
}

#[test]
fn listings_without_end_are_given_up() {
    let ends: [fn(&mut TcpStream) -> std::io::Result<()>; 2] = [
        |data| {
            for number in 0_u64.. {
                data.write_all(format!("type=file;size=1; {number}\r\n").as_bytes())?;
            }
            Ok(())
        },
        |data| loop {
            data.write_all(&[b'a'; 4096])?;
        },
    ];
    for end in ends {
        let port = server(move |_, data| end(data));
        let began = Instant::now();
        let refusal = place().refusal(&address(port, ""));
        assert!(refusal.contains("without end"), "{refusal}");
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn directories_in_directories_without_end_are_given_up() {
    let port = server(|line, data| match line {
        "MLSD" => data.write_all(b"type=dir; d\r\ntype=file;size=3; f\r\n"),
        _ => data.write_all(b"yes"),
    });

    let place = place();
    let fetched = place.fetch(&address(port, "")).unwrap();

    assert_eq!(fetched.files, 5);
    assert!(
        fetched.refused[0].1.contains("too deep"),
        "{:?}",
        fetched.refused
    );
}

#[test]
fn no_more_comes_than_was_announced() {
    let port = server(|line, data| match line {
        "MLSD" => data.write_all(b"type=file;size=100000; f\r\n"),
        _ => loop {
            data.write_all(&[b'x'; 65536])?;
        },
    });

    let place = place();
    let fetched = place.fetch(&address(port, "")).unwrap();

    assert_eq!(files(&fetched.path)["f"].0, 100_000);
}

#[test]
fn a_file_larger_than_the_disk_is_not_begun() {
    let port = server(|_, data| data.write_all(b"type=file;size=9000000000000000000; f\r\n"));
    let refusal = place().refusal(&address(port, ""));
    assert!(refusal.contains("has room for"), "{refusal}");
}

#[test]
fn a_file_that_is_shorter_than_it_should_be_costs_no_other() {
    let port = server(|line, data| match line {
        "MLSD" => data.write_all(b"type=file;size=10; a\r\ntype=file;size=3; b\r\n"),
        _ => data.write_all(b"yes"),
    });

    let place = place();
    let fetched = place.fetch(&address(port, "")).unwrap();

    assert_eq!(files(&fetched.path).len(), 1, "{:?}", fetched.refused);
    assert!(
        fetched.refused[0].1.contains("changes"),
        "{:?}",
        fetched.refused
    );
}

#[test]
fn silence_is_not_waited_for() {
    let port = server(|_, _| {
        std::thread::sleep(Duration::from_secs(20));
        Ok(())
    });
    let began = Instant::now();
    let refusal = place().refusal(&address(port, ""));
    assert!(refusal.contains("silent"), "{refusal}");
    assert!(
        began.elapsed() < Duration::from_secs(8),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn a_server_that_drips_is_given_up() {
    let port = server(|line, data| match line {
        "MLSD" => data.write_all(b"type=file;size=100000; f\r\n"),
        _ => loop {
            data.write_all(b"x")?;
            std::thread::sleep(Duration::from_millis(200));
        },
    });
    let mut place = place();
    place.limits.pace_time = Duration::from_secs(1);
    let refusal = place.refusal(&address(port, ""));
    assert!(refusal.contains("bytes came in"), "{refusal}");
}

#[test]
fn what_is_no_ftp_server_says_so() {
    for greeting in [
        b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(),
        b"\xff\xfe\0\0\r\n",
        b"2",
        b"999 \r\n",
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.write_all(greeting);
            }
        });
        let refusal = place().refusal(&address(port, "pub/"));
        assert!(!refusal.is_empty());
    }
}

#[test]
fn an_answer_without_end_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"220-");
            while stream.write_all(&[b'a'; 4096]).is_ok() {}
        }
    });
    let began = Instant::now();
    let refusal = place().refusal(&address(port, "pub/"));
    assert!(refusal.contains("without end"), "{refusal}");
    assert!(began.elapsed() < Duration::from_secs(10));
}
