//! The patch of a harvest order.

use std::path::PathBuf;

use clap::Args;
use flows::rules::RulesName;
use flows::{Access, Deleted, HarvestOrder, Via};
use harvester::{Credentials, Method};
use rules::validation::Level;
use serde::Deserialize;
use utoipa::ToSchema;

use super::list::{lines, trimmed};
use super::secrets::{in_file, seconds};
use super::{Certificates, Secret, Setting, apply};

/// Settings of a harvest. Settings that are not given stay as they are; an empty text means the default.
#[derive(Debug, Clone, Default, PartialEq, Args, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[command(next_help_heading = "Harvest options")]
pub struct HarvestPatch {
    /// How the site is harvested: oai (OAI-PMH), resourcesync (ResourceSync), sitemap (sitemaps; robots.txt is obeyed),
    /// static (a static repository: one XML file), or auto (the best of these that the site offers; not for jobs)
    /// [default: oai]
    #[arg(long, value_name = "WAY", hide_possible_values = true)]
    #[schema(value_type = Option<String>, example = "oai")]
    pub via: Option<Setting<Via>>,
    /// Include resources on other hosts, where lists of ResourceSync or sitemaps name any; without this they are skipped
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          hide_possible_values = true)]
    #[schema(value_type = Option<bool>)]
    pub other_hosts: Option<Setting<bool>>,
    /// How records are requested: ListRecords, or ListIdentifiers and then each record by itself [default: ListRecords]
    #[arg(long, value_name = "VERB", hide_possible_values = true)]
    #[schema(value_type = Option<String>, example = "ListRecords")]
    pub method: Option<Setting<Method>>,
    /// Only records that changed on or after this date [default: since the last harvest]
    #[arg(long, value_name = "DATE")]
    #[schema(value_type = Option<String>, example = "2024-01-31")]
    pub from: Option<Setting<String>>,
    /// Only records that changed on or before this date
    #[arg(long, value_name = "DATE")]
    #[schema(value_type = Option<String>)]
    pub until: Option<Setting<String>>,
    /// Harvest everything again, not only changes; records that are not listed any more count as deleted, unless the
    /// repository keeps track of deletions itself
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          hide_possible_values = true)]
    #[schema(value_type = Option<bool>)]
    pub full: Option<Setting<bool>>,
    /// The same as --full=false
    #[arg(long, conflicts_with = "full", hide = true)]
    #[serde(skip)]
    pub incremental: bool,
    /// Cut the list into N spans of time, to be harvested side by side; see --connections [default: 1]
    #[arg(long, value_name = "N")]
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 1000)]
    pub slices: Option<Setting<u16>>,
    /// How strictly records are validated: strict (well-formed), very-strict (valid by XML Schema) or loose (repaired if
    /// they are not well-formed) [default: strict]
    #[arg(long, value_name = "LEVEL", hide_possible_values = true)]
    #[schema(value_type = Option<String>, example = "strict")]
    pub validation: Option<Setting<Level>>,
    /// An XML Schema file for --validation very-strict, beside those that are built in; can be given several times. Only
    /// the command line names files
    #[arg(long = "schema", value_name = "FILE")]
    #[serde(default, deserialize_with = "lines")]
    #[schema(value_type = Option<Vec<String>>)]
    pub schemas: Option<Vec<PathBuf>>,
    /// A filter, by its number in garner or, on the command line, by a file: only records that it accepts are kept
    #[arg(long, value_name = "FILE|NUMBER")]
    #[schema(value_type = Option<i64>)]
    pub filter: Option<Setting<RulesName>>,
    /// A mapping, by its number in garner or, on the command line, by a file: its values are added to records
    #[arg(long, visible_alias = "normalize", value_name = "FILE|NUMBER")]
    #[schema(value_type = Option<i64>)]
    pub normalise: Option<Setting<RulesName>>,
    /// Remove held records that the filter does not accept, without a question; otherwise they stay and are marked
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          hide_possible_values = true)]
    #[schema(value_type = Option<bool>)]
    pub prune: Option<Setting<bool>>,
    /// The same as --prune=false
    #[arg(long, conflicts_with = "prune", hide = true)]
    #[serde(skip)]
    pub no_prune: bool,
    /// Treatment of the files of deleted records: remove them, or keep them with .deleted at the end of the name
    /// [default: remove]
    #[arg(long, value_name = "remove|keep", hide_possible_values = true)]
    #[schema(value_type = Option<String>, example = "remove")]
    pub deleted: Option<Setting<Deleted>>,
    /// Parse identifiers into directories [default: true]
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          hide_possible_values = true)]
    #[schema(value_type = Option<bool>)]
    pub parse_id: Option<Setting<bool>>,
    /// Put all files into one directory, whatever their identifiers are; the same as --parse-id=false
    #[arg(long, conflicts_with = "parse_id")]
    #[serde(skip)]
    pub no_parse_id: bool,
    /// At most N files in a directory [default: 5000]
    #[arg(long, value_name = "N")]
    #[schema(value_type = Option<u64>, minimum = 1)]
    pub files_per_directory: Option<Setting<u64>>,
    /// Do not wait until files have reached the disk: faster, and a loss of power can cost some
    #[arg(skip)]
    #[schema(value_type = Option<bool>)]
    pub no_sync: Option<Setting<bool>>,
    /// Write the resources themselves, as a mirror of their site; schedules and jobs name a directory below the data
    /// directory [default: DIR/mirror]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = HarvestPatch::MIRROR)]
    #[schema(value_type = Option<String>)]
    pub unpack: Option<Setting<PathBuf>>,
    /// Write the resources themselves, as WARC files; schedules and jobs name a directory below the data directory
    /// [default: DIR/warc]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = HarvestPatch::WARC)]
    #[schema(value_type = Option<String>)]
    pub warc: Option<Setting<PathBuf>>,
    /// The longest resource that is kept, in MiB [default: 4096]
    #[arg(long, value_name = "MIB")]
    #[schema(value_type = Option<u64>, minimum = 1)]
    pub resource_limit: Option<Setting<u64>>,

    /// File with the credentials, one line: USER:PASSWORD or bearer TOKEN. Programs and forms give the line itself; it is
    /// kept in a file that only garner reads, and never shown
    #[arg(long, value_name = "FILE", value_parser = in_file::<Secret<Credentials>>, help_heading = "Network options")]
    #[schema(value_type = Option<String>, write_only)]
    pub credentials: Option<Setting<Secret<Credentials>>>,
    /// A proxy for all requests, such as http://HOST:3128; kept like credentials
    #[arg(long, value_name = "URL", help_heading = "Network options")]
    #[schema(value_type = Option<String>, write_only)]
    pub proxy: Option<Setting<String>>,
    /// File of certificates (PEM) to trust beside those of the system. Programs and forms give the text itself
    #[arg(long, value_name = "FILE", value_parser = in_file::<Certificates>, help_heading = "Network options")]
    #[schema(value_type = Option<String>, write_only)]
    pub ca: Option<Setting<Certificates>>,
    /// The name under which garner keeps credentials, a proxy or certificates
    #[arg(skip)]
    #[schema(value_type = Option<String>)]
    pub access: Option<Setting<String>>,
    /// The e-mail address that is sent in the header From
    #[arg(long, value_name = "E-MAIL", help_heading = "Network options")]
    #[schema(value_type = Option<String>)]
    pub contact: Option<Setting<String>>,
    /// The value of the header User-Agent [default: garner and its version]
    #[arg(long, value_name = "TEXT", help_heading = "Network options")]
    #[schema(value_type = Option<String>)]
    pub user_agent: Option<Setting<String>>,
    /// A further request header, as 'Name: value'; can be given several times. It is shown to all who see the harvest
    #[arg(
        long = "header",
        value_name = "HEADER",
        help_heading = "Network options"
    )]
    #[serde(default, deserialize_with = "lines")]
    pub headers: Option<Vec<String>>,
    /// Minimum time between requests, in milliseconds; in seconds on the command line [default: 0]
    #[arg(long = "interval", value_name = "SECONDS", value_parser = seconds, help_heading = "Network options")]
    #[schema(value_type = Option<u64>, maximum = 86_400_000)]
    pub interval_ms: Option<Setting<u64>>,
    /// At most N requests open at once [default: 1; with --via resourcesync 4]
    #[arg(long, value_name = "N", help_heading = "Network options")]
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 64)]
    pub connections: Option<Setting<u16>>,
    /// Timeout without data, and for each 16 KiB, in milliseconds; in seconds on the command line [default: 300 s]
    #[arg(long = "timeout", value_name = "SECONDS", value_parser = seconds, help_heading = "Network options")]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 86_400_000)]
    pub timeout_ms: Option<Setting<u64>>,
    /// At most N attempts for each request [default: 6]
    #[arg(long, value_name = "N", help_heading = "Network options")]
    #[schema(value_type = Option<u32>, minimum = 1)]
    pub attempts: Option<Setting<u32>>,
    /// The longest wait that the server may ask for with Retry-After, in milliseconds; in seconds on the command line. If
    /// it asks for more, the harvest ends, and that of a job is put off until then [default: 3600 s, 60 s for a job]
    #[arg(long = "longest-wait", value_name = "SECONDS", value_parser = seconds, help_heading = "Network options")]
    #[schema(value_type = Option<u64>, maximum = 86_400_000)]
    pub longest_wait_ms: Option<Setting<u64>>,
    /// Where the first page of the list never comes, ask for at most N parts of it by date before the harvest fails; an
    /// answer to one of them lifts the limit [default: 0]
    #[arg(long, value_name = "N", help_heading = "Network options")]
    #[schema(value_type = Option<u32>, maximum = 1000)]
    pub first_page_parts: Option<Setting<u32>>,
}

