//! Documents that consist of images, recognised when all else is done.
//!
//! Recognition takes a hundred times as long as anything else, so nothing of the crawl waits for it. Until then such
//! documents are set aside; those that turn out to be none that are wanted stay so.

use std::sync::{Mutex, MutexGuard, PoisonError};

use catalog::{ImportCounters, JudgedContent, JudgementQuery};
use classifier::Decision;
use harvester::Stop;
use store::Collection;
use text::{Extracted, Outcome};

use super::{Judging, Unsure, row};
use crate::import::keeping::Keeping;
use crate::import::met;
use crate::judgement::{RECOGNISED_PAGES, assess, is_recognised};

/// The result.
#[derive(Debug, Default)]
pub(in crate::import) struct Recognition {
    /// Whether it was stopped before its end.
    pub(in crate::import) stopped: bool,
    /// Documents that could not be read, by what kept them from it. They wait for the next import.
    pub(in crate::import) unread: ImportCounters,
    /// The fault of the first of them, if it was not told before.
    pub(in crate::import) why: Option<String>,
    /// Whether no other can be read either, for what reads them is not installed.
    useless: bool,
}

/// Recognises the first pages of all that wait for it. What could not be is counted with the import.
pub(in crate::import) fn recognise(
    keeping: &Keeping<'_>,
    judging: &Judging<'_>,
    stop: &Stop,
) -> anyhow::Result<Recognition> {
    let recognition = Mutex::new(Recognition::default());
    if judging.judge().order.ocr && judging.judge().order.content_filter {
        all(keeping, judging, stop, &recognition)?;
    }
    let mut recognition = recognition
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    recognition.stopped = stop.is_set();
    // Which programs are missing was told at the beginning.
    let missing = judging.judge().extractor.missing();
    if missing.iter().any(|missing| missing.is_for_images) {
        recognition.why = None;
    }
    if !recognition.stopped && recognition.unread != ImportCounters::default() {
        keeping.count(recognition.unread)?;
    }
    Ok(recognition)
}

fn all(
    keeping: &Keeping<'_>,
    judging: &Judging<'_>,
    stop: &Stop,
    recognition: &Mutex<Recognition>,
) -> anyhow::Result<()> {
    let mut query = JudgementQuery {
        only_unrecognised: true,
        limit: PAGE,
        ..JudgementQuery::default()
    };
    while !stop.is_set() {
        let catalog = keeping.holdings.catalog();
        let contents = keeping.holdings.wait(catalog.judged_contents(&query))?;
        let Some(last) = contents.last() else {
            break;
        };
        query.after = last.number;
        some(keeping, judging, contents, stop, recognition)?;
    }
    Ok(())
}

/// Recognises some, on all threads.
fn some(
    keeping: &Keeping<'_>,
    judging: &Judging<'_>,
    contents: Vec<JudgedContent>,
    stop: &Stop,
    recognition: &Mutex<Recognition>,
) -> anyhow::Result<()> {
    let waiting = Mutex::new(contents.into_iter());
    let next = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.next().filter(|_| !stop.is_set())
    };
    let work = || -> anyhow::Result<()> {
        while let Some(content) = next() {
            let mut seen = lock(recognition);
            if seen.useless {
                seen.unread.text_engine_missing += 1;
                continue;
            }
            drop(seen);
            if let Some(unread) = one(keeping, judging, &content, stop)? {
                lock(recognition).count(&unread);
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
        Ok(())
    })
}

/// Recognises one; what came of it, if that is no text for a reason that is not the document's.
fn one(
    keeping: &Keeping<'_>,
    judging: &Judging<'_>,
    content: &JudgedContent,
    stop: &Stop,
) -> anyhow::Result<Option<Extracted>> {
    let judge = judging.judge();
    let (number, extension) = (content.number, &content.extension);
    let path = Collection::relative_path(number, extension);
    let path = keeping.collection.absolute(&path);
    let extracted = judge
        .extractor
        .recognise(&path, &content.media_type, Some(RECOGNISED_PAGES));
    if stop.is_set() || judge.is_stopped() {
        return Ok(None);
    }
    // Nothing is found out about it, so it goes on waiting.
    if matches!(extracted.outcome, Outcome::EngineMissing | Outcome::Failed) {
        return Ok(Some(extracted));
    }
    let classifier = judge.classifier.as_ref();
    let assessment =
        classifier.and_then(|classifier| assess(classifier, &judge.order.policy, &extracted));
    let mut row = row(&content.sha1, &content.url, &extracted, assessment.as_ref());
    row.pages = content.judgement.as_ref().and_then(|known| known.pages);
    if !is_recognised(row.engine.as_deref()) {
        row.engine = Some("tesseract".to_owned());
    }
    row.is_aside = match assessment.as_ref().map(|assessment| assessment.decision) {
        Some(Decision::Accept) => false,
        Some(Decision::Unsure) => judge.order.unsure == Unsure::SetAside,
        Some(Decision::Reject) | None => true,
    };
    keeping.hold()?;
    if assessment.is_some() {
        let text = extracted.text.as_bytes();
        keeping.collection.write_text(number, text)?;
    }
    met::write_judgement(keeping.collection, number, extension, &row)?;
    keeping.collection.sync()?;
    let is_cut_short = assessment.is_none() && matches!(extracted.outcome, Outcome::Limit(_));
    let catalog = keeping.holdings.catalog();
    keeping.holdings.wait(catalog.judge(&[row]))?;
    Ok(is_cut_short.then_some(extracted))
}

impl Recognition {
    fn count(&mut self, unread: &Extracted) {
        let counter = match unread.outcome {
            Outcome::EngineMissing => &mut self.unread.text_engine_missing,
            Outcome::Limit(_) => &mut self.unread.text_limit,
            _ => &mut self.unread.text_failed,
        };
        *counter += 1;
        self.useless |= unread.outcome == Outcome::EngineMissing;
        let said = || unread.outcome.name().to_owned();
        let why = || unread.note.clone().unwrap_or_else(said);
        self.why.get_or_insert_with(why);
    }
}

fn lock(recognition: &Mutex<Recognition>) -> MutexGuard<'_, Recognition> {
    recognition.lock().unwrap_or_else(PoisonError::into_inner)
}

const PAGE: u64 = 50;
const A_MOMENT: std::time::Duration = std::time::Duration::from_millis(50);
