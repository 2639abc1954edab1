//! The patch of an import order.

use std::path::PathBuf;

use clap::Args;
use classifier::Kind;
use flows::{DigestRule, ImportOrder, Mistake, Unsure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::Durability;
use utoipa::ToSchema;

use super::list::{choices, lines, trimmed, words};
use super::setting::Given as _;
use super::{Parameter, Setting, apply};

/// Settings of an import. Settings that are not given stay as they are; an empty text means the default.
#[derive(Debug, Clone, Default, PartialEq, Args, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[command(next_help_heading = "Which documents")]
pub struct ImportPatch {
    /// Archives, directories of archives, or the directory of a mirror: whole paths, as workers see them.
    #[arg(skip)]
    #[serde(default, deserialize_with = "lines")]
    #[schema(value_type = Option<Vec<String>>, example = json!(["/crawls/2026"]))]
    pub paths: Option<Vec<PathBuf>>,
    /// The media types that are imported; image/* stands for all images, */* for everything
    /// [default: application/pdf,application/postscript]
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    #[serde(default, deserialize_with = "words")]
    pub types: Option<Vec<String>>,
    /// Containers that are opened for the documents in them: gzip, tar, zip, or none [default: gzip]
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    #[serde(default, deserialize_with = "words")]
    pub open: Option<Vec<String>>,
    /// A file of hosts and beginnings of URLs that are not wanted, one a line
    #[arg(long, value_name = "FILE")]
    #[schema(value_type = Option<String>)]
    pub blacklist: Option<Setting<PathBuf>>,
    /// Name of a blacklist that is kept in the catalog: see garner lists; can be given several times
    #[arg(long = "list", value_name = "NAME")]
    #[serde(default, deserialize_with = "words")]
    pub lists: Option<Vec<String>>,
    /// The longest URL that is accepted [default: 2048]
    #[arg(long, value_name = "N")]
    #[schema(value_type = Option<u32>, minimum = 16, maximum = 1_000_000)]
    pub max_url_length: Option<Setting<usize>>,
    /// The older content of a document that changed: replace it, or keep both [default: replace]
    #[arg(
        long = "versions",
        value_name = "replace|keep",
        hide_possible_values = true
    )]
    #[serde(alias = "versions")]
    #[schema(value_type = Option<bool>)]
    pub keep_versions: Option<Setting<Versions>>,
    /// Remove documents, to the trash, whose resources were deleted at the source: of a data directory, harvests know that.
    /// A resource that comes back is imported again
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          hide_possible_values = true)]
    #[schema(value_type = Option<bool>)]
    pub mirror_deletions: Option<Setting<bool>>,
    /// Documents that do not have the digests that their archive says: mark them, skip them, or ignore digests
    /// [default: mark]
    #[arg(long, value_name = "mark|skip|ignore", hide_possible_values = true)]
    #[schema(value_type = Option<String>, example = "mark")]
    pub digests: Option<Setting<DigestRule>>,
    /// Where documents go, if not to DIR/documents: a directory, or s3://BUCKET/PREFIX. The first import decides. Only
    /// admins choose it
    #[arg(long, value_name = "DIR|URL")]
    #[schema(value_type = Option<String>)]
    pub collection: Option<Setting<String>>,
    /// Documents go to this folder and not into the catalog; the same bytes are kept once. Only admins choose it
    #[arg(long, value_name = "DIR")]
    #[schema(value_type = Option<String>)]
    pub no_database: Option<Setting<PathBuf>>,
    /// Do not wait until files have reached the disk: faster, and a loss of power can cost some
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          hide_possible_values = true)]
    #[schema(value_type = Option<bool>)]
    pub no_sync: Option<Setting<bool>>,
    /// Tags that a worker must have to run it as a job, as garner worker --tags gives them: for sources that only some
    /// machines see
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    #[serde(default, deserialize_with = "words")]
    pub needs: Option<Vec<String>>,
    /// The number of threads that read and examine [default: one for each core]
    #[arg(long = "jobs", value_name = "N")]
    #[serde(alias = "jobs")]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 1024)]
    pub threads: Option<Setting<usize>>,

    /// Judge documents by their content, not only by their type: those that are not of the kinds to accept are skipped,
    /// and so are those without text [default: off]
    #[arg(
        long,
        value_name = "on|off",
        hide_possible_values = true,
        help_heading = "Content filter and text"
    )]
    #[schema(value_type = Option<bool>)]
    pub content_filter: Option<Setting<bool>>,
    /// The kinds to accept, with commas between: paper (short ones too), thesis, book, report, guideline, proposal, slides,
    /// poster, lecture_notes, homework, manual, datasheet, cv, form, minutes, legal, periodical, syllabus, other
    /// [default: paper,thesis]
    #[arg(
        long,
        value_name = "KINDS",
        value_delimiter = ',',
        hide_possible_values = true,
        help_heading = "Content filter and text"
    )]
    #[serde(default, deserialize_with = "choices")]
    #[schema(value_type = Option<Vec<String>>, example = json!(["paper", "thesis"]))]
    pub kinds: Option<Vec<Kind>>,
    /// The least probability with which a document is accepted [default: 0.6]
    #[arg(
        long,
        value_name = "PROBABILITY",
        help_heading = "Content filter and text"
    )]
    #[schema(value_type = Option<f64>)]
    pub accept: Option<Setting<f64>>,
    /// The probability below which a document is rejected; between the two it is unsure [default: 0.4]
    #[arg(
        long,
        value_name = "PROBABILITY",
        help_heading = "Content filter and text"
    )]
    #[schema(value_type = Option<f64>)]
    pub reject: Option<Setting<f64>>,
    /// The share of papers among all documents of the crawl, such as 0.06: the fewer there are, the surer the content filter
    /// has to be [default: as many papers as other documents]
    #[arg(long, value_name = "SHARE", help_heading = "Content filter and text")]
    #[schema(value_type = Option<f64>, example = json!(0.06))]
    pub base_rate: Option<Setting<f64>>,
    /// Documents between the two: import them like others, or set them aside for a librarian and hide them from search
    /// engines [default: import]
    #[arg(
        long,
        value_name = "import|set-aside",
        hide_possible_values = true,
        help_heading = "Content filter and text"
    )]
    #[schema(value_type = Option<String>, example = "import")]
    pub unsure: Option<Setting<Unsure>>,
    /// A model made by garner classifier train, or cdi-2012 for the rule of the original importer [default: the built-in
    /// model]
    #[arg(
        long,
        value_name = "PATH|cdi-2012",
        help_heading = "Content filter and text"
    )]
    #[schema(value_type = Option<String>)]
    pub model: Option<Setting<String>>,
    /// Recognise the first pages of documents that consist of images, when everything else is done, and judge by these
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          hide_possible_values = true, help_heading = "Content filter and text")]
    #[schema(value_type = Option<bool>)]
    pub ocr: Option<Setting<bool>>,
    /// A language to recognise, by the names of tesseract; can be given several times [default: those of the script of the
    /// first page that are installed]
    #[arg(
        long = "language",
        value_name = "LANGUAGE",
        help_heading = "Content filter and text"
    )]
    #[serde(default, deserialize_with = "words")]
    pub languages: Option<Vec<String>>,
    /// Store the text of documents beside them, also without the content filter
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          hide_possible_values = true, help_heading = "Content filter and text")]
    #[schema(value_type = Option<bool>)]
    pub text: Option<Setting<bool>>,

    /// The crawler's log: it completes archives. With a directory of files it decides which are imported
    #[arg(long, value_name = "FILE", help_heading = "Logs and URLs")]
    #[schema(value_type = Option<String>)]
    pub log: Option<Setting<PathBuf>>,
    /// The format of the log: heritrix, list, ftp-list, pmc, or a TOML file that describes another [default: heritrix]
    #[arg(long, value_name = "NAME|FILE", help_heading = "Logs and URLs")]
    #[schema(value_type = Option<String>)]
    pub log_format: Option<Setting<String>>,
    /// The directory that the files of the log lie in
    #[arg(long, value_name = "DIR", help_heading = "Logs and URLs")]
    #[schema(value_type = Option<String>)]
    pub root: Option<Setting<PathBuf>>,
    /// The beginning of URLs, where a log only has paths. Without a log, that of all files below PATH
    #[arg(long, value_name = "URL", help_heading = "Logs and URLs")]
    #[schema(value_type = Option<String>)]
    pub base_url: Option<Setting<String>>,
    /// The name of the crawler, for the .met files beside the documents
    #[arg(long, value_name = "NAME", help_heading = "Logs and URLs")]
    #[schema(value_type = Option<String>)]
    pub crawler: Option<Setting<String>>,
}

