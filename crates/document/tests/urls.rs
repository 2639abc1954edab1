//! Properties of normalised URLs: doing it twice changes nothing, and what comes out is a plain URL.

use document::url::{Rules, normalise};

/// Numbers that look random and are the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[(self.next() % from.len() as u64) as usize]
    }
}

/// Pieces that URLs are made of, and some that they should not be.
const PIECES: [&str; 46] = [
    "http://",
    "https://",
    "ftp://",
    "sftp://",
    "file://",
    "HTTP://",
    "web+x://",
    "x:",
    "//",
    "/",
    "..",
    ".",
    "%2e",
    "%2E%2e",
    "%",
    "%%",
    "%4",
    "%41",
    "%7e",
    "%2f",
    "%E9",
    "%00",
    " ",
    "\t",
    "\\",
    "|",
    "[",
    "]",
    "^",
    "'",
    "\"",
    "<",
    "?",
    "#",
    "@",
    ":",
    ":80",
    ":443",
    "a",
    "B",
    "\u{e9}",
    "\u{fc}.example",
    "\u{4e2d}",
    "\u{1F600}",
    "h.example",
    "\u{202e}",
];

#[test]
fn normalising_twice_changes_nothing() {
    let mut random = Random(0xDEAD_BEEF_CAFE_F00D);
    let mut good = 0;
    for _ in 0..100_000 {
        let mut url = random
            .pick(&[
                "http://h.example/",
                "https://",
                "ftp://H/",
                "sftp://Hh/",
                "file:///",
                "",
                "x://h/",
            ])
            .to_owned();
        for _ in 0..random.next() % 12 {
            url.push_str(random.pick(&PIECES));
        }
        let Ok(once) = normalise(&url) else { continue };
        let twice = normalise(&once.url).unwrap_or_else(|error| panic!("{url:?} {error}"));
        assert_eq!(once, twice, "{url:?}");
        assert!(
            once.url.bytes().all(|byte| byte.is_ascii_graphic()),
            "{once:?}"
        );
        assert!(!once.url.contains('#'), "{once:?}");
        Rules::default().refuses(&once);
        good += 1;
    }
    assert!(good > 30_000, "{good} of them were URLs");
}

#[test]
fn random_text_does_no_harm() {
    let mut random = Random(42);
    for _ in 0..20_000 {
        let length = random.next() % 60;
        let text: String = (0..length)
            .filter_map(|_| char::from_u32((random.next() % 0x3000) as u32))
            .collect();
        let _ = normalise(&text);
        let _ = normalise(&format!("http://{text}"));
        let _ = Rules::parse(&text);
    }
}
