"""Catalogs of 10^7 documents and 10^7 records: rates at the end against the beginning, lists and searches, size of a row, upkeep."""

import re
import shutil
import sqlite3
import subprocess
import time

import postgres
from collection import CatalogUp, pages
from collection_catalog import Collection, Postgres, Sqlite
from manager import NAME, PASSWORD, ask, log_in, percentile
from program import BenchError, run

DOCUMENTS, QUICK_DOCUMENTS = 10_000_000, 100_000
IMPORTED, QUICK_IMPORTED = 200_000, 20_000
# A document of as many has a text of 1,500 words that is searched.
TEXT_EVERY = 250
REPOSITORIES, QUICK_REPOSITORIES = 50, 5
RECORDS_EACH, QUICK_RECORDS_EACH = 200_000, 20_000
REQUESTS, QUICK_REQUESTS = 40, 10
AT_END, LIST_MS = 0.8, 300
SETTINGS = ["shared_buffers=1GB", "max_wal_size=4GB"]


def measure_section(bench):
    rows = []
    for measured in (_Documents, _Records):
        for database in ("SQLite", "PostgreSQL"):
            folder = bench.work / f"sizes-{measured.name}-{database}"
            (folder / "data").mkdir(parents=True)
            rows += _measure(bench, folder, database, measured)
            # There is room for one at a time.
            shutil.rmtree(folder)
    bench.write_csv("sizes", rows)


def check(parser, binary):
    if postgres.programs() is None:
        parser.error("PostgreSQL is needed for the section `sizes` and is not installed; `scripts/setup test` does it")
    for name in ("generated_texts", "imports", "speed"):
        if not _example(binary, name).exists():
            parser.error(f"run `cargo build --release --workspace --exclude garner-apache-module --example {name}` for the section `sizes`")


def _measure(bench, folder, database, measured):
    if database == "SQLite":
        return measured(bench, folder, database, _File(folder)).measure()
    with postgres.Postgres(folder / "postgres", SETTINGS) as cluster:
        return measured(bench, folder, database, _Server(cluster)).measure()


