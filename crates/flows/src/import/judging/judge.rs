//! One document: read, judged, decided on. What is remembered of the same bytes is not found out again.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use catalog::{Judgement, JudgementRow, KnownContent};
use classifier::{Answer, Classifier, Decision, Kind};
use rustix::fs::MemfdFlags;
use text::{ExtractOptions, Extracted, Extractor, Outcome};

use super::{Document, Judged, TextOrder, Unsure, Verdict, row};
use crate::Holdings;
use crate::import::spool::{Spool, Spooled, Trouble};
use crate::import::{ImportEvent, ImportOrder};
use crate::judgement::{assess, extract_options, is_recognised, summary};
use crate::model::load_model_in;

/// Judges documents, from several threads at once.
pub(in crate::import) struct Judge<'a> {
    pub(in crate::import) order: &'a TextOrder,
    /// The judge; none if texts are only stored.
    pub(in crate::import) classifier: Option<Cow<'static, Classifier>>,
    pub(in crate::import) extractor: Extractor,
    /// Where texts wait.
    spool: &'a Spool<'a>,
    /// The memory of judgements; none without a catalog.
    holdings: Option<&'a Holdings>,
    pub(in crate::import) stop: Arc<AtomicBool>,
}

impl<'a> Judge<'a> {
    /// A judge as an import wants it; none if it does not.
    pub(in crate::import) fn of(
        import: &'a ImportOrder,
        spool: &'a Spool<'a>,
        holdings: Option<&'a Holdings>,
    ) -> anyhow::Result<Option<Self>> {
        let order = &import.texts;
        if !order.is_wanted() {
            return Ok(None);
        }
        let confiner = import.confiner.clone();
        let confiner = confiner.context("this program cannot confine those that read documents")?;
        order.policy.check().map_err(anyhow::Error::msg)?;
        let stop = Arc::new(AtomicBool::new(false));
        let options = ExtractOptions {
            stop: Arc::clone(&stop),
            ..extract_options(confiner, import.threads, &order.languages)
        };
        let classifier = match order.content_filter {
            true => Some(load_model_in(
                order.model.as_deref(),
                &import.limits().roots,
            )?),
            false => None,
        };
        Ok(Some(Self {
            order,
            classifier,
            extractor: Extractor::new(options),
            spool,
            holdings,
            stop,
        }))
    }

