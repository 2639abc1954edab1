"""The manager and the console: what a job costs beyond its harvest, how fast the dashboard answers, how fast jobs are claimed."""

import http.client
import re
import statistics
import subprocess
import time
from urllib.parse import urlencode

import plot
import postgres
from harvest_programs import timed
from harvest_sources import NGINX, StaticPages, check_tool
from manager_catalog import Filling, read
from program import BenchError, Garner, free_port, run

REPOSITORIES, QUICK_REPOSITORIES, DUE_PER_SECOND = 1_000, 50, 10
RECORDS, QUICK_RECORDS = 1_000_000, 10_000
JOBS, QUICK_JOBS = 10_000, 500
WORKERS = 8
HARVESTS = 20
REQUESTS = 200
DASHBOARD_MS = 150
PAGES = {"dashboard": "/", "jobs": "/jobs", "history": "/history", "repositories": "/repositories", "records": "/records"}
NAME, PASSWORD = "bench", "a long password"
# Time for the manager to plan everything before the first job is due, and for the last one to end.
BEFORE, AFTER = 15, 60

DUBLIN_CORE = "http://www.openarchives.org/OAI/2.0/oai_dc/"
ENVELOPE = ('<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
            "<responseDate>2024-01-01T00:00:00Z</responseDate><request>{base_url}</request>{answer}</OAI-PMH>")
ANSWERS = {
    "Identify": "<Identify><repositoryName>A small one</repositoryName><baseURL>{base_url}</baseURL><protocolVersion>2.0</protocolVersion>"
                "<adminEmail>bench@example.org</adminEmail><earliestDatestamp>2020-01-01T00:00:00Z</earliestDatestamp>"
                "<deletedRecord>no</deletedRecord><granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>",
    "ListMetadataFormats": f"<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix><schema>{DUBLIN_CORE}oai_dc.xsd</schema>"
                           f"<metadataNamespace>{DUBLIN_CORE}</metadataNamespace></metadataFormat></ListMetadataFormats>",
    "ListSets": '<error code="noSetHierarchy">none</error>',
}
RECORD = (f'<record><header><identifier>oai:bench.example:{{number}}</identifier><datestamp>2023-01-01T00:00:0{{number}}Z</datestamp></header><metadata>'
          f'<oai_dc:dc xmlns:oai_dc="{DUBLIN_CORE}" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Record {{number}}</dc:title></oai_dc:dc>'
          "</metadata></record>")
RECORDS_EACH = 5


def measure_section(bench):
    rows = []
    folder = bench.work / "manager"
    folder.mkdir()
    rows += _measure_jobs(bench, folder)
    rows += _measure_pages(bench, folder)
    rows += _measure_claims(bench, folder)
    bench.write_csv("manager", rows)


def check(parser, claims):
    check_tool(parser, NGINX, "manager", "test")
    if postgres.programs() is None:
        parser.error("PostgreSQL is needed for the section `manager` and is not installed; `scripts/setup test` does it")
    if not claims.exists():
        parser.error(f"{claims} is not there; run `cargo build --release -p garner-catalog --example claims`")


class Repositories(StaticPages):
    """One tiny repository, which answers at as many addresses as one likes."""

    location = "location ~ /oai$"

    def __init__(self, folder):
        super().__init__(folder)
        lists = "".join(RECORD.format(number=number) for number in range(RECORDS_EACH))
        for verb, answer in {**ANSWERS, "ListRecords": f"<ListRecords>{lists}</ListRecords>"}.items():
            text = ENVELOPE.format(base_url=self.base_url, answer=answer.format(base_url=self.base_url))
            (self.files / f"{verb}-").write_text(text, encoding="utf-8")


class Up(Garner):
    """`garner up` with a console."""

    def __init__(self, bench, data, log):
        super().__init__(bench.binary, None, data, log, free_port())

    def command(self):
        return [str(self.binary), "up", "--data", str(self.data), "--workers", str(WORKERS), "--per-host", "0", "--allow", "127.0.0.1",
                "--listen", f"127.0.0.1:{self.port}"]

    ready = rb"garner is up[^\n]*\n"


