"""Extraction against an import without a database, loading on both databases, and what Spark adds to a file."""

import json
import os
import subprocess
import time

import postgres
from crawls import RECORD, _member, _record, _sha1, document
from harvest_programs import HERE, timed
from harvest_sources import check_tool
from program import BenchError, median

DOCUMENTS, QUICK_DOCUMENTS, ARCHIVES, BYTES = 40_000, 2_000, 4, 600
SMALL, QUICK_SMALL = 200, 20
OVERHEAD, RATE, SPARK_MS = 1.05, 20_000, 100
IMPORT, EXTRACT, EXTRACT_BYTES = "import without a database", "extract", "extract with bytes"
TWO_WORKERS, LOAD, ON_POSTGRES = "extract with bytes, 2 workers", "load, SQLite", "load, PostgreSQL"
FILES = "files alone"
SPARK = HERE.parent / ".venv-cluster/bin/spark-submit"
JOB = HERE.parent / "contrib/spark/extract.py"


def check(parser):
    check_tool(parser, "time", "load", "bench")
    if postgres.programs() is None:
        parser.error("PostgreSQL is needed for the section `load` and is not installed; `scripts/setup test` does it")
    if not SPARK.exists():
        parser.error(f"{SPARK} is needed for the section `load`; `scripts/setup cluster` makes it")


