//! The keys of servers that are known, from the files that OpenSSH keeps them in.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use base64_simd::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;

/// The verdict on a server's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is the one that is known.
    Known,
    /// Nothing is known of the server.
    Unknown,
    /// Another key of this kind is known, or this one is known to be stolen.
    Contradicted {
        /// The file that says so.
        file: PathBuf,
        /// The line in it.
        line: usize,
    },
}

/// The lines about one server.
#[derive(Debug, Default)]
pub(crate) struct KnownHosts {
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    file: PathBuf,
    number: usize,
    revoked: bool,
    algorithm: String,
    key: String,
}

/// How a server is named in such a file.
pub(crate) fn name(host: &str, port: u16) -> String {
    match port {
        22 => host.to_owned(),
        port => format!("[{host}]:{port}"),
    }
}

impl KnownHosts {
    /// Reads what files say about a server. Those that are not there say nothing.
    pub(crate) fn read(files: &[PathBuf], host: &str, port: u16) -> std::io::Result<Self> {
        let mut known = Self::default();
        for file in files {
            match std::fs::File::open(file) {
                Ok(open) => known.add(
                    file,
                    &mut BufReader::new(open.take(LONGEST)),
                    &name(host, port),
                )?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(known)
    }

    fn add(&mut self, file: &Path, text: &mut impl BufRead, name: &str) -> std::io::Result<()> {
        let mut number = 0;
        let mut bytes = Vec::new();
        while text.read_until(b'\n', &mut bytes)? > 0 {
            number += 1;
            let line = String::from_utf8_lossy(&bytes).into_owned();
            bytes.clear();
            let mut words = line.split_ascii_whitespace();
            let Some(mut first) = words.next().filter(|word| !word.starts_with('#')) else {
                continue;
            };
            let revoked = first == "@revoked";
            if first.starts_with('@') {
                // Authorities are not asked; a server that has a certificate has a key as well.
                match words.next().filter(|_| revoked) {
                    Some(word) => first = word,
                    None => continue,
                }
            }
            if let (Some(algorithm), Some(key)) = (words.next(), words.next())
                && is_named(first, name)
            {
                self.lines.push(Line {
                    file: file.to_owned(),
                    number,
                    revoked,
                    algorithm: algorithm.to_owned(),
                    key: key.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Whether a key of this kind is known: a server should be asked for that one.
    pub(crate) fn has(&self, algorithm: &str) -> bool {
        let is = |line: &Line| !line.revoked && line.algorithm == algorithm;
        self.lines.iter().any(is)
    }

    /// Judges a key, given as in a line: its kind, and the key in Base64.
    pub(crate) fn verdict(&self, algorithm: &str, key: &str) -> Verdict {
        let contradicted = |line: &Line| Verdict::Contradicted {
            file: line.file.clone(),
            line: line.number,
        };
        let is_this = |line: &&Line| line.algorithm == algorithm && line.key == key;
        if let Some(revoked) = self.lines.iter().filter(|line| line.revoked).find(is_this) {
            return contradicted(revoked);
        }
        if self.lines.iter().any(|line| is_this(&line)) {
            return Verdict::Known;
        }
        let mut others = self.lines.iter().filter(|line| !line.revoked);
        match others.find(|line| line.algorithm == algorithm) {
            Some(other) => contradicted(other),
            None => Verdict::Unknown,
        }
    }
}

/// Whether a list of patterns, or a digest, means a name. One pattern that says no outweighs the others.
fn is_named(patterns: &str, name: &str) -> bool {
    if let Some(hashed) = patterns.strip_prefix("|1|") {
        return is_hash(hashed, name).unwrap_or(false);
    }
    let mut is_named = false;
    for pattern in patterns.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if matches(pattern.as_bytes(), name.as_bytes()) => return false,
            Some(_) => {}
            None => is_named |= matches(pattern.as_bytes(), name.as_bytes()),
        }
    }
    is_named
}

fn is_hash(hashed: &str, name: &str) -> Option<bool> {
    let (salt, digest) = hashed.split_once('|')?;
    let salt = STANDARD.decode_to_vec(salt).ok()?;
    let digest = STANDARD.decode_to_vec(digest).ok()?;
    let mut mac = Hmac::<Sha1>::new_from_slice(&salt).ok()?;
    mac.update(name.as_bytes());
    Some(mac.verify_slice(&digest).is_ok())
}

/// Whether a pattern with `*` and `?` fits. The last star alone is tried again, so that it takes no long time.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == b'?' || c.eq_ignore_ascii_case(&name[n]) => {
                p += 1;
                n += 1;
            }
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (p, n) = (*at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

const LONGEST: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# ours
a.example,192.0.2.1 ssh-ed25519 AAAA comment
[a.example]:2222 ssh-ed25519 BBBB
*.b.example,!c.b.example ecdsa-sha2-nistp256 CCCC
@revoked a.example ssh-ed25519 DDDD
@cert-authority * ssh-ed25519 EEEE
|1|O33ESRMWPVkMYIwJ1Uw+n877jTo=|nuuC5vEqXlEZ/8BXQR7m619W6Ak= ssh-ed25519 FFFF
odd\n";

    fn known(host: &str, port: u16) -> KnownHosts {
        let mut known = KnownHosts::default();
        let mut text = FILE.as_bytes();
        known
            .add(Path::new("f"), &mut text, &name(host, port))
            .unwrap();
        known
    }

    fn contradicted(line: usize) -> Verdict {
        let file = PathBuf::from("f");
        Verdict::Contradicted { file, line }
    }

    #[test]
    fn a_key_is_known_unknown_or_another_than_before() {
        let host = known("a.example", 22);
        assert_eq!(host.verdict("ssh-ed25519", "AAAA"), Verdict::Known);
        assert_eq!(host.verdict("ssh-ed25519", "XXXX"), contradicted(2));
        assert_eq!(host.verdict("ssh-ed25519", "DDDD"), contradicted(5));
        assert_eq!(
            host.verdict("ecdsa-sha2-nistp256", "AAAA"),
            Verdict::Unknown
        );
        assert!(host.has("ssh-ed25519") && !host.has("ecdsa-sha2-nistp256"));
        let port = known("a.example", 2222);
        assert_eq!(port.verdict("ssh-ed25519", "AAAA"), contradicted(3));
        assert_eq!(
            known("d.example", 22).verdict("ssh-ed25519", "EEEE"),
            Verdict::Unknown
        );
    }

    #[test]
    fn patterns_and_digests_mean_hosts() {
        let key = ("ecdsa-sha2-nistp256", "CCCC");
        assert_eq!(
            known("x.b.example", 22).verdict(key.0, key.1),
            Verdict::Known
        );
        assert_eq!(
            known("c.b.example", 22).verdict(key.0, key.1),
            Verdict::Unknown
        );
        assert_eq!(
            known("example.com", 22).verdict("ssh-ed25519", "FFFF"),
            Verdict::Known
        );
        assert!(matches(b"*a*b*", b"xxaxxbxx") && !matches(b"*a*b", b"xxaxxbx"));
    }
}
