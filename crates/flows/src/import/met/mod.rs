//! The `.met` file beside each document: what is known of it, as XML that survives the catalog.

pub(super) mod update;

use std::io;

use std::io::Read;

use catalog::{Corrected, DocumentEntry, DocumentState, Judgement, JudgementRow, Probability};
use document::digest::Digests;
use oai::Datestamp;
use oai::xml::Writer;
use roxmltree::Node;
use store::Collection;

/// The content of a `.met` file. Nothing in it is needed to read the document; all of it is needed to take the document
/// into another catalog.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Met {
    /// The name of the crawler, as the user gave it.
    pub(super) crawler: Option<String>,
    /// Seconds since 1970.
    pub(super) crawl_date: i64,
    /// As the web server wrote it.
    pub(super) last_modified: Option<String>,
    pub(super) url: String,
    pub(super) parent_url: Option<String>,
    pub(super) depth: Option<u32>,
    pub(super) seed: Option<bool>,
    pub(super) declared: Option<String>,
    pub(super) sniffed: Option<String>,
    pub(super) media_type: String,
    /// Digests in hex.
    pub(super) sha1: String,
    pub(super) sha256: String,
    pub(super) size: u64,
    /// The path inside of the container that the document was in.
    pub(super) member: Option<String>,
    /// Where it was read from: a file and an offset.
    pub(super) source: String,
    /// Which digests of its archive are those of other bytes.
    pub(super) digest_mismatch: Option<String>,
    /// The findings about its text.
    pub(super) text: Option<MetText>,
    /// All documents that have these bytes, where there is more to tell than what is said above of the first.
    pub(super) documents: Vec<MetDocument>,
}

/// The part of a `.met` file on one of the documents that have its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MetDocument {
    pub(super) number: Option<i64>,
    pub(super) url: String,
    pub(super) member: Option<String>,
    pub(super) parent_url: Option<String>,
    pub(super) depth: Option<u32>,
    pub(super) seed: Option<bool>,
    pub(super) discover_date: i64,
    pub(super) update_date: i64,
    /// When it was last crawled with these bytes.
    pub(super) crawl_date: i64,
    pub(super) declared: Option<String>,
    pub(super) sniffed: Option<String>,
    pub(super) media_type: String,
    pub(super) source: String,
    pub(super) digest_mismatch: Option<String>,
    /// The ingestion state in a search engine.
    pub(super) state: DocumentState,
    /// It has other bytes now.
    pub(super) is_former: bool,
}

/// The part of a `.met` file on the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MetText {
    pub(super) outcome: String,
    pub(super) engine: Option<String>,
    pub(super) pages: Option<u32>,
    pub(super) decision: Option<String>,
    pub(super) probability: Option<Probability>,
    pub(super) kind: Option<String>,
    pub(super) model: Option<String>,
    pub(super) is_aside: bool,
    /// The fault.
    pub(super) note: Option<String>,
    /// How likely it is of each kind.
    pub(super) kinds: Vec<Probability>,
    /// The title of the text.
    pub(super) title: Option<String>,
    /// Its language.
    pub(super) language: Option<String>,
    /// The correction by a librarian.
    pub(super) corrected: Option<Corrected>,
}

impl From<Judgement> for MetText {
    fn from(judgement: Judgement) -> Self {
        Self {
            outcome: judgement.outcome,
            engine: judgement.engine,
            pages: judgement.pages,
            decision: judgement.decision,
            probability: judgement.probability,
            kind: judgement.kind,
            model: judgement.model,
            is_aside: judgement.is_aside,
            note: judgement.note,
            kinds: judgement.kinds,
            title: judgement.title,
            language: judgement.language,
            corrected: judgement.corrected,
        }
    }
}

impl Met {
    /// Sets the digests and the size.
    pub(super) fn with_digests(mut self, digests: &Digests) -> Self {
        self.sha1 = digests.sha1_hex();
        self.sha256 = digests.sha256_hex();
        self.size = digests.size;
        self
    }

