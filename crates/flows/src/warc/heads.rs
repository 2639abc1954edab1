//! The heads of WARC records: whether they have the fields that each record needs, and digests that can be ones.

use std::collections::BTreeSet;

use data_encoding::{BASE32_NOPAD, BASE64_NOPAD};

/// The faults of a head.
pub(super) fn problems(head: &[u8]) -> Vec<String> {
    let mut names = BTreeSet::new();
    let mut lengths = BTreeSet::new();
    let mut problems = Vec::new();
    for line in head.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            continue;
        };
        let [name, value] = [&line[..colon], &line[colon + 1..]].map(<[u8]>::trim_ascii);
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let value = String::from_utf8_lossy(value).into_owned();
        if name == "content-length" {
            lengths.insert(value.clone());
        }
        let digest = DIGESTS
            .iter()
            .find(|digest| digest.eq_ignore_ascii_case(&name));
        if let Some(digest) = digest.filter(|_| is_malformed(&value)) {
            problems.push(format!("its {digest} is none: {value}"));
        }
        if !value.is_empty() {
            names.insert(name);
        }
    }
    for needed in ["WARC-Record-ID", "WARC-Date"] {
        if !names.contains(&needed.to_ascii_lowercase()) {
            problems.push(format!("its head has no {needed}"));
        }
    }
    if lengths.len() > 1 {
        let lengths: Vec<_> = lengths.into_iter().collect();
        problems.push(format!(
            "its head has several lengths: {}",
            lengths.join(", ")
        ));
    }
    problems
}

/// Whether a digest of an algorithm that is known has not the digits of one. Some writers put a hyphen for none.
fn is_malformed(digest: &str) -> bool {
    let Some((algorithm, value)) = digest.split_once(':') else {
        return false;
    };
    let length = match algorithm.trim().to_ascii_lowercase().as_str() {
        "md5" => 16,
        "sha1" | "sha-1" => 20,
        "sha256" | "sha-256" => 32,
        _ => return false,
    };
    let value = value.trim();
    let bare = value.trim_end_matches('=');
    if matches!(bare, "" | "-") {
        return false;
    }
    let is_hex = value.len() == length * 2 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    let base32 = BASE32_NOPAD.decode(bare.to_ascii_uppercase().as_bytes());
    let base64 = BASE64_NOPAD.decode(bare.replace('-', "+").replace('_', "/").as_bytes());
    let is_long = |bytes: Result<Vec<u8>, _>| bytes.is_ok_and(|bytes| bytes.len() == length);
    !(is_hex || is_long(base32) || is_long(base64))
}

const DIGESTS: [&str; 2] = ["WARC-Block-Digest", "WARC-Payload-Digest"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_that_lack_fields_or_have_impossible_ones_are_told() {
        let good = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:x>\r\nContent-Length: 5\r\n";
        assert_eq!(problems(good.as_bytes()), Vec::<String>::new());
        for (more, problem) in [
            (
                "WARC-Payload-Digest: sha1:zz\r\n",
                "its WARC-Payload-Digest is none: sha1:zz",
            ),
            (
                "warc-block-digest: sha1:1I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n",
                "its WARC-Block-Digest is none: sha1:1I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            ),
            (
                "Content-Length: 6\r\n",
                "its head has several lengths: 5, 6",
            ),
        ] {
            assert_eq!(problems(format!("{good}{more}").as_bytes()), [problem]);
        }
        for more in [
            "WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n",
            "WARC-Payload-Digest: sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=\r\n",
            "WARC-Payload-Digest: sha512:AAAA\r\n",
            "WARC-Payload-Digest: sha1:-\r\n",
            "Content-Length: 5\r\n",
        ] {
            assert_eq!(
                problems(format!("{good}{more}").as_bytes()),
                Vec::<String>::new()
            );
        }
        let told = problems(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 5\r\n");
        assert_eq!(
            told,
            [
                "its head has no WARC-Record-ID",
                "its head has no WARC-Date"
            ]
        );
    }
}
