//! Reads password files as Apache's `htpasswd` writes them and checks passwords against them.
//!
//! Accepted are bcrypt (`$2a$`, `$2b$`, `$2y$`), Apache's MD5 (`$apr1$`) and `{SHA}`. Plain text and DES crypt
//! are refused: both are as good as no protection once the file is seen, and a plain-text line cannot be told
//! from a damaged hash. The other forms of `crypt` (`$5$`, `$6$`) are not supported either.

use std::collections::BTreeMap;
use std::fmt;
use std::hint;
use std::io;
use std::path::{Path, PathBuf};

use bcrypt::HashParts;
use md5::Md5;
use sha1::{Digest, Sha1};
use thiserror::Error;

use crate::record::fixity::{Algorithm, Digester};

/// The users of a password file and what their passwords are checked against.
///
/// ```
/// use site::htpasswd::Htpasswd;
///
/// let users = Htpasswd::parse("ann:{SHA}W8r/fyL/UzygmbNAjq2HbA67qac=");
/// assert!(users.verify("ann", "open sesame"));
/// assert!(!users.verify("ann", "guess"));
/// ```
#[derive(Clone, Default)]
pub struct Htpasswd {
    entries: BTreeMap<String, Hash>,
    warnings: Vec<String>,
    fingerprint: String,
}

/// Says why a password file could not be read.
#[derive(Debug, Error)]
pub enum HtpasswdError {
    /// The file cannot be opened or read.
    #[error("cannot read the password file `{}`: {source}", path.display())]
    Read {
        /// The file asked for.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file holds bytes that are not UTF-8.
    #[error("the password file {} is not UTF-8; write its user names in UTF-8", path.display())]
    NotUtf8 {
        /// The file asked for.
        path: PathBuf,
    },
}

impl Htpasswd {
    /// Takes the text of a password file; lines that cannot be used become [warnings](Self::warnings).
    ///
    /// The first line of a user counts, as it does in Apache.
    pub fn parse(text: &str) -> Self {
        let mut htpasswd = Self {
            fingerprint: fingerprint(text),
            ..Self::default()
        };
        for (index, line) in text.lines().enumerate() {
            htpasswd.take_line(index + 1, line.trim());
        }
        htpasswd
    }

