"""A large collection on both databases: pages of the console, lists for crawlers, cleaning, retrieval."""

import hashlib
import os
import shutil
import subprocess

import plot
import postgres
from collection_catalog import FAILED_EVERY, IMPORTS, KINDS, LANGUAGES, RETRIEVED_HOST, Collection, Postgres, Sqlite
from harvest_programs import timed
from manager import NAME, PASSWORD, Up, ask, log_in, percentile
from program import median, run

DOCUMENTS, QUICK_DOCUMENTS = 5_000_000, 50_000
RETRIEVED, QUICK_RETRIEVED = 2_000, 100
RETRIEVED_BYTES = 400_000
CLEANED_BYTES = 4_000
REQUESTS = 40
PAGE_MS, SAMPLE_SECONDS, MEMORY_MB, RATE = 300, 2, 200, 0.7
TYPES = ["application/pdf", "application/postscript", "text/html", "image/png", "image/*"]
SAMPLE = ["--sample", "1000", "--seed", "7", "--format", "jsonl"]
OF_2011 = ["--type", "application/pdf", "--since", "2011-01-01", "--until", "2011-06-30"]


def measure_section(bench):
    rows, slowest = [], {}
    documents = QUICK_DOCUMENTS if bench.quick else DOCUMENTS
    for database in ("SQLite", "PostgreSQL"):
        folder = bench.work / f"collection-{database}"
        folder.mkdir()
        if database == "SQLite":
            figures = _measure(bench, folder, documents, database, None)
        else:
            with postgres.Postgres(folder / "postgres", ["shared_buffers=1GB", "max_wal_size=4GB"]) as cluster:
                figures = _measure(bench, folder, documents, database, cluster)
        rows += [{"database": database, **row} for row in figures]
        slowest[database] = sorted((row for row in figures if row["unit"] == "ms"), key=lambda row: -row["95th percentile"])
        # There is room for one at a time.
        shutil.rmtree(folder)
    bench.write_csv("collection", rows)
    names = list(dict.fromkeys(row["figure"] for shown in slowest.values() for row in shown[:10]))
    quantiles = {database: [next(row["95th percentile"] for row in shown if row["figure"] == name) for name in names] for database, shown in slowest.items()}
    title = f"The slowest pages with {documents:,} documents, 95th percentile"
    plot.bars(bench.output / "collection-pages.svg", title, names, quantiles, "milliseconds")
    bench.figure("collection", "collection-pages.svg", title)


def check(parser, binary):
    if postgres.programs() is None:
        parser.error("PostgreSQL is needed for the section `collection` and is not installed; `scripts/setup test` does it")
    if not _texts(binary).exists():
        parser.error("run `cargo build --release --workspace --exclude garner-apache-module --example generated_texts` for the section `collection`")


def _texts(binary):
    return binary.parent / "examples" / "generated_texts"


class CatalogUp(Up):
    """`garner up` with its catalog elsewhere."""

    def __init__(self, bench, data, log, catalog):
        super().__init__(bench, data, log)
        self.catalog = catalog

    def command(self):
        return super().command() + self.catalog


def _measure(bench, folder, documents, database, cluster):
    data = folder / "data"
    data.mkdir()
    location = cluster.url() if cluster else str(data / "catalog.sqlite")
    catalog = ["--data", str(data), "--catalog", location]
    account = [str(bench.binary), "account", "add", NAME, "--role", "admin", *catalog]
    subprocess.run(account, input=f"{PASSWORD}\n".encode(), stdout=subprocess.DEVNULL, check=True)
    retrieved = QUICK_RETRIEVED if bench.quick else RETRIEVED
    collection = Collection(documents, [_file(data, number, "pdf", RETRIEVED_BYTES) for number in range(1, retrieved + 1)])
    rows = Postgres(bench, cluster, "postgres") if cluster else Sqlite(bench, data)
    collection.fill(rows)
    cleaned = collection.cleaned(rows)
    rows.close()
    for _, content, extension in cleaned:
        _file(data, int(content), extension, CLEANED_BYTES)
    bench.say(f"collection: {database}: indexing {documents // collection.every:,} texts")
    run([str(_texts(bench.binary)), location])
    figures = _measure_pages(bench, folder, documents, database, catalog[2:])
    figures += _measure_retrieval(bench, folder, database, catalog, retrieved, documents)
    return figures + _measure_curation(bench, folder, database, catalog, collection, len(cleaned))