def measure_section(bench):
    folder = bench.work / "load"
    folder.mkdir()
    total = QUICK_DOCUMENTS if bench.quick else DOCUMENTS
    bench.say(f"load: making {ARCHIVES} archives with {total:,} documents")
    archives = [_archive(folder / f"{number}.warc.gz", number * total // ARCHIVES, total // ARCHIVES) for number in range(ARCHIVES)]
    with postgres.Postgres(folder / "postgres") as cluster:
        runs = Runs(bench, folder, archives, total, cluster)
        rounds = {name: [] for name in (IMPORT, EXTRACT, EXTRACT_BYTES, TWO_WORKERS, LOAD, ON_POSTGRES, FILES)}
        for number in range(bench.repeat):
            for name, found in rounds.items():
                bench.say(f"load: round {number + 1} of {bench.repeat}: {name}")
                found.append(runs.run(name))
    figures = {name: median(found) for name, found in rounds.items()}
    rows = [{"program": name, "documents": total, **found, "documents_per_s": total / found["wall_s"]} for name, found in figures.items()]
    _summarise(bench, figures, total)
    rows += _measure_spark(bench, folder)
    bench.write_csv("load", rows)


def _summarise(bench, figures, total):
    seconds = lambda name, kind: f"{figures[name][kind]:.2f} s"
    for name in (EXTRACT, EXTRACT_BYTES):
        bench.compare("load", f"{name} against an import without a database: processor time", seconds(name, "cpu_s"), seconds(IMPORT, "cpu_s"),
                      figures[name]["cpu_s"] / figures[IMPORT]["cpu_s"], f"≤ {OVERHEAD}", at_most=OVERHEAD)
    bench.compare("load", "extract with bytes: times faster with two workers than with one", seconds(TWO_WORKERS, "wall_s"), seconds(EXTRACT_BYTES, "wall_s"),
                  figures[EXTRACT_BYTES]["wall_s"] / figures[TWO_WORKERS]["wall_s"])
    for name in (LOAD, ON_POSTGRES):
        rate = total / figures[name]["wall_s"]
        alone = total / figures[FILES]["wall_s"]
        bench.compare("load", f"{name}: documents a second, against making their directories and files and nothing else", f"{rate:,.0f}", f"{alone:,.0f}", rate / alone,
                      f"≥ {RATE:,} a second", reached=rate >= RATE)


class Runs:
    def __init__(self, bench, folder, archives, total, cluster):
        self.bench, self.folder, self.archives, self.total, self.cluster = bench, folder, archives, total, cluster
        self.output, self.number = folder / "output", 0

    def run(self, name):
        """Into a place of its own. Old ones stay to the end: for some seconds ext4 seeks long for places of files that were just deleted."""
        self.number += 1
        place = self.folder / f"run-{self.number}"
        os.sync()
        if name == FILES:
            return self._files_alone(place)
        sources = [str(path) for path in self.archives]
        garner = str(self.bench.binary)
        workers = ["--jobs", "2" if name == TWO_WORKERS else "1", "--json"]
        command = {
            IMPORT: lambda: [garner, "import", *sources, *workers, "--quiet", "--no-database", str(place)],
            EXTRACT: lambda: [garner, "extract", *sources, *workers, "--output", str(place)],
            EXTRACT_BYTES: lambda: [garner, "extract", *sources, *workers, "--output", str(place), "--bytes"],
            TWO_WORKERS: lambda: [garner, "extract", *sources, *workers, "--output", str(place), "--bytes"],
            LOAD: lambda: self._load(place),
            ON_POSTGRES: lambda: [*self._load(place), "--catalog", self.cluster.fresh()],
        }[name]()
        figures = timed(command, self.output)
        self._check(name)
        if name == EXTRACT_BYTES:
            # The results of the last round are loaded by it.
            self.results = place
        return figures

    def _load(self, place):
        return [str(self.bench.binary), "load", str(self.results), "--json", "--data", str(place)]

    def _files_alone(self, place):
        """The directory of each document with a file for its bytes and one for its metadata, as a collection has them."""
        began, cpu = time.perf_counter(), time.process_time()
        for number in range(self.total):
            directory = place / f"{number // 1000:03}" / f"{number % 1000:03}"
            directory.mkdir(parents=True)
            for name, length in (("pdf", BYTES + 100), ("pdf.met", 900)):
                (directory / f"{number}.{name}").write_bytes(bytes(length))
        os.sync()
        return {"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}

    def _check(self, name):
        lines = [json.loads(line) for line in self.output.read_text().splitlines()]
        found = sum(line.get("saved_New", 0) + line.get("saved_Separate", 0) for line in lines)
        if found != self.total:
            raise BenchError(f"{name}: {found:,} documents were found, {self.total:,} are there")


def _measure_spark(bench, folder):
    """What a file costs beyond the program, when Spark starts the program for each: many files against half of them, so that the start of Spark does not count."""
    count = QUICK_SMALL if bench.quick else SMALL
    small = folder / "small"
    small.mkdir()
    paths = [_archive(small / f"{number}.warc.gz", 10_000_000 + number, 1) for number in range(count)]
    bench.say(f"load: {count} small archives by one program, by a program for each, and by Spark")
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(SPARK.parent / "python")}

    def spark(number, some):
        listed = folder / f"paths-{number}"
        listed.write_text("".join(f"{path}\n" for path in some))
        command = [str(SPARK), "--master", "local[1]", str(JOB), "--garner", str(bench.binary), "--files-per-task", "1", "--paths", str(listed), "--output", str(folder / f"spark-{number}")]
        return _seconds(command, environment)

    def alone(number, some):
        return sum(_seconds([str(bench.binary), "extract", str(path), "--jobs", "1", "--json", "--output", str(folder / f"alone-{number}")]) for path in some)

    half = count // 2
    by_spark = [(spark(f"{number}-all", paths) - spark(f"{number}-half", paths[:half])) / (count - half) for number in range(bench.repeat)]
    by_program = [alone(number, paths) / count for number in range(bench.repeat)]
    together = [_seconds([str(bench.binary), "extract", *map(str, paths), "--jobs", "1", "--json", "--output", str(folder / f"together-{number}")]) / count for number in range(bench.repeat)]
    middle = lambda found: sorted(found)[len(found) // 2] * 1000
    found = {"a file of many in one program": middle(together), "a file in a program of its own": middle(by_program), "a file by Spark, one a task": middle(by_spark)}
    over = middle(by_spark) - middle(by_program)
    bench.compare("load", "Spark, one file a task: time beyond a program of its own for each file", f"{over:.0f} ms", f"{middle(by_program):.0f} ms", None, f"≤ {SPARK_MS} ms",
                  reached=over <= SPARK_MS)
    empty = {"cpu_s": "", "wall_min_s": "", "wall_max_s": ""}
    return [{"program": name, "documents": count, "wall_s": value / 1000, **empty, "documents_per_s": 1000 / value if value > 0 else ""} for name, value in found.items()]


def _seconds(command, environment=None):
    began = time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    if done.returncode != 0:
        raise BenchError(f"`{' '.join(command[:4])} …` ended with {done.returncode}: {done.stderr.decode(errors='replace')[-600:]}")
    return time.perf_counter() - began


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