    /// Reads a password file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, HtpasswdError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|source| HtpasswdError::Read {
            path: path.to_owned(),
            source,
        })?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(Self::parse(text)),
            Err(_) => Err(HtpasswdError::NotUtf8 {
                path: path.to_owned(),
            }),
        }
    }

    /// Tells whether this is the user's password.
    ///
    /// It takes the same time for every name, known or not: that of the costliest hash in the file. Callers have to
    /// slow down those who try, or anybody could keep the processor busy.
    pub fn verify(&self, user: &str, password: &str) -> bool {
        if password.len() > PASSWORD_BYTES || password.contains('\0') {
            return false;
        }
        let hash = self.entries.get(user);
        let fits_apr1 = match hash {
            Some(Hash::Apr1 { salt, digest }) => {
                same_bytes(&apr1(password.as_bytes(), salt.as_bytes()), digest)
            }
            _ => {
                hint::black_box(apr1(password.as_bytes(), b"nobody.."));
                false
            }
        };
        let (fits_bcrypt, cost) = match hash {
            Some(Hash::Bcrypt { hash, cost }) => {
                (bcrypt::verify(password, hash).unwrap_or(false), *cost)
            }
            _ => (false, 0),
        };
        self.spend_bcrypt(cost);
        match hash {
            Some(Hash::Bcrypt { .. }) => fits_bcrypt,
            Some(Hash::Apr1 { .. }) => fits_apr1,
            Some(Hash::Sha1(digest)) => same_bytes(&Sha1::digest(password.as_bytes()), digest),
            Some(Hash::Unusable) | None => false,
        }
    }

    /// Spends what a check at `spent` lacks to one at the highest cost in the file. Each cost takes twice as long as
    /// the one before, so that the costs from `spent` to the highest one add up to the difference.
    fn spend_bcrypt(&self, spent: u32) {
        let costs = self.entries.values().filter_map(|hash| match hash {
            Hash::Bcrypt { cost, .. } => Some(*cost),
            _ => None,
        });
        let highest = costs.max().unwrap_or(0);
        let missing = match spent {
            0 => highest..highest + u32::from(highest > 0),
            spent => spent..highest,
        };
        for cost in missing {
            hint::black_box(bcrypt::bcrypt(cost, [0; 16], b"nobody"));
        }
    }

    /// Returns the user names in alphabetical order, also those whose hash cannot be used.
    pub fn users(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Returns one message for each line that cannot be used; none of them holds a hash.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns a string that changes with the text, for noticing later that it is another one.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn take_line(&mut self, number: usize, line: &str) {
        if line.is_empty() || line.starts_with('#') {
            return;
        }
        // A line without a colon may be a bare password, so nothing of it is repeated.
        let Some((user, rest)) = line.split_once(':').filter(|(user, _)| !user.is_empty()) else {
            let warning = format!("line {number}: no `user:hash` here, the line is ignored");
            return self.warnings.push(warning);
        };
        let shown = user.escape_debug();
        if self.entries.contains_key(user) {
            let warning =
                format!("line {number}: user `{shown}` is there already, the line is ignored");
            return self.warnings.push(warning);
        }
        // Apache ends the hash at the next colon too.
        let hash = rest.split(':').next().unwrap_or_default();
        let hash = Hash::parse(hash).unwrap_or_else(|problem| {
            let warning = format!("line {number}: user `{shown}` cannot log in: {problem}");
            self.warnings.push(warning);
            Hash::Unusable
        });
        self.entries.insert(user.to_owned(), hash);
    }
}

fn fingerprint(text: &str) -> String {
    let mut digester = Digester::new(&[Algorithm::Sha256]);
    digester.update(text.as_bytes());
    let digests = digester.finish();
    digests.into_iter().map(|(_, digest)| digest).collect()
}

// Written by hand to keep the hashes out of logs.
impl fmt::Debug for Htpasswd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Htpasswd")
            .field("users", &self.entries.keys())
            .field("warnings", &self.warnings)
            .finish()
    }
}

#[derive(Clone)]
enum Hash {
    Bcrypt { hash: String, cost: u32 },
    Apr1 { salt: String, digest: [u8; 22] },
    Sha1([u8; 20]),
    Unusable,
}

impl Hash {
    fn parse(hash: &str) -> Result<Self, HashProblem> {
        if ["$2a$", "$2b$", "$2y$"]
            .iter()
            .any(|form| hash.starts_with(form))
        {
            return Self::parse_bcrypt(hash);
        }
        if let Some(rest) = hash.strip_prefix(APR1) {
            return Self::parse_apr1(rest).ok_or(HashProblem::Damaged("Apache MD5"));
        }
        if let Some(encoded) = hash.strip_prefix("{SHA}") {
            return Self::parse_sha1(encoded).ok_or(HashProblem::Damaged("SHA-1"));
        }
        Err(HashProblem::Unknown)
    }

    fn parse_bcrypt(hash: &str) -> Result<Self, HashProblem> {
        let parts: HashParts = hash.parse().map_err(|_| HashProblem::Damaged("bcrypt"))?;
        match parts.get_cost() {
            0..BCRYPT_LEAST_COST => Err(HashProblem::Damaged("bcrypt")),
            BCRYPT_LEAST_COST..=BCRYPT_MOST_COST => Ok(Self::Bcrypt {
                hash: hash.to_owned(),
                cost: parts.get_cost(),
            }),
            cost => Err(HashProblem::TooCostly(cost)),
        }
    }

    fn parse_apr1(rest: &str) -> Option<Self> {
        let (salt, digest) = rest.split_once('$')?;
        let digest = digest.as_bytes().try_into().ok()?;
        let salt = salt.get(..8).unwrap_or(salt).to_owned();
        Some(Self::Apr1 { salt, digest })
    }