class _Measured:
    def __init__(self, bench, folder, database, place):
        self.bench, self.folder, self.database, self.place = bench, folder, database, place
        self.rows = []

    def note(self, figure, value, unit, last=""):
        self.rows.append({"catalog": self.name, "database": self.database, "figure": figure, "value": value, "95th percentile": last, "unit": unit})

    def say(self, text):
        self.bench.say(f"sizes: {self.name}, {self.database}: {text}")

    def example(self, name, *arguments):
        return run([str(_example(self.bench.binary, name)), *map(str, arguments)], stdout=subprocess.PIPE).decode()

    def account(self):
        command = [str(self.bench.binary), "account", "add", NAME, "--role", "admin", "--data", str(self.folder / "data"), "--catalog", self.place.location]
        subprocess.run(command, input=f"{PASSWORD}\n".encode(), stdout=subprocess.DEVNULL, check=True)

    def compare_rates(self, what, beginning, end, **target):
        self.note(f"{what}, at the beginning", beginning, "per second")
        self.note(f"{what}, at the end", end, "per second")
        self.bench.compare("sizes", f"{self.database}: {what}, with {self.size:,} {self.name} against an empty catalog", f"{end:,.0f}", f"{beginning:,.0f}", end / beginning, **target)

    def measure_pages(self, shown):
        requests = QUICK_REQUESTS if self.bench.quick else REQUESTS
        slowest = []
        with CatalogUp(self.bench, self.folder / "data", self.folder / "log", ["--catalog", self.place.location]) as up:
            up.settle()
            cookie = log_in(up.port)
            for name, path in shown.items():
                times = [one for number in range(requests) for one in ask(up.port, path(number * 40 // requests), cookie, 1)]
                self.note(name, percentile(times, 50), "ms", percentile(times, 95))
                slowest.append((percentile(times, 95), name))
        for kind, is_kind in (("list", lambda name: not name.startswith("search")), ("search", lambda name: name.startswith("search"))):
            most, name = max(found for found in slowest if is_kind(found[1]))
            self.bench.compare("sizes", f"{self.database}, {self.size:,} {self.name}: the slowest {kind} ({name}), 95th percentile of {requests} requests", f"{most:.0f} ms", "", None,
                               f"< {LIST_MS} ms", reached=most < LIST_MS)

    def measure_size(self, rows):
        size = self.place.bytes()
        self.note("size of the catalog", size / 1e9, "GB")
        self.note("size of a row, all in", size / rows, "bytes")
        for name, bytes_of in self.place.parts():
            self.note(name, bytes_of / rows, "bytes")
        self.bench.compare("sizes", f"{self.database}: size for each of {rows:,} {self.name}, with all indexes and words", f"{size / rows:,.0f} bytes", "", None)

    def measure_upkeep(self):
        for name, value, unit in self.place.upkeep():
            self.note(name, value, unit)


class _Documents(_Measured):
    name = "documents"

    def measure(self):
        self.size = QUICK_DOCUMENTS if self.bench.quick else DOCUMENTS
        imported = QUICK_IMPORTED if self.bench.quick else IMPORTED
        self.say(f"importing {imported:,} into an empty catalog")
        beginning = _rates(self.example("imports", self.place.empty(), 1000, imported))
        self.account()
        collection = Collection(self.size, [])
        collection.every = TEXT_EVERY
        rows = self.place.rows(self.bench, self.folder)
        collection.fill(rows)
        rows.close()
        self.say(f"indexing {self.size // TEXT_EVERY:,} texts")
        self.example("generated_texts", self.place.location)
        self.measure_size(self.size)
        self.say("asking for pages")
        self.measure_pages(_of_documents(self.size))
        self.say(f"importing {imported:,} more")
        end = _rates(self.example("imports", self.place.location, 1000, imported))
        for name in beginning:
            target = {"target": f"≥ {AT_END}", "at_least": AT_END} if name == "new" else {}
            self.compare_rates(f"{name} documents committed a second", beginning[name][0], end[name][0], **target)
        self.measure_upkeep()
        return self.rows


class _Records(_Measured):
    name = "records"

    def measure(self):
        repositories, each = (QUICK_REPOSITORIES, QUICK_RECORDS_EACH) if self.bench.quick else (REPOSITORIES, RECORDS_EACH)
        self.size = repositories * each
        self.account()
        self.say(f"{repositories} repositories with {each:,} records each")
        rates = _rates(self.example("speed", self.place.location, repositories, each))
        for name in ("new", "words"):
            target = {"target": f"≥ {AT_END}", "at_least": AT_END} if name == "new" else {}
            self.compare_rates({"new": "new records committed a second", "words": "records a second whose words are indexed"}[name], rates[name][0], rates[name][-1], **target)
        for name in ("unchanged", "updated"):
            self.note(f"{name} records committed a second, at the end", rates[name][-1], "per second")
        self.measure_size(self.size)
        self.say("asking for pages")
        self.measure_pages(_of_records(self.size, repositories))
        self.measure_upkeep()
        return self.rows


class _File:
    """A catalog in SQLite."""

    def __init__(self, folder):
        self.folder, self.path = folder, folder / "data" / "catalog.sqlite"
        self.location = str(self.path)

    def empty(self):
        return str(self.folder / "empty.sqlite")

    def rows(self, bench, folder):
        return Sqlite(bench, folder / "data")

    def bytes(self):
        return sum(path.stat().st_size for path in self.path.parent.glob(f"{self.path.name}*"))

    def parts(self):
        return []

    def upkeep(self):
        connection = sqlite3.connect(self.path, timeout=60)
        unused = connection.execute("PRAGMA freelist_count").fetchone()[0] * connection.execute("PRAGMA page_size").fetchone()[0]
        yield "unused space in the file", unused / 1e6, "MB"
        began = time.perf_counter()
        connection.execute("ANALYZE")
        connection.commit()
        yield "ANALYZE", time.perf_counter() - began, "s"
        connection.close()


class _Server:
    """A catalog in PostgreSQL."""

    def __init__(self, cluster):
        self.cluster, self.location = cluster, cluster.url()

    def empty(self):
        return self.cluster.fresh()

    def rows(self, bench, folder):
        return Postgres(bench, self.cluster, "postgres")

    def bytes(self):
        return int(self._asked("SELECT pg_database_size('postgres')"))

    def parts(self):
        yield "of it indexes", int(self._asked("SELECT sum(pg_indexes_size(relid)) FROM pg_stat_user_tables"))

    def upkeep(self):
        dead = self._asked("SELECT COALESCE(sum(n_dead_tup), 0) FROM pg_stat_user_tables")
        yield "dead rows", int(dead), ""
        began = time.perf_counter()
        self._asked("VACUUM (ANALYZE)")
        yield "VACUUM (ANALYZE)", time.perf_counter() - began, "s"

    def _asked(self, sql):
        command = [self.cluster.programs / "psql", "-At", "-h", self.cluster.place, "-U", "garner", "-d", "postgres", "-c", sql]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def _of_documents(size):
    wanted = ("documents", "documents, later pages", "documents of a host", "documents of a type", "documents of a kind", "documents of a state", "documents of a month",
              "documents of a parent", "documents with a part of a URL", "documents of a kind and a host", "search: a rare word", "search: a word", "search: a frequent word",
              "search: two words", "search: a phrase", "search: a word and a host", "a document", "parents of a host", "overview")
    shown = pages(size)
    # The words of texts are numbered by the documents that have them.
    return {name: shown[name] for name in wanted} | {"search: a rare word": lambda number: f"/documents/search?query=x{number * (size // 40) // TEXT_EVERY * TEXT_EVERY + 1}"}


def _of_records(size, repositories):
    def part(number):
        return 1 + size // 40 * number

    def fixed(path):
        return lambda _: path

    return {
        "records": fixed("/records"),
        "records of a repository": lambda number: f"/records?repository={1 + number % repositories}",
        "records of a set": lambda number: f"/records?repository={1 + number % repositories}&set=year:{number}",
        "records of a month": lambda number: "/records?since=2023-11-14&until=2023-11-15",
        "records by title": fixed("/records?sort=title"),
        "deleted records": fixed("/records?deleted=yes"),
        "a record": lambda number: f"/records/{part(number)}",
        "overview": fixed("/"),
        "search: a rare word": lambda number: f"/records?text=x{part(number)}",
        "search: a word": lambda number: f"/records?text=w{9000 + number * 9}",
        "search: a frequent word": lambda number: f"/records?text=w{number % 5}",
        "search: two words": lambda number: f"/records?text=w{number % 40}+w{100 + number}",
        "search: a phrase": lambda number: f"/records?text=%22w{number % 90}+w{number % 90 + 1}%22",
        "search: a word of a repository": lambda number: f"/records?text=w{number % 20}&repository={1 + number % repositories}",
    }


def _rates(text):
    """Rows a second of wall time by their names, in the order in which they came."""
    rates = {}
    for name, rate in re.findall(r"^(\w+) .*?(\d+) rows per second$", text, re.MULTILINE):
        rates.setdefault(name, []).append(float(rate))
    if not rates:
        raise BenchError(f"no rates in `{text[-200:]}`")
    return rates


def _example(binary, name):
    return binary.parent / "examples" / name
