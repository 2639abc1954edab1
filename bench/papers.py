"""The papers' experiment: a crawler against OAI-PMH over 5,268 files of 292 MB, first complete, then after a quarter changed.

The program is restarted between rounds, as Apache was; its data directory stays.
"""

import filecmp
import shutil
import subprocess
import time
from datetime import datetime, timezone
from urllib.parse import quote

import plot
from client import Client, Harvest, relative_path
from program import BenchError, Garner, free_port, measure, median, run
from sites import SEED_PAGE, DepartmentSite

FILES, BYTES = 5_268, 292_000_000
QUICK_FILES, QUICK_BYTES = 400, 12_000_000
CONFIGURATIONS = {"default": None, "no fixity": "[fixity]\nalgorithms = []\n"}
WGET = ["wget", "-q", "-r", "-l", "inf", "--no-parent", "-nH", "--exclude-directories=/modoai"]
WGET += ["--dns-timeout=1", "--connect-timeout=1", "--tries=1"]
WGET_CODES = (0, 8)  # 8: some answer was an error, such as a missing robots.txt; the copy itself is compared
VISIBLE_SECONDS = 180

IDENTIFIERS = {"verb": "ListIdentifiers", "metadataPrefix": "oai_dc"}
BY_VALUE = {"verb": "ListRecords", "metadataPrefix": "oai_didl"}

WGET_ALL, CURL_ALL, HTTP_ALL = "wget -r", "raw files, curl", "raw files, http.client"
LIST_ALL, VALUE_ALL, VALUE_CURL = "ListIdentifiers", "ListRecords oai_didl", "ListRecords oai_didl, curl"
WGET_NEW, WGET_HEAD, LIST_NEW, VALUE_NEW = "wget -r -N", "wget -r -N with HEAD", "ListIdentifiers from", "ListRecords oai_didl from"
UPDATES = (WGET_NEW, WGET_HEAD, LIST_NEW, VALUE_NEW)


def measure_section(bench):
    site = department_site(bench)
    results = {}
    for name, text in CONFIGURATIONS.items():
        site.reset()
        results[name] = _Experiment(bench, site, name, text).measure()
    rows = [{"configuration": name, **row} for name, found in results.items() for row in found.values()]
    bench.write_csv("papers", rows)
    for name, found in results.items():
        _summarise(bench, name, found)
    _draw(bench, results["default"])


def department_site(bench):
    """The papers' site, made once and shared between sections."""
    if "department" not in bench.shared:
        files, size = (QUICK_FILES, QUICK_BYTES) if bench.quick else (FILES, BYTES)
        bench.say(f"making a site of {files:,} files, {size / 1e6:.0f} MB")
        bench.shared["department"] = DepartmentSite(bench.work / "department", files, size)
    return bench.shared["department"]


