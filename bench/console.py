"""Every page of the console at the load of a large library: how long its slowest answers take."""

import re
import subprocess
from html import unescape
from pathlib import Path

import plot
from harvest_sources import NGINX, check_tool
from manager import BEFORE, AFTER, DUE_PER_SECOND, NAME, PASSWORD, Repositories, Up, ask, fill, log_in, percentile, schedule, wait_for_jobs
from manager_catalog import Filling
from program import BenchError, run

REPOSITORIES, QUICK_REPOSITORIES = 300, 20
RUNS, QUICK_RUNS = 2_000, 200
RECORDS, QUICK_RECORDS = 100_000, 2_000
DOCUMENTS, QUICK_DOCUMENTS = 20_000, 500
HOSTS = 400
REQUESTS = 40
PAGE_MS = 210
CRAWL = Path(__file__).resolve().parent.parent / "examples" / "crawl.warc.gz"
# Orders, filters and pages that no link of a page without them leads to.
MORE = ["/repositories?sort=health&size=500", "/repositories?text=bench", "/schedules?sort=next_run&size=500", "/records?text=record",
        "/records?sort=title&size=500", "/records?sort=-datestamp", "/records?repository=7", "/records?prefix=oai_dc&deleted=no",
        "/documents?size=500", "/documents?text=example", "/documents?state=not_ingested", "/audit?size=500"]
# What is no page, or another one each time.
NO_PAGES = re.compile(r"^(?!/)|^//|^/api/v1|^/assets|[?&]format=|\\.csv|/(xml|source|file|text|log|report)([?#]|$)|/remove|^/logout")


def measure_section(bench):
    folder = bench.work / "console"
    folder.mkdir()
    data = folder / "data"
    repositories, runs, records, documents = ((QUICK_REPOSITORIES, QUICK_RUNS, QUICK_RECORDS, QUICK_DOCUMENTS) if bench.quick
                                              else (REPOSITORIES, RUNS, RECORDS, DOCUMENTS))
    with Repositories(folder / "repositories") as source:
        schedule(bench, data, source.base_url, repositories)
        bench.say(f"console: harvesting {repositories} repositories")
        with Up(bench, data, folder / "log"):
            wait_for_jobs(data, repositories, BEFORE + repositories / DUE_PER_SECOND + AFTER)
    bench.say(f"console: filling the catalog with {runs:,} runs, {records:,} records and {documents:,} documents")
    fill(data, records, runs)
    run([str(bench.binary), "import", str(CRAWL), "--data", str(data), "--quiet"])
    _fill_documents(data, documents)
    account = [str(bench.binary), "account", "add", NAME, "--role", "admin", "--data", str(data)]
    subprocess.run(account, input=f"{PASSWORD}\n".encode(), stdout=subprocess.DEVNULL, check=True)
    rows = []
    with Up(bench, data, folder / "log-console") as up:
        up.settle()
        cookie = log_in(up.port)
        for kind, path in {**_pages(up.port, cookie), **{path: path for path in MORE}}.items():
            times = ask(up.port, path, cookie, REQUESTS)
            rows.append({"page": kind, "50th percentile, ms": percentile(times, 50), "95th percentile, ms": percentile(times, 95),
                         "bytes": len(ask.answer)})
    slowest = max(rows, key=lambda row: row["95th percentile, ms"])
    most = slowest["95th percentile, ms"]
    load = f"{repositories} repositories, {runs:,} runs, {records:,} records, {documents:,} documents"
    bench.compare("console", f"the slowest of {len(rows)} pages ({slowest['page']}) with {load}: 95th percentile of {REQUESTS} requests",
                  f"{most:.0f} ms", "", None, f"< {PAGE_MS} ms", reached=most < PAGE_MS)
    bench.write_csv("console", rows)
    shown = sorted(rows, key=lambda row: -row["95th percentile, ms"])[:16]
    title = f"The slowest pages of the console with {load}"
    quantiles = {name: [row[f"{name}, ms"] for row in shown] for name in ("50th percentile", "95th percentile")}
    plot.bars(bench.output / "console-pages.svg", title, [row["page"] for row in shown], quantiles, "milliseconds")
    bench.figure("console", "console-pages.svg", title)


def check(parser):
    check_tool(parser, NGINX, "console", "test")


def _fill_documents(data, documents):
    """Copies of the documents of a small crawl, each with bytes and a URL of its own, at many hosts."""
    with Filling(data) as catalog:
        each = documents // catalog.value("SELECT count(*) FROM document") - 1
        # Numbers of contents and of documents are of one sequence.
        last = catalog.value("SELECT max(next_number) FROM collection_state")
        number = f"source.id + n * {last}"
        for table, changed in (
            ("content", {"id": number, "sha1": f"printf('%040x', {number})", "sha256": f"printf('%064x', {number})", "size": "source.size + n",
                         "stored": "1", "decision": "CASE n % 5 WHEN 0 THEN 'unsure' WHEN 1 THEN 'reject' ELSE 'accept' END"}),
            ("document", {"id": number, "md5": f"printf('%032x', {number})", "url": f"'http://www' || (n % {HOSTS}) || '.example.org/' || n || '/' || source.id",
                          "host": f"'www' || (n % {HOSTS}) || '.example.org'", "rev_host": f"'org.example.www' || (n % {HOSTS})",
                          "content_id": f"source.content_id + n * {last}", "update_date": "source.update_date - n * 60"}),
        ):
            catalog.copy(table, each, changed, with_id=True)
        catalog.execute(f"UPDATE collection_state SET next_number = {last} * {each + 2}")


def _pages(port, cookie):
    """One page of each kind that links lead to, from the first one on."""
    kinds, ways = {}, ["/"]
    while ways:
        path = ways.pop(0)
        kind = "/".join("{id}" if part.isdigit() else part for part in re.split(r"[?#]", path)[0].split("/"))
        if kind in kinds:
            continue
        ask(port, path, cookie, 1)
        if ask.moved:
            # An address of older pages.
            ways.append(ask.moved)
            continue
        kinds[kind] = path
        ways += [link for link in map(unescape, re.findall(r'href="([^"]*)"', ask.answer.decode())) if not NO_PAGES.search(link)]
    if len(kinds) < 10:
        raise BenchError(f"links of the console lead to few pages only: {', '.join(kinds)}")
    return kinds
