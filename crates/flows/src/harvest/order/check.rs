//! Finds orders that no harvest could be made with.
//!
//! Directories of schedules and jobs lie below the data directory, so that nobody who may steer harvests can reach
//! another directory of the machine.

use std::path::{Component, Path};

use harvester::Method;
use oai::Datestamp;

use super::HarvestOrder;
use crate::Mistake;
use crate::access;
use crate::harvest::UNFINISHED;
use crate::harvest::Via;
use crate::rules::RulesName;

impl HarvestOrder {
    /// Finds settings that no harvest could be made with.
    pub fn check(&self) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        let mut refuse = |field, reason: String| mistakes.push(Mistake::new(field, reason));
        for (field, date) in [("from", &self.from), ("until", &self.until)] {
            if let Some(date) = date
                && Datestamp::parse(date).is_none()
            {
                let forms = "write YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ";
                refuse(field, format!("`{date}` is not a date; {forms}"));
            }
        }
        if let (Some(from), Some(until)) = (&self.from, &self.until)
            && from.get(..10) > until.get(..10)
        {
            refuse(
                "from",
                format!("`{from}` is later than until: `{until}`; nothing could be between them"),
            );
        }
        if self.full && self.from.is_some() {
            let reason = "everything is harvested, so there can be no from; leave one of them out";
            refuse("full", reason.to_owned());
        }
        for (field, is_wrong, remedy) in [
            (
                "slices",
                !(1..=1000).contains(&self.slices),
                "write a number from 1 to 1000",
            ),
            (
                "files_per_directory",
                self.files_per_directory == 0,
                "write a number from 1 on",
            ),
            (
                "resource_limit",
                !(1..1 << 40).contains(&self.resource_limit),
                "write a number of MiB from 1 on",
            ),
            (
                "connections",
                self.connections.is_some_and(|it| !(1..=64).contains(&it)),
                "write a number from 1 to 64",
            ),
            (
                "attempts",
                self.attempts == Some(0),
                "write a number from 1 on",
            ),
            (
                "interval_ms",
                self.interval_ms.is_some_and(|time| time > A_DAY_MS),
                "write milliseconds, up to a day (86400000)",
            ),
            (
                "longest_wait_ms",
                self.longest_wait_ms.is_some_and(|time| time > A_DAY_MS),
                "write milliseconds, up to a day (86400000)",
            ),
            (
                "first_page_parts",
                self.first_page_parts > 1000,
                "write a number from 0 to 1000",
            ),
            (
                "timeout_ms",
                self.timeout_ms
                    .is_some_and(|time| !(1..=A_DAY_MS).contains(&time)),
                "write milliseconds from 1 on, up to a day (86400000)",
            ),
            (
                "contact",
                !is_header_value(self.contact.as_deref()),
                "write an e-mail address",
            ),
            (
                "user_agent",
                !is_header_value(self.user_agent.as_deref()),
                "write one line of plain characters, such as my-library/1.0",
            ),
        ] {
            if is_wrong {
                refuse(field, remedy.to_owned());
            }
        }
        if self.via.reads_lists() {
            self.check_lists(&mut refuse);
        }
        if self.via != Via::Oai && self.via != Via::Auto {
            self.check_verbs(&mut refuse);
        }
        for header in &self.headers {
            if let Err(reason) = check_header(header) {
                refuse("headers", reason);
            }
        }
        if let Some(name) = &self.access
            && let Err(reason) = access::check_name(name)
        {
            refuse("access", reason);
        }
        mistakes
    }

    /// Finds settings that have no meaning where a site is read by its lists.
    fn check_lists(&self, refuse: &mut impl FnMut(&'static str, String)) {
        if self.unpack.is_none() && self.warc.is_none() {
            let reason = "the files of the site need a place; give --unpack or --warc";
            refuse("unpack", reason.to_owned());
        }
        let prefix = &self.metadata_prefix;
        if !prefix.is_empty() && prefix != oai::format::didl::PREFIX {
            let reason = format!("resources of a site are kept in oai_didl; leave `{prefix}` out");
            refuse("metadata_prefix", reason);
        }
    }

    /// Finds settings that have no meaning where no verbs are asked.
    fn check_verbs(&self, refuse: &mut impl FnMut(&'static str, String)) {
        let via = self.via.name();
        for (field, is_given) in [
            ("set", self.set.is_some()),
            ("method", self.method != Method::default()),
            ("from", self.from.is_some()),
            ("until", self.until.is_some()),
            ("slices", self.slices != 1),
        ] {
            if is_given {
                refuse(
                    field,
                    format!("this is for OAI-PMH; leave it out with --via {via}"),
                );
            }
        }
    }

    /// Finds places that a schedule or a job may not name: directories elsewhere than below the data directory, and
    /// files of rules, which the catalog has to hold.
    pub fn check_places(&self) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        for (field, place) in [("unpack", &self.unpack), ("warc", &self.warc)] {
            if let Some(place) = place
                && let Err(reason) = check_below(&place.to_string_lossy())
            {
                mistakes.push(Mistake::new(field, reason));
            }
        }
        if self.via == Via::Auto {
            let reason = "a schedule or a job harvests one way; name it: oai, resourcesync, sitemap or static";
            mistakes.push(Mistake::new("via", reason.to_owned()));
        }
        for (field, rules) in [("filter", &self.filter), ("normalise", &self.normalise)] {
            if let Some(RulesName::File(file)) = rules {
                let file = file.display();
                let reason =
                    format!("`{file}` is a file; write the number that rules have in garner");
                mistakes.push(Mistake::new(field, reason));
            }
        }
        mistakes
    }
}

