//! The `.met` file beside each document: what is known of it, as XML that survives the catalog.

use std::io;

use std::io::Read;

use catalog::{JudgementRow, Probability};
use document::digest::Digests;
use oai::Datestamp;
use oai::xml::Writer;
use store::Collection;

/// What a `.met` file tells. Nothing in it is needed to read the document; all of it is needed to take the document
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
    /// What is known of its text.
    pub(super) text: Option<MetText>,
}

/// What a `.met` file tells of the text.
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
        });
    }

    /// What it says of the text, for the catalog.
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
            ..JudgementRow::default()
        })
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
        let mut line = |name: &str, value: &str| {
            xml.raw(b"  ")?;
            xml.element(name, &[], value)?;
            xml.newline()
        };
        let mut optional = |name: &str, value: Option<&str>| match value {
            Some(value) => line(name, value),
            None => Ok(()),
        };
        optional("crawler", self.crawler.as_deref())?;
        let date = Datestamp::from_seconds(self.crawl_date).to_string();
        optional("crawlDate", Some(&date))?;
        optional("lastModified", self.last_modified.as_deref())?;
        optional("url", Some(&self.url))?;
        optional("parentUrl", self.parent_url.as_deref())?;
        optional(
            "depth",
            self.depth.map(|depth| depth.to_string()).as_deref(),
        )?;
        optional("seed", self.seed.map(|seed| seed.to_string()).as_deref())?;
        optional("declaredMediaType", self.declared.as_deref())?;
        optional("sniffedMediaType", self.sniffed.as_deref())?;
        optional("mediaType", Some(&self.media_type))?;
        optional("sha1", Some(&self.sha1))?;
        optional("sha256", Some(&self.sha256))?;
        optional("size", Some(&self.size.to_string()))?;
        optional("member", self.member.as_deref())?;
        optional("source", Some(&self.source))?;
        if let Some(text) = &self.text {
            optional("textOutcome", Some(&text.outcome))?;
            optional("textEngine", text.engine.as_deref())?;
            optional(
                "pages",
                text.pages.map(|pages| pages.to_string()).as_deref(),
            )?;
            optional("decision", text.decision.as_deref())?;
            let probability = text.probability.map(|p| p.value().to_string());
            optional("probability", probability.as_deref())?;
            optional("kind", text.kind.as_deref())?;
            optional("model", text.model.as_deref())?;
            let aside = text.is_aside.then_some("true");
            optional("setAside", aside)?;
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
        let text = |name: &str| {
            let mut elements = root.children();
            let element = elements.find(|element| element.has_tag_name(name))?;
            Some(element.text().unwrap_or_default().to_owned())
        };
        Some(Self {
            crawler: text("crawler"),
            crawl_date: Datestamp::parse(&text("crawlDate")?)?.0.seconds(),
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
            text: text("textOutcome").map(|outcome| MetText {
                outcome,
                engine: text("textEngine"),
                pages: text("pages").and_then(|pages| pages.parse().ok()),
                decision: text("decision"),
                probability: text("probability")
                    .and_then(|probability| probability.parse().ok())
                    .map(Probability::new),
                kind: text("kind"),
                model: text("model"),
                is_aside: text("setAside").as_deref() == Some("true"),
            }),
        })
    }
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

const LONGEST: u64 = 16 << 20;

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
