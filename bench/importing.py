"""Importing a crawl: parsing and filtering against other readers, and the whole import against inflating alone."""

import json
import os
import shutil
import time

import plot
import postgres
from crawls import Crawl, document
from harvest_programs import HERE, PYTHON, timed
from harvest_sources import check_tool
from program import BenchError, median

BYTES, QUICK_BYTES = 1_600_000_000, 40_000_000
LINES, QUICK_LINES = 10_000_000, 100_000
PAPERS, QUICK_PAPERS, PAPER_BYTES = 4_000, 200, 400_000
FLOOR, DIGESTED, CRATE, WHEEL, WARCIO = "inflate", "inflate and digest", "fastwarc (Rust)", "fastwarc (Python)", "warcio"
DRY_ONE, DRY_TWO, FULL_ONE, FULL_TWO = "dry run, 1 core", "dry run, 2 cores", "import, 1 core", "import, 2 cores"
ON_POSTGRES = "import, 2 cores, PostgreSQL"
PEERS = HERE.parent / "target/peers/release"
AGAINST_CRATE, AGAINST_DIGESTED, AGAINST_FLOOR, ON_TWO_CORES, MEMORY_MB, LOG_MEMORY_MB = 1.15, 1.25, 0.6, 1.8, 200, 150
# What the paper measured without its content filter, in documents a minute, and how many times that is wanted.
PAPER_RATE, TIMES = 250, 400


def check(parser):
    check_tool(parser, "time", "import", "bench")
    for program in ("inflate", "read_fastwarc"):
        if not (PEERS / program).exists():
            parser.error(f"{PEERS / program} is not there; `make bench` builds it")
    if not PYTHON.exists():
        parser.error(f"{PYTHON} is needed for the section `import`; `scripts/setup test` makes it")
    if postgres.programs() is None:
        parser.error("PostgreSQL is needed for the section `import` and is not installed; `scripts/setup test` does it")


def measure_section(bench):
    folder = bench.work / "import"
    folder.mkdir()
    rows = _measure_crawl(bench, folder)
    rows += _measure_papers(bench, folder)
    rows += _measure_log(bench, folder)
    bench.write_csv("import", rows)


def _measure_crawl(bench, folder):
    total = QUICK_BYTES if bench.quick else BYTES
    bench.say(f"import: making a crawl of {total / 1e9:.1f} GB")
    crawl = Crawl(folder / "crawl.warc.gz", total)
    with postgres.Postgres(folder / "postgres") as cluster:
        programs = Programs(bench, folder, crawl, cluster)
        rounds = {name: [] for name in programs.commands}
        for number in range(bench.repeat):
            for name in rounds:
                bench.say(f"import: round {number + 1} of {bench.repeat}: {name}")
                rounds[name].append(programs.run(name))
        figures = {name: median(found) for name, found in rounds.items()}
        memory = {name: programs.peak_memory(name) for name in (DRY_TWO, FULL_TWO)}
    rows = [_row(name, crawl, found, memory.get(name, "")) for name, found in figures.items()]
    _summarise(bench, crawl, figures, max(memory.values()) / 1e6)
    series = {"wall time": [row["wall_s"] for row in rows], "processor time": [row["cpu_s"] for row in rows]}
    title = f"A crawl of {crawl.bytes / 1e9:.1f} GB, {crawl.length() / 1e9:.1f} GB as .warc.gz, with {crawl.documents:,} documents"
    plot.bars(bench.output / "import-crawl.svg", title, [row["program"] for row in rows], series, "seconds")
    bench.figure("import", "import-crawl.svg", title)
    crawl.path.unlink()
    return rows


