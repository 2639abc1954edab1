//! Documents selected for retrieval: all that meet some conditions, the first of them, or a random sample.
//!
//! The numbers of documents come as one text for each statement, so that a selection of millions takes a few bytes of
//! memory for each document, and the database chooses its way once and not for every page.

use sha2::{Digest, Sha256};

use super::documents::{document, select};
use super::{DocumentEntry, DocumentQuery, DocumentState, SearchQuery};
use crate::changes::UNLISTED;
use crate::database::Value;
use crate::database::bounded::bounded;
use crate::database::conditions::{Conditions, containing};
use crate::database::rows::{BATCH, batch};
use crate::imports::reversed;
use crate::{Catalog, Error};

/// The conditions that documents are selected by. All of them have to hold; an empty list is no condition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// One of these media types; `image/*` stands for all of a family, `*/*` for any.
    pub media_types: Vec<String>,
    /// On one of these hosts.
    pub hosts: Vec<String>,
    /// Linked to by one page, by its number.
    pub parent: Option<i64>,
    /// Last crawled then or later, in seconds.
    pub since: Option<i64>,
    /// Last crawled then or earlier, in seconds.
    pub until: Option<i64>,
    /// In one of these states.
    pub states: Vec<DocumentState>,
    /// Of one of these kinds, as a librarian or else a classifier says.
    pub kinds: Vec<String>,
    /// With one of these decisions of a librarian or else of a classifier.
    pub decisions: Vec<String>,
    /// At least this probable to be academic, in millionths.
    pub min_probability: Option<i64>,
    /// With content that one import brought.
    pub import: Option<i64>,
    /// With this in the URL.
    pub text: Option<String>,
    /// In one of these languages, by their codes.
    pub languages: Vec<String>,
    /// With the words of a query in text or title, and with what its fields ask for.
    pub search: Option<(SearchQuery, DocumentQuery)>,
}

impl Catalog {
    /// The numbers of at most `limit` selected documents behind `after`, in their order.
    pub async fn selected(
        &self,
        selection: &Selection,
        after: i64,
        limit: u64,
    ) -> Result<Vec<i64>, Error> {
        let mut conditions = selection.conditions(self.database.is_sqlite());
        conditions.only("document.id > $n", Some(after));
        let inner = selection.from();
        self.packed(conditions.some(&inner, "ORDER BY document.id", limit))
            .await
    }

    /// The numbers of a random sample of `size` selected documents, in their order. The same seed gives the same
    /// documents from the same collection, on either database.
    pub async fn sample(
        &self,
        selection: &Selection,
        seed: &str,
        size: u64,
    ) -> Result<Vec<i64>, Error> {
        let order = format!("ORDER BY {}, document.id", shuffled(seed));
        let conditions = selection.conditions(self.database.is_sqlite());
        let mut numbers = self
            .packed(conditions.some(&selection.from(), &order, size))
            .await?;
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// How many documents are selected, counted up to `most`.
    pub async fn count_selected(&self, selection: &Selection, most: u64) -> Result<u64, Error> {
        let conditions = selection.conditions(self.database.is_sqlite());
        let (sql, values) = conditions.some(&selection.from(), "", most);
        let sql = format!("SELECT count(*) AS number FROM ({sql}) AS selected");
        let row = self.database.long_list().await?.row(&sql, values).await?;
        row.map_or(Ok(0), |row| row.count("number"))
    }

    /// The documents with these numbers, in the order of their numbers. Those that are gone are left out.
    pub async fn documents_of(&self, numbers: &[i64]) -> Result<Vec<DocumentEntry>, Error> {
        let sql = format!(
            "{} WHERE document.id {{integers($1)}} ORDER BY document.id",
            select()
        );
        let mut transaction = self.database.read().await?;
        let mut documents = Vec::with_capacity(numbers.len());
        for part in numbers.chunks(BATCH) {
            let ids: Vec<_> = part.iter().map(|id| (id,)).collect();
            for row in &transaction.rows(&sql, [batch(&ids)]).await? {
                documents.push(document(row)?);
            }
        }
        Ok(documents)
    }

    /// The numbers that a statement finds, as one text of the database.
    async fn packed(&self, (sql, values): (String, Vec<Value>)) -> Result<Vec<i64>, Error> {
        let sql = format!("SELECT {{packed(id)}} AS numbers FROM ({sql}) AS selected");
        let row = self.database.long_list().await?.row(&sql, values).await?;
        let text = row.map_or(Ok(None), |row| row.maybe_text("numbers"))?;
        let text = text.unwrap_or_default();
        // Nothing else is in it.
        Ok(text.split(',').filter_map(|id| id.parse().ok()).collect())
    }
}

impl Selection {
    /// The statement before the conditions. Only the tables that these need are in it: without the others the database
    /// answers from an index.
    fn from(&self) -> String {
        let mut sql = "SELECT document.id AS id FROM document".to_owned();
        let has_content = !self.states.is_empty()
            || !self.kinds.is_empty()
            || !self.decisions.is_empty()
            || !self.languages.is_empty()
            || self.search.is_some()
            || self.min_probability.is_some();
        if has_content {
            sql.push_str(" JOIN content ON content.id = document.content_id");
        }
        if self.min_probability.is_some() {
            sql.push_str(" JOIN judgement ON judgement.sha1 = content.sha1");
        }
        sql
    }

