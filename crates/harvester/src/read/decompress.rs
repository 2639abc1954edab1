//! Undoes compression, announced or not: what counts is how the bytes begin.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use flate2::{Decompress, FlushDecompress};
use ruzstd::decoding::StreamingDecoder;

use crate::Quirk;

/// The bytes as they were before compression, and what was odd about it.
pub(super) fn decompress(
    mut body: Box<dyn BufRead + Send>,
    announced: bool,
) -> io::Result<(Box<dyn BufRead + Send>, Option<Quirk>)> {
    let mut beginning = vec![0; SNIFFED];
    let length = fill(&mut body, &mut beginning)?;
    beginning.truncate(length);
    let kind = Compression::of(&beginning);
    let whole = Cursor::new(beginning).chain(body);
    let (plain, compressed): (Box<dyn BufRead + Send>, bool) = match kind {
        Compression::None => (Box::new(whole), false),
        Compression::Gzip => (Box::new(buffered(MultiGzDecoder::new(whole))), true),
        Compression::Zstd => (Box::new(buffered(Zstd::new(whole))), true),
        Compression::Zlib => (Box::new(buffered(ZlibDecoder::new(whole))), true),
        Compression::Deflate => (Box::new(buffered(DeflateDecoder::new(whole))), true),
    };
    let quirk = match (announced, compressed) {
        (false, true) => Some(Quirk::UnannouncedCompression),
        (true, false) if length > 0 => Some(Quirk::AnnouncedCompressionMissing),
        _ => None,
    };
    Ok((plain, quirk))
}

/// The bytes as they were before compression.
pub(crate) fn plain_bytes(body: Box<dyn BufRead + Send>) -> io::Result<Box<dyn BufRead + Send>> {
    Ok(decompress(body, false)?.0)
}

fn buffered<R: Read>(plain: R) -> BufReader<R> {
    BufReader::with_capacity(BLOCK, plain)
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

/// Frames of zstd, one after the other.
struct Zstd<R: BufRead> {
    frame: Frame<R>,
}

enum Frame<R: BufRead> {
    Waiting(R),
    Open(Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
    Lost,
}

impl<R: BufRead> Zstd<R> {
    fn new(source: R) -> Self {
        Self {
            frame: Frame::Waiting(source),
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.frame, Frame::Lost) {
                Frame::Lost => return Err(io::ErrorKind::InvalidData.into()),
                Frame::Waiting(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        self.frame = Frame::Waiting(source);
                        return Ok(0);
                    }
                    let decoder = StreamingDecoder::new(source).map_err(invalid)?;
                    self.frame = Frame::Open(Box::new(decoder));
                }
                Frame::Open(mut decoder) => {
                    let length = decoder.read(out)?;
                    if length > 0 || out.is_empty() {
                        self.frame = Frame::Open(decoder);
                        return Ok(length);
                    }
                    self.frame = Frame::Waiting(decoder.into_inner());
                }
            }
        }
    }
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
/// By as many bytes compression is recognised.
const SNIFFED: usize = 512;
