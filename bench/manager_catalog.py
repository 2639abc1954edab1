"""Fills a SQLite catalog with copies of what the program put into it, because a thousand commands would take too long."""

import sqlite3

# As many copies are made in a statement.
NUMBERS = "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :count)"


class Filling:
    def __init__(self, data):
        self.connection = sqlite3.connect(data / "catalog.sqlite", isolation_level=None, timeout=60)
        self.connection.execute("PRAGMA foreign_keys = ON")

    def __enter__(self):
        self.connection.execute("BEGIN IMMEDIATE")
        return self

    def __exit__(self, kind, *_):
        self.connection.execute("COMMIT" if kind is None else "ROLLBACK")
        if kind is None:
            self.connection.execute("ANALYZE")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.connection.close()

    def copy(self, table, count, changed, where="1", with_id=False):
        """Makes `count` copies of each row; `changed` says what is different in copy number `n` of the row `source`."""
        columns = [row[1] for row in self.connection.execute(f"PRAGMA table_info({table})") if with_id or row[1] != "id"]
        values = [changed.get(column, f"source.{column}") for column in columns]
        self.connection.execute(
            f"{NUMBERS} INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {table} AS source, number WHERE {where}",
            {"count": count},
        )

    def execute(self, statement):
        self.connection.execute(statement)

    def value(self, query):
        return self.connection.execute(query).fetchone()[0]


def read(data, query):
    """The rows of a query, while the program runs."""
    connection = sqlite3.connect(f"file:{data / 'catalog.sqlite'}?mode=ro", uri=True, timeout=60)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()
