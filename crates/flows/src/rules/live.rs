//! A record to try rules on, as the repository gives it now.

use anyhow::bail;
use harvester::{Client, Record};

/// Gets a record of a repository: the one with an identifier, or the first of its list that is not deleted.
pub fn live_record(
    client: &Client,
    base_url: &str,
    metadata_prefix: &str,
    set: Option<&str>,
    identifier: Option<&str>,
) -> anyhow::Result<Record> {
    let repository = client.repository(base_url)?;
    if let Some(identifier) = identifier {
        return Ok(repository.get_record(identifier, metadata_prefix)?);
    }
    let records = repository.list_records(metadata_prefix, set, None, None);
    for record in records.take(MOST_LOOKED_AT) {
        let record = record?;
        if !record.header.deleted {
            return Ok(record);
        }
    }
    match set {
        Some(set) => {
            bail!("the repository lists no record in `{metadata_prefix}` of the set `{set}`")
        }
        None => bail!("the repository lists no record in `{metadata_prefix}`"),
    }
}

/// Somebody waits for the answer.
const MOST_LOOKED_AT: usize = 500;

#[cfg(test)]
mod tests {
    use harvester::ClientOptions;
    use test_support::{Misbehaving, Script};

    use super::*;

    fn live(script: Script, identifier: Option<&str>) -> anyhow::Result<Record> {
        let repository = Misbehaving::start(script);
        let client = Client::new(ClientOptions::default()).unwrap();
        live_record(&client, &repository.base_url(), "oai_dc", None, identifier)
    }

    #[test]
    fn a_record_is_got_by_its_identifier_or_as_the_first_one() {
        let wanted = Script::identifier(7);
        let record = live(Script::new(20, 10), Some(&wanted)).unwrap();
        assert_eq!(record.header.identifier, wanted);

        let record = live(Script::new(20, 10), None).unwrap();
        assert!(
            Script::new(20, 10)
                .identifiers()
                .contains(&record.header.identifier)
        );
        assert!(!record.xml.is_empty());
    }

    #[test]
    fn a_repository_without_records_is_told() {
        let error = live(Script::new(0, 10), None).unwrap_err().to_string();
        assert_eq!(error, "the repository lists no record in `oai_dc`");
        let error = live(Script::new(5, 10), Some("oai:no:1")).unwrap_err();
        assert!(error.to_string().contains("there is no record"), "{error}");
    }
}