    fn conditions(&self, is_sqlite: bool) -> Conditions {
        let mut conditions = Conditions::default();
        // Those in the trash are few, and found by an index; the others are then counted by one.
        conditions.always(&format!(
            "document.id NOT IN (SELECT trashed.id FROM document AS trashed WHERE trashed.change_id = {UNLISTED})"
        ));
        self.of_types(&mut conditions);
        let hosts: Vec<_> = self.hosts.iter().map(|host| bounded(host)).collect();
        let hosts: Vec<_> = hosts.iter().map(|host| reversed(host)).collect();
        one_of(&mut conditions, "document.rev_host", &hosts);
        conditions.only("document.parent_id = $n", self.parent);
        conditions.only("document.update_date >= $n", self.since);
        conditions.only("document.update_date <= $n", self.until);
        self.in_states(&mut conditions);
        one_of(&mut conditions, "content.kind", &self.kinds);
        one_of(&mut conditions, "content.decision", &self.decisions);
        conditions.only("judgement.probability >= $n", self.min_probability);
        conditions.only("document.import_id = $n", self.import);
        conditions.only(
            "lower(document.url) LIKE $n ESCAPE '!'",
            self.text.as_deref().map(containing),
        );
        one_of(&mut conditions, "content.language", &self.languages);
        if let Some((words, filter)) = &self.search {
            words.within(is_sqlite, &mut conditions);
            filter.narrow(&mut conditions);
        }
        conditions
    }

    fn of_types(&self, conditions: &mut Conditions) {
        let is_family = |name: &&String| name.ends_with("/*");
        let (families, names): (Vec<&String>, Vec<&String>) =
            self.media_types.iter().partition(is_family);
        if families.iter().any(|family| *family == "*/*") {
            return;
        }
        if families.is_empty() {
            // Most documents are of few types. The empty text leaves the lead to an index that finds fewer.
            let is_narrow = !self.hosts.is_empty()
                || self.parent.is_some()
                || self.import.is_some()
                || self.since.is_some()
                || self.until.is_some();
            let column = match is_narrow {
                true => "document.media_type || ''",
                false => "document.media_type",
            };
            return one_of(conditions, column, &names);
        }
        let mut any = Vec::new();
        for family in families {
            let start = containing(family.trim_end_matches('*'));
            let start = conditions.parameter(start.trim_start_matches('%'));
            any.push(format!("document.media_type LIKE {start} ESCAPE '!'"));
        }
        for name in names {
            let name = conditions.parameter(name.as_str());
            any.push(format!("document.media_type = {name}"));
        }
        conditions.always(&format!("({})", any.join(" OR ")));
    }

