//! The sniffer on real files from beside the project; without them the tests say so and pass.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use document::media_type::{HEAD, decide};

#[test]
fn real_pdfs_are_pdfs() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/dcf/pdf");
    let Ok(entries) = fs::read_dir(directory) else {
        eprintln!("SKIPPED: the PDFs are not there");
        return;
    };
    let mut count = 0;
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "pdf") {
            continue;
        }
        let mut head = Vec::new();
        File::open(&path)
            .unwrap()
            .take(HEAD as u64)
            .read_to_end(&mut head)
            .unwrap();

        let found = decide(Some("text/html"), &head);

        assert_eq!(found.decided, "application/pdf", "{}", path.display());
        count += 1;
    }
    assert!(count > 0);
}
