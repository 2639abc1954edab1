//! Undoes compression, announced or not: what counts is how the bytes begin. The end of the data and its checksum are
//! verified, and an error stays one.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use ruzstd::decoding::StreamingDecoder;

use crate::Quirk;

/// A body as it was before compression.
pub(super) struct Plain {
    pub(super) bytes: Box<dyn BufRead + Send>,
    /// Whether it came compressed: then what was read of it may be wrong until its end is read.
    pub(super) is_compressed: bool,
    /// Whether something followed the end of the compressed data.
    pub(super) trailing: Trailing,
    pub(super) quirk: Option<Quirk>,
}

/// Notes that bytes follow the end of compressed data.
#[derive(Debug, Clone, Default)]
pub(super) struct Trailing(Arc<AtomicBool>);

/// The bytes as they were before compression, and what was odd about it.
pub(super) fn decompress(mut body: Box<dyn BufRead + Send>, announced: bool) -> io::Result<Plain> {
    let mut beginning = vec![0; SNIFFED];
    let length = fill(&mut body, &mut beginning)?;
    beginning.truncate(length);
    let kind = Compression::of(&beginning);
    let whole = Cursor::new(beginning).chain(body);
    let trailing = Trailing::default();
    let end = trailing.clone();
    let (bytes, is_compressed): (Box<dyn BufRead + Send>, bool) = match kind {
        Compression::None => (Box::new(whole), false),
        Compression::Gzip => (Box::new(buffered(Parts::<_, Gzip>::new(whole, end))), true),
        Compression::Zstd => (Box::new(buffered(Parts::<_, Zstd>::new(whole, end))), true),
        Compression::Zlib => (Box::new(buffered(Inflate::new(whole, true, end))), true),
        Compression::Deflate => (Box::new(buffered(Inflate::new(whole, false, end))), true),
    };
    let quirk = match (announced, is_compressed) {
        (false, true) => Some(Quirk::UnannouncedCompression),
        (true, false) if length > 0 => Some(Quirk::AnnouncedCompressionMissing),
        _ => None,
    };
    Ok(Plain {
        bytes,
        is_compressed,
        trailing,
        quirk,
    })
}

/// The bytes as they were before compression.
pub(crate) fn plain_bytes(body: Box<dyn BufRead + Send>) -> io::Result<Box<dyn BufRead + Send>> {
    Ok(decompress(body, false)?.bytes)
}

/// The bytes of a body before a coding of HTTP; `None` if it is one that cannot be undone. More than a thousand times as many
/// bytes as came are an error.
pub(crate) fn decoded(
    mut body: Box<dyn BufRead + Send>,
    coding: &str,
) -> Option<Box<dyn Read + Send>> {
    let end = Trailing::default();
    let read = Arc::<AtomicU64>::default();
    let is_zlib = match body.fill_buf() {
        // The first byte tells the method, deflate, and that of raw data does not.
        Ok([first, ..]) => first & 0x0f == 8,
        _ => true,
    };
    let body = Counted {
        body,
        read: Arc::clone(&read),
    };
    let plain: Box<dyn Read + Send> = match coding {
        "gzip" | "x-gzip" => Box::new(Parts::<_, Gzip>::new(body, end)),
        "deflate" => Box::new(Inflate::new(body, is_zlib, end)),
        "zstd" => Box::new(Parts::<_, Zstd>::new(body, end)),
        _ => return None,
    };
    Some(Box::new(Bounded {
        plain,
        read,
        given: 0,
    }))
}

/// Counts the bytes that are taken of a body.
struct Counted<R> {
    body: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.body.read(out)?;
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.body.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        self.body.consume(length);
    }
}

/// Ends what grows too much.
struct Bounded<R> {
    plain: R,
    read: Arc<AtomicU64>,
    given: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.plain.read(out)?;
        self.given += length as u64;
        let read = self.read.load(Ordering::Relaxed);
        match self.given > FREE + read.saturating_mul(MOST_GROWTH) {
            true => Err(damaged(
                "it grows more than a thousandfold when its coding is undone",
            )),
            false => Ok(length),
        }
    }
}

fn buffered<R: Read>(plain: R) -> BufReader<R> {
    BufReader::with_capacity(BLOCK, plain)
}

