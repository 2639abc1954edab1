//! Dates as the API writes and reads them: RFC 3339, in UTC.

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use crate::filters::date;

/// A moment, kept in seconds, written as `2026-11-16T05:00:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, format = DateTime, example = "2026-11-16T05:00:00Z")]
pub(crate) struct Time(pub(crate) i64);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&date(self.0))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let moment: Timestamp = text.parse().map_err(|_| {
            D::Error::custom(format!(
                "`{text}` is not a date such as 2026-11-16T05:00:00Z"
            ))
        })?;
        Ok(Self(moment.as_second()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_and_read_alike() {
        let text = serde_json::to_string(&Time(1_794_805_200)).unwrap();
        assert_eq!(text, r#""2026-11-16T05:00:00Z""#);
        assert_eq!(
            serde_json::from_str::<Time>(&text).unwrap(),
            Time(1_794_805_200)
        );
        let error = serde_json::from_str::<Time>(r#""tomorrow""#).unwrap_err();
        assert!(error.to_string().contains("tomorrow"), "{error}");
    }
}
