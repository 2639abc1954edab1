//! The heads of records and of HTTP responses. What comes from outside cannot add lines to them.

use std::fmt::Write;
use std::time::SystemTime;

/// The head of a WARC record, field by field.
#[derive(Debug)]
pub(super) struct Head {
    text: String,
}

impl Head {
    pub(super) fn new(warc_type: &str, id: &str, date: SystemTime) -> Self {
        let mut head = Self {
            text: "WARC/1.1\r\n".to_owned(),
        };
        head.field("WARC-Type", warc_type);
        head.field("WARC-Record-ID", id);
        head.field("WARC-Date", &date_text(date));
        head
    }

    pub(super) fn field(&mut self, name: &str, value: &str) {
        self.text.push_str(name);
        self.text.push_str(": ");
        self.text.push_str(&one_line(value));
        self.text.push_str("\r\n");
    }

    pub(super) fn finish(mut self, length: u64) -> String {
        self.field("Content-Length", &length.to_string());
        self.text.push_str("\r\n");
        self.text
    }
}

/// The head of an HTTP response. The length is that of the body as it is, which is not chunked any more.
pub(super) fn response(status: u16, fields: &[(String, String)], length: u64) -> String {
    let mut text = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    let mut has_length = false;
    for (name, value) in fields {
        if !is_token(name) || name.eq_ignore_ascii_case("Transfer-Encoding") {
            continue;
        }
        let is_length = name.eq_ignore_ascii_case("Content-Length");
        if is_length && has_length {
            continue;
        }
        has_length |= is_length;
        let value = match is_length {
            true => length.to_string(),
            false => one_line(value),
        };
        let _ = write!(text, "{name}: {value}\r\n");
    }
    if !has_length {
        let _ = write!(text, "Content-Length: {length}\r\n");
    }
    text.push_str("\r\n");
    text
}

/// A URL as the field of a head: what cannot stand there is percent-encoded.
pub(super) fn target(url: &str) -> String {
    let mut target = String::with_capacity(url.len());
    for c in url.chars() {
        if c.is_control() || c.is_whitespace() || matches!(c, '<' | '>' | '"') {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(target, "%{byte:02X}");
            }
        } else {
            target.push(c);
        }
    }
    target
}

/// `YYYY-MM-DDThh:mm:ssZ`, as OAI-PMH has it too.
pub(super) fn date_text(time: SystemTime) -> String {
    let timestamp = jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Fourteen digits, for names of files.
pub(super) fn date_digits(time: SystemTime) -> String {
    let digits = date_text(time);
    digits.chars().filter(char::is_ascii_digit).collect()
}

fn one_line(value: &str) -> String {
    let plain = value.trim().chars();
    plain
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// Whether RFC 9110 allows `name` as the name of a field.
fn is_token(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(legal)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        404 => "Not Found",
        410 => "Gone",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_from_outside_cannot_add_lines() {
        let fields = [
            ("X-A".to_owned(), "one\r\nX-Evil: two".to_owned()),
            ("X-B\r\nX-Evil".to_owned(), "three".to_owned()),
            ("Transfer-Encoding".to_owned(), "chunked".to_owned()),
            ("content-length".to_owned(), "7".to_owned()),
        ];

        let head = response(200, &fields, 5);

        assert_eq!(
            head,
            "HTTP/1.1 200 OK\r\nX-A: one  X-Evil: two\r\ncontent-length: 5\r\n\r\n"
        );
        assert_eq!(target("http://h/a b\r\n<x>"), "http://h/a%20b%0D%0A%3Cx%3E");
    }
}