    /// Takes over what was found out about the text.
    pub(super) fn judge(&mut self, row: &JudgementRow) {
        self.text = Some(MetText {
            outcome: row.outcome.clone(),
            engine: row.engine.clone(),
            pages: row.pages,
            decision: row.decision.clone(),
            probability: row.probability,
            kind: row.kind.clone(),
            model: row.model.clone(),
            is_aside: row.is_aside,
            note: row.note.clone(),
            kinds: row.kinds.clone(),
            title: row.title.clone(),
            language: row.language.clone(),
            corrected: self.text.take().and_then(|text| text.corrected),
        });
    }

    /// The judgement of the text, for the catalog.
    pub(super) fn judgement(&self) -> Option<JudgementRow> {
        let text = self.text.as_ref()?;
        Some(JudgementRow {
            sha1: self.sha1.clone(),
            url: self.url.clone(),
            outcome: text.outcome.clone(),
            engine: text.engine.clone(),
            pages: text.pages,
            decision: text.decision.clone(),
            probability: text.probability,
            kind: text.kind.clone(),
            model: text.model.clone(),
            is_aside: text.is_aside,
            note: text.note.clone(),
            kinds: text.kinds.clone(),
            title: text.title.clone(),
            language: text.language.clone(),
            // It is taken from the text again.
            sketch: None,
        })
    }

    /// All documents that it tells of.
    pub(super) fn all_documents(&self) -> Vec<MetDocument> {
        if !self.documents.is_empty() {
            return self.documents.clone();
        }
        vec![MetDocument {
            number: None,
            url: self.url.clone(),
            member: self.member.clone(),
            parent_url: self.parent_url.clone(),
            depth: self.depth,
            seed: self.seed,
            discover_date: self.crawl_date,
            update_date: self.crawl_date,
            crawl_date: self.crawl_date,
            declared: self.declared.clone(),
            sniffed: self.sniffed.clone(),
            media_type: self.media_type.clone(),
            source: self.source.clone(),
            digest_mismatch: self.digest_mismatch.clone(),
            state: DocumentState::default(),
            is_former: false,
        }]
    }

    /// As it is written.
    pub(super) fn to_xml(&self) -> Vec<u8> {
        let mut xml = Vec::with_capacity(1024);
        // A vector takes everything.
        let _ = self.write(&mut xml);
        xml
    }

    fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let mut xml = Writer::new(out);
        xml.raw(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
        xml.start("CrawlData", &[])?;
        xml.newline()?;
        let mut lines = Lines {
            xml: &mut xml,
            indent: "  ",
        };
        lines.some("crawler", self.crawler.as_deref())?;
        lines.some("crawlDate", Some(&date(self.crawl_date)))?;
        lines.some("lastModified", self.last_modified.as_deref())?;
        lines.some("url", Some(&self.url))?;
        lines.some("parentUrl", self.parent_url.as_deref())?;
        lines.shown("depth", self.depth)?;
        lines.shown("seed", self.seed)?;
        lines.some("declaredMediaType", self.declared.as_deref())?;
        lines.some("sniffedMediaType", self.sniffed.as_deref())?;
        lines.some("mediaType", Some(&self.media_type))?;
        lines.some("sha1", Some(&self.sha1))?;
        lines.some("sha256", Some(&self.sha256))?;
        lines.shown("size", Some(self.size))?;
        lines.some("member", self.member.as_deref())?;
        lines.some("source", Some(&self.source))?;
        lines.some("digestMismatch", self.digest_mismatch.as_deref())?;
        if let Some(text) = &self.text {
            text.write(&mut lines)?;
        }
        for document in &self.documents {
            lines.xml.raw(b"  ")?;
            lines.xml.start("document", &[])?;
            lines.xml.newline()?;
            document.write(&mut Lines {
                xml: lines.xml,
                indent: "    ",
            })?;
            lines.xml.raw(b"  ")?;
            lines.xml.end("document")?;
            lines.xml.newline()?;
        }
        xml.end("CrawlData")?;
        xml.newline()
    }

