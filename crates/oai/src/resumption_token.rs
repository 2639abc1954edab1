//! Resumption tokens that carry everything: no state is kept for them, so they never expire and survive
//! a restart. A checksum under the repository's own key tells forged and foreign ones.

use sha2::{Digest, Sha256};

use crate::{Datestamp, MetadataPrefix, Selection, SetSpec};

/// The two verbs whose answers come in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the protocol's own")]
pub enum ListVerb {
    ListIdentifiers,
    ListRecords,
}

/// The end of a page: the next one begins behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Of the last item given.
    pub datestamp: Datestamp,
    /// Its number in the repository, which orders items of one datestamp.
    pub id: i64,
}

/// The state of a list, from which the next page is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumptionToken {
    /// The verb the list belongs to.
    pub verb: ListVerb,
    /// The arguments of the list; `until` is always set, fixed when the list began.
    pub selection: Selection,
    /// The requester's own `until`, if it gave one: the list never goes on beyond it.
    pub requested_until: Option<Datestamp>,
    /// The end of the last page.
    pub position: Position,
    /// How many records have been given so far.
    pub cursor: u64,
    /// How many there are in all, where that is known.
    pub complete_list_size: Option<u64>,
}

/// The secret under which a repository signs its tokens.
#[derive(Debug, Clone)]
pub struct TokenKey([u8; 32]);

impl TokenKey {
    /// Makes a key of the repository's secret bytes.
    pub fn new(secret: &[u8]) -> Self {
        Self(Sha256::digest(secret).into())
    }

    /// Two rounds, so that knowing one token does not help in lengthening it.
    fn checksum(&self, payload: &[u8]) -> [u8; 9] {
        let inner = Sha256::new()
            .chain_update(self.0)
            .chain_update(payload)
            .finalize();
        let outer = Sha256::new()
            .chain_update(self.0)
            .chain_update(inner)
            .finalize();
        let mut checksum = [0; 9];
        checksum.copy_from_slice(&outer[..9]);
        checksum
    }
}

impl ResumptionToken {
    /// Writes the token in URL-safe characters.
    pub fn encode(&self, key: &TokenKey) -> String {
        let payload = self.payload();
        let mut bytes = key.checksum(payload.as_bytes()).to_vec();
        bytes.extend_from_slice(payload.as_bytes());
        base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes)
    }

    /// Reads a token of this repository; any other text is `None`.
    pub fn decode(text: &str, key: &TokenKey) -> Option<Self> {
        let bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text).ok()?;
        let (checksum, payload) = bytes.split_at_checked(9)?;
        if key.checksum(payload) != checksum {
            return None;
        }
        Self::parse(std::str::from_utf8(payload).ok()?)
    }

    /// Space cannot occur in a prefix or a setSpec, so it separates the fields.
    fn payload(&self) -> String {
        let number = |n: Option<i64>| n.map_or("-".to_owned(), |n| n.to_string());
        let size = self
            .complete_list_size
            .and_then(|size| i64::try_from(size).ok());
        let fields = [
            match self.verb {
                ListVerb::ListIdentifiers => "I".to_owned(),
                ListVerb::ListRecords => "R".to_owned(),
            },
            self.selection.metadata_prefix.to_string(),
            self.selection
                .set
                .as_ref()
                .map_or("/".to_owned(), SetSpec::to_string),
            number(self.selection.from.map(Datestamp::seconds)),
            number(self.selection.until.map(Datestamp::seconds)),
            number(self.requested_until.map(Datestamp::seconds)),
            self.position.datestamp.seconds().to_string(),
            self.position.id.to_string(),
            self.cursor.to_string(),
            number(size),
        ];
        fields.join(" ")
    }

    fn parse(payload: &str) -> Option<Self> {
        let fields: Vec<&str> = payload.split(' ').collect();
        let [
            verb,
            prefix,
            set,
            from,
            until,
            requested_until,
            datestamp,
            id,
            cursor,
            size,
        ] = fields[..]
        else {
            return None;
        };
        let date = |field: &str| match field {
            "-" => Some(None),
            seconds => Some(Some(Datestamp::from_seconds(seconds.parse().ok()?))),
        };
        Some(Self {
            verb: match verb {
                "I" => ListVerb::ListIdentifiers,
                "R" => ListVerb::ListRecords,
                _ => return None,
            },
            selection: Selection {
                metadata_prefix: MetadataPrefix::parse(prefix)?,
                set: match set {
                    "/" => None,
                    spec => Some(SetSpec::parse(spec)?),
                },
                from: date(from)?,
                until: date(until)?,
            },
            requested_until: date(requested_until)?,
            position: Position {
                datestamp: date(datestamp)??,
                id: id.parse().ok()?,
            },
            cursor: cursor.parse().ok()?,
            complete_list_size: match size {
                "-" => None,
                size => Some(size.parse().ok()?),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> ResumptionToken {
        ResumptionToken {
            verb: ListVerb::ListRecords,
            selection: Selection {
                metadata_prefix: MetadataPrefix::parse("oai_dc").unwrap(),
                set: SetSpec::parse("mime:text"),
                from: None,
                until: Some(Datestamp::from_seconds(1_794_775_747)),
            },
            requested_until: Some(Datestamp::from_seconds(1_794_775_800)),
            position: Position {
                datestamp: Datestamp::from_seconds(-5),
                id: 77,
            },
            cursor: 500,
            complete_list_size: Some(1234),
        }
    }

    #[test]
    fn comes_back_as_it_went_out() {
        let key = TokenKey::new(b"ours");
        let text = token().encode(&key);

        assert!(
            text.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        );
        assert_eq!(ResumptionToken::decode(&text, &key), Some(token()));
    }

    #[test]
    fn foreign_and_damaged_tokens_are_refused() {
        let key = TokenKey::new(b"ours");
        let text = token().encode(&key);

        assert_eq!(
            ResumptionToken::decode(&text, &TokenKey::new(b"theirs")),
            None
        );
        for at in 0..text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
            let damaged = String::from_utf8(damaged).unwrap();
            assert_eq!(ResumptionToken::decode(&damaged, &key), None, "{at}");
        }
        for junk in ["", "junk", "AAAA", &text[1..], &text[..text.len() - 1]] {
            assert_eq!(ResumptionToken::decode(junk, &key), None, "{junk}");
        }
    }
}
