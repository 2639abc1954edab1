//! The two databases behind one face: connections, the SQL dialects, migrations, and parameters made safe.

pub(crate) mod bounded;
pub(crate) mod conditions;
mod connection;
pub(crate) mod dialect;
pub(crate) mod identity;
pub(crate) mod migrations;
pub(crate) mod rows;
pub(crate) mod slow;

pub(crate) use connection::{Database, Row, Transaction, Value, is_busy, is_conflict};
