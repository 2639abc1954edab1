//! Rules tried on a record: one that a repository gives now, one that was harvested, or one that somebody pasted.

use catalog::RulesKind;
use harvester::filter::Filters;
use harvester::normalise::Mappings;
use jobs::rules::{Trial, live_record, try_rules};

use crate::problem::Problem;
use crate::question::question;
use crate::records::{Line, RecordFile, RecordText, record, tree};
use crate::state::ConsoleState;

/// A record to try rules on.
#[derive(Debug, Clone)]
pub(crate) enum Sample {
    /// One of a repository, as it gives it now: with an identifier, or the first of its list.
    Live {
        repository: i64,
        metadata_prefix: String,
        identifier: Option<String>,
    },
    /// One that was harvested, by its number.
    Held(i64),
    /// This XML.
    Pasted(String),
}

/// What rules do to a record.
#[derive(Debug)]
pub(crate) struct Tried {
    /// Which record it was, in words.
    pub(crate) what: String,
    pub(crate) trial: Trial,
    /// The record as it was.
    pub(crate) before: Vec<Line>,
    /// The record as it would be stored, with what was added marked.
    pub(crate) after: Vec<(Line, bool)>,
}

/// Tries rules, which have been checked. What is wrong with the record is told with the field that names it.
pub(crate) async fn try_on(
    state: &ConsoleState,
    kind: RulesKind,
    content: &str,
    sample: Sample,
) -> Result<Result<Tried, (&'static str, String)>, Problem> {
    let (what, xml) = match found(state, sample).await? {
        Ok(found) => found,
        Err(wrong) => return Ok(Err(wrong)),
    };
    let content = content.to_owned();
    state
        .blocking(move |_| tried(kind, &content, what, &xml))
        .await
}

fn tried(
    kind: RulesKind,
    content: &str,
    what: String,
    xml: &[u8],
) -> Result<Tried, (&'static str, String)> {
    let content = content.as_bytes();
    let rules = |error: harvester::xml::Malformed| ("content", error.to_string());
    let (mut filters, mut mappings) = (None, None);
    match kind {
        RulesKind::Filter => filters = Some(Filters::parse(content).map_err(rules)?),
        RulesKind::Mapping => mappings = Some(Mappings::parse(content).map_err(rules)?),
    }
    let unusable = |error: String| ("sample", format!("the record cannot be used: {error}"));
    let before = tree(xml).map_err(unusable)?;
    let trial = try_rules(filters.as_ref(), mappings.as_ref(), xml);
    let trial = trial.map_err(|error| ("sample", jobs::message(&error)))?;
    let after = match &trial.mapping {
        Some(mapped) => marked(&before, tree(mapped.record.as_bytes()).map_err(unusable)?),
        None => Vec::new(),
    };
    Ok(Tried {
        what,
        trial,
        before,
        after,
    })
}

/// The lines of the one that are not in the other: mappings only ever add.
fn marked(before: &[Line], after: Vec<Line>) -> Vec<(Line, bool)> {
    let mut left = before.iter().peekable();
    let lines = after.into_iter().map(|line| {
        let is_old = left.next_if(|old| **old == line).is_some();
        (line, !is_old)
    });
    lines.collect()
}

/// The record, and what to call it.
async fn found(
    state: &ConsoleState,
    sample: Sample,
) -> Result<Result<(String, Vec<u8>), (&'static str, String)>, Problem> {
    match sample {
        Sample::Pasted(xml) if xml.trim().is_empty() => {
            Ok(Err(("xml", "paste the XML of a record".to_owned())))
        }
        Sample::Pasted(xml) => Ok(Ok(("The pasted record".to_owned(), xml.into_bytes()))),
        Sample::Held(id) => held(state, id).await,
        Sample::Live {
            repository,
            metadata_prefix,
            identifier,
        } => live(state, repository, metadata_prefix, identifier).await,
    }
}

async fn held(
    state: &ConsoleState,
    id: i64,
) -> Result<Result<(String, Vec<u8>), (&'static str, String)>, Problem> {
    let (record, repository) = match record(state, id).await {
        Ok(found) => found,
        Err(problem) if problem.code == "not_found" => return Ok(Err(("record", problem.message))),
        Err(problem) => return Err(problem),
    };
    let Some(file) = RecordFile::of(state.holdings(), &repository, &record) else {
        return Ok(Err((
            "record",
            format!("record {id} has no file; choose one that is held"),
        )));
    };
    let text = state.blocking(move |_| file.read()).await?;
    Ok(match text {
        RecordText::Whole(xml) => Ok((format!("Record {id}, {}", record.identifier), xml)),
        RecordText::TooLong(_) => Err((
            "record",
            "it is too long to be tried here; choose another one".to_owned(),
        )),
        RecordText::Unreadable(error) => {
            Err(("record", format!("its file cannot be read: {error}")))
        }
    })
}

async fn live(
    state: &ConsoleState,
    repository: i64,
    metadata_prefix: String,
    identifier: Option<String>,
) -> Result<Result<(String, Vec<u8>), (&'static str, String)>, Problem> {
    let Some(known) = state.catalog().repository(repository).await? else {
        return Ok(Err(("repository", "choose a repository".to_owned())));
    };
    let given = question(state, move |client| {
        live_record(
            client,
            &known.base_url,
            &metadata_prefix,
            None,
            identifier.as_deref(),
        )
    });
    Ok(match given.await? {
        Ok(record) => Ok((record.header.identifier, record.xml)),
        Err(error) => Err(("repository", jobs::message(&error))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPING: &str = r#"<normalize><mapping xpath="//a"><newElement regexp="coast" name="b"><newValue>sea</newValue></newElement></mapping></normalize>"#;

    #[test]
    fn what_a_mapping_adds_is_marked() {
        let tried = tried(
            RulesKind::Mapping,
            MAPPING,
            String::new(),
            b"<r><a>coast</a><c/></r>",
        )
        .unwrap();
        let added: Vec<String> = tried
            .after
            .iter()
            .filter(|(_, is_new)| *is_new)
            .map(|(line, _)| line.parts.iter().map(|part| part.text.as_str()).collect())
            .collect();
        assert_eq!(added, ["<b>sea</b>"]);
        assert_eq!(tried.before.len() + 1, tried.after.len());
    }

    #[test]
    fn what_is_no_record_is_told_as_such() {
        let (field, message) =
            tried(RulesKind::Mapping, MAPPING, String::new(), b"<r>").unwrap_err();
        assert_eq!(field, "sample");
        assert!(message.contains("the record cannot be used"), "{message}");
    }
}
