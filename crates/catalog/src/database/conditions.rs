//! The conditions of a list. Only what is asked for stands in the statement, so that the database can use its indexes.

use crate::database::Value;

/// Conditions that all have to hold, and the values of their parameters.
#[derive(Default)]
pub(crate) struct Conditions {
    sql: String,
    values: Vec<Value>,
}

impl Conditions {
    /// Asks for a condition if it has a value, which stands in it as `$n`.
    pub(crate) fn only(&mut self, condition: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            let parameter = self.parameter(value);
            self.always(&condition.replace("$n", &parameter));
        }
    }

    /// Asks for a condition without a parameter.
    pub(crate) fn always(&mut self, condition: &str) {
        self.sql.push_str(if self.sql.is_empty() {
            " WHERE "
        } else {
            " AND "
        });
        self.sql.push_str(condition);
    }

    /// Takes a value, and gives the name that it has in the statement.
    pub(crate) fn parameter(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("${}", self.values.len())
    }

    /// The statement: what stands before the conditions, they themselves, and what stands behind them.
    pub(crate) fn all(self, select: &str, order: &str) -> (String, Vec<Value>) {
        (format!("{select}{} {order}", self.sql), self.values)
    }

    /// The same for so many rows at most. The number stands in the statement, because a database that knows it goes
    /// along an index instead of sorting everything.
    pub(crate) fn some(self, select: &str, order: &str, limit: u64) -> (String, Vec<Value>) {
        let limit = limit.min(i64::MAX.unsigned_abs());
        self.all(select, &format!("{order} LIMIT {limit}"))
    }
}

/// A pattern for `LIKE … ESCAPE '!'` that finds a text anywhere, in small letters.
pub(crate) fn containing(text: &str) -> String {
    let mut pattern = "%".to_owned();
    for character in text.to_lowercase().chars() {
        if matches!(character, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(character);
    }
    pattern + "%"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_a_value_is_asked_for() {
        let mut conditions = Conditions::default();
        conditions.only("a = $n OR b = $n", Some(1_i64));
        conditions.only("c = $n", None::<i64>);
        conditions.only("d = $n", Some("x"));

        let (sql, values) = conditions.some("SELECT", "ORDER BY a", 7);

        let expected = "SELECT WHERE a = $1 OR b = $1 AND d = $2 ORDER BY a LIMIT 7";
        assert_eq!((sql.as_str(), values.len()), (expected, 2));
    }

    #[test]
    fn a_pattern_takes_no_orders_from_the_text() {
        assert_eq!(containing("100%_!A"), "%100!%!_!!a%");
    }
}
