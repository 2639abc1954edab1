//! One row of a result: a capture that was judged or kept, a revisit, a statement about a capture, or a note for the report.

use catalog::{CaptureRow, ContentRow, JudgementRow, ParentRow, Probability};
use document::media_type;
use document::url;

use super::super::examine::member::md5_of_member;
use super::super::judging::Verdict;

/// One row, column by column. Everything that a cell lacks is null in the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::import) struct Row {
    /// One of the constants below.
    pub(in crate::import) row: Option<String>,
    /// For documents: `kept`, `rejected`, `no-text` or `broken`.
    pub(in crate::import) verdict: Option<String>,
    /// Why it is not kept; the sentence of a note.
    pub(in crate::import) reason: Option<String>,
    /// The word of its counter, for a note.
    pub(in crate::import) counter: Option<String>,
    pub(in crate::import) url: Option<String>,
    pub(in crate::import) host: Option<String>,
    /// The path inside of a container that was opened.
    pub(in crate::import) member: Option<String>,
    pub(in crate::import) parent_url: Option<String>,
    pub(in crate::import) depth: Option<i64>,
    pub(in crate::import) is_seed: Option<bool>,
    /// Null if the archive does not say.
    pub(in crate::import) crawl_date: Option<i64>,
    pub(in crate::import) last_modified: Option<String>,
    pub(in crate::import) declared_type: Option<String>,
    pub(in crate::import) sniffed_type: Option<String>,
    pub(in crate::import) media_type: Option<String>,
    pub(in crate::import) sha1: Option<String>,
    pub(in crate::import) sha256: Option<String>,
    pub(in crate::import) size: Option<i64>,
    pub(in crate::import) digest_mismatch: Option<String>,
    /// The archive in a WACZ.
    pub(in crate::import) archive: Option<String>,
    /// Where its record begins in the source.
    pub(in crate::import) record_offset: Option<i64>,
    /// Where its bytes begin in the segment, if they were extracted.
    pub(in crate::import) bytes_offset: Option<i64>,
    pub(in crate::import) text_outcome: Option<String>,
    pub(in crate::import) text_engine: Option<String>,
    pub(in crate::import) text_note: Option<String>,
    pub(in crate::import) pages: Option<i64>,
    pub(in crate::import) title: Option<String>,
    pub(in crate::import) language: Option<String>,
    /// By which texts are found that say nearly the same.
    pub(in crate::import) sketch: Option<String>,
    pub(in crate::import) decision: Option<String>,
    pub(in crate::import) probability: Option<f64>,
    pub(in crate::import) kind: Option<String>,
    /// The probability of each kind, with blanks between.
    pub(in crate::import) kinds: Option<String>,
    pub(in crate::import) model: Option<String>,
    pub(in crate::import) is_set_aside: Option<bool>,
    pub(in crate::import) text: Option<String>,
}

/// A document: it has bytes.
pub(in crate::import) const DOCUMENT: &str = "document";
/// A capture whose bytes the crawler had seen before.
pub(in crate::import) const REVISIT: &str = "revisit";
/// A later statement about a capture: its parent, its depth.
pub(in crate::import) const LINK: &str = "link";
/// A line of the report.
pub(in crate::import) const NOTE: &str = "note";

impl Row {
    /// The row of a capture. `undated` is the date of those that have none.
    pub(in crate::import) fn of(capture: &CaptureRow, undated: i64) -> Self {
        let mut row = Self {
            url: Some(capture.url.clone()),
            host: Some(capture.host.clone()),
            member: capture.member.clone(),
            parent_url: capture.parent.as_ref().map(|parent| parent.url.clone()),
            depth: capture.depth.map(i64::from),
            is_seed: capture.is_seed,
            crawl_date: Some(capture.crawled).filter(|crawled| *crawled != undated),
            declared_type: capture.declared_type.clone(),
            sniffed_type: capture.sniffed_type.clone(),
            media_type: Some(capture.media_type.clone()).filter(|name| !name.is_empty()),
            digest_mismatch: capture.digest_mismatch.clone(),
            ..Self::default()
        };
        row.row = Some(
            match &capture.content {
                ContentRow::Bytes {
                    sha1, sha256, size, ..
                } => {
                    row.sha1 = Some(sha1.clone());
                    row.sha256 = Some(sha256.clone());
                    row.size = i64::try_from(*size).ok();
                    DOCUMENT
                }
                ContentRow::Revisit { sha1 } => {
                    row.sha1.clone_from(sha1);
                    REVISIT
                }
                ContentRow::EdgeOnly => LINK,
            }
            .to_owned(),
        );
        row
    }

    /// Takes over what was found out about the text.
    pub(in crate::import) fn judge(&mut self, judgement: &JudgementRow) {
        let kinds = judgement.kinds.iter().map(|kind| kind.value().to_string());
        let kinds = kinds.collect::<Vec<_>>().join(" ");
        self.text_outcome = Some(judgement.outcome.clone());
        self.text_engine.clone_from(&judgement.engine);
        self.text_note.clone_from(&judgement.note);
        self.pages = judgement.pages.map(i64::from);
        self.title.clone_from(&judgement.title);
        self.language.clone_from(&judgement.language);
        self.sketch.clone_from(&judgement.sketch);
        self.decision.clone_from(&judgement.decision);
        self.probability = judgement.probability.map(Probability::value);
        self.kind.clone_from(&judgement.kind);
        self.kinds = Some(kinds).filter(|kinds| !kinds.is_empty());
        self.model.clone_from(&judgement.model);
        self.is_set_aside = Some(judgement.is_aside);
    }

