//! One item as the index knows it, and how it is read from the file.

use rusqlite::Connection;

use crate::{Facts, SitePath};

/// An item as the index knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// Its number, for ever.
    pub(crate) id: i64,
    /// Where its file is or was.
    pub(crate) path: SitePath,
    /// When its records last changed.
    pub(crate) datestamp: i64,
    /// Whether it is still there.
    pub(crate) state: State,
    /// The number of its media type.
    pub(crate) media_type: i64,
    /// The size of its file.
    pub(crate) size: u64,
    /// The modification time of its file.
    pub(crate) mtime: i64,
    /// The mark of its file, see [`crate::Facts`].
    pub(crate) mark: i64,
    /// Whether a server would run it.
    pub(crate) dynamic: bool,
    /// Whether the origin gives it to those without credentials, where one was asked.
    pub(crate) shown: Option<bool>,
    /// Whether a requester went without it because the origin did not serve it just then.
    pub(crate) missed: bool,
    /// Whether it appeared at its datestamp; else it was there before.
    pub(crate) is_new: bool,
}

/// Whether an item is still there. The numbers are those in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It is.
    Live = 0,
    /// It was.
    Deleted = 1,
    /// It was public once and is protected now: deleted for those who may not see it, and for them only.
    Withdrawn = 2,
}

impl Row {
    /// The facts of the file when it was last looked at.
    pub(crate) fn facts(&self) -> Facts {
        Facts {
            size: self.size,
            mtime: self.mtime,
            ctime_ns: 0,
            mark: self.mark,
            links: 0,
        }
    }

    /// Reads the columns of [`COLUMNS`].
    pub(super) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let path: Vec<u8> = row.get(1)?;
        let path = SitePath::new(path).ok_or(rusqlite::Error::InvalidQuery)?;
        Ok(Self {
            id: row.get(0)?,
            path,
            datestamp: row.get(2)?,
            state: State::from_number(row.get(3)?),
            media_type: row.get(4)?,
            size: u64::try_from(row.get::<_, i64>(5)?).unwrap_or(0),
            mtime: row.get(6)?,
            mark: row.get(7)?,
            dynamic: row.get(8)?,
            shown: row.get(9)?,
            missed: row.get(10)?,
            is_new: row.get::<_, Option<i64>>(11)? == Some(row.get(2)?),
        })
    }
}

impl State {
    fn from_number(number: i64) -> Self {
        match number {
            0 => Self::Live,
            1 => Self::Deleted,
            _ => Self::Withdrawn,
        }
    }
}

/// The media types an item had before the present one.
pub(super) fn former_types(connection: &Connection, id: i64) -> rusqlite::Result<Vec<i64>> {
    let sql = "SELECT coalesce(former_types, '') FROM item WHERE id = ?1";
    let text: String = connection.query_row(sql, [id], |row| row.get(0))?;
    Ok(text
        .split(',')
        .filter_map(|number| number.parse().ok())
        .collect())
}

/// The columns of a [`Row`], of a table called `i`.
pub(super) const COLUMNS: &str =
    "i.id, i.path, i.datestamp, i.state, i.media_type, i.size, i.mtime, i.mark, i.dynamic,
     i.shown, i.missed, i.created";