    /// Reads what was written; `None` if it is not that.
    pub(super) fn parse(xml: &[u8]) -> Option<Self> {
        let document = std::str::from_utf8(xml).ok()?;
        let document = roxmltree::Document::parse(document).ok()?;
        let root = document.root_element();
        if root.tag_name().name() != "CrawlData" {
            return None;
        }
        let text = |name: &str| text_of(root, name);
        let documents = root.children();
        let documents = documents.filter(|element| element.has_tag_name("document"));
        Some(Self {
            crawler: text("crawler"),
            crawl_date: seconds(&text("crawlDate")?)?,
            last_modified: text("lastModified"),
            url: text("url")?,
            parent_url: text("parentUrl"),
            depth: text("depth").and_then(|depth| depth.parse().ok()),
            seed: text("seed").and_then(|seed| seed.parse().ok()),
            declared: text("declaredMediaType"),
            sniffed: text("sniffedMediaType"),
            media_type: text("mediaType")?,
            sha1: text("sha1")?,
            sha256: text("sha256")?,
            size: text("size")?.parse().ok()?,
            member: text("member"),
            source: text("source")?,
            digest_mismatch: text("digestMismatch"),
            text: text("textOutcome").map(|outcome| MetText::parse(root, outcome)),
            // One that cannot be understood does not cost the others.
            documents: documents.filter_map(MetDocument::parse).collect(),
        })
    }
}

impl MetText {
    fn write(&self, lines: &mut Lines<'_, '_>) -> io::Result<()> {
        lines.some("textOutcome", Some(&self.outcome))?;
        lines.some("textEngine", self.engine.as_deref())?;
        lines.some("textNote", self.note.as_deref())?;
        lines.some("title", self.title.as_deref())?;
        lines.some("language", self.language.as_deref())?;
        lines.shown("pages", self.pages)?;
        lines.some("decision", self.decision.as_deref())?;
        lines.shown("probability", self.probability.map(Probability::value))?;
        lines.some("kind", self.kind.as_deref())?;
        let kinds: Vec<_> = self
            .kinds
            .iter()
            .map(|kind| kind.value().to_string())
            .collect();
        lines.some(
            "kinds",
            Some(&kinds.join(" "))
                .filter(|_| !kinds.is_empty())
                .map(String::as_str),
        )?;
        lines.some("model", self.model.as_deref())?;
        lines.shown("setAside", self.is_aside.then_some(true))?;
        if let Some(corrected) = &self.corrected {
            lines.some("correctedDecision", Some(&corrected.decision))?;
            lines.some("correctedKind", corrected.kind.as_deref())?;
            lines.some("correctedAt", Some(&date(corrected.at)))?;
            lines.some("correctedBy", corrected.by.as_deref())?;
        }
        Ok(())
    }

    fn parse(element: Node<'_, '_>, outcome: String) -> Self {
        let text = |name: &str| text_of(element, name);
        let probability = |text: &str| text.parse().ok().map(Probability::new);
        let kinds = text("kinds").unwrap_or_default();
        let corrected = text("correctedDecision").and_then(|decision| {
            Some(Corrected {
                decision,
                kind: text("correctedKind"),
                at: seconds(&text("correctedAt")?)?,
                by: text("correctedBy"),
            })
        });
        Self {
            outcome,
            engine: text("textEngine"),
            pages: text("pages").and_then(|pages| pages.parse().ok()),
            decision: text("decision"),
            probability: text("probability").and_then(|text| probability(&text)),
            kind: text("kind"),
            model: text("model"),
            is_aside: text("setAside").as_deref() == Some("true"),
            note: text("textNote"),
            title: text("title"),
            language: text("language"),
            kinds: kinds.split_whitespace().filter_map(probability).collect(),
            corrected,
        }
    }
}

