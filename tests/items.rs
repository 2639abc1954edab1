//! Which files are items, and their identifiers.

use std::collections::BTreeSet;

use test_support::{Fixture, get};

use crate::garner;

#[test]
fn every_odd_name_is_one_item_under_its_own_url() {
    let fixture = Fixture::empty();
    let names: [&[u8]; 12] = [
        b"a b.txt",
        b"a&b.txt",
        b"50%.txt",
        "na\u{ef}ve caf\u{e9}.txt".as_bytes(),
        b"latin-\xe9.txt",
        b"plus+plus.txt",
        b"hash#.x.txt",
        b"what?.txt",
        b"quote\"'s<x>.txt",
        b"back\\slash.txt",
        b"line\nbreak.txt",
        b"d/\x01\x7f.txt",
    ];
    for name in names {
        fixture.write(name, name);
    }

    let server = garner().serve(&fixture, "");

    let headers = server.all();
    assert_eq!(headers.len(), names.len());
    let mut bodies: BTreeSet<Vec<u8>> = BTreeSet::new();
    for header in &headers {
        let response = get(&header.identifier);
        assert_eq!(response.status, 200, "{}", header.identifier);
        bodies.insert(response.body);
        let record = server.record(&header.identifier, "oai_didl");
        assert_eq!(record.headers(), std::slice::from_ref(header));
    }
    assert_eq!(bodies, names.iter().map(|name| name.to_vec()).collect());
}
