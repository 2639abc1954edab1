//! ResourceSync: from the description of a source to its lists, and to what has changed since a moment.

use std::collections::HashMap;

use super::document::seconds;
use super::walk::Fault;
use super::{Entry, List, ListError, Lists};

/// The lists that a source offers.
#[derive(Debug)]
pub struct ResourceSync {
    lists: Lists,
    sets: Vec<Capabilities>,
}

/// The lists of one set of resources.
#[derive(Debug, Default)]
struct Capabilities {
    resource_list: Option<String>,
    change_lists: Vec<String>,
}

/// The changes: the last one of each resource, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The changes.
    pub entries: Vec<Entry>,
    /// The moment up to which all changes are known, in seconds.
    pub until: i64,
}

/// A time that a change list covers.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: i64,
    until: Option<i64>,
}

impl ResourceSync {
    /// Follows the lists that begin at a URL: a description, a capability list, or one of its lists.
    pub fn find(lists: &Lists, url: &str) -> Result<Self, Fault> {
        let mut this = Self {
            lists: lists.clone(),
            sets: Vec::new(),
        };
        this.follow(url, 0)?;
        let is_empty =
            |set: &Capabilities| set.resource_list.is_none() && set.change_lists.is_empty();
        this.sets.retain(|set| !is_empty(set));
        match this.sets.is_empty() {
            true => Err(broken(url, "it offers no resource list and no change list")),
            false => Ok(this),
        }
    }

    fn follow(&mut self, url: &str, depth: usize) -> Result<(), Fault> {
        let list = self.get(url)?;
        match list.metadata.capability.as_deref() {
            Some("description") if depth < DEEPEST => {
                for entry in list.entries.iter().take(MOST_SETS) {
                    let capability = entry.metadata.capability.as_deref();
                    // An index of descriptions has no capability on its entries.
                    if capability.is_none_or(|it| it == "capabilitylist") {
                        self.follow(&entry.url, depth + 1)?;
                    }
                }
                Ok(())
            }
            Some("capabilitylist") => {
                let mut set = Capabilities::default();
                for entry in list.entries {
                    match entry.metadata.capability.as_deref() {
                        Some("resourcelist") => set.resource_list = Some(entry.url),
                        Some("changelist") => set.change_lists.push(entry.url),
                        _ => {}
                    }
                }
                self.sets.push(set);
                Ok(())
            }
            Some("resourcelist") => {
                self.sets.push(Capabilities {
                    resource_list: Some(url.to_owned()),
                    change_lists: Vec::new(),
                });
                Ok(())
            }
            Some("changelist") => Err(broken(
                url,
                "it is a change list, and there has to be a resource list; name the capability list",
            )),
            Some(other) => Err(broken(
                url,
                &format!("it is a {other}, which has no lists of resources"),
            )),
            None => Err(broken(
                url,
                "it is a plain sitemap; harvest it with --via sitemap",
            )),
        }
    }

    fn get(&self, url: &str) -> Result<List, Fault> {
        if let Some(host) = self.lists.foreign_host(url) {
            return Err(broken(url, &format!("it is on another host, {host}")));
        }
        self.lists.get(url).map_err(|reason| Fault {
            url: url.to_owned(),
            reason,
        })
    }

    /// The first lists of all resources.
    pub fn resource_lists(&self) -> Result<Vec<(String, List)>, Fault> {
        let mut roots = Vec::new();
        for set in &self.sets {
            if let Some(url) = &set.resource_list {
                roots.push((url.clone(), self.get(url)?));
            }
        }
        Ok(roots)
    }

    /// The moment of which the resource lists tell, if all say it.
    pub fn moment(roots: &[(String, List)]) -> Option<i64> {
        let moments = roots.iter().map(|(_, list)| {
            let at = list.metadata.at.as_deref();
            at.and_then(seconds)
        });
        moments.collect::<Option<Vec<_>>>()?.into_iter().min()
    }

