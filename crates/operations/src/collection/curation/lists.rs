//! Named blacklists and whitelists in the catalog: added, edited, compared.

use std::collections::HashSet;

use catalog::{Error, ListContent, ListKind, Role};
use document::url::{Rules, blacklist_entry, entries, normalise};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{Actor, Context, Mistake, Refusal, Time};

/// A blacklist or a whitelist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct UrlList {
    /// Its number.
    pub id: i64,
    /// `blacklist` or `whitelist`.
    #[schema(value_type = String, example = "blacklist")]
    pub kind: ListKind,
    /// Its name, which no other list has.
    pub name: String,
    /// How many entries it has.
    pub entries: u64,
    /// How often it was written.
    pub version: i64,
    /// When it was written.
    pub changed: Time,
    /// The account that wrote it.
    pub changed_by: Option<String>,
}

/// Which lists are wanted.
#[derive(Debug, Clone, Copy, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListsQuery {
    /// `blacklist` or `whitelist`.
    #[param(value_type = Option<String>)]
    pub kind: Option<ListKind>,
}

/// A list to be added.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewList {
    /// `blacklist` or `whitelist`.
    #[schema(value_type = String, example = "blacklist")]
    pub kind: ListKind,
    /// Its name.
    pub name: String,
    /// Its text: an entry a line; what follows `#` at the beginning of a line or after a blank is a comment.
    pub content: String,
}

/// A change of a list. What is not given stays as it is.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListPatch {
    /// The version that was seen; the change is refused if somebody else changed the list since.
    pub version: Option<i64>,
    /// Its name.
    pub name: Option<String>,
    /// Its whole text.
    pub content: Option<String>,
    /// Entries to be added at the end.
    pub add: Vec<String>,
    /// Entries to be removed, in any spelling.
    pub remove: Vec<String>,
}

/// Two lists to be compared.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// The number of the other list.
    pub with: i64,
}

/// The entries that two lists share, and the others. Entries are normalised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct UrlListComparison {
    /// The first list.
    pub first: UrlList,
    /// The second list.
    pub second: UrlList,
    /// How many entries both have; of a blacklist and a whitelist none.
    pub common: u64,
    /// How many entries only the first has.
    pub only_first_count: u64,
    /// How many entries only the second has.
    pub only_second_count: u64,
    /// Those that only the first has; at most 1000 in the API.
    pub only_first: Vec<String>,
    /// Those that only the second has; at most 1000 in the API.
    pub only_second: Vec<String>,
    /// Of a blacklist and a whitelist: how many URLs of the whitelist the blacklist refuses.
    pub refused_count: u64,
    /// These URLs; at most 1000 in the API.
    pub refused: Vec<String>,
}

/// Lists by kind and name.
pub async fn list(context: &Context, query: ListsQuery) -> Result<Vec<UrlList>, Refusal> {
    let lists = context.catalog().url_lists(query.kind).await?;
    Ok(lists.into_iter().map(Into::into).collect())
}

/// The list with the number `id`.
pub async fn show(context: &Context, id: i64) -> Result<UrlList, Refusal> {
    let list = context.catalog().url_list(id).await?;
    Ok(list.ok_or(Error::UnknownList { id })?.into())
}

/// The text of a list.
pub async fn text(context: &Context, id: i64) -> Result<String, Refusal> {
    let text = context.catalog().url_list_text(id).await?;
    Ok(text.ok_or(Error::UnknownList { id })?)
}

/// The list that `name` names: by its name, or else by its number.
pub async fn find(context: &Context, name: &str) -> Result<UrlList, Refusal> {
    if let Some(list) = context.catalog().url_list_named(name).await? {
        return Ok(list.into());
    }
    match name.parse() {
        Ok(id) => show(context, id).await,
        Err(_) => Err(Refusal::not_found(format!(
            "there is no list `{name}`; garner lists list shows those that the catalog has"
        ))),
    }
}

/// Adds a list.
pub async fn add(context: &Context, actor: &Actor, new: &NewList) -> Result<UrlList, Refusal> {
    actor.require(Role::Operator)?;
    let name = new.name.trim();
    let entries = check(new.kind, name, &new.content)?;
    let content = ListContent {
        name,
        text: &new.content,
        entries,
        by: Some(&actor.name),
    };
    let added = context.catalog().add_url_list(new.kind, content).await;
    let list: UrlList = added.map_err(at_name)?.into();
    let details = Some(format!("{entries} entries"));
    context
        .audit(actor, "list.add", list.subject(), details)
        .await;
    Ok(list)
}

/// Changes a list.
pub async fn change(
    context: &Context,
    actor: &Actor,
    id: i64,
    patch: &ListPatch,
) -> Result<UrlList, Refusal> {
    actor.require(Role::Operator)?;
    let held = show(context, id).await?;
    let name = patch.name.as_deref().map_or(held.name.as_str(), str::trim);
    let mut content = match &patch.content {
        Some(content) => content.clone(),
        None => text(context, id).await?,
    };
    edit(held.kind, &mut content, patch)?;
    let entries = check(held.kind, name, &content)?;
    let version = patch.version.unwrap_or(held.version);
    let written = ListContent {
        name,
        text: &content,
        entries,
        by: Some(&actor.name),
    };
    let changed = context.catalog().change_url_list(id, version, written);
    let list: UrlList = changed.await.map_err(at_name)?.into();
    let details = Some(format!("version {}, {entries} entries", list.version));
    context
        .audit(actor, "list.change", list.subject(), details)
        .await;
    Ok(list)
}

