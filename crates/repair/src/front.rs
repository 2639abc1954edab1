//! Covers that repositories and publishers put before a paper, and the stamps that they leave on its pages.

/// The cover of a document, which is not the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontMatter {
    /// The service that added it.
    pub source: &'static str,
    /// Where the document itself begins, in bytes.
    pub end: usize,
}

/// The cover at the beginning of a text with form feeds behind its pages, if there is one.
pub fn front_matter(text: &str) -> Option<FrontMatter> {
    let end = text.find('\x0c')? + 1;
    let page = &text[..end];
    if page.len() > LONGEST || text[end..].trim().is_empty() {
        return None;
    }
    // One space between words, whatever the lines are.
    let page: String = page
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase();
    let found = COVERS
        .iter()
        .find(|(_, marks)| marks.iter().all(|mark| page.contains(mark)));
    found.map(|(source, _)| FrontMatter { source, end })
}

/// Whether a line is a stamp: about the copy, and not of the text.
pub fn is_stamp(line: &str) -> bool {
    // Stamps are not long, and begin with one of few words.
    let line = line.trim();
    line.len() < 400 && STAMPS.iter().any(|stamp| line.starts_with(stamp))
}

const LONGEST: usize = 6_000;

/// All marks of a line stand on the cover.
const COVERS: [(&str, &[&str]); 24] = [
    ("HAL", &["hal id: ", "submitted on"]),
    ("HAL", &["hal is a multi-disciplinary open access archive"]),
    ("HAL", &["l'archive ouverte pluridisciplinaire hal"]),
    ("HAL", &["l’archive ouverte pluridisciplinaire hal"]),
    ("JSTOR", &["your use of the jstor archive"]),
    ("JSTOR", &["jstor is a not-for-profit"]),
    ("JSTOR", &["stable url:", "jstor.org"]),
    (
        "ResearchGate",
        &["see discussions, stats, and author profiles"],
    ),
    ("EconStor", &["econstor", "terms of use"]),
    ("EconStor", &["standard-nutzungsbedingungen"]),
    ("SSOAR", &["empfohlene zitierung", "nutzungsbedingungen"]),
    ("White Rose", &["this is a repository copy of"]),
    (
        "Pure",
        &["citation for published version", "general rights"],
    ),
    ("Pure", &["document version", "take down policy"]),
    ("Pure", &["document version", "general rights"]),
    ("Taylor & Francis", &["please scroll down for article"]),
    ("Numdam", &["numdam", "conditions générales d"]),
    ("Persée", &["persée", "citer ce document"]),
    ("Cairn", &["distribution électronique cairn"]),
    ("Redalyc", &["redalyc", "sistema de información científica"]),
    (
        "Digital Commons",
        &["digital commons", "recommended citation"],
    ),
    ("ScholarWorks", &["scholarworks", "recommended citation"]),
    (
        "Open repository",
        &["this version is available at", "please cite"],
    ),
    ("E-Periodica", &["e-periodica", "nutzungsbedingungen"]),
];

const STAMPS: [&str; 14] = [
    "This content downloaded from",
    "This content downloaded on",
    "All use subject to JSTOR",
    "All use subject to http",
    "Authorized licensed use limited to",
    "Downloaded from http",
    "Downloaded by ",
    "Downloaded on ",
    "View publication stats",
    "Powered by TCPDF",
    "brought to you by CORE",
    "View metadata, citation and similar papers at core.ac.uk",
    "provided by ",
    "CORE Metadata, citation and similar papers",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_of_repositories_are_told() {
        let cover = "On lichens\nA. Author\n\nTo cite this version:\nHAL Id: hal-01234567\nhttps://hal.science/hal-01234567\nSubmitted on 3 May 2016\n\x0c";
        let text = format!("{cover}On lichens\nAbstract\n\x0c");
        assert_eq!(
            front_matter(&text),
            Some(FrontMatter {
                source: "HAL",
                end: cover.len()
            })
        );
        let cover = "See discussions, stats, and author profiles for this publication at:\nhttps://www.researchgate.net/publication/1\n\x0c";
        assert_eq!(
            front_matter(&format!("{cover}Text\n")).map(|front| front.end),
            Some(cover.len())
        );
    }

    #[test]
    fn a_cover_alone_and_a_paper_without_one_are_read_as_they_are() {
        assert_eq!(front_matter("Your use of the JSTOR archive\n\x0c"), None);
        assert_eq!(front_matter("On lichens\nAbstract\n\x0cMore\n\x0c"), None);
        assert_eq!(front_matter("no pages"), None);
    }

    #[test]
    fn stamps_are_told_from_text() {
        assert!(is_stamp(
            "This content downloaded from 10.0.0.1 on Mon, 3 May 2016"
        ));
        assert!(!is_stamp("Downloaded files are kept."));
    }
}
