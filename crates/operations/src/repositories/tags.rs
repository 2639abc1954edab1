//! Tags: words by which people group repositories.

use catalog::Role;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Repository, show, subject};
use crate::{Actor, Context, Refusal};

/// A change of the tags of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TagChange {
    /// Tags that it gets.
    pub add: Vec<String>,
    /// Tags that it loses.
    pub remove: Vec<String>,
}

/// A tag with its repositories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Tag {
    /// The tag.
    pub tag: String,
    /// The number of repositories that have it.
    pub repositories: u64,
}

/// All tags, in the order of the alphabet.
pub async fn tags(context: &Context) -> Result<Vec<Tag>, Refusal> {
    let tags = context.catalog().tags().await?.into_iter();
    let tags = tags.map(|(tag, repositories)| Tag { tag, repositories });
    Ok(tags.collect())
}

/// Changes the tags of a repository.
pub async fn change_tags(
    context: &Context,
    actor: &Actor,
    id: i64,
    change: &TagChange,
) -> Result<Repository, Refusal> {
    actor.require(Role::Operator)?;
    let before = super::read(context, id).await?;
    let (add, remove) = (
        checked("add", &change.add)?,
        checked("remove", &change.remove)?,
    );
    if add.is_empty() && remove.is_empty() {
        let reason = "name at least one tag that is added or removed";
        return Err(Refusal::invalid("add", reason));
    }
    let known = show(context, id).await?.tags;
    let kept = known
        .iter()
        .filter(|tag| !remove.contains(tag) && !add.contains(tag));
    if kept.count() + add.len() > MOST_TAGS {
        let reason = format!("a repository has at most {MOST_TAGS} tags");
        return Err(Refusal::invalid("add", reason));
    }
    let tags = context.catalog().change_tags(id, &add, &remove).await?;
    let details = Some(match tags.is_empty() {
        true => "none".to_owned(),
        false => tags.join(", "),
    });
    context
        .audit(actor, "repository.tags", subject(&before), details)
        .await;
    show(context, id).await
}

/// The tags in a text that has commas between them.
pub fn read_tags(text: &str) -> Vec<String> {
    let tags = text.split(',').map(|tag| tag.trim().to_lowercase());
    let mut tags: Vec<_> = tags.filter(|tag| !tag.is_empty()).collect();
    tags.sort();
    tags.dedup();
    tags
}

/// The tags as they are kept, unless one of them is none.
fn checked(field: &'static str, tags: &[String]) -> Result<Vec<String>, Refusal> {
    let mut kept = Vec::new();
    for tag in tags {
        let tag = tag.trim().to_lowercase();
        let is_plain = |c: char| c.is_alphanumeric() || "-_.: ".contains(c);
        let length = tag.chars().count();
        if length == 0 || length > LONGEST_TAG || !tag.chars().all(is_plain) {
            let reason = format!(
                "a tag has 1 to {LONGEST_TAG} letters, digits, spaces and - _ . : only, unlike `{}`",
                tag.escape_debug()
            );
            return Err(Refusal::invalid(field, reason));
        }
        kept.push(tag);
    }
    kept.sort();
    kept.dedup();
    Ok(kept)
}

const LONGEST_TAG: usize = 40;
const MOST_TAGS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_plain_lower_case_words() {
        assert_eq!(read_tags(" DE, library ,,de "), ["de", "library"]);
        assert_eq!(
            checked("add", &["Uni Köln".to_owned()]).unwrap(),
            ["uni köln"]
        );
        for tag in ["", "a,b", "<b>", "a\nb", &"x".repeat(41)] {
            assert!(checked("add", &[tag.to_owned()]).is_err(), "{tag:?}");
        }
    }
}
