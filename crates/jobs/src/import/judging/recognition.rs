//! Documents that consist of images, recognised when all else is done.
//!
//! Recognition takes a hundred times as long as anything else, so nothing of the crawl waits for it. Until then such
//! documents are set aside; those that turn out to be none that are wanted stay so.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use catalog::{JudgedContent, JudgementQuery};
use document::classify::Decision;
use document::text::Outcome;
use harvester::Stop;
use store::Collection;

use super::{Found, Judging, Unsure, judge, row};
use crate::import::keeping::Keeping;
use crate::import::met;

/// Recognises the first pages of all that wait for it. Whether it came to its end: somebody may want it to stop.
pub(in crate::import) fn recognise(
    keeping: &Keeping<'_>,
    judging: &Judging<'_>,
    stop: &Stop,
) -> anyhow::Result<bool> {
    if !judging.judge().order.ocr || !judging.judge().order.content_filter {
        return Ok(true);
    }
    let mut query = JudgementQuery {
        only_unrecognised: true,
        limit: PAGE,
        ..JudgementQuery::default()
    };
    loop {
        let catalog = keeping.holdings.catalog();
        let contents = keeping.holdings.wait(catalog.judged_contents(&query))?;
        let Some(last) = contents.last() else {
            return Ok(true);
        };
        query.after = last.number;
        if !some(keeping, judging, contents, stop)? {
            return Ok(!stop.is_set());
        }
    }
}

/// Recognises some, on all threads; whether there is any use in going on.
fn some(
    keeping: &Keeping<'_>,
    judging: &Judging<'_>,
    contents: Vec<JudgedContent>,
    stop: &Stop,
) -> anyhow::Result<bool> {
    let waiting = Mutex::new(contents.into_iter());
    let useless = AtomicBool::new(false);
    let next = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = stop.is_set() || useless.load(Ordering::Relaxed);
        waiting.next().filter(|_| !is_over)
    };
    let work = || -> anyhow::Result<()> {
        while let Some(content) = next() {
            if !one(keeping, judging, &content, stop)? {
                useless.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..judging.threads()).map(|_| scope.spawn(work)).collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            if stop.is_set() {
                judging.stop();
            }
            keeping.beat(stop);
            std::thread::sleep(A_MOMENT);
        }
        for thread in threads {
            match thread.join() {
                Ok(worked) => worked?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(!stop.is_set() && !useless.load(Ordering::Relaxed))
    })
}

/// Recognises one; `false` if no other can be, for the programs are not there.
fn one(
    keeping: &Keeping<'_>,
    judging: &Judging<'_>,
    content: &JudgedContent,
    stop: &Stop,
) -> anyhow::Result<bool> {
    let judge = judging.judge();
    let (number, extension) = (content.number, &content.extension);
    let path = Collection::relative_path(number, extension);
    let path = keeping.collection.absolute(&path);
    let extracted = judge
        .extractor
        .recognise(&path, &content.media_type, Some(PAGES));
    if extracted.outcome == Outcome::EngineMissing {
        return Ok(false);
    }
    if stop.is_set() || judge.is_stopped() {
        return Ok(true);
    }
    let classifier = judge.classifier.as_ref();
    let found = classifier.filter(|_| judge::has_text(&extracted));
    // The pages that were recognised are not all that it has.
    let found =
        found.map(|classifier| Found::new(classifier, &judge.order.policy, &extracted.text, None));
    let mut row = row(&content.sha1, &content.url, &extracted, found.as_ref());
    row.pages = content.judgement.as_ref().and_then(|known| known.pages);
    if !judge::is_recognised(row.engine.as_deref()) {
        row.engine = Some("tesseract".to_owned());
    }
    row.is_aside = match found.as_ref().map(|found| found.decision) {
        Some(Decision::Accept) => false,
        Some(Decision::Unsure) => judge.order.unsure == Unsure::SetAside,
        Some(Decision::Reject) | None => true,
    };
    keeping.hold()?;
    if found.is_some() {
        let text = extracted.text.as_bytes();
        keeping.collection.write_text(number, text)?;
    }
    met::write_judgement(keeping.collection, number, extension, &row)?;
    keeping.collection.sync()?;
    let catalog = keeping.holdings.catalog();
    keeping.holdings.wait(catalog.judge(&[row]))?;
    Ok(true)
}

/// The first pages tell what a document is.
const PAGES: u32 = 3;
const PAGE: u64 = 50;
const A_MOMENT: std::time::Duration = std::time::Duration::from_millis(50);
