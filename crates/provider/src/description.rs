//! The `description` containers of an answer to Identify, as the guidelines for repositories have them.

use std::io;

use oai::xml::Writer;
use serde::Deserialize;

/// A container that says more about a repository.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "container", rename_all = "snake_case", deny_unknown_fields)]
pub enum Description {
    /// `oai-identifier`: what identifiers look like, where they are of the scheme `oai`.
    OaiIdentifier {
        /// The `repositoryIdentifier`: a domain name.
        repository_identifier: String,
        /// The `sampleIdentifier`.
        sample_identifier: String,
    },
    /// `friends`: other repositories that a harvester may want to know.
    Friends {
        /// Their base URLs.
        base_urls: Vec<String>,
    },
    /// `branding`: an icon for the collection.
    Branding {
        /// The URL of the icon.
        url: String,
        /// Where it leads.
        link: Option<String>,
        /// Its title.
        title: Option<String>,
        /// Its width in pixels.
        width: Option<u32>,
        /// Its height in pixels.
        height: Option<u32>,
    },
    /// `toolkit`: the software behind the repository, and who to ask about it.
    Toolkit {
        /// The name of a person.
        author: String,
        /// The address of that person.
        email: String,
        /// Where that person works.
        institution: String,
        /// The title of the software.
        #[serde(default = "own_title")]
        title: String,
        /// Its version.
        #[serde(default = "own_version")]
        version: String,
        /// Where it is described.
        url: String,
    },
    /// `eprints`: content and policies. Each is a text, or a URL at which the text is.
    Eprints {
        /// The content.
        content: Option<String>,
        /// The terms for metadata.
        metadata_policy: String,
        /// The terms for full texts.
        data_policy: String,
        /// The terms for submissions.
        submission_policy: Option<String>,
        /// Comments.
        #[serde(default)]
        comments: Vec<String>,
    },
}

fn own_title() -> String {
    "garner".to_owned()
}

fn own_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

impl Description {
    /// Reads a container as a directive of a web server has it: its name, then base URLs or options as `key=value`.
    pub fn of_words(container: &str, words: &[String]) -> Result<Self, String> {
        let mut options = Options(words, Vec::new());
        let description = match container {
            "friends" => Self::Friends {
                base_urls: options.all(),
            },
            "oai_identifier" => Self::OaiIdentifier {
                repository_identifier: options.needed("repository_identifier")?,
                sample_identifier: options.needed("sample_identifier")?,
            },
            "branding" => Self::Branding {
                url: options.needed("url")?,
                link: options.given("link"),
                title: options.given("title"),
                width: options.number("width")?,
                height: options.number("height")?,
            },
            "toolkit" => Self::Toolkit {
                author: options.needed("author")?,
                email: options.needed("email")?,
                institution: options.needed("institution")?,
                title: options.given("title").unwrap_or_else(own_title),
                version: options.given("version").unwrap_or_else(own_version),
                url: options.needed("url")?,
            },
            "eprints" => Self::Eprints {
                content: options.given("content"),
                metadata_policy: options.needed("metadata_policy")?,
                data_policy: options.needed("data_policy")?,
                submission_policy: options.given("submission_policy"),
                comments: options.given("comment").into_iter().collect(),
            },
            _ => {
                return Err(format!(
                    "there is no container `{container}`; oai_identifier, friends, branding, toolkit and eprints are known"
                ));
            }
        };
        options.end()?;
        match description.mistake() {
            Some(mistake) => Err(mistake),
            None => Ok(description),
        }
    }

    /// The mistake in it, if there is one.
    pub fn mistake(&self) -> Option<String> {
        let is_url = |text: &str| {
            let rest = text
                .strip_prefix("http://")
                .or(text.strip_prefix("https://"));
            rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
        };
        let wrong = |key: &str, text: &str| {
            (!is_url(text)).then(|| format!("`{key}` is an http or https URL, unlike `{text}`"))
        };
        match self {
            Self::OaiIdentifier {
                repository_identifier: host,
                sample_identifier: sample,
            } => {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
                let is_host = host.contains('.')
                    && host.chars().all(is_plain)
                    && host.starts_with(|c: char| c.is_ascii_alphabetic());
                if !is_host {
                    return Some(format!(
                        "`repository_identifier` is a domain name such as example.org, unlike `{host}`"
                    ));
                }
                let begins = format!("oai:{host}:");
                let is_sample = sample
                    .strip_prefix(&begins)
                    .is_some_and(|rest| !rest.is_empty());
                (!is_sample).then(|| {
                    format!("`sample_identifier` begins with `{begins}`, unlike `{sample}`")
                })
            }
            Self::Friends { base_urls } if base_urls.is_empty() => {
                Some("`base_urls` names no repository".to_owned())
            }
            Self::Friends { base_urls } => base_urls.iter().find_map(|url| wrong("base_urls", url)),
            Self::Branding { url, link, .. } => {
                wrong("url", url).or_else(|| link.as_deref().and_then(|link| wrong("link", link)))
            }
            Self::Toolkit { url, .. } => wrong("url", url),
            Self::Eprints { .. } => None,
        }
    }

