//! The collection judged again, by another model or with other thresholds: from stored texts, so that no document has to be
//! read again that was read once.
//!
//! It may be stopped or killed at any time: what a model has judged is not judged by it again, so the next run goes on
//! where this one was.

use std::borrow::Cow;
use std::io::Read;
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use catalog::{JudgedContent, JudgementQuery, JudgementRow};
use classifier::{Answer, Classifier, Decision, Kind, Policy};
use harvester::Stop;
use process::Confiner;
use serde::{Deserialize, Serialize};
use store::Collection;
use text::{Extracted, Extractor, Outcome};

use crate::import::judging::{Unsure, answered, row};
use crate::import::{met, place, searchable};
use crate::judgement::{assess, extract_options, has_text, stored};
use crate::{Holdings, load_model};

/// How the collection is judged. As JSON, these are the parameters of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClassifyCollection {
    /// The model: a file, or `cdi-2012`; none is the one that is built in.
    pub model: Option<String>,
    /// Which documents are wanted.
    pub policy: Policy,
    /// The treatment of documents that the model is not sure of.
    pub unsure: Unsure,
    /// How many threads read and judge.
    pub threads: usize,
    /// How this program executes itself so that those which read documents do no harm.
    #[serde(skip)]
    pub confiner: Option<Confiner>,
}

/// The result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Classified {
    /// Documents that were looked at.
    pub documents: u64,
    /// Those that were judged now.
    pub judged: u64,
    /// Those of them that are decided on otherwise than before.
    pub changed: u64,
    /// Those that were read again, because no text of them was stored.
    pub read: u64,
    /// Those without a text.
    pub without_text: u64,
    /// Those that are set aside now.
    pub set_aside: u64,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

impl Default for ClassifyCollection {
    fn default() -> Self {
        Self {
            model: None,
            policy: Policy::default(),
            unsure: Unsure::default(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            confiner: None,
        }
    }
}

impl ClassifyCollection {
    /// Reads the parameters of a job.
    pub fn parse(json: &str) -> anyhow::Result<Self> {
        serde_json::from_str(json).context("the parameters of the job cannot be read")
    }
}

/// Judges all documents of the collection. `tell` hears how far it is.
pub fn classify_collection(
    holdings: &Holdings,
    order: &ClassifyCollection,
    stop: &Stop,
    tell: &mut dyn FnMut(&Classified),
) -> anyhow::Result<Classified> {
    order.policy.check().map_err(anyhow::Error::msg)?;
    let confiner = order.confiner.clone();
    let confiner = confiner.context("this program cannot confine those that read documents")?;
    let options = extract_options(confiner, order.threads, &[]);
    let judge = Again {
        collection: place::of_holdings(holdings)?,
        classifier: load_model(order.model.as_deref())?,
        extractor: Extractor::new(options),
        order,
    };
    let mut classified = Classified::default();
    let mut query = JudgementQuery {
        limit: PAGE,
        ..JudgementQuery::default()
    };
    loop {
        let contents = holdings.wait(holdings.catalog().judged_contents(&query))?;
        let Some(last) = contents.last() else {
            searchable::index(holdings, &judge.collection, stop)?;
            return Ok(classified);
        };
        query.after = last.number;
        let rows = judge.some(contents, stop, &mut classified)?;
        judge.collection.sync()?;
        holdings.wait(holdings.catalog().judge(&rows))?;
        tell(&classified);
        if stop.is_set() {
            classified.stopped = true;
            return Ok(classified);
        }
    }
}

/// The judge.
struct Again<'a> {
    collection: Collection,
    classifier: Cow<'static, Classifier>,
    extractor: Extractor,
    order: &'a ClassifyCollection,
}

