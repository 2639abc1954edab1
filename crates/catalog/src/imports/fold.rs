//! How captures add up to documents. Every rule chooses the greatest or the least of all that was seen, so that neither
//! the order of captures matters nor how often one comes.
//!
//! - `discover_date` is the earliest and `update_date` the latest crawl, with or without bytes
//! - the content is that of the latest capture with bytes; of two in one second, the one with the greater SHA-1
//! - the depth is the least, and a seed is what was one once
//! - the parent is the best one, see `parents`

use std::collections::{BTreeMap, HashMap, HashSet};

use super::documents::Loaded;
use super::parents::Edge;
use crate::{CaptureOutcome, CaptureRow, ContentRow};

/// The facts about a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Document {
    /// Its number; 0 if the catalog does not know it, or only heard of it.
    pub(super) id: i64,
    pub(super) discover_date: i64,
    pub(super) update_date: i64,
    /// The number of its content, before the group.
    pub(super) content: Option<i64>,
    /// The latest capture with bytes.
    pub(super) claim: Option<Claim>,
    /// The content according to revisits, where there is no such capture.
    pub(super) revisited: Option<Revisited>,
    pub(super) edge: Option<Edge>,
    pub(super) depth: Option<u32>,
    pub(super) is_seed: Option<bool>,
}

/// A capture with bytes. Claims are compared by their fields in this order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) crawled: i64,
    pub(super) sha1: String,
    pub(super) media_type: String,
    pub(super) declared_type: Option<String>,
    pub(super) sniffed_type: Option<String>,
    pub(super) member: Option<String>,
    pub(super) source: String,
    pub(super) digest_mismatch: Option<String>,
}

/// A content that a document has by its revisits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Revisited {
    pub(super) sha1: String,
    pub(super) media_type: Option<String>,
    pub(super) crawled: Option<i64>,
}

/// A document of the group, before and after it.
pub(super) struct Changing<'a> {
    pub(super) before: Option<&'a Document>,
    pub(super) now: Document,
    /// A capture of it.
    pub(super) row: &'a CaptureRow,
    /// Contents that were its own at some time and when they were crawled last.
    pub(super) older: BTreeMap<String, i64>,
    /// The contents according to revisits, each with the last revisit.
    pub(super) revisits: BTreeMap<&'a str, i64>,
}

/// How many documents have a content while a group is gone through. So it is the same whether a content is known, be
/// the captures committed at once or one by one.
struct Uses {
    counts: HashMap<String, i64>,
    keep_versions: bool,
}

impl Uses {
    fn new(loaded: &Loaded, keep_versions: bool) -> Self {
        let counts = loaded.contents.iter();
        Self {
            counts: counts
                .map(|(sha1, content)| (sha1.clone(), content.uses))
                .collect(),
            keep_versions,
        }
    }

    fn has(&self, sha1: &str) -> bool {
        self.counts.get(sha1).is_some_and(|count| *count > 0)
    }

    fn note(&mut self, row: &CaptureRow, outcome: CaptureOutcome, replaced: Option<&str>) {
        let Some(sha1) = row.content.sha1() else {
            return;
        };
        match outcome {
            CaptureOutcome::New | CaptureOutcome::NewUrl | CaptureOutcome::NewVersion => {
                *self.counts.entry(sha1.to_owned()).or_default() += 1;
            }
            CaptureOutcome::Older if self.keep_versions => {
                *self.counts.entry(sha1.to_owned()).or_default() += 1;
            }
            _ => {}
        }
        if let Some(count) = replaced.and_then(|sha1| self.counts.get_mut(sha1))
            && !self.keep_versions
        {
            *count -= 1;
        }
    }
}

/// A group, added up.
pub(super) struct Folded<'a> {
    pub(super) outcomes: Vec<CaptureOutcome>,
    /// In the order in which they are met.
    pub(super) documents: Vec<Changing<'a>>,
}

impl<'a> Folded<'a> {
    pub(super) fn new(rows: &'a [CaptureRow], loaded: &'a Loaded, keep_versions: bool) -> Self {
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(rows.len());
        let mut uses = Uses::new(loaded, keep_versions);
        let mut outcomes = Vec::with_capacity(rows.len());
        let mut documents: Vec<Changing<'a>> = Vec::with_capacity(rows.len());
        for row in rows {
            let at = *places.entry(&row.md5).or_insert_with(|| {
                documents.push(Changing::new(row, loaded.documents.get(&row.md5)));
                documents.len() - 1
            });
            let is_known = row.content.sha1().is_some_and(|sha1| uses.has(sha1));
            let (outcome, replaced) = documents[at].take(row, is_known);
            uses.note(row, outcome, replaced.as_deref());
            outcomes.push(outcome);
        }
        Self {
            outcomes,
            documents,
        }
    }

    /// The contents that documents have afterwards, or had and keep.
    pub(super) fn needed(&self, keep_versions: bool) -> HashSet<&str> {
        let mut needed = HashSet::new();
        for document in &self.documents {
            needed.extend(document.now.claim.as_ref().map(|claim| claim.sha1.as_str()));
            if keep_versions {
                needed.extend(document.older.keys().map(String::as_str));
            }
        }
        needed
    }
}