/// Whether a text can be the value of a header.
fn is_header_value(text: Option<&str>) -> bool {
    let is_plain = |text: &str| {
        text.len() <= LONGEST && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    };
    text.is_none_or(is_plain)
}

/// Refuses a header that is not written as `Name: value`, or that garner sets itself.
fn check_header(header: &str) -> Result<(), String> {
    let is_token = |name: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        !name.is_empty() && name.bytes().all(plain)
    };
    let parts = header.split_once(':');
    let parts = parts.filter(|(name, value)| is_token(name) && is_header_value(Some(value)));
    let Some((name, _)) = parts else {
        return Err(format!(
            "`{header}` is not a header; write it as Name: value"
        ));
    };
    let is = |other: &&(&str, &str)| name.eq_ignore_ascii_case(other.0);
    match RESERVED.iter().find(is) {
        Some((_, remedy)) => Err(format!("`{name}` cannot be set so; {remedy}")),
        None => Ok(()),
    }
}

/// Refuses a place that does not lie below the data directory.
fn check_below(place: &str) -> Result<(), String> {
    let complaint = || {
        Err(format!(
            "`{place}` is not a directory below the data directory; write a name such as mirror, of letters, digits, -, _ and dots"
        ))
    };
    let path = Path::new(place);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name.to_string_lossy()),
            _ => return complaint(),
        }
    }
    let hidden = names.iter().any(|name| name.starts_with('.'));
    let Some(first) = names
        .first()
        .filter(|_| !hidden && place.chars().all(plain))
    else {
        return complaint();
    };
    if place.len() > LONGEST {
        return Err(format!(
            "`{place}` is too long for the name of a directory; write a shorter one"
        ));
    }
    // Records have their own directories there, and so have credentials; and the catalog has its files.
    if first.eq_ignore_ascii_case("records")
        || first.eq_ignore_ascii_case(access::DIRECTORY)
        || first.eq_ignore_ascii_case(UNFINISHED)
        || first.eq_ignore_ascii_case("set-aside")
        || first.to_ascii_lowercase().starts_with("catalog.")
    {
        return Err(format!(
            "`{place}` is for other files of garner; write another name, such as mirror"
        ));
    }
    Ok(())
}