impl MetDocument {
    /// The catalog's entry of a document; `former` is when it was last crawled with bytes that it has no more.
    pub(super) fn of(document: &DocumentEntry, former: Option<i64>) -> Self {
        // Types and source are those of the bytes that it has now.
        let own = |text: &Option<String>| text.clone().filter(|_| former.is_none());
        Self {
            number: Some(document.id),
            url: document.url.clone(),
            member: document.member.clone(),
            parent_url: document.parent_url.clone(),
            depth: document.depth,
            seed: document.is_seed,
            discover_date: document.discover_date,
            update_date: document.update_date,
            crawl_date: former.unwrap_or(document.crawl_date),
            declared: own(&document.declared_type),
            sniffed: own(&document.sniffed_type),
            media_type: document.media_type.clone(),
            source: own(&document.source).unwrap_or_default(),
            digest_mismatch: own(&document.digest_mismatch),
            // Setting aside follows from the judgement of the text.
            state: match (former, document.state) {
                (Some(_), _) | (_, DocumentState::SetAside) => DocumentState::default(),
                (None, state) => state,
            },
            is_former: former.is_some(),
        }
    }

    fn write(&self, lines: &mut Lines<'_, '_>) -> io::Result<()> {
        lines.shown("number", self.number)?;
        lines.some("url", Some(&self.url))?;
        lines.some("member", self.member.as_deref())?;
        lines.some("parentUrl", self.parent_url.as_deref())?;
        lines.shown("depth", self.depth)?;
        lines.shown("seed", self.seed)?;
        lines.some("discoverDate", Some(&date(self.discover_date)))?;
        lines.some("updateDate", Some(&date(self.update_date)))?;
        lines.some("crawlDate", Some(&date(self.crawl_date)))?;
        lines.some("declaredMediaType", self.declared.as_deref())?;
        lines.some("sniffedMediaType", self.sniffed.as_deref())?;
        lines.some("mediaType", Some(&self.media_type))?;
        lines.some("source", Some(&self.source))?;
        lines.some("digestMismatch", self.digest_mismatch.as_deref())?;
        let state = Some(self.state).filter(|state| *state != DocumentState::default());
        lines.some("state", state.map(DocumentState::name))?;
        lines.shown("former", self.is_former.then_some(true))
    }

    fn parse(element: Node<'_, '_>) -> Option<Self> {
        let text = |name: &str| text_of(element, name);
        let time = |name: &str| text(name).and_then(|date| seconds(&date));
        let crawl_date = time("crawlDate")?;
        Some(Self {
            number: text("number").and_then(|number| number.parse().ok()),
            url: text("url")?,
            member: text("member"),
            parent_url: text("parentUrl"),
            depth: text("depth").and_then(|depth| depth.parse().ok()),
            seed: text("seed").and_then(|seed| seed.parse().ok()),
            discover_date: time("discoverDate").unwrap_or(crawl_date),
            update_date: time("updateDate").unwrap_or(crawl_date),
            crawl_date,
            declared: text("declaredMediaType"),
            sniffed: text("sniffedMediaType"),
            media_type: text("mediaType")?,
            source: text("source").unwrap_or_default(),
            digest_mismatch: text("digestMismatch"),
            state: text("state")
                .and_then(|state| DocumentState::parse(&state))
                .filter(|state| DocumentState::SAID.contains(state))
                .unwrap_or_default(),
            is_former: text("former").as_deref() == Some("true"),
        })
    }
}

/// Elements with a text, a line each.
struct Lines<'x, 'v> {
    xml: &'x mut Writer<&'v mut Vec<u8>>,
    indent: &'static str,
}

impl Lines<'_, '_> {
    fn some(&mut self, name: &str, value: Option<&str>) -> io::Result<()> {
        let Some(value) = value else { return Ok(()) };
        self.xml.raw(self.indent.as_bytes())?;
        self.xml.element(name, &[], value)?;
        self.xml.newline()
    }

