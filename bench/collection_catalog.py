"""Fills the catalog of an empty data directory with a large collection by SQL: importing it would take hours.

One text of SQL runs on both databases. The words of texts are left to the example `generated_texts`, which has them indexed as an
import does. Documents come in the order of a crawl: half of them stand with the others of
their parent, half are scattered. Everything else is as scattered as the digits of a digest.
"""

import hashlib
import sqlite3
import subprocess

HOSTS = 5_000
IMPORTS = 50
KINDS = ["paper", "thesis", "book", "report", "slides", "manual"]
LANGUAGES = ["en", "de", "fr", "es", "ja"]
FIRST_DAY, DAYS = 1_104_537_600, 7_300
# A document of as many failed to be ingested; those at every second host are on the blacklist.
FAILED_EVERY = 50
# The group of changes that all documents are in; the first one is there from the start.
CHANGE_GROUP = 2
# Rows that one statement makes.
PART = 250_000
# Documents with files of their own, for retrieval.
RETRIEVED_HOST = "retrieved.example"


def mixed(number, salt):
    """A number below 2^20, as scattered as a digest's digits, of an expression."""
    square = f"(({number} + {salt}) * 2654435761 % 4294967296)"
    return f"({square} * 40503 % 4294967296 / 4096)"


def host_of(parent):
    """Of a few large hosts and many small ones."""
    part = mixed(parent, 17)
    return f"({part} * {part} / 1048576 * {HOSTS} / 1048576)"


def rev_host(number):
    return f"'example.domain' || ({number} % 500) || '.www' || {number}"


def host(number):
    return f"'www' || {number} || '.domain' || ({number} % 500) || '.example'"