impl Trailing {
    /// Whether something followed.
    pub(super) fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Passes over what is left of a source, so that its connection can be used again.
    fn pass_over(&self, source: &mut impl BufRead) -> io::Result<()> {
        loop {
            let length = source.fill_buf()?.len();
            if length == 0 {
                return Ok(());
            }
            self.0.store(true, Ordering::Relaxed);
            source.consume(length);
        }
    }
}

enum Compression {
    None,
    Gzip,
    Zstd,
    Zlib,
    /// Without any header.
    Deflate,
}

impl Compression {
    fn of(beginning: &[u8]) -> Self {
        match beginning {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ if is_document(beginning) => Self::None,
            _ if inflates(beginning, true) => Self::Zlib,
            _ if inflates(beginning, false) => Self::Deflate,
            _ => Self::None,
        }
    }
}

/// Whether bytes inflate to the beginning of a document. Raw deflate has no other mark.
fn inflates(beginning: &[u8], zlib: bool) -> bool {
    let mut plain = [0; 64];
    let mut decoder = Decompress::new(zlib);
    let decoded = decoder.decompress(beginning, &mut plain, FlushDecompress::None);
    let length = usize::try_from(decoder.total_out()).unwrap_or(0);
    decoded.is_ok() && is_document(&plain[..length.min(plain.len())])
}

/// Whether bytes begin as XML does, in any encoding.
fn is_document(beginning: &[u8]) -> bool {
    let beginning = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
    let beginning = beginning.trim_ascii_start();
    matches!(
        beginning,
        [b'<', ..] | [0, b'<', ..] | [0xff, 0xfe, ..] | [0xfe, 0xff, ..]
    )
}

/// Data that comes in parts with a checksum each, one after the other.
struct Parts<R: BufRead, P: Part<R>> {
    state: State<R, P::Decoder>,
    trailing: Trailing,
}

enum State<R, D> {
    Waiting(R),
    Open(D),
    /// It was damaged.
    Lost,
}

/// One kind of compressed data that comes in parts.
trait Part<R> {
    type Decoder: Read;

    /// Whether a further part begins with this byte.
    fn begins_with(byte: u8) -> bool;
    fn open(source: R) -> io::Result<Self::Decoder>;
    /// Gives the source back behind the end of a part, whose checksum is verified.
    fn end(decoder: Self::Decoder) -> io::Result<R>;
}

impl<R: BufRead, P: Part<R>> Parts<R, P> {
    fn new(source: R, trailing: Trailing) -> Self {
        Self {
            state: State::Waiting(source),
            trailing,
        }
    }
}

impl<R: BufRead, P: Part<R>> Read for Parts<R, P> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Lost) {
                State::Lost => return Err(damaged("it was found to be damaged")),
                State::Waiting(mut source) => match source.fill_buf()?.first() {
                    Some(byte) if P::begins_with(*byte) => {
                        self.state = State::Open(P::open(source)?);
                    }
                    first => {
                        if first.is_some() {
                            self.trailing.pass_over(&mut source)?;
                        }
                        self.state = State::Waiting(source);
                        return Ok(0);
                    }
                },
                State::Open(mut decoder) => {
                    let length = decoder.read(out)?;
                    if length > 0 || out.is_empty() {
                        self.state = State::Open(decoder);
                        return Ok(length);
                    }
                    self.state = State::Waiting(P::end(decoder)?);
                }
            }
        }
    }
}

/// Members of gzip.
struct Gzip;

impl<R: BufRead> Part<R> for Gzip {
    type Decoder = GzDecoder<R>;

    fn begins_with(byte: u8) -> bool {
        byte == 0x1f
    }

    fn open(source: R) -> io::Result<Self::Decoder> {
        Ok(GzDecoder::new(source))
    }

    fn end(decoder: Self::Decoder) -> io::Result<R> {
        // It verifies the checksum itself.
        Ok(decoder.into_inner())
    }
}

/// Frames of zstd.
struct Zstd;

impl<R: BufRead> Part<R> for Zstd {
    type Decoder = Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>;

    fn begins_with(byte: u8) -> bool {
        byte == 0x28
    }

    fn open(source: R) -> io::Result<Self::Decoder> {
        Ok(Box::new(StreamingDecoder::new(source).map_err(invalid)?))
    }

    fn end(decoder: Self::Decoder) -> io::Result<R> {
        let told = decoder.decoder.get_checksum_from_data();
        if told.is_some() && told != decoder.decoder.get_calculated_checksum() {
            return Err(damaged("the checksum of a zstd frame does not fit"));
        }
        Ok(decoder.into_inner())
    }
}