    /// Writes the container.
    pub(crate) fn write<W: io::Write>(&self, xml: &mut Writer<W>) -> io::Result<()> {
        let (name, namespace, schema) = self.names();
        let location = format!("{namespace} {schema}");
        xml.start(
            name,
            &[
                ("xmlns", namespace),
                ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
                ("xsi:schemaLocation", &location),
            ],
        )?;
        self.write_content(xml)?;
        xml.end(name)
    }

    fn names(&self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::OaiIdentifier { .. } => (
                "oai-identifier",
                "http://www.openarchives.org/OAI/2.0/oai-identifier",
                "http://www.openarchives.org/OAI/2.0/oai-identifier.xsd",
            ),
            Self::Friends { .. } => (
                "friends",
                "http://www.openarchives.org/OAI/2.0/friends/",
                "http://www.openarchives.org/OAI/2.0/friends.xsd",
            ),
            Self::Branding { .. } => (
                "branding",
                "http://www.openarchives.org/OAI/2.0/branding/",
                "http://www.openarchives.org/OAI/2.0/branding.xsd",
            ),
            Self::Toolkit { .. } => (
                "toolkit",
                "http://oai.dlib.vt.edu/OAI/metadata/toolkit",
                "http://oai.dlib.vt.edu/OAI/metadata/toolkit.xsd",
            ),
            Self::Eprints { .. } => (
                "eprints",
                "http://www.openarchives.org/OAI/1.1/eprints",
                "http://www.openarchives.org/OAI/1.1/eprints.xsd",
            ),
        }
    }

    fn write_content<W: io::Write>(&self, xml: &mut Writer<W>) -> io::Result<()> {
        match self {
            Self::OaiIdentifier {
                repository_identifier,
                sample_identifier,
            } => {
                xml.element("scheme", &[], "oai")?;
                xml.element("repositoryIdentifier", &[], repository_identifier)?;
                xml.element("delimiter", &[], ":")?;
                xml.element("sampleIdentifier", &[], sample_identifier)
            }
            Self::Friends { base_urls } => {
                let mut urls = base_urls.iter();
                urls.try_for_each(|url| xml.element("baseURL", &[], url))
            }
            Self::Branding {
                url,
                link,
                title,
                width,
                height,
            } => {
                xml.start("collectionIcon", &[])?;
                xml.element("url", &[], url)?;
                let (width, height) = (width.map(|n| n.to_string()), height.map(|n| n.to_string()));
                for (name, value) in [
                    ("link", link),
                    ("title", title),
                    ("width", &width),
                    ("height", &height),
                ] {
                    if let Some(value) = value {
                        xml.element(name, &[], value)?;
                    }
                }
                xml.end("collectionIcon")
            }
            Self::Toolkit {
                author,
                email,
                institution,
                title,
                version,
                url,
            } => {
                xml.element("title", &[], title)?;
                xml.start("author", &[])?;
                xml.element("name", &[], author)?;
                xml.element("email", &[], email)?;
                xml.element("institution", &[], institution)?;
                xml.end("author")?;
                xml.element("version", &[], version)?;
                xml.element("URL", &[], url)
            }
            Self::Eprints {
                content,
                metadata_policy,
                data_policy,
                submission_policy,
                comments,
            } => {
                for (name, text) in [
                    ("content", content.as_ref()),
                    ("metadataPolicy", Some(metadata_policy)),
                    ("dataPolicy", Some(data_policy)),
                    ("submissionPolicy", submission_policy.as_ref()),
                ] {
                    let Some(text) = text else { continue };
                    let is_url = text.starts_with("http://") || text.starts_with("https://");
                    let kind = if is_url { "URL" } else { "text" };
                    xml.start(name, &[])?;
                    xml.element(kind, &[], text)?;
                    xml.end(name)?;
                }
                let mut comments = comments.iter();
                comments.try_for_each(|comment| xml.element("comment", &[], comment))
            }
        }
    }
}

