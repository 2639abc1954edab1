//! Rules tried on a record: one that a repository gives now, one that was harvested, or one that somebody pasted.

use catalog::RulesKind;
use flows::rules::{Trial, live_record};
use operations::records::{self, RecordText};
use operations::{Code, Refusal, rules};

use crate::records::tree::{Line, tree};
use crate::repositories::question::question;
use crate::state::ConsoleState;

/// A record to try rules on.
#[derive(Debug, Clone)]
pub(super) enum Sample {
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

/// The effect of rules on a record.
#[derive(Debug)]
pub(super) struct Tried {
    /// The record, in words.
    pub(super) what: String,
    pub(super) trial: Trial,
    /// The record as it was.
    pub(super) before: Vec<Line>,
    /// The record as it would be stored; added lines are marked.
    pub(super) after: Vec<(Line, bool)>,
}

/// Tries rules on a record.
pub(super) async fn try_on(
    state: &ConsoleState,
    kind: RulesKind,
    content: &str,
    sample: Sample,
) -> Result<Tried, Refusal> {
    let (what, xml) = match sample {
        Sample::Pasted(xml) if xml.trim().is_empty() => {
            return Err(Refusal::invalid("xml", "paste the XML of a record"));
        }
        Sample::Pasted(xml) => ("The pasted record".to_owned(), xml.into_bytes()),
        Sample::Held(id) => held(state, id).await?,
        Sample::Live {
            repository,
            metadata_prefix,
            identifier,
        } => live(state, repository, metadata_prefix, identifier).await?,
    };
    let content = content.to_owned();
    let tried = tokio::task::spawn_blocking(move || tried(kind, &content, what, &xml)).await;
    tried.map_err(anyhow::Error::from)?
}

fn tried(kind: RulesKind, content: &str, what: String, xml: &[u8]) -> Result<Tried, Refusal> {
    let trial = rules::try_on(Some(kind), content.as_bytes(), xml)?;
    let lines = |xml: &[u8]| {
        let unusable = |error| format!("the record cannot be used: {error}");
        tree(xml).map_err(|error| Refusal::invalid("sample", unusable(error)))
    };
    let before = lines(xml)?;
    let after = match &trial.mapping {
        Some(mapped) => marked(&before, lines(mapped.record.as_bytes())?),
        None => Vec::new(),
    };
    Ok(Tried {
        what,
        trial,
        before,
        after,
    })
}

/// Marks the lines of `after` that are not in `before`: mappings only ever add.
fn marked(before: &[Line], after: Vec<Line>) -> Vec<(Line, bool)> {
    let mut left = before.iter().peekable();
    let lines = after.into_iter().map(|line| {
        let is_old = left.next_if(|old| **old == line).is_some();
        (line, !is_old)
    });
    lines.collect()
}

/// A record that was harvested.
async fn held(state: &ConsoleState, id: i64) -> Result<(String, Vec<u8>), Refusal> {
    let wrong = |reason: String| Refusal::invalid("record", reason);
    let context = state.context();
    let record = records::show(context, id).await;
    let record = record.map_err(|refusal| match refusal.code {
        Code::NotFound => wrong(refusal.message()),
        _ => refusal,
    })?;
    if record.path.is_none() {
        let reason = format!("record {id} has no file; choose one that is held");
        return Err(wrong(reason));
    }
    let file = records::xml(context, id).await?;
    let text = tokio::task::spawn_blocking(move || file.read()).await;
    match text.map_err(anyhow::Error::from)? {
        RecordText::Whole(xml) => Ok((format!("Record {id}, {}", record.identifier), xml)),
        RecordText::TooLong(_) => Err(wrong(
            "it is too long to be tried here; choose another one".to_owned(),
        )),
        RecordText::Unreadable(error) => Err(wrong(format!("its file cannot be read: {error}"))),
    }
}

/// A record that a repository gives now.
async fn live(
    state: &ConsoleState,
    repository: i64,
    metadata_prefix: String,
    identifier: Option<String>,
) -> Result<(String, Vec<u8>), Refusal> {
    let Some(known) = state.catalog().repository(repository).await? else {
        return Err(Refusal::invalid("repository", "choose a repository"));
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
    match given.await? {
        Ok(record) => Ok((record.header.identifier, record.xml)),
        Err(error) => Err(Refusal::invalid("repository", flows::message(&error))),
    }
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
    fn a_text_that_is_no_record_is_a_mistake_of_the_sample() {
        let refusal = tried(RulesKind::Mapping, MAPPING, String::new(), b"<r>").unwrap_err();
        assert_eq!(refusal.mistakes[0].field, Some("sample"));
        let message = refusal.message();
        assert!(message.contains("the record cannot be used"), "{message}");
    }
}