class Collection:
    """The numbers of a generated collection."""

    def __init__(self, documents, retrieved):
        self.documents, self.retrieved = documents, retrieved
        self.parents = documents // 10
        self.every = 25

    def fill(self, database):
        """Writes all rows. `retrieved` has the SHA-1, the SHA-256 and the size of the first documents, which have files."""
        database.begin()
        database.load("retrieved", "document BIGINT PRIMARY KEY, sha1 TEXT, sha256 TEXT, size BIGINT", self.retrieved)
        database.execute("INSERT INTO import (target, parameters, keep_versions, state, started, ended, lease_owner, lease_token, lease_until, run_id) "
                         "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < "
                         f"{IMPORTS}) SELECT 'generated ' || n, '{{}}', 0, 'ok', {FIRST_DAY} + n * 3600, {FIRST_DAY} + n * 3600 + 1800, 'nobody', 1, 0, n FROM number")
        for first, last in _parts(self.parents):
            database.execute(self._parent_rows(first, last))
        for first, last in _parts(self.documents):
            database.say(f"{last:,} documents")
            for statement in (self._contents(first, last), self._document_rows(first, last), *self._text_rows(first, last)):
                database.execute(statement)
        database.execute("INSERT INTO citation (md5, citations) SELECT md5, 1 + id % 40 FROM document WHERE id % 20 = 0")
        database.execute("INSERT INTO change_group (id, kind, repository_id, metadata_prefix, size, seq, at, rank) "
                         f"SELECT {CHANGE_GROUP}, 1, 0, '', {self.documents}, seq + 1, at + 1, 1 FROM change_state")
        database.execute("UPDATE change_state SET seq = seq + 1, at = at + 1, rank = 2")
        database.execute(f"UPDATE collection_state SET next_number = {self.documents + 1}, generation = generation + 1")
        database.commit()

    def _parent_rows(self, first, last):
        number = host_of("n")
        url = f"'http://' || host || '/people/somebody' || n || '/publications.html'"
        return (f"INSERT INTO parent (id, url, md5, host, first_crawl_date, last_crawl_date) {_numbers(first, last)}, "
                f"parents (n, host) AS (SELECT n, {host(number)} FROM number) "
                f"SELECT n, {url}, md5({url}), host, {FIRST_DAY} + n % {DAYS} * 86400, {FIRST_DAY} + {DAYS} * 86400 + n % 86400 FROM parents")

    def _parent(self):
        together = f"1 + (n - 1) * {self.parents} / {self.documents}"
        scattered = f"1 + {mixed('n', 5)} * {self.parents} / 1048576"
        return f"CASE n % 2 WHEN 0 THEN {together} ELSE {scattered} END"

    def _content(self, number="n"):
        """Every twentieth document has the bytes of the one before, unless it has a file."""
        return f"CASE WHEN {number} % 20 = 0 AND {number} > {len(self.retrieved)} THEN {number} - 1 ELSE {number} END"

    def _contents(self, first, last):
        has_text = f"n % {self.every} = 1"

        def texts(value):
            return f"CASE WHEN {has_text} THEN {value} END"

        near = self.every * 20
        return (f"INSERT INTO content (id, sha1, sha256, size, media_type, extension, stored, decision, kind, language, title, near) "
                f"{_numbers(first, last)} SELECT n, COALESCE(retrieved.sha1, {_sha1('n')}), COALESCE(retrieved.sha256, md5('sha ' || n) || md5('256 ' || n)), "
                f"COALESCE(retrieved.size, 20000 + {mixed('n', 3)}), {self._of_retrieved('application/pdf', _type('n'))}, {self._of_retrieved('pdf', _extension('n'))}, 1, "
                f"{texts(_choice(['accept', 'accept', 'accept', 'reject', 'unsure'], 'n', 11))}, {texts(_choice(KINDS, 'n', 12))}, "
                f"{texts(_choice(LANGUAGES, 'n', 13))}, {texts(self._title('n'))}, "
                f"CASE n % {near} WHEN 1 THEN n WHEN {self.every + 1} THEN n - {self.every} END "
                f"FROM number LEFT JOIN retrieved ON retrieved.document = n WHERE {self._content()} = n")

    def _of_retrieved(self, value, other):
        return f"CASE WHEN n <= {len(self.retrieved)} THEN '{value}' ELSE {other} END"

    def _document_rows(self, first, last):
        is_retrieved = f"n <= {len(self.retrieved)}"
        number = host_of("parent")
        url = "'http://' || host || '/people/papers/paper-' || n"
        crawled = f"{FIRST_DAY} + {mixed('n', 7)} * {DAYS} / 1048576 * 86400 + n % 86400"
        state = f"CASE WHEN n % {FAILED_EVERY} = 3 AND NOT {is_retrieved} THEN 2 WHEN {mixed('n', 23)} % 3 = 0 THEN 0 ELSE 1 END"
        return (f"INSERT INTO document (id, url, md5, host, rev_host, content_id, content_sha1, declared_type, sniffed_type, media_type, discover_date, "
                f"update_date, crawl_date, parent_id, parent_date, depth, is_seed, state, source, import_id, change_id) {_numbers(first, last)}, "
                f"parents (n, parent) AS (SELECT n, {self._parent()} FROM number), "
                f"hosts (n, parent, host_number) AS (SELECT n, parent, {number} FROM parents), "
                f"documents (n, parent, host, rev_host, content) AS (SELECT n, parent, CASE WHEN {is_retrieved} THEN '{RETRIEVED_HOST}' ELSE {host('host_number')} END, "
                f"CASE WHEN {is_retrieved} THEN 'example.retrieved' ELSE {rev_host('host_number')} END, {self._content()} FROM hosts) "
                f"SELECT n, {url}, md5({url}), host, rev_host, content, content.sha1, CASE WHEN n % 40 = 7 THEN 'text/plain' ELSE content.media_type END, "
                f"content.media_type, content.media_type, {crawled}, {crawled}, {crawled}, parent, {FIRST_DAY}, 3, 0, {state}, "
                f"'crawl.warc.gz at offset ' || n, 1 + (n - 1) * {IMPORTS} / {self.documents}, {CHANGE_GROUP} FROM documents JOIN content ON content.id = documents.content")

    @staticmethod
    def _title(number):
        words = " || ' ' || ".join(f"'w' || {mixed(number, 100 + at)} % {10 ** (at + 1)}" for at in range(4))
        return f"'On ' || {words}"

    def _text_rows(self, first, last):
        contents = f"FROM content WHERE id >= {first} AND id <= {last} AND decision IS NOT NULL"
        yield ("INSERT INTO judgement (sha1, url, outcome, engine, pages, decision, probability, kind, model, title, language) "
               f"SELECT sha1, '', 'text', 'generated', 10, decision, 500000 + id % 500000, kind, 'generated', title, language {contents}")
        yield f"INSERT INTO unread_text (content_id) SELECT id {contents}"

    def blacklist(self):
        """The hosts with odd numbers."""
        return "".join(f"www{number}.domain{number % 500}.example\n" for number in range(1, HOSTS, 2))

    def cleaned(self, database):
        """The documents that a cleaning with this blacklist removes: their contents and how their files end."""
        return database.rows(f"SELECT document.id, content.id, content.extension FROM document JOIN content ON content.id = document.content_id "
                             f"JOIN parent ON parent.id = document.parent_id WHERE document.state = 2 AND {host_of('parent.id')} % 2 = 1 ORDER BY document.id")