    fn parse_sha1(encoded: &str) -> Option<Self> {
        let digest = base64_simd::STANDARD.decode_to_vec(encoded).ok()?;
        Some(Self::Sha1(digest.try_into().ok()?))
    }
}

#[derive(Debug, Error)]
enum HashProblem {
    #[error("the {0} hash is damaged; set the password again with `htpasswd -B`")]
    Damaged(&'static str),
    #[error(
        "bcrypt cost {0} is over {BCRYPT_MOST_COST}; set the password again with `htpasswd -B -C 12`"
    )]
    TooCostly(u32),
    #[error("the form of the hash is not supported; set the password again with `htpasswd -B`")]
    Unknown,
}

/// Computes Apache's variant of MD5 crypt, as the 22 characters that follow the salt.
fn apr1(password: &[u8], salt: &[u8]) -> [u8; 22] {
    let mut outer = Md5::new_with_prefix(password);
    outer.update(APR1);
    outer.update(salt);

    let mut state: [u8; 16] = md5_of(&[password, salt, password]);
    for chunk in password.chunks(state.len()) {
        outer.update(&state[..chunk.len()]);
    }
    let mut bits = password.len();
    while bits > 0 {
        outer.update(if bits & 1 == 1 { b"\0" } else { &password[..1] });
        bits >>= 1;
    }
    state = outer.finalize().into();

    for round in 0..1000 {
        let odd = round % 2 == 1;
        let first = if odd { password } else { &state[..] };
        let last = if odd { &state[..] } else { password };
        let salt = if round % 3 != 0 { salt } else { b"" };
        let again = if round % 7 != 0 { password } else { b"" };
        state = md5_of(&[first, salt, again, last]);
    }
    apr1_characters(&state)
}

fn md5_of(pieces: &[&[u8]]) -> [u8; 16] {
    let mut hasher = Md5::new();
    for piece in pieces {
        hasher.update(piece);
    }
    hasher.finalize().into()
}

/// Writes the digest six bits a character, least significant first, in the shuffled order of MD5 crypt.
fn apr1_characters(digest: &[u8; 16]) -> [u8; 22] {
    const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const ORDER: [[usize; 3]; 5] = [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5]];

    let triples = ORDER.map(|triple| {
        let bytes = triple.map(|index| u32::from(digest[index]));
        bytes[0] << 16 | bytes[1] << 8 | bytes[2]
    });
    let mut characters = [0; 22];
    for (index, character) in characters.iter_mut().enumerate() {
        let bits = triples
            .get(index / 4)
            .copied()
            .unwrap_or(u32::from(digest[11]));
        *character = ALPHABET[(bits >> (6 * (index % 4)) & 0x3f) as usize];
    }
    characters
}

/// Compares without stopping at the first difference, so that the time taken tells nothing about the hash.
fn same_bytes(left: &[u8], right: &[u8]) -> bool {
    let pairs = left.iter().zip(right);
    let difference = pairs.fold(0, |found, (a, b)| hint::black_box(found | (a ^ b)));
    left.len() == right.len() && difference == 0
}

const APR1: &str = "$apr1$";

const BCRYPT_LEAST_COST: u32 = 4;

/// Cost 16 takes some seconds already; each step more doubles what one login costs.
const BCRYPT_MOST_COST: u32 = 16;