/// Words of the form `key=value`, and those keys that were asked for.
struct Options<'a>(&'a [String], Vec<&'static str>);

impl Options<'_> {
    fn given(&mut self, key: &'static str) -> Option<String> {
        self.1.push(key);
        let value = |word: &String| {
            let (name, value) = word.split_once('=')?;
            (name == key).then(|| value.to_owned())
        };
        self.0.iter().find_map(value)
    }

    fn needed(&mut self, key: &'static str) -> Result<String, String> {
        self.given(key)
            .ok_or_else(|| format!("`{key}=` is missing"))
    }

    fn number(&mut self, key: &'static str) -> Result<Option<u32>, String> {
        let number = |text: String| text.parse().map_err(|_| format!("{key} takes a number"));
        self.given(key).map(number).transpose()
    }

    /// All words as they are.
    fn all(&mut self) -> Vec<String> {
        std::mem::take(&mut self.0).to_vec()
    }

    /// Refuses what was not asked for.
    fn end(&self) -> Result<(), String> {
        let is_known = |word: &&String| {
            let key = word.split_once('=').map(|(key, _)| key);
            key.is_some_and(|key| self.1.contains(&key))
        };
        match self.0.iter().find(|word| !is_known(word)) {
            Some(word) => Err(format!(
                "`{word}` is no option; these are: {}",
                self.1.join(", ")
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(description: &Description) -> String {
        let mut out = Vec::new();
        description.write(&mut Writer::new(&mut out)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn containers_are_written_as_the_guidelines_have_them() {
        let identifier = Description::OaiIdentifier {
            repository_identifier: "example.org".to_owned(),
            sample_identifier: "oai:example.org:1".to_owned(),
        };
        let friends = Description::Friends {
            base_urls: vec!["https://a.example/oai?x=1&y=2".to_owned()],
        };
        let eprints = Description::Eprints {
            content: Some("Theses <all>".to_owned()),
            metadata_policy: "https://example.org/policy".to_owned(),
            data_policy: String::new(),
            submission_policy: None,
            comments: vec!["one".to_owned()],
        };

        assert!(written(&identifier).contains(
            "<scheme>oai</scheme><repositoryIdentifier>example.org</repositoryIdentifier>\
             <delimiter>:</delimiter><sampleIdentifier>oai:example.org:1</sampleIdentifier></oai-identifier>"
        ));
        assert!(written(&friends).contains("<baseURL>https://a.example/oai?x=1&amp;y=2</baseURL>"));
        assert!(written(&eprints).contains(
            "<content><text>Theses &lt;all&gt;</text></content><metadataPolicy><URL>https://example.org/policy</URL></metadataPolicy>\
             <dataPolicy><text></text></dataPolicy><comment>one</comment></eprints>"
        ));
        for description in [identifier, friends, eprints] {
            assert_eq!(description.mistake(), None);
        }
    }

    #[test]
    fn directives_are_read_word_by_word() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let icon =
            Description::of_words("branding", &words("url=https://a.example/i.png width=88"));
        assert!(written(&icon.unwrap()).contains("<width>88</width>"));
        for (container, text, part) in [
            ("friend", "https://a.example/", "there is no container"),
            ("branding", "width=88", "`url=` is missing"),
            (
                "branding",
                "url=https://a.example/ width=x",
                "takes a number",
            ),
            (
                "branding",
                "url=https://a.example/ size=8",
                "`size=8` is no option",
            ),
            ("friends", "a.example", "http or https"),
        ] {
            let error = Description::of_words(container, &words(text)).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_no_harvester_could_use_is_refused() {
        let identifier = |host: &str, sample: &str| Description::OaiIdentifier {
            repository_identifier: host.to_owned(),
            sample_identifier: sample.to_owned(),
        };
        let friends = |urls: &[&str]| Description::Friends {
            base_urls: urls.iter().map(|url| (*url).to_owned()).collect(),
        };
        for description in [
            identifier("localhost", "oai:localhost:1"),
            identifier("example.org", "http://example.org/1"),
            identifier("example.org", "oai:example.org:"),
            friends(&[]),
            friends(&["https://a.example/oai", "ftp://b.example/oai"]),
        ] {
            assert!(description.mistake().is_some(), "{description:?}");
        }
    }
}