def _measure_jobs(bench, folder):
    count = QUICK_REPOSITORIES if bench.quick else REPOSITORIES
    with Repositories(folder / "repositories") as source:
        plain = _plain_harvest(bench, folder, source.base_url)
        data = folder / "data"
        with Up(bench, data, folder / "log-idle") as up:
            up.settle()
            before = up.cpu_seconds()
            time.sleep(10)
            idle = (up.cpu_seconds() - before) / 10
        schedule(bench, data, source.base_url, count)
        bench.say(f"manager: {count:,} repositories, {DUE_PER_SECOND} due every second")
        with Up(bench, data, folder / "log") as up:
            before, started = up.cpu_seconds(), time.perf_counter()
            wait_for_jobs(data, count, BEFORE + count / DUE_PER_SECOND + AFTER)
            cpu, wall = up.cpu_seconds() - before, time.perf_counter() - started
            memory = up.memory()["VmHWM"]
    late = [row[0] for row in read(data, "SELECT started - run_at FROM job")]
    per_job = cpu / count
    bench.compare("manager", "processor time of a job against a plain `garner harvest` of the same", f"{per_job * 1000:.1f} ms", f"{plain * 1000:.1f} ms",
                  per_job / plain)
    bench.compare("manager", f"{count:,} repositories, {DUE_PER_SECOND} due every second: how late 95 of 100 begin, in whole seconds",
                  f"{percentile(late, 95):.0f} s", "", None)
    return [
        {"figure": "processor time of a job", "value": per_job * 1000, "unit": "ms"},
        {"figure": "processor time of a plain harvest", "value": plain * 1000, "unit": "ms"},
        {"figure": "overhead per job", "value": (per_job - plain) * 1000, "unit": "ms"},
        {"figure": "jobs", "value": count, "unit": ""},
        {"figure": "wall time with all jobs", "value": wall, "unit": "s"},
        {"figure": "processor time of an idle second", "value": idle * 1000, "unit": "ms"},
        {"figure": "begun too late, 95th percentile", "value": percentile(late, 95), "unit": "s"},
        {"figure": "highest memory", "value": memory / 1e6, "unit": "MB"},
    ]


def _plain_harvest(bench, folder, base_url):
    """The processor time of a harvest by a command, each into a new directory, because the jobs' are first ones too."""
    figures = []
    for number in range(HARVESTS):
        command = [str(bench.binary), "harvest", base_url, "--data", str(folder / f"plain-{number}")]
        figures.append(timed(command, folder / "plain")["cpu_s"])
    return statistics.median(figures)


def schedule(bench, data, base_url, count):
    """One schedule by the program, and the others as copies of it, ten for each second."""
    first = base_url.replace("/oai", "/0/oai")
    run([str(bench.binary), "schedule", "add", first, "--once", "--paused", "--data", str(data)])
    with Filling(data) as catalog:
        base = base_url.removesuffix("/oai")
        catalog.copy("repository", count - 1, {"base_url": f"'{base}/' || n || '/oai'", "base_directory": "source.base_directory || '-' || n"})
        catalog.execute("INSERT INTO format_mapping SELECT repository.id, format_id, position FROM format_mapping, repository WHERE repository.id > 1")
        catalog.copy("schedule", count - 1, {"repository_id": "n + 1"})
        due = f"CAST(strftime('%s', 'now') AS INTEGER) + {BEFORE} + id / {DUE_PER_SECOND}"
        catalog.execute(f"UPDATE schedule SET state = 'new', starts = {due}")


def wait_for_jobs(data, count, longest):
    """Looks seldom, so as not to be in the way."""
    started = time.perf_counter()
    while True:
        states = dict(read(data, "SELECT state, count(*) FROM job GROUP BY state"))
        if states.get("finished", 0) == count:
            return
        if states.get("failed") or time.perf_counter() - started > longest:
            raise BenchError(f"the jobs do not come to their end: {states}")
        time.sleep(2)


