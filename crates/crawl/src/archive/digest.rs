//! The digests that an archive has of its records, compared with their bytes while these are read.
//!
//! Writers disagree on what a payload is: its digest may be that of the body as it was transferred, without its chunks, or
//! decoded. All that is read of a body is digested as often as that takes, but only if somebody wants the body.

use std::cell::RefCell;

use data_encoding::{BASE32_NOPAD, BASE64_NOPAD, HEXLOWER};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::{Checked, DigestCheck};

/// A digest as an archive has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    written: String,
    /// The algorithm; `None` if it is unknown or not stated.
    algorithm: Option<Algorithm>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Md5,
    Sha1,
    Sha256,
}

impl Said {
    /// Reads `sha1:` and base32, base64 or hexadecimal digits, and what else there is; `None` for an empty text.
    pub(super) fn parse(written: String) -> Option<Self> {
        let (scheme, value) = match written.split_once(':') {
            Some((scheme, value)) => (scheme.trim().to_ascii_lowercase(), value),
            None => (String::new(), written.as_str()),
        };
        let value = value.trim();
        let is_hex = value.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_base32 = is_base32(value);
        let of_scheme = match scheme.as_str() {
            "md5" => Some(Algorithm::Md5),
            "sha1" | "sha-1" => Some(Algorithm::Sha1),
            "sha256" | "sha-256" => Some(Algorithm::Sha256),
            "" if value.len() == 32 && is_base32 => Some(Algorithm::Sha1),
            "" => [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256]
                .into_iter()
                .find(|algorithm| value.len() == algorithm.length() * 2),
            _ => None,
        };
        let algorithm = of_scheme.filter(|algorithm| {
            let length = algorithm.length();
            let digits = value.trim_end_matches('=').len();
            is_hex && value.len() == length * 2
                || is_base32 && digits == (length * 8).div_ceil(5)
                || is_base64(value) && digits == (length * 8).div_ceil(6)
        });
        (!written.is_empty()).then_some(Self { written, algorithm })
    }

    /// Whether it can be compared.
    fn is_known(&self) -> bool {
        self.algorithm.is_some()
    }

    /// Whether it is one of about ten, by its first digit: the choice is the same each time an archive is read.
    fn is_sampled(&self) -> bool {
        let value = self.written.rsplit(':').next().unwrap_or_default();
        value
            .trim()
            .bytes()
            .next()
            .is_some_and(|digit| digit & 7 == 0)
    }

    /// Whether it is the digest of nothing, which some write for what they did not digest.
    fn is_of_nothing(&self) -> bool {
        let nothing = self.algorithm.map(|algorithm| algorithm.hasher().finish());
        nothing.is_some_and(|nothing| self.is(&nothing))
    }

    /// Whether it is this digest.
    fn is(&self, digest: &[u8]) -> bool {
        let value = self.written.split_once(':');
        let value = value.map_or(self.written.as_str(), |(_, value)| value);
        let value = value.trim();
        let bare = value.trim_end_matches('=');
        value.eq_ignore_ascii_case(&HEXLOWER.encode(digest))
            || bare.eq_ignore_ascii_case(&BASE32_NOPAD.encode(digest))
            || bare.replace('-', "+").replace('_', "/") == BASE64_NOPAD.encode(digest)
    }
}

impl Algorithm {
    /// The bytes of a digest.
    fn length(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    fn hasher(self) -> Hasher {
        match self {
            Self::Md5 => Hasher::Md5(Md5::new()),
            Self::Sha1 => Hasher::Sha1(Sha1::new()),
            Self::Sha256 => Hasher::Sha256(Sha256::new()),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }
}

#[derive(Debug, Clone)]
enum Hasher {
    Md5(Md5),
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Hasher {
    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(md5) => md5.update(bytes),
            Self::Sha1(sha1) => sha1.update(bytes),
            Self::Sha256(sha256) => sha256.update(bytes),
        }
    }

    fn finish(self) -> Vec<u8> {
        match self {
            Self::Md5(md5) => md5.finalize().to_vec(),
            Self::Sha1(sha1) => sha1.finalize().to_vec(),
            Self::Sha256(sha256) => sha256.finalize().to_vec(),
        }
    }
}

/// The digests of one record while it is read. Its block, its body and whatever is between them tell what they read.
#[derive(Debug)]
pub(crate) struct Check(RefCell<State>);

#[derive(Debug)]
struct State {
    block: Option<Said>,
    payload: Option<Said>,
    wanted: Wanted,
    /// Only bytes that are read anyway are compared.
    in_passing: bool,
    of_block: Part,
    /// The body as it was transferred, without its chunks, and decoded.
    forms: [Part; 3],
    /// The offset of the body in the waiting bytes of the block, once it has begun.
    body: Option<usize>,
    /// The form that comes out of the body.
    last: Form,
}

/// Bytes that are digested once it is known whether anybody wants that.
#[derive(Debug, Default)]
struct Part {
    waiting: Vec<u8>,
    hasher: Option<Hasher>,
    /// Whether the body has this form, whether any bytes came, and whether all did.
    is_there: bool,
    has_some: bool,
    is_whole: bool,
    /// The digest computed by the caller, who digests the same bytes anyway.
    told: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    NotYet,
    Yes,
    No,
}

/// The forms of a body, as indexes of [`State::forms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it was transferred.
    Transferred,
    /// Without its chunks.
    Dechunked,
    /// Without its content codings.
    Decoded,
}