impl ImportPatch {
    /// The settings that are given, as JSON has them.
    pub fn given(&self) -> Result<Map<String, Value>, serde_json::Error> {
        let mut given: Map<String, Value> = serde_json::from_value(serde_json::to_value(self)?)?;
        given.retain(|_, value| !value.is_null());
        Ok(given)
    }
}

/// The treatment of the older content of a changed document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versions {
    /// The newer replaces it.
    Replace,
    /// Both are kept.
    Keep,
}

impl Serialize for Versions {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(*self == Self::Keep)
    }
}

impl Parameter for Versions {
    const VALUES: &'static [&'static str] = &["replace", "keep"];

    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "replace" | "false" => Ok(Self::Replace),
            "keep" | "true" => Ok(Self::Keep),
            _ => Err("write replace or keep".to_owned()),
        }
    }
}

impl From<Versions> for bool {
    fn from(versions: Versions) -> Self {
        versions == Versions::Keep
    }
}

impl ImportPatch {
    /// Whether something is given.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }

    /// Whether it names something to import: paths, or a log that names them.
    pub fn names_sources(&self) -> bool {
        self.paths.as_ref().is_some_and(|paths| !paths.is_empty())
            || self.log.as_ref().is_some_and(|log| log.value().is_some())
    }

    /// Puts everything that is given into `order`. Returns values that cannot be.
    pub fn apply(&self, order: &mut ImportOrder) -> Vec<Mistake> {
        let default = ImportOrder::default();
        apply!(self, order, default; paths, blacklist, lists, no_database, max_url_length, mirror_deletions,
            digests, collection, threads, log, log_format, root,
            base_url, crawler);
        if let Some(needs) = &self.needs {
            let mut needs = trimmed(needs);
            needs.sort();
            needs.dedup();
            order.needs = needs;
        }
        self.keep_versions
            .put(&mut order.keep_versions, &default.keep_versions);
        if let Some(types) = &self.types {
            let lower: Vec<_> = trimmed(types)
                .iter()
                .map(|name| name.to_ascii_lowercase())
                .collect();
            Some(lower).put(&mut order.types, &default.types);
        }
        let mut no_sync = order.durability == Durability::None;
        self.no_sync.put(&mut no_sync, &false);
        order.durability = match no_sync {
            true => Durability::None,
            false => default.durability,
        };
        let (texts, usual) = (&mut order.texts, &default.texts);
        apply!(self, texts, usual; content_filter, unsure, model, ocr, languages);
        self.text.put(&mut texts.store, &usual.store);
        let (policy, usual) = (&mut texts.policy, &usual.policy);
        apply!(self, policy, usual; kinds, accept, reject, base_rate);
        let Some(open) = self.open.as_deref().map(trimmed) else {
            return Vec::new();
        };
        let open = match open.is_empty() {
            true => vec!["none".to_owned()],
            false => open,
        };
        match flows::containers(&open) {
            Ok(open) => {
                order.open = open;
                Vec::new()
            }
            Err(error) => vec![Mistake::new("open", flows::message(&error))],
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        patch: ImportPatch,
    }

    #[test]
    fn what_is_given_is_read_again_as_it_was() {
        let flags = "import --types image/*,text/html --versions keep --digests skip --max-url-length= --accept 0.7
            --kinds paper,slides --log crawl.log --content-filter on --list one --list two";
        let patch = Flags::parse_from(flags.split_whitespace()).patch;

        let given = patch.given().unwrap();

        assert_eq!(given.len(), 9, "{given:?}");
        let (read, mistakes) = crate::read_fields::<ImportPatch>(given);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        assert_eq!(read, patch);
    }

    fn applied(patch: &ImportPatch) -> ImportOrder {
        let mut order = ImportOrder::default();
        assert_eq!(patch.apply(&mut order), []);
        order
    }

    #[test]
    fn flags_and_json_are_the_same_patch() {
        let flags = [
            "x",
            "--types",
            "Text/HTML,a/b",
            "--open",
            "none",
            "--versions",
            "keep",
            "--no-sync",
            "--jobs",
            "3",
            "--content-filter",
            "on",
            "--kinds",
            "paper,book",
            "--accept",
            "0.9",
            "--base-rate",
            "0.06",
            "--unsure",
            "set-aside",
            "--ocr",
            "--language",
            "deu",
            "--language",
            "eng",
            "--text",
            "--log",
            "/l",
            "--max-url-length",
            "99",
        ];
        let by_flags = Flags::try_parse_from(flags).unwrap().patch;
        let by_json: ImportPatch = serde_json::from_value(json!({
            "types": ["text/html", "a/b"], "open": "none", "keep_versions": true, "no_sync": true, "threads": 3,
            "content_filter": true, "kinds": ["paper", "book"], "accept": 0.9, "base_rate": "0.06", "unsure": "set-aside", "ocr": true,
            "languages": "deu, eng", "text": "on", "log": "/l", "max_url_length": "99",
        }))
        .unwrap();

        let order = applied(&by_flags);

        assert_eq!(format!("{order:?}"), format!("{:?}", applied(&by_json)));
        assert_eq!(order.types, ["text/html", "a/b"]);
        assert!(order.keep_versions && order.texts.store && order.texts.ocr);
        assert!(!order.open.gzip);
    }

    #[test]
    fn an_empty_text_means_the_default() {
        let empty = json!({"types": "", "versions": "", "threads": "", "kinds": "", "log": ""});
        let empty: ImportPatch = serde_json::from_value(empty).unwrap();
        let order = applied(&empty);
        assert_eq!(
            format!("{order:?}"),
            format!("{:?}", ImportOrder::default())
        );
    }

    #[test]
    fn an_unknown_container_is_a_mistake_of_its_field() {
        let patch: ImportPatch = serde_json::from_value(json!({"open": "rar"})).unwrap();
        let mistakes = patch.apply(&mut ImportOrder::default());
        assert_eq!(mistakes[0].field, Some("open"));
    }
}