/// Removes a list.
pub async fn remove(context: &Context, actor: &Actor, id: i64) -> Result<UrlList, Refusal> {
    actor.require(Role::Operator)?;
    let list = show(context, id).await?;
    if !context.catalog().remove_url_list(id).await? {
        return Err(Error::UnknownList { id }.into());
    }
    context
        .audit(actor, "list.remove", list.subject(), None)
        .await;
    Ok(list)
}

/// Compares two lists; at most `limit` entries of each kind are named.
pub async fn compare(
    context: &Context,
    first: i64,
    second: i64,
    limit: usize,
) -> Result<UrlListComparison, Refusal> {
    let lists = [show(context, first).await?, show(context, second).await?];
    let texts = [text(context, first).await?, text(context, second).await?];
    let compared = tokio::task::spawn_blocking(move || compared(lists, &texts, limit)).await;
    compared.map_err(anyhow::Error::from)?
}

fn compared(
    lists: [UrlList; 2],
    texts: &[String; 2],
    limit: usize,
) -> Result<UrlListComparison, Refusal> {
    let [first, second] = lists;
    let mut comparison = UrlListComparison {
        common: 0,
        only_first_count: 0,
        only_second_count: 0,
        only_first: Vec::new(),
        only_second: Vec::new(),
        refused_count: 0,
        refused: Vec::new(),
        first,
        second,
    };
    let note = |count: &mut u64, named: &mut Vec<String>, entry: &str| {
        *count += 1;
        if named.len() < limit {
            named.push(entry.to_owned());
        }
    };
    let (one, other) = (comparison.first.kind, comparison.second.kind);
    if one != other {
        let (black, white) = match one {
            ListKind::Blacklist => (&texts[0], &texts[1]),
            ListKind::Whitelist => (&texts[1], &texts[0]),
        };
        let rules = parsed(black)?;
        for (_, entry) in entries(white) {
            if let Ok(url) = normalise(entry)
                && rules.refuses(&url).is_some()
            {
                let c = &mut comparison;
                note(&mut c.refused_count, &mut c.refused, &url.url);
            }
        }
        return Ok(comparison);
    }
    let [a, b] = [spelled(one, &texts[0]), spelled(other, &texts[1])];
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let c = &mut comparison;
    loop {
        match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x == y => {
                c.common += 1;
                a.next();
                b.next();
            }
            (Some(x), Some(y)) if x < y => {
                note(&mut c.only_first_count, &mut c.only_first, x);
                a.next();
            }
            (Some(x), None) => {
                note(&mut c.only_first_count, &mut c.only_first, x);
                a.next();
            }
            (_, Some(y)) => {
                note(&mut c.only_second_count, &mut c.only_second, y);
                b.next();
            }
            (None, None) => break,
        }
    }
    Ok(comparison)
}

/// The entries of a list in their one spelling, sorted.
fn spelled(kind: ListKind, text: &str) -> Vec<Box<str>> {
    let spelled = entries(text).filter_map(|(_, entry)| spell(kind, entry));
    let mut all: Vec<Box<str>> = spelled.flatten().map(String::into_boxed_str).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// An entry in its one spelling.
fn spell(kind: ListKind, entry: &str) -> Option<Vec<String>> {
    match kind {
        ListKind::Blacklist => blacklist_entry(entry),
        ListKind::Whitelist => Some(vec![normalise(entry).ok()?.url]),
    }
}

/// Removes and adds entries, and leaves comments where they are.
fn edit(kind: ListKind, content: &mut String, patch: &ListPatch) -> Result<(), Refusal> {
    if !patch.remove.is_empty() {
        let unwanted: Vec<_> = patch
            .remove
            .iter()
            .map(|entry| spell(kind, entry))
            .collect();
        let is_unwanted = |line: &&str| {
            let mut named = entries(line).map(|(_, entry)| spell(kind, entry));
            named.any(|spelled| spelled.is_some() && unwanted.contains(&spelled))
        };
        let present: HashSet<_> = entries(content)
            .map(|(_, entry)| spell(kind, entry))
            .collect();
        let mut wanted = unwanted.iter();
        let absent = wanted.position(|entry| entry.is_none() || !present.contains(entry));
        if let Some(at) = absent {
            let reason = format!("`{}` is not in the list", patch.remove[at]);
            return Err(Refusal::invalid("remove", reason));
        }
        let kept: Vec<_> = content.lines().filter(|line| !is_unwanted(line)).collect();
        *content = kept.join("\n");
    }
    for entry in &patch.add {
        if entry.contains(['\n', '\r']) {
            return Err(Refusal::invalid("add", "an entry is one line"));
        }
        if !content.is_empty() && !content.ends_with('\n') {
            content.push('\n');
        }
        content.push_str(entry.trim());
        content.push('\n');
    }
    Ok(())
}

/// The rules of kept blacklists and of a text, all together.
pub(crate) async fn rules(
    context: &Context,
    names: &[String],
    blacklist: Option<&str>,
) -> Result<Rules, Refusal> {
    let mut rules = parsed(blacklist.unwrap_or_default())?;
    for name in names {
        let list = find(context, name)
            .await
            .map_err(|error| error.at("lists"))?;
        if list.kind != ListKind::Blacklist {
            let reason = format!("`{name}` is a whitelist; name a blacklist");
            return Err(Refusal::invalid("lists", reason));
        }
        rules.extend(parsed(&text(context, list.id).await?)?);
    }
    // Long URLs are no reason to remove anything.
    Ok(rules.with_max_length(usize::MAX))
}

/// Refuses a text that is no blacklist.
pub fn check_blacklist(blacklist: &str) -> Result<(), Refusal> {
    parsed(blacklist).map(drop)
}

fn parsed(blacklist: &str) -> Result<Rules, Refusal> {
    Rules::parse(blacklist).map_err(|error| Refusal::invalid("blacklist", error.to_string()))
}

/// The text of a list in a file: UTF-8, with or without a byte order mark.
pub fn decode(bytes: Vec<u8>) -> Result<String, Refusal> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let reason = format!("line {line} is not UTF-8; save the file in that encoding");
        Refusal::invalid("content", reason)
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    })
}

