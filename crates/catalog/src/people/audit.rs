//! The audit trail: who changed what.

use serde::Serialize;

use crate::database::conditions::Conditions;
use crate::{Catalog, Error};

/// A change that somebody made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    /// The name of the account; it stays when the account is gone.
    pub account: String,
    /// The action, such as `schedule.change`.
    pub action: String,
    /// To what, such as `schedule 7`.
    pub subject: String,
    /// Further details.
    pub details: Option<String>,
}

/// An entry of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditRow {
    /// Its number.
    pub id: i64,
    /// When it was made, in seconds.
    pub at: i64,
    /// The label.
    #[serde(flatten)]
    pub entry: AuditEntry,
}

/// Which entries are wanted.
#[derive(Debug, Clone)]
pub struct AuditQuery {
    /// Those of one account, by its name.
    pub account: Option<String>,
    /// Those with a smaller number, for the next page.
    pub before: Option<i64>,
    /// The order, if it is not that of their numbers.
    pub order: Option<AuditOrder>,
    /// Whether the largest come first in that order.
    pub descending: bool,
    /// How many are skipped, where there is an order.
    pub offset: u64,
    /// How many at most.
    pub limit: u64,
}

/// By what entries are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditOrder {
    /// The time.
    At,
    /// The account.
    Account,
    /// The action.
    Action,
    /// The subject.
    Subject,
}

impl AuditOrder {
    /// All there are.
    pub const ALL: [Self; 4] = [Self::At, Self::Account, Self::Action, Self::Subject];

    /// Its name, which is that of the column.
    pub fn name(self) -> &'static str {
        match self {
            Self::At => "at",
            Self::Account => "account",
            Self::Action => "action",
            Self::Subject => "subject",
        }
    }
}

impl Default for AuditQuery {
    fn default() -> Self {
        Self {
            account: None,
            before: None,
            order: None,
            descending: false,
            offset: 0,
            limit: 100,
        }
    }
}

impl Catalog {
    /// Writes down a change.
    pub async fn audit(&self, entry: &AuditEntry) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        let sql = "INSERT INTO audit (at, account, action, subject, details)
             VALUES ({now}, $1, $2, $3, $4)";
        let values = [
            entry.account.as_str().into(),
            entry.action.as_str().into(),
            entry.subject.as_str().into(),
            entry.details.as_deref().into(),
        ];
        transaction.execute(sql, values).await?;
        transaction.commit().await
    }

    /// How many entries there are, of one account or of all.
    pub async fn count_audit(&self, account: Option<&str>) -> Result<u64, Error> {
        let mut conditions = Conditions::default();
        conditions.only("account = $n", account);
        let (sql, values) = conditions.all("SELECT count(*) AS number FROM audit", "");
        let row = self.database.list().await?.row(&sql, values).await?;
        row.map_or(Ok(0), |row| row.count("number"))
    }

    /// Entries of the audit trail, the newest first if no other order is asked for.
    pub async fn audit_trail(&self, query: &AuditQuery) -> Result<Vec<AuditRow>, Error> {
        let mut conditions = Conditions::default();
        conditions.only("account = $n", query.account.as_deref());
        conditions.only("id < $n", query.before);
        let select = "SELECT id, at, account, action, subject, details FROM audit";
        let direction = if query.descending { "DESC" } else { "ASC" };
        let order = match query.order {
            None => "ORDER BY id DESC".to_owned(),
            // Entries are written in the order of their times.
            Some(AuditOrder::At) => format!("ORDER BY id {direction}"),
            Some(order) => format!("ORDER BY lower({}) {direction}, id DESC", order.name()),
        };
        let limit = query.limit.min(1 << 40);
        let behind = match query.order {
            None => String::new(),
            Some(_) => format!(" OFFSET {}", query.offset.min(1 << 40)),
        };
        let (sql, values) = conditions.all(select, &format!("{order} LIMIT {limit}{behind}"));
        let rows = self.database.list().await?.rows(&sql, values).await?;
        rows.iter()
            .map(|row| {
                Ok(AuditRow {
                    id: row.integer("id")?,
                    at: row.integer("at")?,
                    entry: AuditEntry {
                        account: row.text("account")?,
                        action: row.text("action")?,
                        subject: row.text("subject")?,
                        details: row.maybe_text("details")?,
                    },
                })
            })
            .collect()
    }
}