const LONGEST: usize = 200;
const A_DAY_MS: u64 = 86_400_000;
/// Headers that have a setting of their own, or that belong to the transfer.
const RESERVED: [(&str, &str); 9] = [
    ("Authorization", "give credentials instead"),
    ("From", "give a contact instead"),
    ("User-Agent", "give a user agent instead"),
    ("Host", TRANSFER),
    ("Connection", TRANSFER),
    ("Content-Length", TRANSFER),
    ("Transfer-Encoding", TRANSFER),
    ("Accept-Encoding", TRANSFER),
    (
        "Proxy-Authorization",
        "write the password into the URL of the proxy",
    ),
];
const TRANSFER: &str = "garner sets it for each request";

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn order(json: &str) -> HarvestOrder {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn directories_of_jobs_lie_below_the_data_directory() {
        for place in [
            "",
            ".",
            "..",
            "/etc",
            "../x",
            "a/../../b",
            "a//../..",
            ".hidden",
            "a/.hidden",
            "a b",
            "a\u{0}b",
            "records",
            "Records/x",
            "secrets",
            "unfinished",
            "set-aside/x",
            "catalog.sqlite",
            "catalog.sqlite-wal",
        ] {
            let order = HarvestOrder {
                unpack: Some(PathBuf::from(place)),
                ..HarvestOrder::default()
            };
            let mistakes = order.check_places();
            assert_eq!(mistakes[0].field, Some("unpack"), "{place:?}");
        }
        for place in ["mirror", "mirror/of-me_2.0", "warc"] {
            let order = HarvestOrder {
                warc: Some(PathBuf::from(place)),
                ..HarvestOrder::default()
            };
            assert_eq!(order.check_places(), [], "{place:?}");
        }
    }

    #[test]
    fn rules_of_jobs_are_in_the_catalog() {
        let mistakes = order(r#"{"filter":"/etc/passwd","normalise":3}"#).check_places();
        assert_eq!(mistakes.len(), 1);
        assert_eq!(mistakes[0].field, Some("filter"));
    }

    #[test]
    fn mistakes_are_found_all_at_once_each_with_its_field() {
        for (json, field, reason) in [
            (r#"{"from":"yesterday"}"#, "from", "is not a date"),
            (
                r#"{"from":"2024-02-02","until":"2024-01-01"}"#,
                "from",
                "later than",
            ),
            (
                r#"{"from":"2024-02-02","full":true}"#,
                "full",
                "leave one of them out",
            ),
            (r#"{"slices":0}"#, "slices", "from 1 to 1000"),
            (
                r#"{"files_per_directory":0}"#,
                "files_per_directory",
                "from 1",
            ),
            (r#"{"resource_limit":0}"#, "resource_limit", "MiB"),
            (r#"{"access":"../catalog.sqlite"}"#, "access", "names no"),
            (r#"{"contact":"a\nHost: b"}"#, "contact", "e-mail"),
            (r#"{"user_agent":"a\nHost: b"}"#, "user_agent", "one line"),
            (r#"{"headers":["nothing"]}"#, "headers", "Name: value"),
            (r#"{"headers":["a b: c"]}"#, "headers", "Name: value"),
            (r#"{"headers":["A: b\r\nC: d"]}"#, "headers", "Name: value"),
            (r#"{"headers":["host: b"]}"#, "headers", "for each request"),
            (
                r#"{"headers":["authorization: b"]}"#,
                "headers",
                "credentials",
            ),
            (r#"{"interval_ms":86400001}"#, "interval_ms", "a day"),
            (r#"{"timeout_ms":0}"#, "timeout_ms", "from 1"),
            (r#"{"connections":0}"#, "connections", "1 to 64"),
            (r#"{"attempts":0}"#, "attempts", "from 1"),
        ] {
            let mistakes = order(json).check();
            assert_eq!(mistakes.len(), 1, "{json}: {mistakes:?}");
            assert_eq!(mistakes[0].field, Some(field), "{json}");
            assert!(mistakes[0].reason.contains(reason), "{json}: {mistakes:?}");
        }
        assert_eq!(order(r#"{"slices":0,"attempts":0}"#).check().len(), 2);
        assert_eq!(order(r#"{"headers":["X-Key: a b"]}"#).check(), []);
        for json in ["{", r#"{"base_directory":"/etc"}"#] {
            assert!(HarvestOrder::parse(json).is_err(), "{json}");
        }
    }
}