class Programs:
    """All readers over one crawl: each is a command and the count of documents that its run found."""

    def __init__(self, bench, folder, crawl, cluster):
        self.folder, self.crawl, self.cluster = folder, crawl, cluster
        self.output, self.runs = folder / "output", 0
        path, garner = str(crawl.path), [str(bench.binary), "import", str(crawl.path), "--json", "--quiet"]
        self.commands = {
            FLOOR: [str(PEERS / "inflate"), path],
            DIGESTED: [str(PEERS / "inflate"), path, str(crawl.document_bytes)],
            CRATE: [str(PEERS / "read_fastwarc"), path],
            WHEEL: [str(PYTHON), str(HERE / "import_fastwarc.py"), path],
            WARCIO: [str(PYTHON), str(HERE / "import_warcio.py"), path],
            DRY_ONE: [*garner, "--dry-run", "--jobs", "1"],
            DRY_TWO: [*garner, "--dry-run", "--jobs", "2"],
            FULL_ONE: [*garner, "--jobs", "1"],
            FULL_TWO: [*garner, "--jobs", "2"],
            ON_POSTGRES: [*garner, "--jobs", "2"],
        }

    def run(self, name):
        figures = timed(self._command(name), self.output)
        self._check(name)
        return figures

    def peak_memory(self, name):
        note = self.folder / "memory"
        timed(["time", "-f", "%M", "-o", str(note), *self._command(name)], self.output)
        return int(note.read_text().split()[-1]) * 1024

    def _command(self, name):
        """Into a collection of its own; what the last run wrote is safe on the disk before the next is timed.

        Old ones stay to the end: for some seconds ext4 seeks long for places of files that were just deleted."""
        os.sync()
        command = list(self.commands[name])
        if name in (DRY_ONE, DRY_TWO, FULL_ONE, FULL_TWO, ON_POSTGRES):
            self.runs += 1
            command += ["--data", str(self.folder / f"data-{self.runs}")]
        if name == ON_POSTGRES:
            command += ["--catalog", self.cluster.fresh()]
        return command

    def _check(self, name):
        text = self.output.read_text()
        if name in (FLOOR, DIGESTED):
            return
        if name in (CRATE, WHEEL, WARCIO):
            found = int(text)
        else:
            found = json.loads(text)["saved_New"]
        if found != self.crawl.documents:
            raise BenchError(f"{name}: {found:,} documents were found, {self.crawl.documents:,} are there")


def _row(name, crawl, figures, memory):
    return {"crawl": "mixed", "program": name, "documents": crawl.documents, "records": crawl.records, **figures,
            "raw_bytes_per_cpu_s": crawl.bytes / figures["cpu_s"], "peak_memory_bytes": memory}


def _summarise(bench, crawl, figures, memory):
    seconds = lambda name, kind: f"{figures[name][kind]:.2f} s"
    ratio = lambda name, other, kind: figures[other][kind] / figures[name][kind]
    for other in (CRATE, WHEEL, WARCIO):
        least = {CRATE: AGAINST_CRATE, WHEEL: 1}.get(other)
        target = {"target": f"≥ {least}", "at_least": least} if least else {}
        bench.compare("import", f"parse, filter, digest on one core: processor time of {other} against ours", seconds(DRY_ONE, "cpu_s"),
                      seconds(other, "cpu_s"), ratio(DRY_ONE, other, "cpu_s"), **target)
    bench.compare("import", "parse, filter, digest on one core: processor time against inflating, and digesting the bytes of documents", seconds(DRY_ONE, "cpu_s"),
                  seconds(DIGESTED, "cpu_s"), ratio(DIGESTED, DRY_ONE, "cpu_s"), f"≤ {AGAINST_DIGESTED}", at_most=AGAINST_DIGESTED)
    bench.compare("import", f"parse, filter, digest: times faster on two cores than {CRATE} on one", seconds(DRY_TWO, "wall_s"), seconds(CRATE, "wall_s"),
                  ratio(DRY_TWO, CRATE, "wall_s"), f"≥ {ON_TWO_CORES}", at_least=ON_TWO_CORES)
    bench.compare("import", "parse, filter, digest: times faster on two cores than on one", seconds(DRY_TWO, "wall_s"), seconds(DRY_ONE, "wall_s"),
                  ratio(DRY_TWO, DRY_ONE, "wall_s"))
    for name in (FULL_ONE, FULL_TWO, ON_POSTGRES):
        bench.compare("import", f"{name}: speed against inflating alone", seconds(name, "wall_s"), seconds(FLOOR, "wall_s"), ratio(name, FLOOR, "wall_s"),
                      f"≥ {AGAINST_FLOOR}", at_least=AGAINST_FLOOR)
    for name in (FULL_TWO, ON_POSTGRES):
        rate = crawl.documents / figures[name]["wall_s"]
        bench.compare("import", f"{name}: documents per second", f"{rate:,.0f}", "", None)
    bench.compare("import", "highest memory", f"{memory:.0f} MB", "", None, f"< {MEMORY_MB} MB", reached=memory < MEMORY_MB)