class Sqlite:
    """The catalog of a data directory."""

    def __init__(self, bench, data):
        self.say = lambda text: bench.say(f"collection: SQLite: {text}")
        self.connection = sqlite3.connect(data / "catalog.sqlite", isolation_level=None, timeout=60)
        self.connection.create_function("md5", 1, lambda text: hashlib.md5(str(text).encode()).hexdigest(), deterministic=True)
        for pragma in ("synchronous = OFF", "cache_size = -2000000", "temp_store = MEMORY"):
            self.connection.execute(f"PRAGMA {pragma}")

    def begin(self):
        self.connection.execute("BEGIN IMMEDIATE")

    def load(self, table, columns, rows):
        self.connection.execute(f"CREATE TEMP TABLE {table} ({columns})")
        marks = ", ".join("?" for _ in columns.split(", "))
        self.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

    def execute(self, statement):
        self.connection.execute(statement)

    def rows(self, query):
        return self.connection.execute(query).fetchall()

    def commit(self):
        # No ANALYZE: the program makes none.
        self.connection.execute("COMMIT")
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self):
        self.connection.close()



class Postgres:
    """A database of a cluster, by `psql`; a session for the whole filling, because temporary tables live in it."""

    def __init__(self, bench, cluster, database):
        self.say = lambda text: bench.say(f"collection: PostgreSQL: {text}")
        self.command = [cluster.programs / "psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", cluster.place, "-U", "garner", "-d", database]
        self.script = []

    def begin(self):
        self.script.append("SET maintenance_work_mem = '512MB'; SET work_mem = '256MB'; SET synchronous_commit = off;")

    def load(self, table, columns, rows):
        lines = "".join("\t".join(map(str, row)) + "\n" for row in rows)
        self.script.append(f"CREATE TEMP TABLE {table} ({columns});\nCOPY {table} FROM stdin;\n{lines}\\.\n")

    def execute(self, statement):
        self.script.append(f"{statement};")

    def rows(self, query):
        text = subprocess.run([*self.command, "-At", "-F", "\t", "-c", query], check=True, stdout=subprocess.PIPE, text=True).stdout
        return [line.split("\t") for line in text.splitlines()]

    def commit(self):
        self.script += ["SELECT setval(pg_get_serial_sequence('parent', 'id'), (SELECT max(id) FROM parent));",
                        "SELECT setval(pg_get_serial_sequence('change_group', 'id'), 2);", "VACUUM ANALYZE;"]
        self.say("filling")
        subprocess.run(self.command, check=True, input="\n".join(self.script), text=True, stdout=subprocess.DEVNULL)

    def close(self):
        pass



def _numbers(first, last):
    return f"WITH RECURSIVE number (n) AS (SELECT CAST({first} AS BIGINT) UNION ALL SELECT n + 1 FROM number WHERE n < {last})"


def _parts(count):
    for first in range(1, count + 1, PART):
        yield first, min(first + PART - 1, count)


def _sha1(number):
    return f"md5('sha1 ' || {number}) || substr(md5('more ' || {number}), 1, 8)"


def _choice(values, number, salt):
    return f"CASE {mixed(number, salt)} % {len(values)} " + " ".join(f"WHEN {at} THEN '{value}'" for at, value in enumerate(values)) + " END"


def _type(number):
    part = f"{mixed(number, 31)} % 100"
    return (f"CASE WHEN {part} < 80 THEN 'application/pdf' WHEN {part} < 90 THEN 'application/postscript' "
            f"WHEN {part} < 99 THEN 'text/html' ELSE 'image/png' END")


def _extension(number):
    return _type(number).replace("application/pdf", "pdf").replace("application/postscript", "ps").replace("text/html", "html").replace("image/png", "png")