def _measure_pages(bench, folder, documents, database, catalog):
    figures = []
    with CatalogUp(bench, folder / "data", folder / "log", catalog) as up:
        bench.say(f"collection: {database}: waiting for the figures of the statistics page")
        up.settle()
        cookie = log_in(up.port)
        for name, path in pages(documents).items():
            times = [time for number in range(REQUESTS) for time in ask(up.port, path(number), cookie, 1)]
            figures.append({"figure": name, "value": percentile(times, 50), "95th percentile": percentile(times, 95), "unit": "ms"})
    slowest = max(figures, key=lambda row: row["95th percentile"])
    most = slowest["95th percentile"]
    bench.compare("collection", f"{database}, {documents:,} documents: the slowest of {len(figures)} kinds of pages ({slowest['figure']}), "
                  f"95th percentile of {REQUESTS} requests", f"{most:.0f} ms", "", None, f"< {PAGE_MS} ms", reached=most < PAGE_MS)
    return figures


def pages(documents):
    """The pages by their kinds, each asked for with another value every time where there is one to ask for."""
    def part(number):
        return documents // REQUESTS * (number % REQUESTS)

    def host(number):
        return f"www{number * 97 % 5000}.domain{number * 97 % 500}.example"

    def one_of(values):
        return lambda number: values[number % len(values)]

    def fixed(path):
        return lambda _: path

    def filled(path, value):
        return lambda number: f"{path}{value(number)}"

    listed, found, parents, facets = "/documents?", "/documents/search?query=", "/parents?", "/api/v1/documents/facets?"
    a_type, a_kind, a_language = one_of(TYPES), one_of(KINDS), one_of(LANGUAGES)
    return {
        "documents": fixed("/documents"),
        "documents, later pages": filled(f"{listed}page=", part),
        "documents, 500 on a page": filled(f"{listed}size=500&page=", part),
        **{f"documents by {order}": fixed(f"{listed}sort={order}") for order in ("host", "type", "updated")},
        "documents of a host": filled(f"{listed}host=", host),
        "documents of a type": filled(f"{listed}media_type=", a_type),
        "documents of a kind": filled(f"{listed}kind=", a_kind),
        "documents of a decision": filled(f"{listed}decision=", one_of(["accept", "unsure", "reject"])),
        "documents of a state": filled(f"{listed}state=", one_of(["not_ingested", "ingested", "failed", "set_aside"])),
        "documents in a language": filled(f"{listed}language=", a_language),
        "documents of a month": lambda number: f"{listed}since=20{number % 19 + 5:02}-01-01&until=20{number % 19 + 5:02}-01-31",
        "documents of an import": lambda number: f"{listed}import={number % IMPORTS + 1}",
        "documents of a parent": lambda number: f"{listed}parent={part(number) // 10 + 1}",
        "documents with a part of a URL": lambda number: f"{listed}text=paper-{part(number) + 7}",
        "documents with a part of a URL that none has": lambda number: f"{listed}text=nothing-{number}",
        "documents of a kind and a host": lambda number: f"{listed}kind={a_kind(number)}&host={host(number)}",
        "documents of a kind, a type and two years": lambda number: f"{listed}kind={a_kind(number)}&media_type=text/html&since=2010-01-01&until=2011-12-31",
        "documents of a type and a month": lambda number: f"{listed}media_type={a_type(number)}&since=2012-03-01&until=2012-03-31",
        "documents of a host by size": lambda number: f"{listed}host={host(number)}&sort=size",
        "facets of all": fixed("/api/v1/documents/facets"),
        "facets of a host": filled(f"{facets}host=", host),
        "facets of a kind": filled(f"{facets}kind=", a_kind),
        "facets of a type": filled(f"{facets}media_type=", a_type),
        "facets of a year": lambda number: f"{facets}since=20{number % 19 + 5:02}-01-01T00:00:00Z&until=20{number % 19 + 5:02}-12-31T23:59:59Z",
        "search: a rare word": lambda number: f"{found}x{part(number) // 25 * 25 + 1}",
        "search: a word": lambda number: f"{found}w{9000 + number * 9}",
        "search: a frequent word": lambda number: f"{found}w{number % 5}",
        "search: two words": lambda number: f"{found}w{number % 40}+w{100 + number}",
        "search: a phrase": lambda number: f"{found}%22w{number % 90}+w{number % 90 + 1}%22",
        "search: a beginning": lambda number: f"{found}w{10 + number % 90}*",
        "search: a title": lambda number: f"{found}title:w{number * 3}",
        "search: a word and a host": lambda number: f"{found}w{number % 20}+host:domain{number % 50}.example",
        "search: a word and a kind": lambda number: f"{found}w{number % 20}+kind:{a_kind(number)}",
        "search: a kind": filled(f"{found}kind:", a_kind),
        "statistics": fixed("/documents/statistics"),
        "statistics of an import": lambda number: f"/documents/statistics?import={number % IMPORTS + 1}",
        "a document": lambda number: f"/documents/{part(number) + 26}",
        "parents": fixed("/parents"),
        "parents, later pages": lambda number: f"{parents}page={part(number) // 10}",
        **{f"parents by {order}": fixed(f"{parents}sort={order}") for order in ("url", "last_crawl_date", "link")},
        "parents of a host": filled(f"{parents}host=", host),
        "parents with a part of a URL": lambda number: f"{parents}text=somebody{number + 100}/",
        "overview": fixed("/"),
        "removed documents": fixed("/documents/trash"),
        "retrieval": fixed("/retrieve"),
    }


