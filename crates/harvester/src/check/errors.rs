//! The rules of errors: wrong requests get the error that the protocol has for them.

use super::Check;

/// An identifier that no repository has.
const NOWHERE: &str = "oai:no-such-host.invalid:no-such-item";
/// A prefix that no repository has.
const NO_FORMAT: &str = "no_such_format";

impl Check<'_> {
    pub(super) fn errors(&mut self) {
        let prefix = self.facts.prefix.clone();
        let prefix = prefix.as_str();
        for arguments in [
            &[][..],
            &[("verb", "NoSuchVerb")],
            &[("verb", "identify")],
            &[("verb", "Identify"), ("verb", "Identify")],
        ] {
            self.expect_error("bad-verb", arguments, &["badVerb"]);
        }
        for arguments in [
            &[("verb", "Identify"), ("colour", "blue")][..],
            &[("verb", "ListRecords")],
            &[("verb", "GetRecord"), ("metadataPrefix", prefix)],
            &[
                ("verb", "ListIdentifiers"),
                ("metadataPrefix", prefix),
                ("metadataPrefix", prefix),
            ],
        ] {
            self.expect_error("bad-argument", arguments, &["badArgument"]);
        }
        for arguments in [
            &[
                ("verb", "GetRecord"),
                ("identifier", NOWHERE),
                ("metadataPrefix", prefix),
            ][..],
            &[("verb", "ListMetadataFormats"), ("identifier", NOWHERE)],
        ] {
            self.expect_error("no-id", arguments, &["idDoesNotExist"]);
        }
        let list = [("verb", "ListRecords"), ("metadataPrefix", NO_FORMAT)];
        self.expect_error("no-format", &list, &["cannotDisseminateFormat"]);
        let record = self.facts.records.iter().find(|record| !record.is_deleted);
        if let Some(identifier) = record.map(|record| record.identifier.clone()) {
            let get = [
                ("verb", "GetRecord"),
                ("identifier", identifier.as_str()),
                ("metadataPrefix", NO_FORMAT),
            ];
            self.expect_error("no-format", &get, &["cannotDisseminateFormat"]);
        }
        for verb in ["ListIdentifiers", "ListRecords"] {
            let garbled = [
                ("verb", verb),
                ("resumptionToken", "no such token / \u{e9}+&"),
            ];
            self.expect_error("bad-token", &garbled, &["badResumptionToken"]);
        }
        let both = [
            ("verb", "ListRecords"),
            ("metadataPrefix", prefix),
            ("resumptionToken", "no-such-token"),
        ];
        self.expect_error("token-alone", &both, &["badArgument"]);
    }
}
