//! Lists that are read as a whole, because there are at most some thousands: sorted, and cut into pages.

use std::cmp::Ordering;

use serde::Deserialize;
use utoipa::IntoParams;

use crate::{Listed, Refusal, Time};

/// Which part of a list is wanted, and in which order.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Paging {
    /// The name of the order; a wrong one is answered with the right ones.
    pub sort: Option<String>,
    /// Whether the largest come first.
    pub descending: Option<bool>,
    /// Rows to skip.
    pub offset: Option<u64>,
    /// At most this many rows; all without it.
    pub limit: Option<u64>,
}

/// By what a row is sorted. Rows without it come last, whatever the order is.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    /// A text; letter case does not count, and numbers in it are in their order.
    Text(Vec<(usize, String)>),
    /// A number or a moment.
    Number(i64),
    /// It has none.
    None,
}

/// The orders of a list: a name, and the key of a row.
pub type Orders<'a, T> = &'a [(&'static str, fn(&T) -> SortKey)];

impl Paging {
    /// The page of `rows`, which come in their usual order.
    pub fn page<T>(&self, mut rows: Vec<T>, orders: Orders<'_, T>) -> Result<Listed<T>, Refusal> {
        let total = rows.len() as u64;
        if let Some(name) = &self.sort {
            let Some((_, key)) = orders.iter().find(|(known, _)| known == name) else {
                return Err(unknown_order(name, orders.iter().map(|(name, _)| *name)));
            };
            let descending = self.descending.unwrap_or(false);
            rows.sort_by_cached_key(|row| Sorted(key(row), descending));
        } else if self.descending == Some(true) {
            rows.reverse();
        }
        let offset = self.offset.unwrap_or(0);
        let items = rows
            .into_iter()
            .skip(usize::try_from(offset).unwrap_or(usize::MAX))
            .take(self.limit.map_or(usize::MAX, |limit| {
                usize::try_from(limit).unwrap_or(usize::MAX)
            }));
        let items: Vec<_> = items.collect();
        let end = offset.saturating_add(items.len() as u64);
        let is_more = end < total && !items.is_empty();
        Ok(Listed {
            items,
            next: is_more.then_some(end.cast_signed()),
            total: Some(total),
            ..Listed::none()
        })
    }
}

/// The order with a name among `all`; an unknown one is refused with the names of those there are.
pub(crate) fn named_order<T: Copy>(
    name: Option<&str>,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<Option<T>, Refusal> {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let found = all.iter().copied().find(|order| name_of(*order) == name);
    match found {
        Some(order) => Ok(Some(order)),
        None => Err(unknown_order(name, all.iter().map(|order| name_of(*order)))),
    }
}

/// The refusal of an order that a list does not have.
pub(crate) fn unknown_order(name: &str, orders: impl Iterator<Item = &'static str>) -> Refusal {
    let orders = orders.collect::<Vec<_>>().join(", ");
    Refusal::invalid(
        "sort",
        format!("there is no order `{name}`; it is one of {orders}"),
    )
}

#[derive(PartialEq, Eq)]
struct Sorted(SortKey, bool);

impl Ord for Sorted {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = match (&self.0, &other.0) {
            (SortKey::Text(a), SortKey::Text(b)) => a.cmp(b),
            (SortKey::Number(a), SortKey::Number(b)) => a.cmp(b),
            (SortKey::None, SortKey::None) => Ordering::Equal,
            (SortKey::None, _) => return Ordering::Greater,
            (_, SortKey::None) => return Ordering::Less,
            (SortKey::Number(_), SortKey::Text(_)) => Ordering::Less,
            (SortKey::Text(_), SortKey::Number(_)) => Ordering::Greater,
        };
        if self.1 { order.reverse() } else { order }
    }
}

impl PartialOrd for Sorted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<&str> for SortKey {
    fn from(text: &str) -> Self {
        match text.trim() {
            "" => Self::None,
            text => Self::Text(natural(&text.to_lowercase())),
        }
    }
}

/// A text in parts by which numbers in it are in their order: each is a text, or the digits of a number by their count.
fn natural(text: &str) -> Vec<(usize, String)> {
    let mut parts: Vec<(usize, String)> = Vec::new();
    for character in text.chars() {
        let is_digit = character.is_ascii_digit();
        match parts.last_mut() {
            Some((digits, part)) if (*digits > 0) == is_digit => {
                *digits += usize::from(is_digit);
                part.push(character);
            }
            _ => parts.push((usize::from(is_digit), character.to_string())),
        }
    }
    parts
}

impl From<Option<&str>> for SortKey {
    fn from(text: Option<&str>) -> Self {
        text.map_or(Self::None, Self::from)
    }
}

impl From<i64> for SortKey {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for SortKey {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<Time> for SortKey {
    fn from(time: Time) -> Self {
        Self::Number(time.0)
    }
}

impl From<Option<Time>> for SortKey {
    fn from(time: Option<Time>) -> Self {
        time.map_or(Self::None, Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: Orders<'_, &str> = &[("name", |row| SortKey::from(*row))];

    fn names(paging: &Paging) -> (Vec<&'static str>, Option<i64>) {
        let listed = paging.page(vec!["b", "", "C", "a"], ORDERS).unwrap();
        assert_eq!(listed.total, Some(4));
        (listed.items, listed.next)
    }

    #[test]
    fn rows_without_a_key_come_last_in_both_orders() {
        let mut paging = Paging {
            sort: Some("name".to_owned()),
            ..Paging::default()
        };
        assert_eq!(names(&paging), (vec!["a", "b", "C", ""], None));
        paging.descending = Some(true);
        assert_eq!(names(&paging), (vec!["C", "b", "a", ""], None));
        (paging.offset, paging.limit) = (Some(1), Some(2));
        assert_eq!(names(&paging), (vec!["b", "a"], Some(3)));
    }

    #[test]
    fn an_unknown_order_is_refused_by_name() {
        let paging = Paging {
            sort: Some("size".to_owned()),
            ..Paging::default()
        };
        let refusal = paging.page(vec!["a"], ORDERS).unwrap_err();
        assert!(
            refusal.message().contains("`size`; it is one of name"),
            "{refusal}"
        );
    }

    #[test]
    fn numbers_in_names_are_in_their_order() {
        let mut sets = ["s10", "s2", "a:b", "S1:z", "s1"];
        sets.sort_by_cached_key(|set| SortKey::from(*set));
        assert_eq!(sets, ["a:b", "s1", "S1:z", "s2", "s10"]);
    }
}