    /// Says what the content filter decided.
    pub(in crate::import) fn decide(&mut self, verdict: &Verdict) {
        let (name, reason) = match verdict {
            Verdict::Kept | Verdict::Stopped | Verdict::Fatal(_) => (KEPT, None),
            Verdict::Refused(reason) => (REJECTED, Some(reason)),
            Verdict::NoText(reason) => (NO_TEXT, Some(reason)),
            Verdict::Broken(reason) => (BROKEN, Some(reason)),
        };
        self.verdict = Some(name.to_owned());
        self.reason = reason.cloned();
    }

    /// The decision of the content filter, if it was asked.
    pub(in crate::import) fn verdict(&self) -> Option<Verdict> {
        let reason = || self.reason.clone().unwrap_or_default();
        Some(match self.verdict.as_deref()? {
            REJECTED => Verdict::Refused(reason()),
            NO_TEXT => Verdict::NoText(reason()),
            BROKEN => Verdict::Broken(reason()),
            _ => Verdict::Kept,
        })
    }

    /// The judgement of the text, if it was read.
    pub(in crate::import) fn judgement(&self) -> Option<JudgementRow> {
        let kinds = self.kinds.as_deref().unwrap_or_default();
        let kinds = kinds.split_whitespace();
        Some(JudgementRow {
            sha1: self.sha1.clone()?,
            url: self.url.clone()?,
            outcome: self.text_outcome.clone()?,
            engine: self.text_engine.clone(),
            pages: self.pages.and_then(|pages| pages.try_into().ok()),
            note: self.text_note.clone(),
            decision: self.decision.clone(),
            probability: self.probability.map(Probability::new),
            kind: self.kind.clone(),
            kinds: kinds
                .filter_map(|kind| kind.parse().ok().map(Probability::new))
                .collect(),
            model: self.model.clone(),
            is_aside: self.is_set_aside == Some(true),
            title: self.title.clone(),
            language: self.language.clone(),
            sketch: self.sketch.clone(),
        })
    }

    /// The capture; `source` names where it is from, and `undated` is the date of captures that have none.
    pub(in crate::import) fn capture(
        &self,
        source: String,
        undated: i64,
    ) -> Result<CaptureRow, &'static str> {
        let content = match self.row.as_deref() {
            Some(DOCUMENT) => {
                let media_type = self.media_type.as_deref().ok_or("no media_type")?;
                ContentRow::Bytes {
                    sha1: hexadecimal(self.sha1.as_deref(), 40).ok_or("no sha1")?,
                    sha256: hexadecimal(self.sha256.as_deref(), 64).ok_or("no sha256")?,
                    size: self.size().ok_or("no size")?,
                    extension: media_type::extension(media_type).to_owned(),
                }
            }
            Some(REVISIT) => ContentRow::Revisit {
                sha1: hexadecimal(self.sha1.as_deref(), 40),
            },
            Some(LINK) => ContentRow::EdgeOnly,
            _ => return Err("no kind of row that is known"),
        };
        let url = self.url.as_deref().ok_or("no url")?;
        let normal = normal(url).ok_or("a url that is not normalised")?;
        let parent = match self.parent_url.as_deref() {
            Some(parent) => {
                Some(self::parent(parent).ok_or("a parent_url that is not normalised")?)
            }
            None => None,
        };
        let md5 = match &self.member {
            Some(member) => md5_of_member(url, member),
            None => normal.md5,
        };
        Ok(CaptureRow {
            url: normal.url,
            md5,
            host: normal.host,
            parent,
            depth: self.depth.and_then(|depth| depth.try_into().ok()),
            is_seed: self.is_seed,
            crawled: self.crawl_date.unwrap_or(undated),
            content,
            declared_type: self.declared_type.clone(),
            sniffed_type: self.sniffed_type.clone(),
            media_type: self.media_type.clone().unwrap_or_default(),
            member: self.member.clone(),
            source,
            digest_mismatch: self.digest_mismatch.clone(),
        })
    }

    pub(in crate::import) fn size(&self) -> Option<u64> {
        self.size.and_then(|size| size.try_into().ok())
    }

    /// How much memory it takes, more or less.
    pub(super) fn weight(&self) -> usize {
        let texts = [
            &self.text,
            &self.url,
            &self.parent_url,
            &self.title,
            &self.reason,
        ];
        size_of::<Self>() + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

fn normal(url: &str) -> Option<url::Normal> {
    url::normalise(url).ok().filter(|normal| normal.url == url)
}

fn parent(url: &str) -> Option<ParentRow> {
    let normal = normal(url)?;
    Some(ParentRow {
        url: normal.url,
        md5: normal.md5,
        host: normal.host,
    })
}

fn hexadecimal(digits: Option<&str>, length: usize) -> Option<String> {
    let is_hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    let digits = digits.filter(|digits| digits.len() == length && digits.bytes().all(is_hex));
    digits.map(str::to_owned)
}

const KEPT: &str = "kept";
const REJECTED: &str = "rejected";
const NO_TEXT: &str = "no-text";
const BROKEN: &str = "broken";