def _measure_retrieval(bench, folder, database, catalog, retrieved, documents):
    figures = []
    for name, conditions in (("a sample of 1,000", []), ("a sample of 1,000 PDF documents of half a year", OF_2011)):
        command = [str(bench.binary), "retrieve", "--output", str(folder / "sample.jsonl"), "--replace", *SAMPLE, *conditions, *catalog]
        seconds = median([timed(command, folder / "output") for _ in range(bench.repeat)])["wall_s"]
        figures.append({"figure": name, "value": seconds, "95th percentile": "", "unit": "s"})
        bench.compare("collection", f"{database}, {documents:,} documents: {name}", f"{seconds:.2f} s", "", None, f"< {SAMPLE_SECONDS} s", reached=seconds < SAMPLE_SECONDS)
    copies, ours = [], []
    listed = "\0".join(str(_place(folder / "data", number, "pdf")) for number in range(1, retrieved + 1))
    (folder / "files").write_text(listed)
    for number in range(bench.repeat):
        for which, command in ((ours, [str(bench.binary), "retrieve", "--host", RETRIEVED_HOST, "--format", "directory", "--output", str(folder / f"retrieved-{number}"), *catalog]),
                               (copies, ["xargs", "-0", "-a", str(folder / "files"), "cp", "-t", str(folder / f"copied-{number}")])):
            if which is copies:
                (folder / f"copied-{number}").mkdir()
            os.sync()
            which.append(timed(command, folder / "output"))
        shutil.rmtree(folder / f"retrieved-{number}")
        shutil.rmtree(folder / f"copied-{number}")
    ours, copies = median(ours)["wall_s"], median(copies)["wall_s"]
    megabytes = retrieved * RETRIEVED_BYTES / 1e6
    bench.compare("collection", f"{database}: {retrieved:,} documents of {RETRIEVED_BYTES:,} bytes into a directory, against cp", f"{megabytes / ours:.0f} MB/s",
                  f"{megabytes / copies:.0f} MB/s", copies / ours, f"≥ {RATE}", at_least=RATE)
    return figures + [{"figure": name, "value": seconds, "95th percentile": "", "unit": "s"} for name, seconds in (("retrieval", ours), ("cp of the same files", copies))]


def _measure_curation(bench, folder, database, catalog, collection, cleaned):
    """The cleaning of documents is the last, because it removes them."""
    blacklist = folder / "blacklist"
    blacklist.write_text(collection.blacklist())
    garner, documents = str(bench.binary), collection.documents
    figures = []
    for name, command in (
        (f"whitelist of {collection.parents:,} parents", [garner, "whitelist", "--output", str(folder / "whitelist")]),
        (f"cleaning {collection.parents:,} parents", [garner, "parents", "clean", "--blacklist", str(blacklist), "--output", str(folder / "parenturl.revised.csv")]),
        (f"cleaning {documents // FAILED_EVERY:,} failed documents, {cleaned:,} of them removed", [garner, "documents", "clean", "--blacklist", str(blacklist), "--yes"]),
    ):
        bench.say(f"collection: {database}: {name}")
        note = folder / "memory"
        seconds = timed(["time", "-f", "%M", "-o", str(note), *command, *catalog], folder / "output")["wall_s"]
        megabytes = int(note.read_text().split()[-1]) * 1024 / 1e6
        figures += [{"figure": name, "value": seconds, "95th percentile": "", "unit": "s"}, {"figure": f"{name}: highest memory", "value": megabytes, "95th percentile": "", "unit": "MB"}]
        bench.compare("collection", f"{database}: {name}: time, and highest memory", f"{seconds:.1f} s, {megabytes:.0f} MB", "", None, f"< {MEMORY_MB} MB",
                      reached=megabytes < MEMORY_MB)
    return figures


def _place(data, number, extension):
    """Where the collection has a file."""
    parts = [f"{number // 1_000_000:03}", f"{number // 1000 % 1000:03}", f"{number % 1000:03}"]
    return data / "documents" / "/".join(parts) / f"{'.'.join(parts)}.{extension}"


def _file(data, number, extension, size):
    """Writes a file whose bytes no other has; returns the number, the digests and the size."""
    place = _place(data, number, extension)
    place.parent.mkdir(parents=True)
    content = (f"%PDF-1.4 {number} ".encode() + hashlib.sha256(str(number).encode()).digest() * (size // 32))[:size]
    place.write_bytes(content)
    return number, hashlib.sha1(content).hexdigest(), hashlib.sha256(content).hexdigest(), size