impl Part {
    fn take(&mut self, bytes: &[u8], wanted: Wanted) {
        self.has_some |= !bytes.is_empty();
        match (&mut self.hasher, wanted) {
            (Some(hasher), Wanted::Yes) => hasher.update(bytes),
            (_, Wanted::NotYet) => self.waiting.extend_from_slice(bytes),
            _ => {}
        }
    }

    fn begin(&mut self, algorithm: Option<Algorithm>) {
        self.hasher = algorithm.map(Algorithm::hasher);
        let waiting = std::mem::take(&mut self.waiting);
        self.take(&waiting, Wanted::Yes);
    }

    /// The digest of all bytes, if all came.
    fn digest(&self) -> Option<Vec<u8>> {
        let whole = self.hasher.clone().filter(|_| self.is_whole);
        self.told.clone().or(whole.map(Hasher::finish))
    }
}

impl Check {
    /// A check of what is said of a block and of its payload.
    pub(super) fn new(block: Option<Said>, payload: Option<Said>) -> Self {
        Self(RefCell::new(State {
            block,
            payload,
            wanted: Wanted::NotYet,
            in_passing: false,
            of_block: Part::default(),
            forms: Default::default(),
            body: None,
            last: Form::Transferred,
        }))
    }

    /// Begins to digest. `told` says that whoever reads the body tells its SHA-1 and SHA-256 in the end.
    pub(crate) fn want(&self, told: bool) {
        let mut state = self.0.borrow_mut();
        if state.wanted != Wanted::NotYet {
            return;
        }
        state.wanted = Wanted::Yes;
        let of_block = state.block.as_ref().and_then(|said| said.algorithm);
        // The body as it was transferred waits as a part of the block.
        let transferred = state.body.and_then(|at| state.of_block.waiting.get(at..));
        let is_last = state.last == Form::Transferred;
        let algorithm = state.payload.as_ref().and_then(|said| said.algorithm);
        let is_told = told && matches!(algorithm, Some(Algorithm::Sha1 | Algorithm::Sha256));
        let transferred = transferred.filter(|_| algorithm.is_some() && !(is_told && is_last));
        let transferred = transferred.map(<[u8]>::to_vec).unwrap_or_default();
        state.of_block.begin(of_block);
        state.forms[Form::Transferred as usize].waiting = transferred;
        let last = state.last as usize;
        for (at, form) in state.forms.iter_mut().enumerate() {
            let is_needed = form.is_there && !(is_told && at == last);
            form.begin(algorithm.filter(|_| is_needed));
        }
    }

    /// Begins to digest for a record whose body nobody asked for and whose block has `length` bytes. Its block digest
    /// covers the payload; the payload digest is compared only where there is no other. To digest every long block took
    /// 16 % of the time to read an archive of pages; a sample of them takes 2 %.
    pub(super) fn want_in_passing(&self, length: u64) {
        let mut state = self.0.borrow_mut();
        if state.wanted != Wanted::NotYet {
            return;
        }
        state.in_passing = true;
        if state.block.as_ref().is_some_and(Said::is_known) {
            state.payload = None;
        }
        let said = state.payload.as_ref().or(state.block.as_ref());
        let is_sampled = length <= SHORT || said.is_some_and(Said::is_sampled);
        drop(state);
        if !is_sampled {
            return self.give_up();
        }
        self.want(false);
    }

    /// Ends the comparison, because bytes of the block are not read.
    pub(super) fn give_up(&self) {
        let mut state = self.0.borrow_mut();
        state.wanted = Wanted::No;
        state.of_block = Part::default();
        state.forms = Default::default();
    }

    /// Whether bytes that nobody asks for have to be read for its sake.
    pub(super) fn is_wanted(&self) -> bool {
        let state = self.0.borrow();
        let mut digests = [&state.block, &state.payload].into_iter().flatten();
        state.wanted == Wanted::Yes && !state.in_passing && digests.any(Said::is_known)
    }

    /// The body of the record begins behind what was read so far.
    pub(super) fn begin_body(&self) {
        let mut state = self.0.borrow_mut();
        state.body = Some(state.of_block.waiting.len());
        state.forms[Form::Transferred as usize].is_there = true;
    }

    /// The body has another form, which comes out of it unless there is a later one.
    pub(super) fn add_form(&self, form: Form) {
        let mut state = self.0.borrow_mut();
        state.forms[form as usize].is_there = true;
        state.last = form;
    }