    /// Tells which programs are not installed, once.
    pub(in crate::import) fn tell_missing(&self, tell: &(dyn Fn(ImportEvent<'_>) + Sync)) {
        for missing in self.extractor.missing() {
            if self.order.ocr || !missing.is_for_images {
                let note = format!("{}; until then {}", missing.told(), missing.purpose);
                tell(ImportEvent::Note(&note));
            }
        }
    }

    /// Judges a document.
    pub(super) fn judge(&self, document: Document) -> Judged {
        if self.is_stopped() {
            return Judged::without(Verdict::Stopped, document.held);
        }
        let known = self.known(&document.sha1);
        let correction = known.as_ref().and_then(|known| {
            let corrected = known.judgement.corrected.as_ref()?;
            Some(corrected.decision == "accept")
        });
        if correction == Some(false) {
            let refused = Verdict::Refused("a librarian rejected it".to_owned());
            return Judged::without(refused, document.held);
        }
        if let Some(known) = known.as_ref().filter(|_| correction.is_none())
            && let Some((verdict, row)) = self.remembered(&document, known)
        {
            return Judged {
                row: Some(row),
                ..Judged::without(verdict, document.held)
            };
        }
        if known.is_some_and(|known| known.is_stored && correction == Some(true)) {
            return Judged::without(Verdict::Kept, document.held);
        }
        let extracted = match file(&document.held) {
            Ok(file) => self.extractor.extract_from(file, &document.media_type),
            Err(error) => return Judged::without(Verdict::Fatal(error), document.held),
        };
        // A program that was ended because of that says nothing about the document.
        if self.is_stopped() {
            return Judged::without(Verdict::Stopped, document.held);
        }
        self.decide(document, extracted, correction)
    }

    /// The text of a document that was judged before; none if it cannot be kept.
    pub(in crate::import) fn text_of(
        &self,
        held: &Spooled,
        media_type: &str,
    ) -> anyhow::Result<Option<Spooled>> {
        let extracted = self.extractor.extract_from(file(held)?, media_type);
        if self.is_stopped() {
            bail!("stopped while the text of a document was read");
        }
        if extracted.text.trim().is_empty() {
            return Ok(None);
        }
        match self.spool.hold_text(extracted.text) {
            Ok(text) => Ok(Some(text)),
            Err(Trouble::Write(error)) => Err(error),
            Err(Trouble::TooLong(_) | Trouble::Read(_) | Trouble::Stopped) => Ok(None),
        }
    }

    pub(in crate::import) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn decide(&self, document: Document, extracted: Extracted, correction: Option<bool>) -> Judged {
        let Document { url, sha1, .. } = &document;
        let classifier = self.classifier.as_ref();
        let assessment =
            classifier.and_then(|classifier| assess(classifier, &self.order.policy, &extracted));
        let mut row = row(sha1, url, &extracted, assessment.as_ref());
        let verdict = match (correction, &assessment) {
            (Some(true), _) => Verdict::Kept,
            (_, Some(assessment)) => {
                self.by_decision(assessment.decision, &assessment.summary(), &mut row)
            }
            (_, None) => self.by_outcome(extracted.outcome, &mut row),
        };
        let mut text = None;
        let is_stored = matches!(verdict, Verdict::Kept | Verdict::Refused(_));
        if is_stored && !extracted.text.trim().is_empty() {
            match self.spool.hold_text(extracted.text) {
                Ok(held) => text = Some(held),
                Err(Trouble::Write(error)) => {
                    return Judged::without(Verdict::Fatal(error), document.held);
                }
                // The document is kept without its text.
                Err(Trouble::TooLong(_)) => {}
                Err(Trouble::Read(_) | Trouble::Stopped) => {
                    return Judged::without(Verdict::Stopped, document.held);
                }
            }
        }
        Judged {
            verdict,
            text,
            row: Some(row),
            held: document.held,
        }
    }

    fn by_decision(&self, decision: Decision, summary: &str, row: &mut JudgementRow) -> Verdict {
        match decision {
            Decision::Accept => Verdict::Kept,
            Decision::Unsure => {
                row.is_aside = self.order.unsure == Unsure::SetAside;
                Verdict::Kept
            }
            Decision::Reject => Verdict::Refused(format!("content filter: {summary}")),
        }
    }

    /// The treatment of a document without a text.
    fn by_outcome(&self, outcome: Outcome, row: &mut JudgementRow) -> Verdict {
        if !self.order.content_filter {
            return Verdict::Kept;
        }
        // It is set aside until its pages are recognised, when all else is done.
        if outcome == Outcome::ImageOnly && self.order.ocr && !is_recognised(row.engine.as_deref())
        {
            row.is_aside = true;
            return Verdict::Kept;
        }
        // Which program is missing is told once.
        let note = row.note.as_deref();
        let note = note.filter(|_| outcome != Outcome::EngineMissing);
        Verdict::NoText(match note.unwrap_or_default() {
            "" => format!("no text: {outcome}"),
            note => format!("no text: {outcome}: {note}"),
        })
    }

    /// The judgement remembered of bytes that were met before. The committing side notices a catalog that cannot be asked.
    fn known(&self, sha1: &str) -> Option<KnownContent> {
        let holdings = self.holdings?;
        holdings
            .wait(holdings.catalog().known_content(sha1))
            .ok()
            .flatten()
    }

    /// Decides by what is remembered, if that is enough: whoever keeps a document needs its text, unless that is stored.
    fn remembered(
        &self,
        document: &Document,
        known: &KnownContent,
    ) -> Option<(Verdict, JudgementRow)> {
        let mut row = again(document, &known.judgement);
        if !self.order.content_filter {
            // An import that only wants the text has no say in the other findings.
            row.decision = None;
        }
        let outcome = Outcome::parse(&known.judgement.outcome)?;
        let verdict = match outcome {
            Outcome::Text | Outcome::Limit(_) if self.order.content_filter => {
                let answer = answered(self.classifier.as_ref()?, &known.judgement)?;
                let decision = self.order.policy.decide(&answer);
                row.decision = Some(decision.name().to_owned());
                self.by_decision(decision, &summary(decision, &answer), &mut row)
            }
            Outcome::Text => Verdict::Kept,
            Outcome::Encrypted | Outcome::Damaged | Outcome::Empty | Outcome::ImageOnly => {
                self.by_outcome(outcome, &mut row)
            }
            // It may go better another time.
            _ => return None,
        };
        let is_enough = known.is_stored || !matches!(verdict, Verdict::Kept);
        is_enough.then_some((verdict, row))
    }
}

/// The earlier answer of this very model.
pub(in crate::import) fn answered(
    classifier: &Classifier,
    judgement: &Judgement,
) -> Option<Answer> {
    if judgement.model.as_deref() != Some(classifier.version()) {
        return None;
    }
    let mut kinds = [0.0; Kind::ALL.len()];
    if judgement.kinds.len() != kinds.len() {
        return None;
    }
    for (kind, kept) in kinds.iter_mut().zip(&judgement.kinds) {
        *kind = kept.value();
    }
    Some(Answer {
        probability: judgement.probability?.value(),
        kind: judgement.kind.as_deref()?.parse().ok()?,
        kinds,
    })
}

/// The row of what was met again.
fn again(document: &Document, judgement: &Judgement) -> JudgementRow {
    JudgementRow {
        sha1: document.sha1.clone(),
        url: document.url.clone(),
        outcome: judgement.outcome.clone(),
        engine: judgement.engine.clone(),
        pages: judgement.pages,
        note: judgement.note.clone(),
        decision: judgement.decision.clone(),
        probability: judgement.probability,
        kind: judgement.kind.clone(),
        kinds: judgement.kinds.clone(),
        model: judgement.model.clone(),
        is_aside: false,
        title: judgement.title.clone(),
        language: judgement.language.clone(),
        sketch: judgement.sketch.clone(),
    }
}

/// The bytes of a document as an open file, for programs that read it: in memory, if they are.
fn file(held: &Spooled) -> anyhow::Result<File> {
    match held {
        Spooled::File(file) => Ok(file.file().try_clone()?),
        Spooled::Memory(bytes, _) => {
            let memory = rustix::fs::memfd_create("garner-document", MemfdFlags::CLOEXEC)?;
            let mut memory = File::from(memory);
            memory.write_all(bytes)?;
            Ok(memory)
        }
        Spooled::Nothing => Ok(tempfile::tempfile()?),
    }
}
