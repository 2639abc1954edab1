//! The media types that the index has met, each with its number and its set.

use std::collections::HashMap;

use oai::SetSpec;
use rusqlite::Connection;

use crate::records::RECORD;

/// The media types that the index has met.
#[derive(Debug, Default, Clone)]
pub(crate) struct MediaTypeTable {
    by_id: HashMap<i64, MediaTypeEntry>,
    by_name: HashMap<String, i64>,
}

/// One media type.
#[derive(Debug, Clone)]
pub(crate) struct MediaTypeEntry {
    /// Its name; empty for what nobody knows before a program has run.
    pub(crate) name: String,
    /// The set of its items, if there is a name.
    pub(crate) set_spec: Option<SetSpec>,
}

impl MediaTypeTable {
    /// Reads all that an index has met so far.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut table = Self::default();
        let mut statement = connection.prepare("SELECT id, name FROM media_type")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            table.insert(row.get(0)?, row.get(1)?);
        }
        Ok(table)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// The media type of a number.
    pub(crate) fn get(&self, id: i64) -> Option<&MediaTypeEntry> {
        self.by_id.get(&id)
    }

    /// The names of all.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Whether a media type is a format of records. An item that had another one is a deleted record in it.
    pub(super) fn is_format(&self, id: i64) -> bool {
        self.get(id)
            .is_some_and(|entry| entry.name.starts_with(RECORD))
    }

    /// Whether all items are in some set.
    pub(crate) fn are_all_named(&self) -> bool {
        !self.by_name.contains_key("")
    }

    /// The numbers of all media types in a set.
    pub(crate) fn within(&self, set: &SetSpec) -> Vec<i64> {
        let set = set.respelled();
        let is_member = |entry: &MediaTypeEntry| {
            let own = entry.set_spec.as_ref();
            own.is_some_and(|own| set.contains(own))
        };
        let members = self.by_id.iter().filter(|(_, entry)| is_member(entry));
        let mut ids: Vec<_> = members.map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }

    /// The number of a media type, given to it now if need be.
    pub(super) fn intern(&mut self, connection: &Connection, name: &str) -> rusqlite::Result<i64> {
        if let Some(id) = self.by_name.get(name) {
            return Ok(*id);
        }
        connection.execute("INSERT INTO media_type (name) VALUES (?1)", [name])?;
        let id = connection.last_insert_rowid();
        self.insert(id, name.to_owned());
        Ok(id)
    }

    fn insert(&mut self, id: i64, name: String) {
        let set_spec = (!name.is_empty()).then(|| SetSpec::of_media_type(&name));
        self.by_name.insert(name.clone(), id);
        self.by_id.insert(id, MediaTypeEntry { name, set_spec });
    }
}
