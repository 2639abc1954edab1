//! The audit trail: who changed what.

use serde::Serialize;

use crate::database::conditions::Conditions;
use crate::{Catalog, Error};

/// A change that somebody made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    /// The name of the account; it stays when the account is gone.
    pub account: String,
    /// What was done, such as `schedule.change`.
    pub action: String,
    /// To what, such as `schedule 7`.
    pub subject: String,
    /// What else there is to say.
    pub details: Option<String>,
}

/// An entry of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditRow {
    /// Its number.
    pub id: i64,
    /// When it was made, in seconds.
    pub at: i64,
    /// What it says.
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
    /// How many at most.
    pub limit: u64,
}

impl Default for AuditQuery {
    fn default() -> Self {
        Self {
            account: None,
            before: None,
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

    /// Entries of the audit trail, the newest first.
    pub async fn audit_trail(&self, query: &AuditQuery) -> Result<Vec<AuditRow>, Error> {
        let mut conditions = Conditions::default();
        conditions.only("account = $n", query.account.as_deref());
        conditions.only("id < $n", query.before);
        let select = "SELECT id, at, account, action, subject, details FROM audit";
        let (sql, values) = conditions.some(select, "ORDER BY id DESC", query.limit);
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