impl Again<'_> {
    /// Judges some on all threads, and gives what is to be written down.
    fn some(
        &self,
        contents: Vec<JudgedContent>,
        stop: &Stop,
        classified: &mut Classified,
    ) -> anyhow::Result<Vec<JudgementRow>> {
        let waiting = Mutex::new(contents.into_iter());
        let work = || -> anyhow::Result<(Vec<JudgementRow>, Classified)> {
            let (mut rows, mut counted) = (Vec::new(), Classified::default());
            while !stop.is_set() {
                let next = waiting
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .next();
                let Some(content) = next else { break };
                rows.extend(self.one(&content, &mut counted)?);
            }
            Ok((rows, counted))
        };
        let mut all = Vec::new();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.order.threads.max(1))
                .map(|_| scope.spawn(work))
                .collect();
            for thread in threads {
                let (rows, counted) = match thread.join() {
                    Ok(worked) => worked?,
                    Err(panic) => std::panic::resume_unwind(panic),
                };
                all.extend(rows);
                classified.add(&counted);
            }
            anyhow::Ok(())
        })?;
        Ok(all)
    }

    /// Judges one; what is to be written down, if anything.
    fn one(
        &self,
        content: &JudgedContent,
        counted: &mut Classified,
    ) -> anyhow::Result<Option<JudgementRow>> {
        counted.documents += 1;
        let known = content.judgement.as_ref();
        let mut new = match known.and_then(|known| answered(&self.classifier, known)) {
            Some(answer) => {
                self.complete(content, counted)?;
                self.decided(content, &answer)
            }
            None => match self.judged(content, counted)? {
                Some(row) => row,
                None => {
                    counted.without_text += 1;
                    return Ok(None);
                }
            },
        };
        // A correction by a librarian stays, whatever the model says.
        let corrected = known.and_then(|known| known.corrected.as_ref());
        new.is_aside = match (corrected, new.decision.as_deref()) {
            (Some(corrected), _) => corrected.decision == "reject",
            (None, Some("accept")) => false,
            (None, Some("unsure")) => self.order.unsure == Unsure::SetAside,
            (None, _) => true,
        };
        counted.set_aside += u64::from(new.is_aside);
        let before = known.map(|known| (known.decision.as_deref(), known.is_aside));
        let is_changed = before != Some((new.decision.as_deref(), new.is_aside));
        let is_judged = known.and_then(|known| known.model.as_deref()) != new.model.as_deref();
        counted.changed += u64::from(is_changed);
        counted.judged += u64::from(is_judged);
        if !is_changed && !is_judged {
            return Ok(None);
        }
        met::write_judgement(&self.collection, content.number, &content.extension, &new)?;
        Ok(Some(new))
    }

    /// The row of a content that this model has judged before.
    fn decided(&self, content: &JudgedContent, answer: &Answer) -> JudgementRow {
        let decision = self.order.policy.decide(answer);
        let known = content.judgement.as_ref();
        JudgementRow {
            sha1: content.sha1.clone(),
            url: content.url.clone(),
            outcome: known.map_or_else(String::new, |known| known.outcome.clone()),
            engine: known.and_then(|known| known.engine.clone()),
            pages: known.and_then(|known| known.pages),
            note: known.and_then(|known| known.note.clone()),
            decision: Some(Decision::name(decision).to_owned()),
            probability: known.and_then(|known| known.probability),
            kind: Some(Kind::name(answer.kind).to_owned()),
            kinds: known.map_or_else(Vec::new, |known| known.kinds.clone()),
            model: Some(self.classifier.version().to_owned()),
            ..JudgementRow::default()
        }
    }

    /// Judges a content by its text; `None` if it has none.
    fn judged(
        &self,
        content: &JudgedContent,
        counted: &mut Classified,
    ) -> anyhow::Result<Option<JudgementRow>> {
        let Some(extracted) = self.text(content, counted)? else {
            return Ok(None);
        };
        let assessment = assess(&self.classifier, &self.order.policy, &extracted);
        let row = |assessment| row(&content.sha1, &content.url, &extracted, Some(assessment));
        Ok(assessment.as_ref().map(row))
    }

    /// The text that is stored, or that of the document itself.
    fn text(
        &self,
        content: &JudgedContent,
        counted: &mut Classified,
    ) -> anyhow::Result<Option<Extracted>> {
        let known = content.judgement.as_ref();
        if let Some(text) = self.stored(content)? {
            return Ok(Some(stored(text, known)));
        }
        // Its own state does not change.
        let outcome = known.and_then(|known| Outcome::parse(&known.outcome));
        if let Some(Outcome::Encrypted | Outcome::Damaged | Outcome::Empty | Outcome::ImageOnly) =
            outcome
        {
            return Ok(None);
        }
        self.read(content, counted)
    }

    /// Stores the text of a content that was judged when it was not kept, and is kept now.
    fn complete(&self, content: &JudgedContent, counted: &mut Classified) -> anyhow::Result<()> {
        let path = Collection::text_path(content.number);
        if content.extension != TEXT && self.collection.size(&path)?.is_none() {
            self.read(content, counted)?;
        }
        Ok(())
    }

    /// Takes the text out of the document and stores it; `None` if it has none.
    fn read(
        &self,
        content: &JudgedContent,
        counted: &mut Classified,
    ) -> anyhow::Result<Option<Extracted>> {
        counted.read += 1;
        let path = Collection::relative_path(content.number, &content.extension);
        let local = self.collection.absolute(&path);
        let extracted = match local.exists() {
            true => self.extractor.extract(&local, &content.media_type),
            // It lies in a store.
            false => {
                let mut file = tempfile::tempfile()?;
                match self.collection.read(&path) {
                    Ok(mut bytes) => std::io::copy(&mut bytes, &mut file)?,
                    Err(error) if error.is_missing() => return Ok(None),
                    Err(error) => return Err(error.into()),
                };
                self.extractor.extract_from(file, &content.media_type)
            }
        };
        if !has_text(&extracted) {
            return Ok(None);
        }
        if content.extension != TEXT {
            let text = extracted.text.as_bytes();
            self.collection.write_text(content.number, text)?;
        }
        Ok(Some(extracted))
    }

    fn stored(&self, content: &JudgedContent) -> anyhow::Result<Option<String>> {
        // A document that is text may be in any encoding.
        if content.extension == TEXT {
            return Ok(None);
        }
        let path = Collection::relative_path(content.number, TEXT);
        let mut bytes = Vec::new();
        match self.collection.read(&path) {
            Ok(file) => file.take(LONGEST).read_to_end(&mut bytes)?,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

impl Classified {
    /// The result, in words.
    pub fn said(&self) -> String {
        let Self {
            documents,
            judged,
            changed,
            read,
            without_text,
            set_aside,
            ..
        } = self;
        format!(
            "{documents} documents, {judged} judged, {changed} decided on otherwise, {read} read again, {without_text} without text, {set_aside} set aside"
        )
    }

    fn add(&mut self, other: &Self) {
        self.documents += other.documents;
        self.judged += other.judged;
        self.changed += other.changed;
        self.read += other.read;
        self.without_text += other.without_text;
        self.set_aside += other.set_aside;
    }
}

const PAGE: u64 = 200;
const TEXT: &str = "txt";
/// Texts are cut off there when they are stored.
const LONGEST: u64 = 20 * 1024 * 1024;
