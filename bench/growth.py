"""What "what changed since then?" costs as the site grows while the changes stay the same, and what deep pages cost."""

import statistics
import time

import plot
from client import Client, Harvest
from papers import IDENTIFIERS, next_second, wait_for_changes
from program import BenchError, Garner, free_port, measure, median
from sites import FlatSite

SIZES, QUICK_SIZES = [10_000, 100_000, 1_000_000], [2_000, 10_000]
CHANGES = 100
REQUESTS = 50
BATCH_SECONDS = 1.0  # the system counts processor time in hundredths of a second
TARGET = 1.5


def measure_section(bench):
    rows = []
    for files in QUICK_SIZES if bench.quick else SIZES:
        rows.append(_measure_size(bench, flat_site(bench, files), files))
    bench.write_csv("growth", rows)
    _summarise(bench, rows[0], rows[-1])
    _draw(bench, rows)


def flat_site(bench, files=None):
    """The site of many files, grown to at least `files` (or the largest size) and shared between sections."""
    files = files or (QUICK_SIZES if bench.quick else SIZES)[-1]
    site = bench.shared.setdefault("flat", FlatSite(bench.work / "flat"))
    if site.files < files:
        bench.say(f"growing a site to {files:,} files")
        site.grow(files)
    return site


def _measure_size(bench, site, files):
    bench.say(f"growth: {files:,} files")
    folder = bench.work / f"growth-{files}"
    folder.mkdir()
    with Garner(bench.binary, site.root, folder / "data", folder / "log", free_port()) as garner:
        garner.settle()
        since = next_second()
        site.change(CHANGES)
        visible = wait_for_changes(garner, since, CHANGES)
        garner.settle()
        rounds = [_batch(garner, {**IDENTIFIERS, "from": since}) for _ in range(bench.repeat)]
        return {"files": files, "changes": CHANGES, "visible_after_s": visible, **median(rounds), **_deep_pages(garner, files)}


def _batch(garner, query):
    """The cost of one request, from as many as make the processor time countable."""
    with Client(garner.port) as client:
        client.harvest(query)

        def work():
            done, started = 0, time.perf_counter()
            while done < REQUESTS or time.perf_counter() - started < BATCH_SECONDS:
                client.harvest(query)
                done += 1
            return done

        done, figures = measure(garner, work)
    return {"requests": done} | {name: value / done for name, value in figures.items()}


def _deep_pages(garner, files):
    with Client(garner.port) as client:
        found, figures = measure(garner, lambda: client.harvest(IDENTIFIERS, count=True))
        if found.headers != files:
            raise BenchError(f"the site has {files:,} files, ListIdentifiers lists {found.headers:,}")
        second, last = (_page_seconds(client, found.queries[place]) for place in (min(1, found.pages - 1), -1))
    return {"pages": found.pages, "complete_list_s": figures["wall_s"], "page_2_s": second, "last_page_s": last}


def _page_seconds(client, query):
    """Tokens can be asked again, so one page is asked many times."""
    seconds = []
    for _ in range(20):
        started = time.perf_counter()
        client.page(query, Harvest())
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def _summarise(bench, small, large):
    for label, key in (("server CPU", "server_cpu_s"), ("wall time", "wall_s")):
        bench.compare(
            "growth", f"{CHANGES} changes, {label}: {large['files']:,} files against {small['files']:,}",
            f"{large[key] * 1e6:.0f} µs", f"{small[key] * 1e6:.0f} µs", large[key] / small[key] if small[key] else None,
            f"≤ {TARGET}", at_most=TARGET,
        )
    bench.compare("growth", f"last page against page 2 of {large['files']:,} files", f"{large['last_page_s'] * 1e3:.2f} ms",
                  f"{large['page_2_s'] * 1e3:.2f} ms", large["last_page_s"] / large["page_2_s"])


def _draw(bench, rows):
    title = f"ListIdentifiers from: {CHANGES} changes in a growing site"
    series = {"wall time": "wall_s", "server CPU": "server_cpu_s"}
    points = {label: [(row["files"], row[key] * 1e6) for row in rows] for label, key in series.items()}
    plot.lines(bench.output / "growth-changes.svg", title, "files in the site", points, "microseconds a request", log_x=True)
    bench.figure("growth", "growth-changes.svg", title)
    title = "One page of the complete list, early and late"
    series = {"page 2": "page_2_s", "last page": "last_page_s"}
    points = {label: [(row["files"], row[key] * 1e3) for row in rows] for label, key in series.items()}
    plot.lines(bench.output / "growth-pages.svg", title, "files in the site", points, "milliseconds a page", log_x=True)
    bench.figure("growth", "growth-pages.svg", title)