    /// Walks through the lists of resources that begin with `root`.
    pub fn walk(&self, (url, root): (String, List)) -> super::Walk<'_> {
        self.lists.walk_from(&url, root)
    }

    /// The changes since a moment in seconds, or why they are not all known.
    pub fn changes(&self, since: i64) -> Result<Changes, String> {
        let mut changes: HashMap<String, (i64, usize, Entry)> = HashMap::new();
        let mut until = since;
        for set in &self.sets {
            if set.change_lists.is_empty() {
                return Err("there is no change list".to_owned());
            }
            let mut spans = Vec::new();
            for url in &set.change_lists {
                self.read_changes(url, since, &mut spans, &mut |entry| {
                    let moment = moment(&entry);
                    if moment.is_some_and(|moment| moment < since) {
                        return Ok(());
                    }
                    until = until.max(moment.unwrap_or(since));
                    let number = changes.len();
                    if number >= MOST_CHANGES {
                        return Err(format!("there are more than {MOST_CHANGES} changes"));
                    }
                    let order = moment.unwrap_or(i64::MAX);
                    let is_older = |known: &(i64, usize, Entry)| known.0 <= order;
                    if changes.get(&entry.url).is_none_or(is_older) {
                        changes.insert(entry.url.clone(), (order, number, entry));
                    }
                    Ok(())
                })?;
            }
            if let Some(closed) = covered(spans, since)? {
                until = until.max(closed);
            }
        }
        let mut entries: Vec<_> = changes.into_values().collect();
        entries.sort_by_key(|(order, number, _)| (*order, *number));
        Ok(Changes {
            entries: entries.into_iter().map(|(_, _, entry)| entry).collect(),
            until,
        })
    }

    /// Reads a change list, or those of an index that do not end before `since`.
    fn read_changes(
        &self,
        url: &str,
        since: i64,
        spans: &mut Vec<Span>,
        take: &mut dyn FnMut(Entry) -> Result<(), String>,
    ) -> Result<(), String> {
        let list = |url: &str| {
            let list = self.get(url);
            list.map_err(|fault| format!("the change list {url} cannot be used: {}", fault.reason))
        };
        let first = list(url)?;
        let leaves = match first.is_index {
            false => vec![first],
            true => {
                let mut leaves = Vec::new();
                for entry in first.entries {
                    let span = span(&entry.metadata, None);
                    if let Some(
                        span @ Span {
                            until: Some(until), ..
                        },
                    ) = span
                        && until < since
                    {
                        spans.push(span);
                        continue;
                    }
                    leaves.push(list(&entry.url)?);
                    if leaves.len() > MOST_LISTS {
                        return Err(format!("there are more than {MOST_LISTS} change lists"));
                    }
                }
                leaves
            }
        };
        for leaf in leaves {
            if leaf.is_index {
                return Err(format!("the index of change lists {url} names an index"));
            }
            spans.extend(span(
                &leaf.metadata,
                leaf.entries.iter().filter_map(moment).min(),
            ));
            leaf.entries.into_iter().try_for_each(&mut *take)?;
        }
        Ok(())
    }
}

/// When something changed.
fn moment(entry: &Entry) -> Option<i64> {
    let datetime = entry.metadata.datetime.as_deref();
    datetime.and_then(seconds).or_else(|| entry.modified())
}

/// The time that a list covers; it begins with its first entry if it does not say.
fn span(metadata: &super::Metadata, first: Option<i64>) -> Option<Span> {
    let from = metadata.from.as_deref().and_then(seconds).or(first)?;
    let until = metadata.until.as_deref().and_then(seconds);
    Some(Span { from, until })
}

/// Whether spans cover all time since a moment; gives the end of the last, if it is closed.
fn covered(mut spans: Vec<Span>, since: i64) -> Result<Option<i64>, String> {
    spans.sort_by_key(|span| span.from);
    let date = |seconds| oai::Datestamp::from_seconds(seconds).to_string();
    let mut end = None;
    for span in spans {
        let reached: i64 = end.unwrap_or(since);
        if span.from > reached {
            return Err(format!(
                "the change lists have a gap between {} and {}",
                date(reached),
                date(span.from)
            ));
        }
        match span.until {
            None => return Ok(None),
            Some(until) => end = Some(reached.max(until)),
        }
    }
    match end {
        Some(end) => Ok(Some(end)),
        None => Err(format!("no change list covers {}", date(since))),
    }
}

fn broken(url: &str, reason: &str) -> Fault {
    Fault {
        url: url.to_owned(),
        reason: ListError::Broken(reason.to_owned()),
    }
}

const DEEPEST: usize = 3;
const MOST_SETS: usize = 1000;
const MOST_LISTS: usize = 1000;
/// More changes are read as a whole list.
const MOST_CHANGES: usize = 500_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(spans: &[(i64, Option<i64>)]) -> Vec<Span> {
        let each = spans.iter();
        each.map(|(from, until)| Span {
            from: *from,
            until: *until,
        })
        .collect()
    }

    #[test]
    fn change_lists_without_a_gap_cover_the_time() {
        let cover = |list: &[(i64, Option<i64>)]| covered(spans(list), 100);
        assert_eq!(cover(&[(50, None)]), Ok(None));
        assert_eq!(cover(&[(100, Some(200)), (200, None)]), Ok(None));
        assert_eq!(cover(&[(10, Some(120)), (50, Some(300))]), Ok(Some(300)));
        for gap in [&[(101, None)][..], &[(50, Some(150)), (160, None)], &[]] {
            assert!(cover(gap).is_err(), "{gap:?}");
        }
    }
}
