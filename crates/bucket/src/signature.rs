//! Signs requests: Signature Version 4 of Amazon Web Services.

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};
use url::Url;

use crate::credentials::Credentials;
use crate::encoding::encoded;

/// A request that is to be signed.
pub(crate) struct Unsigned<'a> {
    pub(crate) method: &'a str,
    /// With its path encoded and without a query.
    pub(crate) url: &'a Url,
    /// The query as names and values, not encoded.
    pub(crate) query: &'a [(&'a str, &'a str)],
    /// Headers beside those of the signature, in small letters.
    pub(crate) headers: &'a [(&'a str, String)],
    /// The SHA-256 of the body.
    pub(crate) digest: &'a str,
}

/// The query as it is sent.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let mut pairs: Vec<_> = pairs
        .iter()
        .map(|(name, value)| (encoded(name, false), encoded(value, false)))
        .collect();
    pairs.sort();
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("&")
}

/// The headers that a request is sent with.
pub(crate) fn sign(
    request: &Unsigned<'_>,
    credentials: &Credentials,
    region: &str,
    now: Timestamp,
) -> Vec<(String, String)> {
    let time = now
        .to_zoned(TimeZone::UTC)
        .strftime("%Y%m%dT%H%M%SZ")
        .to_string();
    let day = &time[..8];
    let mut headers: Vec<(String, String)> = request
        .headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    headers.push(("x-amz-content-sha256".to_owned(), request.digest.to_owned()));
    headers.push(("x-amz-date".to_owned(), time.clone()));
    if let Some(token) = &credentials.token {
        headers.push(("x-amz-security-token".to_owned(), token.clone()));
    }
    let mut signed = headers.clone();
    signed.push(("host".to_owned(), host(request.url)));
    signed.sort();
    let names: Vec<_> = signed.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(";");
    let lines: String = signed
        .iter()
        .map(|(name, value)| format!("{name}:{}\n", value.trim()))
        .collect();
    let canonical = format!(
        "{}\n{}\n{}\n{lines}\n{names}\n{}",
        request.method,
        request.url.path(),
        query(request.query),
        request.digest
    );
    let scope = format!("{day}/{region}/s3/aws4_request");
    let to_sign = format!(
        "AWS4-HMAC-SHA256\n{time}\n{scope}\n{}",
        HEXLOWER.encode(&Sha256::digest(canonical))
    );
    let mut key = mac(format!("AWS4{}", credentials.secret).as_bytes(), day);
    for part in [region, "s3", "aws4_request"] {
        key = mac(&key, part);
    }
    let signature = HEXLOWER.encode(&mac(&key, &to_sign));
    let access = &credentials.key;
    headers.push((
        "authorization".to_owned(),
        format!("AWS4-HMAC-SHA256 Credential={access}/{scope}, SignedHeaders={names}, Signature={signature}"),
    ));
    headers
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of HMAC has any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples in Amazon's documentation of the signature for S3.
    fn signature(url: &str, query: &[(&str, &str)], headers: &[(&str, String)]) -> String {
        let credentials = Credentials {
            key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            token: None,
            expires: None,
        };
        let request = Unsigned {
            method: "GET",
            url: &Url::parse(url).unwrap(),
            query,
            headers,
            digest: &HEXLOWER.encode(&Sha256::digest(b"")),
        };
        let now: Timestamp = "2013-05-24T00:00:00Z".parse().unwrap();
        let headers = sign(&request, &credentials, "us-east-1", now);
        let (_, value) = headers.last().unwrap().clone();
        value.rsplit('=').next().unwrap().to_owned()
    }

    #[test]
    fn signatures_are_those_of_the_documentation() {
        let range = [("range", "bytes=0-9".to_owned())];
        assert_eq!(
            signature(
                "https://examplebucket.s3.amazonaws.com/test.txt",
                &[],
                &range
            ),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        let query = [("max-keys", "2"), ("prefix", "J")];
        assert_eq!(
            signature("https://examplebucket.s3.amazonaws.com/", &query, &[]),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        );
    }
}