def now():
    return datetime.fromtimestamp(time.time(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def next_second():
    """Waits for the next full second and returns it: nothing seen so far has this datestamp or a later one."""
    time.sleep(2.05 - time.time() % 1)
    return now()


def wait_for_changes(garner, since, expected):
    """Asks until all changes are listed, and returns how long that took."""
    started, found = time.perf_counter(), 0
    with Client(garner.port) as client:
        while time.perf_counter() - started < VISIBLE_SECONDS:
            found = client.harvest({**IDENTIFIERS, "from": since}, count=True).headers
            if found >= expected:
                break
            time.sleep(0.2)
    if found != expected:
        raise BenchError(f"{expected} files changed, but ListIdentifiers from={since} lists {found} after {VISIBLE_SECONDS} s")
    return time.perf_counter() - started


def check_resources(client, site, query, paths):
    """Every resource, decoded, is the file bit for bit. Outside of the timing."""
    expected = set(paths)
    for identifier, content in client.resources(query):
        path = relative_path(identifier)
        if path not in expected:
            raise BenchError(f"{identifier} is listed unexpectedly or twice")
        if content is None:
            raise BenchError(f"{identifier} is not given by value")
        if content != (site.root / path).read_bytes():
            raise BenchError(f"{identifier}: the decoded resource differs from the file")
        expected.discard(path)
    if expected:
        raise BenchError(f"{len(expected):,} files are missing from ListRecords, such as {min(expected)}")


def check_mirror(site, mirror):
    differing = [path for path in site.paths if not _same(site.root / path, mirror / path)]
    if differing:
        raise BenchError(f"the copy lacks or differs in {len(differing):,} of {len(site.paths):,} files, such as {differing[0]}")


class _Experiment:
    """All rounds of one configuration."""

    def __init__(self, bench, site, name, config):
        self.bench, self.site, self.name = bench, site, name
        self.folder = bench.work / ("papers-" + name.replace(" ", "-"))
        self.folder.mkdir()
        self.config = bench.config(self.folder, config)
        self.port = free_port()
        self.mirror = self.folder / "mirror"
        self.page_queries = []

    def measure(self):
        self._verify(BY_VALUE, self.site.paths)
        sizes = self.site.sizes()
        self.total = sum(sizes.values())
        found = self._rounds({
            WGET_ALL: (self._clear_mirror, self._wget_all),
            CURL_ALL: (self._prepare_curl_all, self._curl_all),
            HTTP_ALL: (None, self._http_all),
            LIST_ALL: (None, self._list_all),
            VALUE_ALL: (None, self._value_all),
            VALUE_CURL: (self._prepare_value_curl, self._curl),
        }, sizes)
        self._change()
        self._verify({**BY_VALUE, "from": self.since}, self.changed)
        sizes = self.site.sizes()
        found |= self._rounds({
            WGET_NEW: (self._restore_mirror, self._wget_new),
            WGET_HEAD: (self._restore_mirror, self._wget_head),
            LIST_NEW: (None, self._list_new),
            VALUE_NEW: (None, self._value_new),
        }, {path: sizes[path] for path in self.changed})
        return found

    def _garner(self):
        return Garner(self.bench.binary, self.site.root, self.folder / "data", self.folder / "log", self.port, self.config)

    def _rounds(self, methods, sizes):
        """Every method once per round, so that a slow moment of the machine does not hit only one of them.

        A method is what has to be prepared, which is not measured, and what is measured.
        """
        rounds = {name: [] for name in methods}
        extras = {}
        for number in range(self.bench.repeat):
            for name, (prepare, method) in methods.items():
                if prepare:
                    prepare()
                self.bench.say(f"papers, {self.name}: round {number + 1} of {self.bench.repeat}: {name}")
                with self._garner() as garner:
                    garner.settle()
                    extras[name], figures = measure(garner, method)
                rounds[name].append(figures)
                if name.startswith("wget"):
                    check_mirror(self.site, self.mirror)
        return {name: self._row(name, sizes, extras[name], rounds[name]) for name in methods}

    def _row(self, name, sizes, extra, rounds):
        figures, source = median(rounds), sum(sizes.values())
        # A list of identifiers carries no file, so it has no source bytes per second.
        carries = not name.startswith("ListIdentifiers")
        return {
            "phase": "update" if name in UPDATES else "baseline",
            "method": name, "files": len(sizes), "source_bytes": source,
            "pages": extra.pages if extra else "", "received_bytes": extra.bytes if extra else "",
            **figures, "source_mb_per_s": source / 1e6 / figures["wall_s"] if carries else "",
        }

    def _clear_mirror(self):
        shutil.rmtree(self.mirror, ignore_errors=True)

    def _restore_mirror(self):
        self._clear_mirror()
        run(["cp", "-a", str(self.folder / "mirror-before"), str(self.mirror)])

    def _wget_all(self):
        run(WGET + ["-P", str(self.mirror), self._url(SEED_PAGE)], WGET_CODES)

    def _wget_new(self):
        run(WGET + ["-N", "-P", str(self.mirror), self._url(SEED_PAGE)], WGET_CODES)

    def _wget_head(self):
        """As wget did at the time of the papers: HEAD for every file, then GET for those that changed."""
        run(WGET + ["-N", "--no-if-modified-since", "-P", str(self.mirror), self._url(SEED_PAGE)], WGET_CODES)

    def _prepare_curl_all(self):
        self._prepare_curl([self._url(path) for path in self.site.paths])

    def _prepare_value_curl(self):
        """The pages of the method before, whose tokens stay valid, for the same program as the raw files."""
        self._prepare_curl([f"http://127.0.0.1:{self.port}/modoai?{query}" for query in self.page_queries])

    def _prepare_curl(self, urls):
        text = "".join(f'url = "{url}"\noutput = "/dev/null"\n' for url in urls)
        (self.folder / "curl").write_text(text)

    def _curl_all(self):
        length = self._curl().bytes
        if length != self.total:
            raise BenchError(f"the files have {self.total:,} bytes, curl brought {length:,}")

    def _curl(self):
        """All URLs in one process, which keeps its connection."""
        command = ["curl", "-q", "-sS", "--fail", "--max-time", "600", "-w", "%{size_download}\n"]
        command += ["--config", str(self.folder / "curl")]
        lengths = [int(line) for line in run(command, stdout=subprocess.PIPE).split()]
        return Harvest(bytes=sum(lengths), queries=lengths)

    def _http_all(self):
        with Client(self.port) as client:
            length = sum(client.download("/" + quote(path)) for path in self.site.paths)
        if length != self.total:
            raise BenchError(f"the files have {self.total:,} bytes, GET brought {length:,}")

    def _list_all(self):
        with Client(self.port) as client:
            found = client.harvest(IDENTIFIERS, count=True)
        if found.headers != len(self.site.paths):
            raise BenchError(f"the site has {len(self.site.paths):,} files, ListIdentifiers lists {found.headers:,}")
        return found

    def _value_all(self):
        with Client(self.port) as client:
            found = client.harvest(BY_VALUE)
        self.page_queries = found.queries
        return found

    def _list_new(self):
        with Client(self.port) as client:
            return client.harvest({**IDENTIFIERS, "from": self.since}, count=True)

    def _value_new(self):
        with Client(self.port) as client:
            return client.harvest({**BY_VALUE, "from": self.since})

    def _url(self, path):
        return f"http://127.0.0.1:{self.port}/{quote(path)}"

    def _change(self):
        """Changes a quarter while the program runs, as on a living site."""
        with self._garner() as garner:
            garner.settle()
            self.since = next_second()
            self.changed = self.site.change_a_quarter()
            seconds = wait_for_changes(garner, self.since, len(self.changed))
            garner.settle()
        self.bench.say(f"papers, {self.name}: {len(self.changed):,} changed files listed after {seconds:.1f} s")
        self.mirror.rename(self.folder / "mirror-before")

    def _verify(self, query, paths):
        with self._garner() as garner, Client(garner.port) as client:
            check_resources(client, self.site, query, paths)
        self.bench.say(f"papers, {self.name}: {len(paths):,} resources decoded, all equal to their files")


def _same(one, other):
    try:
        return filecmp.cmp(one, other, shallow=False)
    except FileNotFoundError:
        return False


def _summarise(bench, name, found):
    wall = {method: row["wall_s"] for method, row in found.items()}
    speed = {method: row["source_mb_per_s"] for method, row in found.items()}
    judged = name == "default"

    def faster(this, that, target=None):
        bench.compare(
            "papers", f"{this}: times faster than {that} ({name})", f"{wall[this]:.3f} s", f"{wall[that]:.3f} s",
            wall[that] / wall[this], f"≥ {target}" if judged and target else "", at_least=target if judged else None,
        )

    def as_fast(this, that, target=None):
        bench.compare(
            "papers", f"{this}: source bytes/s against {that} ({name})", f"{speed[this]:.0f} MB/s", f"{speed[that]:.0f} MB/s",
            speed[this] / speed[that], f"≥ {target}" if judged and target else "", at_least=target if judged else None,
        )

    faster(LIST_ALL, WGET_ALL, 50)
    faster(VALUE_NEW, WGET_NEW, 8)
    as_fast(VALUE_ALL, CURL_ALL, 0.7)
    as_fast(VALUE_ALL, HTTP_ALL)
    as_fast(VALUE_CURL, CURL_ALL)
    faster(VALUE_NEW, WGET_HEAD)
    faster(VALUE_ALL, WGET_ALL)
    faster(LIST_NEW, WGET_NEW)


def _draw(bench, found):
    figures = {"wall time": "wall_s", "client CPU": "client_cpu_s", "server CPU": "server_cpu_s"}
    for file, phase, title in (
        ("papers-baseline", "baseline", "The complete site"),
        ("papers-update", "update", "After a quarter of the files changed"),
    ):
        rows = [row for row in found.values() if row["phase"] == phase]
        series = {label: [row[key] for row in rows] for label, key in figures.items()}
        plot.bars(bench.output / f"{file}.svg", title, [row["method"] for row in rows], series, "seconds", log=True)
        bench.figure("papers", f"{file}.svg", title)