    /// Takes bytes of the block.
    pub(super) fn take_block(&self, bytes: &[u8]) {
        let mut state = self.0.borrow_mut();
        if state.wanted == Wanted::No {
            return;
        }
        let wanted = state.wanted;
        state.of_block.take(bytes, wanted);
        if state.body.is_some() {
            let transferred = &mut state.forms[Form::Transferred as usize];
            match wanted {
                Wanted::NotYet => transferred.has_some |= !bytes.is_empty(),
                _ => transferred.take(bytes, wanted),
            }
        }
        if wanted == Wanted::NotYet && state.of_block.waiting.len() > MOST {
            drop(state);
            self.give_up();
        }
    }

    /// Takes bytes of another form of the body; none at its end.
    pub(crate) fn take_form(&self, form: Form, bytes: &[u8]) {
        let mut state = self.0.borrow_mut();
        let wanted = state.wanted;
        let part = &mut state.forms[form as usize];
        match bytes.is_empty() {
            true => part.is_whole = true,
            false => part.take(bytes, wanted),
        }
    }

    /// Takes the digests of all that came out of the body.
    pub(crate) fn tell(&self, sha1: [u8; 20], sha256: [u8; 32]) {
        let mut state = self.0.borrow_mut();
        let algorithm = state.payload.as_ref().and_then(|said| said.algorithm);
        let digest = match algorithm {
            Some(Algorithm::Sha1) => sha1.to_vec(),
            Some(Algorithm::Sha256) => sha256.to_vec(),
            _ => return,
        };
        let last = state.last as usize;
        state.forms[last].told = Some(digest);
    }

    /// Returns the result, once the block is read to its end.
    pub(super) fn finish(&self) -> DigestCheck {
        let mut state = self.0.borrow_mut();
        state.of_block.is_whole = true;
        state.forms[Form::Transferred as usize].is_whole = true;
        let (is_wanted, has_body) = (state.wanted == Wanted::Yes, state.forms[0].has_some);
        let block = state.block.as_ref();
        let block = block.map(|said| compared(said, is_wanted, "block", &[&state.of_block]));
        let payload = state
            .payload
            .as_ref()
            .map(|said| match said.is_of_nothing() && has_body {
                true => Checked::Unknown,
                false => {
                    let there = state.forms.iter().filter(|form| form.is_there);
                    let there: Vec<_> = there.collect();
                    compared(said, is_wanted, "payload", &there)
                }
            });
        DigestCheck {
            block: block.unwrap_or_default(),
            payload: payload.unwrap_or_default(),
        }
    }
}

fn compared(said: &Said, is_wanted: bool, what: &str, forms: &[&Part]) -> Checked {
    let Some(algorithm) = said.algorithm else {
        return Checked::Unknown;
    };
    let digests: Vec<_> = forms.iter().map(|form| form.digest()).collect();
    if digests.iter().flatten().any(|digest| said.is(digest)) {
        return Checked::Fits;
    }
    // A form that was not read to its end might have fitted. The caller's digest covers all bytes of its form.
    let is_known = digests.iter().all(Option::is_some);
    match digests.into_iter().flatten().next() {
        Some(found) if is_wanted && is_known => Checked::Differs(format!(
            "its {what} digest is {}, and its bytes have {}:{}",
            said.written,
            algorithm.name(),
            BASE32_NOPAD.encode(&found)
        )),
        _ => Checked::Unchecked,
    }
}

fn is_base32(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphabetic() || (b'2'..=b'7').contains(&byte);
    !text.is_empty() && text.trim_end_matches('=').bytes().all(is_digit)
}

/// Whether a text may be base64, also as it stands in URLs.
fn is_base64(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
    !text.is_empty() && text.trim_end_matches('=').bytes().all(is_digit)
}

/// A block of this length or less is always compared.
const SHORT: u64 = 4096;

/// So much of a record waits until somebody wants it. More than that comes only to those who do not ask.
const MOST: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn algorithm(written: &str) -> Option<Algorithm> {
        Said::parse(written.to_owned()).unwrap().algorithm
    }

    #[test]
    fn digests_are_read_as_writers_write_them() {
        let sha256 = "sha-256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ";
        for (written, bytes) in [
            ("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", true),
            ("3i42h3s6nnfq2msvx7xzkyayscx5qbyj", true),
            ("SHA1: DA39A3EE5E6B4B0D3255BFEF95601890AFD80709", true),
            ("md5:d41d8cd98f00b204e9800998ecf8427e", true),
            ("d41d8cd98f00b204e9800998ecf8427e", true),
            (sha256, true),
            (&format!("{sha256}===="), true),
            ("sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=", true),
            ("sha1:2jmj7l5rSw0yVb_vlWAYkK_YBwk", true),
            ("sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", false),
        ] {
            let said = Said::parse(written.to_owned()).unwrap();
            assert!(said.algorithm.is_some(), "{written}");
            assert_eq!(said.is_of_nothing(), bytes, "{written}");
        }
    }

    #[test]
    fn what_is_no_digest_that_is_known_is_told_apart() {
        for written in [
            "-",
            "sha1:",
            "sha1:-",
            "sha512:AAAA",
            "blake3:00",
            "sha1:xyz",
            "urn:sha1:X",
        ] {
            assert_eq!(algorithm(written), None, "{written}");
        }
        assert_eq!(Said::parse(String::new()), None);
    }
}
