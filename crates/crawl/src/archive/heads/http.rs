//! The head of an HTTP message in a record.

use super::fields;

/// The parsed head of a response.
#[derive(Debug, Default)]
pub(in crate::archive) struct HttpHead {
    pub(in crate::archive) status: Option<i32>,
    pub(in crate::archive) media_type: Option<String>,
    pub(in crate::archive) last_modified: Option<String>,
    pub(in crate::archive) is_chunked: bool,
    /// How many bytes the server announced.
    pub(in crate::archive) length: Option<u64>,
    /// The content codings, in the order in which they were applied.
    pub(in crate::archive) codings: Vec<String>,
}

impl HttpHead {
    pub(in crate::archive) fn parse(head: &[u8]) -> Self {
        let (line, rest) = fields::first_line(head);
        let mut parsed = Self {
            status: status(line),
            ..Self::default()
        };
        fields::each(rest, |name, value| {
            let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
            match name.len() {
                12 if is("Content-Type") => parsed.media_type = fields::media_type(&value),
                14 if is("Content-Length") => parsed.length = number(&value),
                13 if is("Last-Modified") => parsed.last_modified = fields::short(&value),
                17 if is("Transfer-Encoding") => {
                    parsed.is_chunked |= words(&value).any(|word| word == "chunked");
                }
                16 if is("Content-Encoding") => {
                    // One more than is undone, so that too many are noticed.
                    let coded = words(&value).filter(|word| word != "identity");
                    let room = CODINGS + 1 - parsed.codings.len();
                    parsed.codings.extend(coded.take(room));
                }
                _ => {}
            }
        });
        parsed
    }
}

/// Whether an HTTP response begins here. Some servers of streams call it ICY.
pub(in crate::archive) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HTTP/") || bytes.starts_with(b"ICY ")
}

/// The header `Referer` of a request.
pub(in crate::archive) fn referer(head: &[u8]) -> Option<String> {
    let mut referer = None;
    fields::each(fields::first_line(head).1, |name, value| {
        if name.eq_ignore_ascii_case(b"Referer") {
            referer = fields::url(&value).or(referer.take());
        }
    });
    referer
}

fn status(line: &[u8]) -> Option<i32> {
    let mut words = line.split(u8::is_ascii_whitespace);
    words.next();
    let word = words.find(|word| !word.is_empty())?;
    let number: i32 = std::str::from_utf8(word).ok()?.parse().ok()?;
    (100..1000).contains(&number).then_some(number)
}

fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value.trim_ascii()).ok()?.parse().ok()
}

fn words(value: &[u8]) -> impl Iterator<Item = String> {
    let words = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    words
        .filter_map(fields::short)
        .map(|word| word.to_ascii_lowercase())
}

/// Nobody compresses a thing more often.
pub(in crate::archive) const CODINGS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_servers_write_them() {
        let head = HttpHead::parse(
            b"HTTP/1.1  404\r\ncontent-type:Text/HTML; charset=x\r\nTransfer-Encoding: chunked\nContent-Encoding: gzip, br\r\nContent-Length: 12\r\n\r\n",
        );

        assert_eq!(head.status, Some(404));
        assert_eq!(head.media_type.as_deref(), Some("text/html"));
        assert!(head.is_chunked);
        assert_eq!(head.length, Some(12));
        assert_eq!(head.codings, ["gzip", "br"]);
    }

    #[test]
    fn a_status_that_is_none_is_none() {
        for line in [
            "HTTP/1.1",
            "HTTP/1.1 OK",
            "HTTP/1.1 99999999999",
            "HTTP/1.1 7",
        ] {
            assert_eq!(HttpHead::parse(line.as_bytes()).status, None, "{line}");
        }
    }
}