/// `htpasswd` itself takes no more than 255; the bound keeps a long header from costing a long computation.
const PASSWORD_BYTES: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    // Each line was written by Apache's own tool.
    const BCRYPT: &str = "alice:$2y$04$Ewm1utQoWAIAMbHxBu8wruXR4.M92hFQy8lpnulusTcfHGDIbdM9m";
    const BCRYPT_ACCENTS: &str =
        "dora:$2y$04$AbosZbLJ7AQBN.VxIlgqPe8cizMxcIX6paO3rmpGF1lEIQfCfjvp.";
    const APACHE_MD5: &str = "alice:$apr1$qJiOcrbX$TTMN/qJ57.9hLrT22TgHV.";
    const APACHE_MD5_EMPTY: &str = "bob:$apr1$pNxn3fNK$SD2pjXZpDHhgTAtLz7L3x/";
    const APACHE_MD5_LONG: &str = "carol:$apr1$8oYl40ue$BHYTO1s9h0fRKPRbl.J3N1";
    const SHA1: &str = "alice:{SHA}W8r/fyL/UzygmbNAjq2HbA67qac=";
    const PLAIN: &str = "alice:open sesame";
    const DES: &str = "alice:EMEg0C/AlHrXA";
    const SHA512_CRYPT: &str = "x:$6$Uja./eth7d/WYM7R$pexc79.fmCcyCJPgA5dOV/E5MiYw8sAvhPerNrCTgKXHh0LEhPjcKO3fIhRv4eyd.3WL5vgVjGy5cqEDE6hyk0";

    fn accepts(line: &str, user: &str, password: &str) -> bool {
        Htpasswd::parse(line).verify(user, password)
    }

    #[test]
    fn accepts_what_apache_wrote() {
        assert!(accepts(BCRYPT, "alice", "open sesame"));
        assert!(accepts(BCRYPT_ACCENTS, "dora", "ünïcode"));
        assert!(accepts(APACHE_MD5, "alice", "open sesame"));
        assert!(accepts(APACHE_MD5_EMPTY, "bob", ""));
        assert!(accepts(
            APACHE_MD5_LONG,
            "carol",
            "a rather long pass phrase, longer than sixteen bytes: ü€"
        ));
        assert!(accepts(SHA1, "alice", "open sesame"));
    }

    #[test]
    fn accepts_the_other_spellings_of_bcrypt() {
        for form in ["$2a$", "$2b$"] {
            let line = BCRYPT.replace("$2y$", form);
            assert!(accepts(&line, "alice", "open sesame"), "{form}");
        }
    }

    #[test]
    fn rejects_wrong_passwords_and_unknown_users() {
        for line in [BCRYPT, APACHE_MD5, SHA1] {
            assert!(!accepts(line, "alice", "open sesam"));
            assert!(!accepts(line, "alice", "open sesame "));
            assert!(!accepts(line, "alice", ""));
            assert!(!accepts(line, "Alice", "open sesame"));
            assert!(!accepts(line, "", "open sesame"));
        }
    }

    /// Issue 18: a known user took 95 ms, an unknown one 0.4 ms.
    #[test]
    fn known_and_unknown_users_take_the_same_time() {
        let costlier = bcrypt::hash("open sesame", 9).unwrap();
        let text = format!(
            "{BCRYPT}\nbea:{costlier}\n{APACHE_MD5_EMPTY}\nsam:{{SHA}}W8r/fyL/UzygmbNAjq2HbA67qac=\n"
        );
        let htpasswd = Htpasswd::parse(&text);
        let time = |user: &str| {
            let began = std::time::Instant::now();
            assert!(!htpasswd.verify(user, "a guess"));
            began.elapsed()
        };

        // They take turns, so that a busy machine is busy for all of them.
        let mut times = ["nobody", "alice", "bea", "bob", "sam"].map(|user| (time(user), user));
        for _ in 0..15 {
            for (least, user) in &mut times {
                *least = time(user).min(*least);
            }
        }

        let (least, most) = (times.iter().min().unwrap(), times.iter().max().unwrap());
        assert!(most.0 < least.0 * 2, "{times:?}");
        assert!(htpasswd.verify("alice", "open sesame") && htpasswd.verify("bea", "open sesame"));
    }

    #[test]
    fn rejects_plain_text_des_and_other_crypts_with_a_warning() {
        for (line, user, password) in [
            (PLAIN, "alice", "open sesame"),
            (DES, "alice", "sesame"),
            (SHA512_CRYPT, "x", "y"),
            ("alice:", "alice", ""),
        ] {
            let htpasswd = Htpasswd::parse(line);

            assert!(!htpasswd.verify(user, password), "{line}");
            assert_eq!(htpasswd.users().collect::<Vec<_>>(), [user]);
            assert_eq!(
                htpasswd.warnings(),
                [format!(
                    "line 1: user `{user}` cannot log in: the form of the hash is not supported; \
                     set the password again with `htpasswd -B`"
                )]
            );
        }
    }

    #[test]
    fn warnings_name_line_and_user_but_never_the_hash() {
        let text = "# users\n\nann:secret-a\nbare-password\nann:secret-b\n:secret-c\nbob:$apr1$x$secret-d\n";

        let htpasswd = Htpasswd::parse(text);

        let warnings = htpasswd.warnings();
        assert_eq!(warnings.len(), 5);
        assert!(warnings[0].starts_with("line 3: user `ann` cannot log in"));
        assert!(warnings[1].starts_with("line 4: no `user:hash`"));
        assert!(warnings[2].starts_with("line 5: user `ann` is there already"));
        assert!(warnings[3].starts_with("line 6: no `user:hash`"));
        assert!(warnings[4].starts_with("line 7: user `bob` cannot log in"));
        let all = format!("{htpasswd:?}");
        assert!(
            !all.contains("secret") && !all.contains("bare-password"),
            "{all}"
        );
    }

    #[test]
    fn rejects_bcrypt_over_cost_sixteen_with_a_warning() {
        let htpasswd = Htpasswd::parse(&BCRYPT.replace("$04$", "$17$"));

        assert!(!htpasswd.verify("alice", "open sesame"));
        assert!(htpasswd.warnings()[0].contains("bcrypt cost 17 is over 16"));
    }

    #[test]
    fn rejects_damaged_hashes_with_a_warning() {
        for line in [
            &BCRYPT[..BCRYPT.len() - 1],
            &BCRYPT.replace("$04$", "$03$"),
            &APACHE_MD5[..APACHE_MD5.len() - 1],
            "alice:$apr1$nodollar",
            "alice:{SHA}W8r/",
            "alice:{SHA}???",
        ] {
            let htpasswd = Htpasswd::parse(line);
            assert!(!htpasswd.verify("alice", "open sesame"));
            assert!(htpasswd.warnings()[0].contains("hash is damaged"), "{line}");
        }
    }

    #[test]
    fn the_first_line_of_a_user_counts() {
        let text = format!("{SHA1}\nalice:{{SHA}}AAAAAAAAAAAAAAAAAAAAAAAAAAA=\n");

        assert!(accepts(&text, "alice", "open sesame"));
    }

    #[test]
    fn more_fields_after_the_hash_and_windows_line_ends_do_no_harm() {
        let text = format!("{SHA1}:Alice Liddell:\r\n{APACHE_MD5_EMPTY}\r\n");

        assert!(accepts(&text, "alice", "open sesame"));
        assert!(accepts(&text, "bob", ""));
    }

    #[test]
    fn rejects_passwords_that_are_too_long_or_hold_a_nul() {
        assert!(!accepts(SHA1, "alice", "open sesame\0"));
        assert!(!accepts(BCRYPT, "alice", &"x".repeat(PASSWORD_BYTES + 1)));
    }

    #[test]
    fn reads_a_file_and_names_it_when_it_cannot() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("users");
        std::fs::write(&path, SHA1).unwrap();

        let htpasswd = Htpasswd::read(&path).unwrap();

        assert!(htpasswd.verify("alice", "open sesame"));
        let missing = Htpasswd::read(directory.path().join("none")).unwrap_err();
        assert!(missing.to_string().contains("/none`: No such"), "{missing}");
        std::fs::write(&path, b"\xfcnal:x").unwrap();
        let latin = Htpasswd::read(&path).unwrap_err();
        assert!(latin.to_string().contains("is not UTF-8"), "{latin}");
    }
}
