"""Extraction against an import without a database, and loading: documents a second on both databases."""

import json
import shutil

import postgres
from crawls import RECORD, _member, _record, _sha1, document
from harvest_programs import timed
from harvest_sources import check_tool
from program import BenchError, median

DOCUMENTS, QUICK_DOCUMENTS, ARCHIVES, BYTES = 100_000, 2_000, 4, 600
OVERHEAD, RATE = 1.05, 20_000
IMPORT, EXTRACT, EXTRACT_BYTES = "import without a database", "extract", "extract with bytes"
LOAD, ON_POSTGRES = "load, SQLite", "load, PostgreSQL"


def check(parser):
    check_tool(parser, "time", "load", "bench")
    if postgres.programs() is None:
        parser.error("PostgreSQL is needed for the section `load` and is not installed; `scripts/setup test` does it")


def measure_section(bench):
    folder = bench.work / "load"
    folder.mkdir()
    total = QUICK_DOCUMENTS if bench.quick else DOCUMENTS
    bench.say(f"load: making {ARCHIVES} archives with {total:,} documents")
    archives = [_archive(folder / f"{number}.warc.gz", number * total // ARCHIVES, total // ARCHIVES) for number in range(ARCHIVES)]
    with postgres.Postgres(folder / "postgres") as cluster:
        runs = Runs(bench, folder, archives, total, cluster)
        rounds = {name: [] for name in (IMPORT, EXTRACT, EXTRACT_BYTES, LOAD, ON_POSTGRES)}
        for number in range(bench.repeat):
            for name, found in rounds.items():
                bench.say(f"load: round {number + 1} of {bench.repeat}: {name}")
                found.append(runs.run(name))
    figures = {name: median(found) for name, found in rounds.items()}
    bench.write_csv("load", [{"program": name, "documents": total, **found, "documents_per_s": total / found["wall_s"]} for name, found in figures.items()])
    seconds = lambda name: f"{figures[name]['cpu_s']:.2f} s"
    bench.compare("load", "extract against an import without a database: processor time", seconds(EXTRACT_BYTES), seconds(IMPORT),
                  figures[EXTRACT_BYTES]["cpu_s"] / figures[IMPORT]["cpu_s"], f"≤ {OVERHEAD}", at_most=OVERHEAD)
    for name in (LOAD, ON_POSTGRES):
        rate = total / figures[name]["wall_s"]
        bench.compare("load", f"{name}: documents a second", f"{rate:,.0f}", f"{RATE:,}", rate, f"≥ {RATE:,}", at_least=RATE)


class Runs:
    def __init__(self, bench, folder, archives, total, cluster):
        self.bench, self.folder, self.archives, self.total, self.cluster = bench, folder, archives, total, cluster
        self.output, self.number = folder / "output", 0

    def run(self, name):
        self.number += 1
        place = self.folder / f"run-{self.number}"
        sources = [str(path) for path in self.archives]
        garner = str(self.bench.binary)
        one = ["--jobs", "1", "--json"]
        command = {
            IMPORT: lambda: [garner, "import", *sources, *one, "--quiet", "--no-database", str(place)],
            EXTRACT: lambda: [garner, "extract", *sources, *one, "--output", str(place)],
            EXTRACT_BYTES: lambda: [garner, "extract", *sources, *one, "--output", str(place), "--bytes"],
            LOAD: lambda: self._load(place),
            ON_POSTGRES: lambda: [*self._load(place), "--catalog", self.cluster.fresh()],
        }[name]()
        figures = timed(command, self.output)
        self._check(name)
        if name == EXTRACT_BYTES:
            shutil.rmtree(self.folder / "results", ignore_errors=True)
            place.rename(self.folder / "results")
        return figures

    def _load(self, place):
        return [str(self.bench.binary), "load", str(self.folder / "results"), "--json", "--data", str(place)]

    def _check(self, name):
        lines = [json.loads(line) for line in self.output.read_text().splitlines()]
        found = sum(line.get("saved_New", 0) for line in lines)
        if found != self.total:
            raise BenchError(f"{name}: {found:,} documents were found, {self.total:,} are there")


def _archive(path, first, count):
    """Small documents, each with bytes and a URL of its own."""
    with open(path, "wb") as file:
        for number in range(first, first + count):
            body = document(number, BYTES)
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            url = f"http://www{number % 97}.example.edu/pub/paper{number}.pdf"
            date = f"2012-{1 + number % 12:02}-{1 + number % 28:02}T{number % 24:02}:{number % 60:02}:{number % 59:02}Z"
            named = RECORD.format(kind="response", part=0, number=number, date=date) + f"WARC-Target-URI: {url}\r\n"
            named += f"WARC-Block-Digest: {_sha1(head + body)}\r\nWARC-Payload-Digest: {_sha1(body)}\r\n"
            file.write(_member(_record(named, "application/http; msgtype=response", head + body)))
    return path
