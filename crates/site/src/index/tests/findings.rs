//! Results that are kept, or cannot be.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::index::findings::{Finding, Findings};

fn finding(item: i64, outcome: &str) -> Finding {
    Finding {
        item,
        key: "words".to_owned(),
        mark: 1,
        outcome: outcome.to_owned(),
    }
}

#[test]
fn what_cannot_be_kept_is_noticed_once_and_made_again() {
    let data = tempfile::tempdir().unwrap();
    let index = open(data.path(), 1);
    index.apply(&[file("a.txt", 1)]).unwrap();
    let item = rows(&index)[0].id;
    let kept = || index.reader().unwrap().plugin_result(item, "words", 1);
    let (findings, failing) = (Findings::default(), AtomicBool::new(false));

    let forbid = |forbidden| locked(&index.notes).pragma_update(None, "query_only", forbidden);
    forbid(true).unwrap();
    findings.add(finding(item, "lost"));
    findings.keep(&index, &failing);
    assert!(failing.load(Ordering::Relaxed));
    assert_eq!(kept().unwrap(), None);

    forbid(false).unwrap();
    findings.add(finding(item, "3"));
    findings.keep(&index, &failing);
    assert!(!failing.load(Ordering::Relaxed));
    assert_eq!(kept().unwrap().unwrap(), "3");
}

#[test]
fn many_findings_are_not_kept_waiting() {
    let findings = Findings::default();
    let waited = (0..1000).take_while(|item| !findings.add(finding(*item, "3")));
    assert!(waited.count() < 100);
}