/// Deflate, with the header and the checksum of zlib or without.
struct Inflate<R> {
    source: R,
    decoder: Decompress,
    trailing: Trailing,
    has_ended: bool,
}

impl<R: BufRead> Inflate<R> {
    fn new(source: R, zlib: bool, trailing: Trailing) -> Self {
        Self {
            source,
            decoder: Decompress::new(zlib),
            trailing,
            has_ended: false,
        }
    }
}

impl<R: BufRead> Read for Inflate<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.has_ended || out.is_empty() {
                return Ok(0);
            }
            let block = self.source.fill_buf()?;
            let is_over = block.is_empty();
            let (read, given) = (self.decoder.total_in(), self.decoder.total_out());
            let status = self.decoder.decompress(block, out, FlushDecompress::None);
            let status = status.map_err(|error| damaged(&error.to_string()))?;
            // Both are at most as long as the buffers.
            let read = usize::try_from(self.decoder.total_in() - read).unwrap_or_default();
            let given = usize::try_from(self.decoder.total_out() - given).unwrap_or_default();
            self.source.consume(read);
            if status == Status::StreamEnd {
                self.has_ended = true;
                self.trailing.pass_over(&mut self.source)?;
            }
            if given > 0 {
                return Ok(given);
            }
            if is_over && !self.has_ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

fn damaged(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.to_owned())
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

fn fill(source: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < out.len() {
        match source.read(&mut out[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

const BLOCK: usize = 64 * 1024;
/// How often as many bytes may come of compressed ones, beyond the first mebibyte.
const MOST_GROWTH: u64 = 1100;
const FREE: u64 = 1 << 20;
/// By as many bytes compression is recognised.
const SNIFFED: usize = 512;

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    const TEXT: &[u8] = b"<OAI-PMH>a text with a title that is longer than what its kind is told by, and no more</OAI-PMH>";

    /// The text in each coding with a checksum, uncompressed inside: a changed letter stays one.
    fn codings() -> [Vec<u8>; 3] {
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::none());
        gzip.write_all(TEXT).unwrap();
        let mut zlib = ZlibEncoder::new(Vec::new(), flate2::Compression::none());
        zlib.write_all(TEXT).unwrap();
        let level = ruzstd::encoding::CompressionLevel::Uncompressed;
        let zstd = ruzstd::encoding::compress_to_vec(TEXT, level);
        [gzip.finish().unwrap(), zlib.finish().unwrap(), zstd]
    }

    fn read(bytes: Vec<u8>) -> (io::Result<Vec<u8>>, bool) {
        // Byte by byte, so that every header is split.
        let body = BufReader::with_capacity(1, Cursor::new(bytes));
        let mut plain = decompress(Box::new(body), true).unwrap();
        assert!(plain.is_compressed);
        let mut text = Vec::new();
        let read = plain.bytes.read_to_end(&mut text);
        if read.is_err() {
            assert!(plain.bytes.read_to_end(&mut text).is_err(), "it stays one");
        }
        (read.map(|_| text), plain.trailing.is_there())
    }

    #[test]
    fn a_changed_letter_is_noticed_by_the_checksum_of_every_coding() {
        for coded in codings() {
            let (text, trailing) = read(coded.clone());
            assert_eq!((text.unwrap(), trailing), (TEXT.to_vec(), false));

            let at = memchr::memmem::find(&coded, b"title").unwrap();
            let mut changed = coded.clone();
            changed[at] ^= 1;
            assert!(read(changed).0.is_err(), "{coded:?}");
        }
    }

    #[test]
    fn data_that_breaks_off_at_any_byte_is_noticed() {
        for coded in codings() {
            // The kind is known by the first bytes.
            for length in 40..coded.len() {
                assert!(read(coded[..length].to_vec()).0.is_err(), "{length}");
            }
        }
    }

    #[test]
    fn bytes_behind_the_end_are_passed_over_and_told() {
        for coded in codings() {
            for behind in [&b"\0\0\0"[..], b"<!-- 0.1 s -->"] {
                let (text, trailing) = read([&coded, behind].concat());
                assert_eq!((text.unwrap(), trailing), (TEXT.to_vec(), true));
            }
        }
        let [gzip, _, zstd] = codings();
        for coded in [gzip, zstd] {
            let (text, trailing) = read([&*coded, &coded].concat());
            assert_eq!((text.unwrap(), trailing), ([TEXT, TEXT].concat(), false));
        }
    }
}
