"""The first scan of a large site, from the start of the program until it lists every file, against `find`."""

import shutil
import statistics
import time

import plot
from client import Client
from growth import flat_site
from papers import IDENTIFIERS
from program import BenchError, Garner, free_port, run

TARGET = 3
LISTED_SECONDS = 600


def measure_section(bench):
    site = flat_site(bench)
    folder = bench.work / "scan"
    folder.mkdir()
    bench.say(f"scan: reading {site.files:,} files once, so that both find them in memory")
    _find(site, folder)
    rows = []
    for number in range(bench.repeat):
        bench.say(f"scan: round {number + 1} of {bench.repeat}")
        rows.append({"round": number + 1, "files": site.files, "find_s": _find(site, folder), **_scan(bench, site, folder)})
    bench.write_csv("scan", rows)
    middle = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    bench.compare("scan", f"first scan of {site.files:,} files against find", f"{middle['scan_s']:.2f} s", f"{middle['find_s']:.2f} s",
                  middle["scan_s"] / middle["find_s"], f"≤ {TARGET}", at_most=TARGET)
    title = f"First scan of {site.files:,} files"
    series = {"wall time": [middle["find_s"], middle["scan_s"]]}
    plot.bars(bench.output / "scan.svg", title, ["find -printf", "garner, until ready"], series, "seconds")
    bench.figure("scan", "scan.svg", title)


def _find(site, folder):
    with open(folder / "found", "wb") as output:
        started = time.perf_counter()
        run(["find", str(site.root), "-printf", "%p %s %T@\\n"], stdout=output)
        return time.perf_counter() - started


def _scan(bench, site, folder):
    data = folder / "data"
    shutil.rmtree(data, ignore_errors=True)
    with Garner(bench.binary, site.root, data, folder / "log", free_port()) as garner:
        ready, cpu = garner.ready_after, garner.cpu_seconds()
        late = _seconds_until_listed(garner, site.files)
        return {"ready_s": ready, "listed_later_s": late, "scan_s": ready + late, "server_cpu_s": cpu}


def _seconds_until_listed(garner, files):
    """Zero if the first list after the ready line is complete; else a ready line that came too soon is not believed."""
    started, late = time.perf_counter(), 0.0
    while True:
        with Client(garner.port) as client:
            listed = client.harvest(IDENTIFIERS, count=True).headers
        if listed == files:
            return late
        late = time.perf_counter() - started
        if late > LISTED_SECONDS:
            raise BenchError(f"the site has {files:,} files; {late:.0f} s after the ready line ListIdentifiers lists {listed:,}")
