"""The papers' second experiment: what the size of a page does, by number of records and by bytes."""

import plot
from client import Client
from papers import BY_VALUE, IDENTIFIERS, department_site
from program import BenchError, Garner, free_port, measure, median

BY_RECORDS = [5, 10, 20, 50, 100]
BY_BYTES = [256 * 1024, 1024 * 1024, 4 * 1024 * 1024]
VERBS = {"ListRecords oai_didl": BY_VALUE, "ListIdentifiers": IDENTIFIERS}


def measure_section(bench):
    site = department_site(bench)
    folder = bench.work / "pages"
    folder.mkdir()
    limits = [("records", size, f"[pages]\nbytes = 0\nidentifiers = {size}\nrecords = {size}\n") for size in BY_RECORDS]
    limits += [("bytes", size, f"[pages]\nbytes = {size}\nidentifiers = 0\nrecords = 0\n") for size in BY_BYTES]
    limits += [("default", "", None)]
    rows, port = [], free_port()
    for kind, size, text in limits:
        bench.say(f"pages: {kind} {size}".rstrip())
        config = bench.config(folder, text)
        with Garner(bench.binary, site.root, folder / "data", folder / "log", port, config) as garner:
            garner.settle()
            rows += [{"limit": kind, "page_size": size, **row} for row in _measure_verbs(bench, garner, site)]
    _check_limits(rows, len(site.paths))
    bench.write_csv("pages", rows)
    _summarise(bench, rows)
    _draw(bench, rows)


def _measure_verbs(bench, garner, site):
    for verb, query in VERBS.items():
        rounds = []
        for _ in range(bench.repeat):
            with Client(garner.port) as client:
                found, figures = measure(garner, lambda: client.harvest(query, count=query is IDENTIFIERS))
            rounds.append(figures | {"slowest_page_s": max(found.page_seconds)})
        if query is IDENTIFIERS and found.headers != len(site.paths):
            raise BenchError(f"the site has {len(site.paths):,} files, ListIdentifiers lists {found.headers:,}")
        yield {"verb": verb, "pages": found.pages, "received_bytes": found.bytes, **median(rounds)}


def _check_limits(rows, files):
    """A limit that is not obeyed would make this section measure the same thing again and again."""
    for row in rows:
        if row["limit"] == "records" and row["pages"] != -(-files // row["page_size"]):
            raise BenchError(f"{row['verb']} at {row['page_size']} records a page: {files:,} records came in {row['pages']:,} pages")


def _summarise(bench, rows):
    for verb in VERBS:
        own = [row for row in rows if row["verb"] == verb]
        best, standard = min(own, key=lambda row: row["wall_s"]), own[-1]
        name = f"{best['limit']} {best['page_size']}".strip()
        bench.compare("pages", f"{verb}: time at the default page size against the best ({name})",
                      f"{standard['wall_s']:.3f} s", f"{best['wall_s']:.3f} s", standard["wall_s"] / best["wall_s"])


def _draw(bench, rows):
    for kind, label, log in (("records", "records in a page", True), ("bytes", "KiB in a page", True)):
        unit = 1024 if kind == "bytes" else 1
        series = {
            verb: [(row["page_size"] / unit, row["wall_s"]) for row in rows if row["verb"] == verb and row["limit"] == kind]
            for verb in VERBS
        }
        title = f"The complete site by page size in {kind}"
        plot.lines(bench.output / f"pages-{kind}.svg", title, label, series, "seconds", log_x=log, log_y=True)
        bench.figure("pages", f"pages-{kind}.svg", title)
