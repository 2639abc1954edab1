//! How a schedule or a job harvests, described for programs. What is read and written is
//! [`jobs::HarvestParameters`]; this says the same in the words of OpenAPI.

use utoipa::ToSchema;

/// All that can be set for a harvest beside the repository, the format and the set.
#[expect(dead_code, reason = "only its description is used")]
#[derive(ToSchema)]
#[schema(as = HarvestParameters)]
pub(crate) struct Parameters {
    /// How records are asked for.
    #[schema(default = "ListRecords")]
    method: Option<MethodName>,
    /// Since when, such as `2024-01-31`; without it, since the last harvest.
    from: Option<String>,
    /// Until when.
    until: Option<String>,
    /// Whether everything is harvested again each time.
    full: Option<bool>,
    /// In how many spans of time the list is cut, to be harvested side by side.
    #[schema(minimum = 1, maximum = 1000)]
    slices: Option<u16>,
    /// How strictly records are validated.
    validation: Option<ValidationName>,
    /// The number of the filter that says which records are kept.
    filter: Option<i64>,
    /// The number of the mapping that says what is added to records.
    normalise: Option<i64>,
    /// Whether records that are held are removed if the filter does not accept them, and not only marked.
    prune: Option<bool>,
    /// What becomes of the files of deleted records.
    deleted: Option<DeletedName>,
    /// Whether identifiers are parsed into directories.
    parse_id: Option<bool>,
    /// How many files a directory has at most.
    #[schema(minimum = 1)]
    files_per_directory: Option<u64>,
    /// The directory of a mirror of the resources, below the data directory.
    unpack: Option<String>,
    /// The directory of WARC files with the resources, below the data directory.
    warc: Option<String>,
    /// The longest resource that is taken, in MiB.
    #[schema(minimum = 1)]
    resource_limit: Option<u64>,
    /// The name under which credentials, a proxy or certificates are kept, given by `garner schedule add`.
    access: Option<String>,
    /// Whom the repository may write to, sent in the header From.
    contact: Option<String>,
    /// The least time between the beginnings of two requests, in milliseconds.
    #[schema(maximum = 86_400_000)]
    interval_ms: Option<u64>,
    /// How many requests may be open at once.
    #[schema(minimum = 1, maximum = 64)]
    connections: Option<u16>,
    /// How long the server may be silent, and may take for 16 KiB, in milliseconds.
    #[schema(minimum = 1, maximum = 86_400_000)]
    timeout_ms: Option<u64>,
    /// How often a request is made before it is given up.
    #[schema(minimum = 1)]
    attempts: Option<u32>,
    /// The longest wait that the server may ask for, in milliseconds; if it asks for more, the job is put off.
    #[schema(maximum = 86_400_000)]
    longest_wait_ms: Option<u64>,
}

/// How records are asked for.
#[expect(dead_code, reason = "only its description is used")]
#[derive(ToSchema)]
#[schema(as = Method)]
pub(crate) enum MethodName {
    ListRecords,
    ListIdentifiers,
}

/// How strictly records are validated.
#[expect(dead_code, reason = "only its description is used")]
#[derive(ToSchema)]
#[schema(as = ValidationLevel, rename_all = "kebab-case")]
pub(crate) enum ValidationName {
    Strict,
    VeryStrict,
    Loose,
}

/// What becomes of the files of deleted records.
#[expect(dead_code, reason = "only its description is used")]
#[derive(ToSchema)]
#[schema(as = DeletedFiles, rename_all = "lowercase")]
pub(crate) enum DeletedName {
    Remove,
    Keep,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;
    use utoipa::PartialSchema as _;

    use super::*;

    #[test]
    fn what_is_described_is_what_is_read() {
        let described = serde_json::to_value(Parameters::schema()).unwrap();
        let real = serde_json::to_value(jobs::HarvestParameters::default()).unwrap();
        let names = |value: &Value| -> BTreeSet<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(names(&described["properties"]), names(&real));
    }

    #[test]
    fn names_that_are_described_can_be_read() {
        for (key, schema) in [
            ("method", MethodName::schema()),
            ("validation", ValidationName::schema()),
            ("deleted", DeletedName::schema()),
        ] {
            let schema = serde_json::to_value(schema).unwrap();
            for name in schema["enum"].as_array().unwrap() {
                let json = serde_json::json!({ key: name }).to_string();
                jobs::HarvestParameters::parse(&json).unwrap();
            }
        }
    }
}