impl HarvestPatch {
    /// The value of `--unpack` without one: the slash tells it from a directory of the same name in the current one.
    pub const MIRROR: &'static str = "mirror/";
    /// The value of `--warc` without one.
    pub const WARC: &'static str = "warc/";

    /// Whether something is given.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }

    /// Puts everything that is given into `order`, but for credentials, proxy and certificates.
    pub fn apply(&self, order: &mut HarvestOrder) {
        let default = HarvestOrder::default();
        apply!(self, order, default; via, other_hosts, method, from, until, full, slices, validation, schemas, filter, normalise, prune,
            deleted, parse_id, files_per_directory, no_sync, unpack, warc, resource_limit, access, contact, user_agent,
            interval_ms, connections, timeout_ms, attempts, longest_wait_ms, first_page_parts);
        for place in [&mut order.unpack, &mut order.warc].into_iter().flatten() {
            *place = place.components().collect();
        }
        if let Some(headers) = &self.headers {
            order.headers = trimmed(headers);
        }
        order.full &= !self.incremental;
        order.prune &= !self.no_prune;
        order.parse_id &= !self.no_parse_id;
    }

    /// Whether credentials, a proxy or certificates are given.
    pub fn has_access(&self) -> bool {
        self.credentials.is_some() || self.proxy.is_some() || self.ca.is_some()
    }