/// Refuses a list with a wrong name or entry; the number of its entries.
fn check(kind: ListKind, name: &str, content: &str) -> Result<u64, Refusal> {
    let mut mistakes = Vec::new();
    let is_long = name.chars().count() > MAX_NAME;
    let is_number = name.parse::<i64>().is_ok();
    if name.is_empty() || is_long || is_number || name.chars().any(char::is_control) {
        let reason =
            format!("a name has 1 to {MAX_NAME} characters in one line, and is not a number");
        mistakes.push(Mistake::new("name", reason));
    }
    if content.len() > MAX_BYTES {
        let reason = format!("it has more than {} MiB", MAX_BYTES >> 20);
        mistakes.push(Mistake::new("content", reason));
    }
    let mut count = 0;
    for (line, entry) in entries(content) {
        count += 1;
        if spell(kind, entry).is_none() {
            let entry: String = entry.chars().take(200).collect();
            let wanted = match kind {
                ListKind::Blacklist => "neither a host nor a URL",
                ListKind::Whitelist => "no URL",
            };
            let reason = format!("line {line} is `{entry}`, which is {wanted}");
            mistakes.push(Mistake::new("content", reason));
            break;
        }
    }
    Refusal::unless_empty(mistakes)?;
    Ok(count)
}

fn at_name(error: Error) -> Refusal {
    match error {
        error @ Error::NameTaken { .. } => Refusal::from(error).at("name"),
        error => error.into(),
    }
}

impl UrlList {
    /// Its name in the audit trail.
    fn subject(&self) -> String {
        format!("{} {} ({})", self.kind.name(), self.id, self.name)
    }
}

impl From<catalog::UrlList> for UrlList {
    fn from(list: catalog::UrlList) -> Self {
        Self {
            id: list.id,
            kind: list.kind,
            name: list.name,
            entries: list.entries,
            version: list.version,
            changed: Time(list.changed),
            changed_by: list.changed_by,
        }
    }
}

const MAX_NAME: usize = 100;
const MAX_BYTES: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_keeps_comments_and_takes_any_spelling() {
        let mut content = "# spam\n*.Example.org  # all\nb.example\n".to_owned();
        let patch = ListPatch {
            add: vec!["c.example".to_owned()],
            remove: vec!["example.org".to_owned()],
            ..ListPatch::default()
        };

        edit(ListKind::Blacklist, &mut content, &patch).unwrap();

        assert_eq!(content, "# spam\nb.example\nc.example\n");
        let patch = ListPatch {
            remove: vec!["b.example".to_owned(), "nothere.example".to_owned()],
            ..ListPatch::default()
        };
        let refusal = edit(ListKind::Blacklist, &mut content, &patch).unwrap_err();
        assert_eq!(
            refusal.message(),
            "remove: `nothere.example` is not in the list"
        );
        assert_eq!(content, "# spam\nb.example\nc.example\n");
    }

    #[test]
    fn wrong_entries_and_names_are_named() {
        let refusal = check(ListKind::Blacklist, "7", "a.example\nno host\n").unwrap_err();
        assert_eq!(refusal.mistakes.len(), 2);
        assert!(
            refusal.message().contains("line 2 is `no host`"),
            "{refusal}"
        );
        assert!(check(ListKind::Whitelist, "w", "a.example").is_err());
        let refusal = decode(b"a\nb\xff".to_vec()).unwrap_err();
        assert!(
            refusal.message().contains("line 2 is not UTF-8"),
            "{refusal}"
        );
    }
}
