//! Mends request lines that hold characters which no URL may hold.
//!
//! Quirk: curl, Python's urllib and old harvesters send quotes, angle brackets and bytes beyond ASCII in a
//! query as they are. Other servers take that; hyper refuses it before anybody could answer in XML.

/// The longest line that is looked at.
pub(crate) const LONGEST: usize = 64 * 1024;

/// The same bytes with the first request line escaped as it should have been; `None` if it is fine or if this
/// does not look like the beginning of a request.
pub(crate) fn mend(bytes: &[u8]) -> Option<Vec<u8>> {
    let end = bytes.iter().take(LONGEST).position(|byte| *byte == b'\n')?;
    let line = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
    let method = [&b"GET "[..], b"HEAD ", b"POST "]
        .into_iter()
        .find(|method| line.starts_with(method))?;
    let version = [&b" HTTP/1.1"[..], b" HTTP/1.0"]
        .into_iter()
        .find(|version| line.ends_with(version))?;
    let target = line.get(method.len()..line.len() - version.len())?;
    if target.iter().all(|byte| is_fine(*byte)) {
        return None;
    }
    let mut mended = method.to_vec();
    for &byte in target {
        match is_fine(byte) {
            true => mended.push(byte),
            false => mended.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
    mended.extend_from_slice(version);
    mended.extend_from_slice(&bytes[line.len()..]);
    Some(mended)
}

fn is_fine(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_url_may_hold_is_escaped() {
        let request =
            b"GET /modoai?identifier=invalid\"id<\xE9> x HTTP/1.1\r\nHost: a\r\nX: \"\r\n\r\n";
        let mended = mend(request).unwrap();
        let expected = b"GET /modoai?identifier=invalid%22id%3C%E9%3E%20x HTTP/1.1\r\nHost: a\r\nX: \"\r\n\r\n";
        assert_eq!(mended, expected);
    }

    #[test]
    fn what_is_fine_or_no_request_line_stays() {
        for bytes in [
            &b"GET /a%22?b=c HTTP/1.1\r\n\r\n"[..],
            b"GET /a\" HTTP/1.1",
            b"verb=\"x\"\n",
            b"BREW /\" HTTP/1.1\r\n",
            b"GET \" HTTP/2\r\n",
            b"GET  HTTP/1.1\r\n",
            b"GET HTTP/1.1\r\n",
            b"",
        ] {
            assert_eq!(mend(bytes), None, "{:?}", String::from_utf8_lossy(bytes));
        }
    }
}