    /// Puts credentials, proxy and certificates into `access`.
    pub fn apply_access(&self, access: &mut Access) {
        let secret = |secret: &Secret<String>| secret.0.clone();
        if let Some(credentials) = &self.credentials {
            access.credentials = credentials.value().map(|secret| secret.0.clone());
        }
        if let Some(proxy) = &self.proxy {
            access.proxy = proxy.value().cloned();
        }
        if let Some(ca) = &self.ca {
            access.certificates = ca.value().map(secret);
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
        patch: HarvestPatch,
    }

    fn flags(flags: &[&str]) -> HarvestPatch {
        Flags::try_parse_from([&["x"], flags].concat())
            .unwrap()
            .patch
    }

    fn applied(patch: &HarvestPatch) -> HarvestOrder {
        let mut order = HarvestOrder::default();
        patch.apply(&mut order);
        order
    }

    #[test]
    fn flags_and_json_are_the_same_patch() {
        let by_flags = flags(&[
            "--full",
            "--slices",
            "3",
            "--validation",
            "very-strict",
            "--filter",
            "7",
            "--warc",
            "--interval",
            "0.5",
            "--header",
            "X-A: b",
            "--header",
            "X-C: d",
            "--user-agent",
            "me/1",
            "--no-parse-id",
        ]);
        let by_json: HarvestPatch = serde_json::from_value(json!({
            "full": true, "slices": "3", "validation": "very-strict", "filter": 7, "warc": "warc", "interval_ms": 500,
            "headers": ["X-A: b", "X-C: d"], "user_agent": "me/1", "parse_id": false,
        }))
        .unwrap();

        let order = applied(&by_flags);

        assert_eq!(order, applied(&by_json));
        assert_eq!((order.slices, order.interval_ms), (3, Some(500)));
        assert_eq!(order.filter, Some(RulesName::Number(7)));
    }

    #[test]
    fn an_empty_text_means_the_default() {
        let mut order = applied(&flags(&[
            "--slices", "9", "--warc", "--header", "A: b", "--prune",
        ]));
        flags(&["--slices", "", "--warc", "", "--header", "", "--no-prune"]).apply(&mut order);
        assert_eq!(order, HarvestOrder::default());
    }

    #[test]
    fn secrets_are_not_shown() {
        let patch: HarvestPatch =
            serde_json::from_value(json!({"credentials": "me:s3cret", "slices": 2})).unwrap();
        let mut access = Access::default();
        patch.apply_access(&mut access);
        assert!(access.credentials.is_some());
        assert!(!format!("{patch:?}").contains("s3cret"));
    }
}