    /// Set aside is a property of the content, whatever was said of the document before.
    fn in_states(&self, conditions: &mut Conditions) {
        if self.states.is_empty() {
            return;
        }
        let said = self.states.iter();
        let said = said.filter(|state| **state != DocumentState::SetAside);
        let said: Vec<_> = said.map(|state| (state.number(),)).collect();
        let is_aside = self.states.contains(&DocumentState::SetAside);
        let mut any = Vec::new();
        if is_aside {
            any.push("content.aside = 1".to_owned());
        }
        if !said.is_empty() {
            let said = conditions.parameter(batch(&said));
            any.push(format!(
                "(content.aside = 0 AND document.state {{integers({said})}})"
            ));
        }
        conditions.always(&format!("({})", any.join(" OR ")));
    }
}

/// Asks for one of some texts, unless there are none. One text alone is compared, so that an index leads to it.
fn one_of(conditions: &mut Conditions, column: &str, texts: &[impl AsRef<str>]) {
    match texts {
        [] => {}
        [one] => conditions.only(&format!("{column} = $n"), Some(one.as_ref())),
        several => {
            let several: Vec<_> = several.iter().map(|text| (text.as_ref(),)).collect();
            conditions.only(&format!("{column} {{texts($n)}}"), Some(batch(&several)));
        }
    }
}

/// An expression that puts documents into a random order, the same on both databases.
///
/// A product modulo a prime alone would order numbers evenly, which is not at random; its square is as good as chance. No
/// value exceeds 62 bits.
fn shuffled(seed: &str) -> String {
    let (factor, shift) = keys(seed);
    let linear = format!("((document.id % {FIRST} * {factor} + {shift}) % {SECOND})");
    format!("{linear} * {linear} % {THIRD}")
}

/// Numbers below 2^31 made of a seed; the first is no small one, which would leave neighbours together.
fn keys(seed: &str) -> (i64, i64) {
    let digest = Sha256::digest(seed.as_bytes());
    let word = |at: usize| {
        let bytes = digest[at..at + 4].iter();
        bytes.fold(0, |word, byte| word << 8 | i64::from(*byte)) >> 1
    };
    (word(0) | 1 << 29, word(4))
}

/// Primes below 2^31.
const FIRST: i64 = 2_147_483_647;
const SECOND: i64 = 2_147_483_629;
const THIRD: i64 = 2_147_483_587;

#[cfg(test)]
mod tests {
    use super::*;

    /// The place of a number, as the databases calculate it.
    fn place((factor, shift): (i64, i64), id: i64) -> i64 {
        let linear = (id % FIRST * factor + shift) % SECOND;
        linear * linear % THIRD
    }

    /// Among samples of 1,000 of 100,000, the numbers in each tenth vary as they do by chance, and neighbours are no
    /// more often together.
    #[test]
    fn samples_are_spread_as_by_chance() {
        let (mut square, mut together) = (0.0, 0);
        let samples = 40;
        for seed in 0..samples {
            let keys = keys(&format!("seed {seed}"));
            let mut ids: Vec<i64> = (1..=100_000).collect();
            ids.sort_by_cached_key(|id| (place(keys, *id), *id));
            let mut sample = ids[..1000].to_vec();
            sample.sort_unstable();
            together += sample
                .windows(2)
                .filter(|pair| pair[1] == pair[0] + 1)
                .count();
            for tenth in 0..10 {
                let within = |id: &&i64| (**id - 1) / 10_000 == tenth;
                let number = sample.iter().filter(within).count() as f64;
                square += (number - 100.0).powi(2);
            }
        }
        let variance = square / f64::from(samples * 10);
        // By chance: 100 · 0.9 · 0.99.
        assert!((70.0..110.0).contains(&variance), "{variance}");
        // By chance: 10 in each sample.
        let together = together as f64 / f64::from(samples);
        assert!((8.5..11.5).contains(&together), "{together}");
    }
}
