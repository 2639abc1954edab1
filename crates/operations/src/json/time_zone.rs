//! Time zones by their names in the tz database: that of the system, or else the one in the program.

use jiff::tz::{TimeZone as Rules, db};
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use utoipa::ToSchema;

/// A time zone, such as `Europe/Berlin`; by default UTC.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, example = "Europe/Berlin")]
pub struct TimeZone(Rules);

impl TimeZone {
    /// The time zone with this name, in any case.
    pub fn read(name: &str) -> Result<Self, String> {
        let name = name.trim();
        let unknown = || {
            format!(
                "there is no time zone `{name}`; write it as Europe/Berlin, America/New_York or UTC"
            )
        };
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_plain) {
            return Err(unknown());
        }
        if name.eq_ignore_ascii_case(UTC) {
            return Ok(Self::default());
        }
        db().get(name).map(Self).map_err(|_| unknown())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or(UTC)
    }

    /// Whether it is UTC.
    pub fn is_utc(&self) -> bool {
        self.name() == UTC
    }

    /// A moment, in seconds, as clocks there show it.
    pub fn at(&self, seconds: i64) -> Zoned {
        let moment = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
        moment.to_zoned(self.0.clone())
    }

    /// The seconds of the moment at which clocks there show `text`, a date or a date with a time. A `Z` at its end means
    /// UTC.
    pub fn moment(&self, text: &str) -> Option<i64> {
        let text = text.trim();
        if text.ends_with(['Z', 'z']) {
            return crate::time::moment(text).map(|time| time.0);
        }
        let time: jiff::civil::DateTime = text.parse().ok()?;
        // Years far away have no rules, and no entries either.
        crate::time::moment(text)?;
        Some(time.to_zoned(self.0.clone()).ok()?.timestamp().as_second())
    }

    /// The names of all time zones.
    pub fn names() -> Vec<String> {
        let all = db().available().map(|name| name.as_str().to_owned());
        let mut names: Vec<_> = all.filter(|name| is_place(name)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Default for TimeZone {
    fn default() -> Self {
        Self(Rules::UTC)
    }
}

impl Serialize for TimeZone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for TimeZone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Whether a name is that of a place: systems have others too, such as `Etc/GMT-3` and `posix/Europe/Berlin`.
fn is_place(name: &str) -> bool {
    let area = name.split_once('/').map(|(area, _)| area);
    area.is_some_and(|area| !["Etc", "posix", "right", "SystemV", "US"].contains(&area))
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte)
}

const UTC: &str = "UTC";
const MAX_NAME: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_shown_and_read_as_clocks_there_do() {
        let berlin = TimeZone::read("europe/berlin").unwrap();
        assert_eq!(berlin.name(), "Europe/Berlin");
        // Summer and winter.
        for (seconds, shown) in [
            (1_783_080_000, "2026-07-03T14:00"),
            (1_794_823_200, "2026-11-16T11:00"),
        ] {
            assert_eq!(
                berlin.at(seconds).strftime("%Y-%m-%dT%H:%M").to_string(),
                shown
            );
            assert_eq!(berlin.moment(shown), Some(seconds));
        }
        assert_eq!(berlin.moment("2026-11-16"), Some(1_794_783_600));
        assert_eq!(berlin.moment("2026-11-16T10:00Z"), Some(1_794_823_200));
        assert_eq!(berlin.moment("yesterday"), None);
        assert_eq!(TimeZone::default().moment("1970-01-02"), Some(86_400));
    }

    #[test]
    fn only_names_of_time_zones_are_taken() {
        for name in [
            "",
            "Mars/Olympus",
            "../../etc/passwd",
            "/etc/localtime",
            "Europe/Ber\nlin",
            "posixrules.",
        ] {
            assert!(TimeZone::read(name).is_err(), "{name:?}");
        }
        assert!(TimeZone::read("utc").unwrap().is_utc());
        assert!(TimeZone::names().contains(&"Asia/Tokyo".to_owned()));
    }
}