def _measure_pages(bench, folder):
    """On the catalog that the jobs left, with copies of what they brought."""
    data = folder / "data"
    records, jobs = (QUICK_RECORDS, QUICK_JOBS) if bench.quick else (RECORDS, JOBS)
    bench.say(f"manager: filling the catalog with {records:,} records and {jobs:,} jobs")
    fill(data, records, jobs)
    account = [str(bench.binary), "account", "add", NAME, "--role", "viewer", "--data", str(data)]
    subprocess.run(account, input=f"{PASSWORD}\n".encode(), stdout=subprocess.DEVNULL, check=True)
    rows, quantiles = [], {"50th percentile": [], "95th percentile": []}
    with Up(bench, data, folder / "log-console") as up:
        up.settle()
        cookie = log_in(up.port)
        for name, path in PAGES.items():
            times = ask(up.port, path, cookie)
            for quantile, figures in quantiles.items():
                figures.append(percentile(times, int(quantile[:2])))
                rows.append({"figure": f"{name}, {quantile} of {REQUESTS} requests", "value": figures[-1], "unit": "ms"})
    half, most = (figures[0] for figures in quantiles.values())
    bench.compare("manager", f"dashboard with {records:,} records and {jobs:,} jobs: 95th percentile (and 50th) of {REQUESTS} requests",
                  f"{most:.1f} ms", f"{half:.1f} ms", None, f"< {DASHBOARD_MS} ms", reached=most < DASHBOARD_MS)
    title = f"Pages of the console with {records:,} records and {jobs:,} jobs"
    plot.bars(bench.output / "manager-pages.svg", title, list(PAGES), quantiles, "milliseconds")
    bench.figure("manager", "manager-pages.svg", title)
    return rows


def fill(data, records, jobs):
    with Filling(data) as catalog:
        held = catalog.value("SELECT count(*) FROM record")
        each = records // held - 1
        catalog.copy("record", each, {"identifier": "source.identifier || '/' || n", "file": "source.file || n", "title": "'Record ' || n"})
        catalog.execute("UPDATE holding SET records = (SELECT count(*) FROM record WHERE record.repository_id = holding.repository_id)")
        each = jobs // catalog.value("SELECT count(*) FROM job") - 1
        # One an hour for each, back into the past; one in twenty failed.
        back = {name: f"source.{name} - n * 3600" for name in ("run_at", "created", "started", "finished", "ended")}
        failed = {"state": "CASE WHEN (source.id + n) % 20 = 0 THEN 'failed' ELSE source.state END"}
        catalog.copy("job", each, {**back, **failed})
        catalog.copy("history", each, {**back, **failed})


def log_in(port):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    form = urlencode({"name": NAME, "password": PASSWORD})
    connection.request("POST", "/login", form, {"Content-Type": "application/x-www-form-urlencoded"})
    answer = connection.getresponse()
    cookie = (answer.getheader("Set-Cookie") or "").partition(";")[0]
    if answer.status != 303 or not cookie:
        raise BenchError(f"nobody can log in to the console: {answer.status}")
    return cookie


def ask(port, path, cookie, requests=REQUESTS):
    """How long each answer takes, in milliseconds, over one connection; the last one stays in `ask.answer`, and where it leads in `ask.moved`."""
    connection, times = http.client.HTTPConnection("127.0.0.1", port), []
    for _ in range(requests):
        started = time.perf_counter()
        connection.request("GET", path, headers={"Cookie": cookie})
        answer = connection.getresponse()
        ask.answer = answer.read()
        times.append((time.perf_counter() - started) * 1000)
        ask.moved = answer.getheader("Location") if 300 <= answer.status < 400 else None
        if answer.status != 200 and not ask.moved:
            raise BenchError(f"{path} is answered with {answer.status}")
    return times


def _measure_claims(bench, folder):
    rows = []
    with postgres.Postgres(folder / "postgres") as cluster:
        for database, location in (("SQLite", str(folder / "claims.sqlite")), ("PostgreSQL", cluster.url())):
            bench.say(f"manager: claims on {database}")
            text = run([str(bench.claims), location], stdout=subprocess.PIPE).decode()
            rates = {name.strip(): float(rate) for name, rate in re.findall(r"(.+?)\s+(\d+) a second", text)}
            for name, rate in rates.items():
                rows.append({"figure": f"{database}: {name}", "value": rate, "unit": "per second"})
            # SQLite has one writer, so more workers must only not make it slower.
            many, name = (4, "four") if database == "SQLite" else (16, "sixteen")
            bench.compare("manager", f"{database}: jobs claimed and ended per second, by one worker against {name} at once",
                          f"{rates['claim and end, 1 at once']:,.0f}", f"{rates[f'claim and end, {many} at once']:,.0f}", None)
            bench.compare("manager", f"{database}: pages of 100 records committed per second, by one worker against {name} at once",
                          f"{rates['pages, 1 at once']:,.0f}", f"{rates[f'pages, {many} at once']:,.0f}", None)
    return rows


def percentile(values, percent):
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]