impl<'a> Changing<'a> {
    fn new(row: &'a CaptureRow, before: Option<&'a Document>) -> Self {
        let now = before.cloned().unwrap_or(Document {
            id: 0,
            discover_date: row.crawled,
            update_date: row.crawled,
            content: None,
            claim: None,
            revisited: None,
            edge: None,
            depth: None,
            is_seed: None,
        });
        Self {
            before,
            now,
            row,
            older: BTreeMap::new(),
            revisits: BTreeMap::new(),
        }
    }

    /// Whether anything of its row is another than before.
    pub(super) fn is_changed(&self) -> bool {
        self.before != Some(&self.now)
    }

    /// Whether others are to hear of it: a crawl that only met it again is no news.
    pub(super) fn is_news(&self) -> bool {
        let before = self.before.map(Document::told);
        before != Some(self.now.told())
    }

    /// Its content before the group, if that is another now.
    pub(super) fn replaced(&self) -> Option<i64> {
        let before = self
            .before
            .filter(|before| before.sha1() != self.now.sha1())?;
        before.content
    }

    /// Adds a capture. Gives what it was, and the SHA-1 of the content that it took the place of.
    fn take(
        &mut self,
        row: &'a CaptureRow,
        is_content_known: bool,
    ) -> (CaptureOutcome, Option<String>) {
        let now = &mut self.now;
        now.discover_date = now.discover_date.min(row.crawled);
        now.update_date = now.update_date.max(row.crawled);
        now.depth = now.depth.into_iter().chain(row.depth).min();
        now.is_seed = now.is_seed.max(row.is_seed);
        if let Some(parent) = &row.parent {
            let edge = Edge::new(parent, row.crawled);
            if now
                .edge
                .as_ref()
                .is_none_or(|held| edge.is_better(held, &row.url))
            {
                now.edge = Some(edge);
            }
        }
        let sha1 = match &row.content {
            ContentRow::Bytes { sha1, .. } => sha1,
            content => {
                if let Some(sha1) = content.sha1().filter(|sha1| is_sha1(sha1)) {
                    let last = self.revisits.entry(sha1).or_insert(row.crawled);
                    *last = row.crawled.max(*last);
                }
                return match self.now.is_held() || is_content_known {
                    true => (CaptureOutcome::Revisited, None),
                    false => (CaptureOutcome::RevisitUnknown, None),
                };
            }
        };
        self.claim(Claim::new(row, sha1), is_content_known)
    }

    fn claim(&mut self, claim: Claim, is_content_known: bool) -> (CaptureOutcome, Option<String>) {
        let Some(held) = &self.now.claim else {
            let revisited = self.now.revisited.take();
            let is_same = revisited
                .as_ref()
                .map(|revisited| revisited.sha1 == claim.sha1);
            self.now.claim = Some(claim);
            return match (is_same, is_content_known) {
                (Some(true), _) => (CaptureOutcome::Unchanged, None),
                (Some(false), _) => {
                    let replaced = revisited.map(|revisited| revisited.sha1);
                    (CaptureOutcome::NewVersion, replaced)
                }
                (None, true) => (CaptureOutcome::NewUrl, None),
                (None, false) => (CaptureOutcome::New, None),
            };
        };
        let is_same = held.sha1 == claim.sha1;
        let is_later = claim > *held;
        let older = match is_later {
            true => self.now.claim.replace(claim),
            false => Some(claim),
        };
        let Some(older) = older.filter(|_| !is_same) else {
            return (CaptureOutcome::Unchanged, None);
        };
        let last = self
            .older
            .entry(older.sha1.clone())
            .or_insert(older.crawled);
        *last = older.crawled.max(*last);
        match is_later {
            true => (CaptureOutcome::NewVersion, Some(older.sha1)),
            false => (CaptureOutcome::Older, None),
        }
    }
}

/// Crawlers say what they like, and it is looked for by an index.
fn is_sha1(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Document {
    /// The state that copies of the collection are told.
    fn told(&self) -> (Option<&str>, Option<&str>, Option<&str>, i64) {
        let claimed = self.claim.as_ref().map(|claim| &claim.media_type);
        let revisited = self.revisited.as_ref();
        let media_type = claimed.or_else(|| revisited?.media_type.as_ref());
        let parent = self.edge.as_ref().map(|edge| edge.md5.as_str());
        let media_type = media_type.map(String::as_str);
        (self.sha1(), media_type, parent, self.discover_date)
    }

    /// The SHA-1 of its content.
    pub(super) fn sha1(&self) -> Option<&str> {
        let claimed = self.claim.as_ref().map(|claim| &claim.sha1);
        let revisited = self.revisited.as_ref().map(|revisited| &revisited.sha1);
        claimed.or(revisited).map(String::as_str)
    }

    /// Whether it is more than heard of.
    pub(super) fn is_held(&self) -> bool {
        self.claim.is_some() || self.revisited.is_some()
    }
}

impl Claim {
    fn new(row: &CaptureRow, sha1: &str) -> Self {
        Self {
            crawled: row.crawled,
            sha1: sha1.to_owned(),
            media_type: row.media_type.clone(),
            declared_type: row.declared_type.clone(),
            sniffed_type: row.sniffed_type.clone(),
            member: row.member.clone(),
            source: row.source.clone(),
            digest_mismatch: row.digest_mismatch.clone(),
        }
    }
}