def _measure_papers(bench, folder):
    """Documents of the paper's size, as files with a list, as its second experiment had them."""
    count = QUICK_PAPERS if bench.quick else PAPERS
    bench.say(f"import: making {count:,} papers")
    papers, listed = folder / "papers", folder / "papers.tsv"
    papers.mkdir()
    with open(listed, "w") as lines:
        for number in range(count):
            (papers / f"{number}.pdf").write_bytes(document(number, PAPER_BYTES))
            lines.write(f"{number}.pdf\thttp://www.example.edu/{number}.pdf\thttp://www.example.edu/\t2012-03-01T00:00:00Z\n")
    command = [str(bench.binary), "import", "--log", str(listed), "--log-format", "list", "--root", str(papers), "--json", "--quiet"]
    rounds, alone = [], []
    for number in range(bench.repeat):
        os.sync()
        alone.append(_write_alone(papers, folder / f"papers-bytes-{number}"))
        os.sync()
        rounds.append(timed([*command, "--data", str(folder / f"papers-data-{number}")], folder / "output"))
        saved = json.loads((folder / "output").read_text())["saved_New"]
        if saved != count:
            raise BenchError(f"{saved:,} papers were imported, {count:,} are there")
    figures = median(rounds)
    rate = count / figures["wall_s"] * 60
    bench.compare("import", f"papers of {PAPER_BYTES:,} bytes: documents per minute against the paper's", f"{rate:,.0f}", f"{PAPER_RATE}", rate / PAPER_RATE,
                  f"≥ {TIMES}", at_least=TIMES)
    disk = sorted(alone)[len(alone) // 2]
    bench.compare("import", "papers: speed against writing their bytes into one file", f"{figures['wall_s']:.2f} s", f"{disk:.2f} s", disk / figures["wall_s"])
    shutil.rmtree(papers)
    return [{"crawl": "papers", "program": "import", "documents": count, "records": count, **figures, "raw_bytes_per_cpu_s": count * PAPER_BYTES / figures["cpu_s"],
             "peak_memory_bytes": ""}]


def _write_alone(papers, place):
    """How long it takes to copy the bytes of all papers into one file, safely: no import that keeps them can be faster."""
    began = time.perf_counter()
    with open(place, "wb") as file:
        for paper in papers.iterdir():
            file.write(paper.read_bytes())
        file.flush()
        os.fsync(file.fileno())
    return time.perf_counter() - began


def _measure_log(bench, folder):
    """A long log of a mirror of which nearly nothing is there: what counts is the memory."""
    lines = QUICK_LINES if bench.quick else LINES
    bench.say(f"import: a crawl.log of {lines:,} lines")
    log, root, note = folder / "crawl.log", folder / "mirror", folder / "memory"
    root.mkdir()
    line = ("2012-03-01T00:00:00.000Z   200      12345 http://www{host}.example.edu/people/someone/a-directory/with-a-long-name/page{number}.html LLL "
            "http://www{host}.example.edu/people/someone/a-directory/with-a-long-name/ text/html #001 20120301000000000+100 "
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ http://www{host}.example.edu/ -\n")
    with open(log, "w") as out:
        for number in range(lines):
            out.write(line.format(host=number % 997, number=number))
    command = [str(bench.binary), "import", "--log", str(log), "--root", str(root), "--data", str(folder / "log-data"), "--json", "--quiet", "--dry-run"]
    figures = timed(["time", "-f", "%M", "-o", str(note), *command], folder / "output", accept=(0, 3))
    memory = int(note.read_text().split()[-1]) * 1024
    bench.compare("import", f"crawl.log of {lines:,} lines, {log.stat().st_size / 1e9:.1f} GB: highest memory", f"{memory / 1e6:.0f} MB", "", None,
                  f"< {LOG_MEMORY_MB} MB", reached=memory < LOG_MEMORY_MB * 1e6)
    bench.compare("import", f"crawl.log of {lines:,} lines: time", f"{figures['wall_s']:.1f} s", "", None)
    row = {"crawl": "log", "program": "import", "documents": 0, "records": lines, **figures, "raw_bytes_per_cpu_s": log.stat().st_size / figures["cpu_s"],
           "peak_memory_bytes": memory}
    log.unlink()
    return [row]
