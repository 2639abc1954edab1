"""Importing with the content filter: documents a minute against bare pdftotext over the same files."""

import json
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harvest_programs import timed
from harvest_sources import check_tool
from program import BenchError, median

SAMPLES = Path(__file__).resolve().parent.parent.parent / "shared/dcf"
QUICK_DOCUMENTS, DOCUMENTS = 40, 600
PROCESSES = os.cpu_count() or 1
FLOOR, OURS = "pdftotext alone", "import with the content filter"
AGAINST_FLOOR = "import with the content filter: documents per minute against pdftotext alone, with as many processes"
# What the paper measured with its filter, in documents a minute, and what is wanted of the floor's rate.
PAPER_RATE, OF_FLOOR = 25, 0.85


def check(parser):
    check_tool(parser, "pdftotext", "filter", "run")


def measure_section(bench):
    if not _pdfs():
        bench.say(f"filter: there are no documents to be read in {SAMPLES / 'pdf'}")
        bench.compare("filter", AGAINST_FLOOR, "", "", None, f"≥ {OF_FLOOR}")
        return
    folder = bench.work / "filter"
    folder.mkdir()
    files = _files(folder, QUICK_DOCUMENTS if bench.quick else DOCUMENTS)
    rounds = {FLOOR: [], OURS: []}
    for number in range(bench.repeat):
        bench.say(f"filter: round {number + 1} of {bench.repeat} over {len(files)} documents, {PROCESSES} processes")
        rounds[FLOOR].append(_floor(files))
        rounds[OURS].append(_import(bench, folder, len(files)))
    figures = {name: median(found) for name, found in rounds.items()}
    rate = {name: len(files) / found["wall_s"] * 60 for name, found in figures.items()}
    bench.compare("filter", AGAINST_FLOOR, f"{rate[OURS]:,.0f}", f"{rate[FLOOR]:,.0f}", rate[OURS] / rate[FLOOR], f"≥ {OF_FLOOR}", at_least=OF_FLOOR)
    bench.compare("filter", "import with the content filter: documents per minute against the paper's", f"{rate[OURS]:,.0f}", f"{PAPER_RATE}",
                  rate[OURS] / PAPER_RATE)
    rows = [{"program": name, "documents": len(files), "processes": PROCESSES, **found} for name, found in figures.items()]
    bench.write_csv("filter", rows)


def _pdfs():
    return sorted((SAMPLES / "pdf").glob("*.pdf"))


def _files(folder, count):
    """Real documents, again and again until there are as many as wanted; a comment at the end makes each another."""
    papers, listed, files = folder / "papers", folder / "papers.tsv", []
    papers.mkdir()
    pdfs = _pdfs()
    with open(listed, "w") as lines:
        for number in range(count):
            path = papers / f"{number}.pdf"
            path.write_bytes(pdfs[number % len(pdfs)].read_bytes() + b"\n%% copy %d\n" % number)
            lines.write(f"{number}.pdf\thttp://www.example.edu/{number}.pdf\thttp://www.example.edu/\t2012-03-01T00:00:00Z\n")
            files.append(path)
    return files


def _floor(files):
    """As the import has it: the bytes come over standard input, and the text is thrown away."""
    def one(path):
        with open(path, "rb") as document:
            subprocess.run(["pdftotext", "-enc", "UTF-8", "-", "-"], stdin=document, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    before, began = os.times(), time.monotonic()
    with ThreadPoolExecutor(PROCESSES) as pool:
        list(pool.map(one, files))
    wall, after = time.monotonic() - began, os.times()
    spent = (after.children_user - before.children_user) + (after.children_system - before.children_system)
    return {"wall_s": wall, "cpu_s": spent}


def _import(bench, folder, count):
    """Into a collection of its own: what is deleted before a round would be the next one's burden."""
    data, output = Path(tempfile.mkdtemp(dir=folder)), folder / "output"
    os.sync()
    command = [str(bench.binary), "import", "--log", str(folder / "papers.tsv"), "--log-format", "list", "--root", str(folder / "papers"),
               "--data", str(data), "--json", "--quiet", "--content-filter", "on", "--jobs", str(PROCESSES)]
    figures = timed(command, output, accept=(0, 3))
    counters = json.loads(output.read_text())
    judged = counters["saved_New"] + counters["filtered_DCF"] + counters["failed_TextExtract"]
    if judged != count:
        raise BenchError(f"{judged:,} documents were judged, {count:,} are there")
    return figures