    fn shown(&mut self, name: &str, value: Option<impl ToString>) -> io::Result<()> {
        self.some(name, value.map(|value| value.to_string()).as_deref())
    }
}

fn text_of(element: Node<'_, '_>, name: &str) -> Option<String> {
    let mut children = element.children();
    let child = children.find(|child| child.has_tag_name(name))?;
    Some(child.text().unwrap_or_default().to_owned())
}

fn date(seconds: i64) -> String {
    Datestamp::from_seconds(seconds).to_string()
}

fn seconds(date: &str) -> Option<i64> {
    Some(Datestamp::parse(date)?.0.seconds())
}

/// Writes a `.met` file anew with what was found out about the text; one that is not there, or is none, stays.
pub(super) fn write_judgement(
    collection: &Collection,
    number: i64,
    extension: &str,
    row: &JudgementRow,
) -> anyhow::Result<()> {
    let path = format!("{}.met", Collection::relative_path(number, extension));
    let mut xml = Vec::new();
    match collection.read(&path) {
        Ok(file) => file.take(LONGEST).read_to_end(&mut xml)?,
        Err(error) if error.is_missing() => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let Some(mut met) = Met::parse(&xml) else {
        return Ok(());
    };
    met.judge(row);
    collection.write_metadata(number, extension, &met.to_xml())?;
    Ok(())
}

pub(super) const LONGEST: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn met(url: &str) -> Met {
        Met {
            crawl_date: 1_354_000_000,
            url: url.to_owned(),
            media_type: "application/pdf".to_owned(),
            sha1: "a".repeat(40),
            sha256: "b".repeat(64),
            size: 7,
            source: "crawl/a.warc.gz at offset 12".to_owned(),
            ..Met::default()
        }
    }

    #[test]
    fn it_reads_as_the_paper_has_it() {
        let met = Met {
            crawler: Some("heritrix".to_owned()),
            parent_url: Some("http://www.example.edu/tom/home.htm".to_owned()),
            depth: Some(2),
            seed: Some(false),
            declared: Some("application/pdf".to_owned()),
            ..met("http://www.example.edu/tom/pub/paper1.pdf")
        };

        let xml = String::from_utf8(met.to_xml()).unwrap();

        let lines: Vec<_> = xml.lines().take(6).collect();
        assert_eq!(
            lines,
            [
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
                "<CrawlData>",
                "  <crawler>heritrix</crawler>",
                "  <crawlDate>2012-11-27T07:06:40Z</crawlDate>",
                "  <url>http://www.example.edu/tom/pub/paper1.pdf</url>",
                "  <parentUrl>http://www.example.edu/tom/home.htm</parentUrl>",
            ]
        );
        assert_eq!(Met::parse(xml.as_bytes()), Some(met));
    }

    #[test]
    fn hostile_texts_stay_texts() {
        let hostile = "</url><sha1>evil</sha1>&lt;!-- ]]> \"' é";
        let met = Met {
            member: Some("a&b<c".to_owned()),
            last_modified: Some(hostile.to_owned()),
            ..met(hostile)
        };

        assert_eq!(Met::parse(&met.to_xml()), Some(met));

        let controls = Met {
            last_modified: Some("\0\u{1}\u{1b}[2J\u{ffff}".to_owned()),
            ..self::met("http://a.example/")
        };
        let read = Met::parse(&controls.to_xml()).unwrap();
        assert_eq!(
            read.last_modified.as_deref(),
            Some("\u{fffd}\u{fffd}\u{fffd}[2J\u{fffd}")
        );
    }

    #[test]
    fn what_is_something_else_is_not_taken_for_one() {
        for xml in [
            "",
            "<a/>",
            "<CrawlData/>",
            "<CrawlData><url>x</url>",
            "\u{0}",
        ] {
            assert_eq!(Met::parse(xml.as_bytes()), None, "{xml:?}");
        }
    }
}
