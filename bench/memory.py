"""Resident memory of the program over a large site: after the first scan, after the complete list, and after a restart."""

import plot
from client import Client
from growth import flat_site
from papers import IDENTIFIERS
from program import Garner, free_port

TARGET_MB = 150


def measure_section(bench):
    site = flat_site(bench)
    folder = bench.work / "memory"
    folder.mkdir()
    rows = []
    for start in ("first start", "restart"):
        bench.say(f"memory: {site.files:,} files, {start}")
        with Garner(bench.binary, site.root, folder / "data", folder / "log", free_port()) as garner:
            garner.settle()
            rows.append({"start": start, "moment": "ready", **garner.memory()})
            with Client(garner.port) as client:
                client.harvest(IDENTIFIERS)
            rows.append({"start": start, "moment": "after the complete list", **garner.memory()})
    bench.write_csv("memory", [{"files": site.files, **row} for row in rows])
    for row in (rows[1], rows[3]):
        for label, key in (("resident", "VmRSS"), ("highest", "VmHWM")):
            size = row[key] / 1e6
            bench.compare("memory", f"{label} memory, {site.files:,} files listed, {row['start']}", f"{size:.0f} MB", "",
                          None, f"< {TARGET_MB} MB", reached=size < TARGET_MB)
    title = f"Memory over {site.files:,} files"
    groups = [f"{row['start']}, {row['moment']}" for row in rows]
    series = {label: [row[key] / 1e6 for row in rows] for label, key in (("resident", "VmRSS"), ("highest", "VmHWM"))}
    plot.bars(bench.output / "memory.svg", title, groups, series, "MB")
    bench.figure("memory", "memory.svg", title)
