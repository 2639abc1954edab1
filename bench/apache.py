"""The papers' experiment in a real httpd: mod_oai against a crawler of the same server, with both kinds of processes.

The complete list comes from a server that looks at its files once in ten seconds, as is the default. Updates come from
one that looks at all files for each list (`OaiFreshness 0`), so noticing what changed is a part of them.
"""

import shutil
import subprocess
import time
from urllib.parse import quote

import apache_cases
import apache_stream
import plot
from apache_figures import CPU_TARGET_US, expect, per_file, seconds, spread, times
from client import Client, relative_path
from httpd import MPMS, Httpd
from papers import BY_VALUE, IDENTIFIERS, WGET, WGET_CODES, check_mirror, check_resources, department_site, next_second
from program import measure, run
from sites import SEED_PAGE

LISTS = 5  # in one measurement: the system counts processor time in hundredths of a second
LISTS_BEFORE_MEMORY = 10
WALL_TARGET = 40
UPDATE_TARGET = 6

WGET_ALL, LIST_ALL = "wget -r", "ListIdentifiers"
WGET_NEW, WGET_HEAD = "wget -r -N", "wget -r -N with HEAD"
LIST_NEW, VALUE_NEW = "ListIdentifiers from, and GET", "ListRecords oai_didl from"
VALUE_AGAIN = "ListRecords oai_didl from, by a second harvester"
BASELINE = (WGET_ALL, LIST_ALL)


def measure_section(bench):
    site = department_site(bench)
    bench.work.chmod(0o755)  # the workers are not the user who made it
    rows = []
    for mpm in MPMS:
        site.reset()
        found = _Experiment(bench, site, mpm).measure()
        rows += found.values()
        _summarise(bench, mpm, found)
        rows += apache_cases.measure_cases(bench, site, mpm)
        rows += apache_stream.measure_streaming(bench, mpm)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    bench.write_csv("apache", [{name: row.get(name, "") for name in columns} for row in rows])
    _draw(bench, rows)


class _Experiment:
    """All rounds with one kind of processes."""

    def __init__(self, bench, site, mpm):
        self.bench, self.site, self.mpm = bench, site, mpm
        self.folder = bench.work / f"apache-{mpm}"
        self.mirror, self.before = self.folder / "mirror", self.folder / "mirror-before"
        self.httpd = Httpd(bench.module, mpm, site.root, self.folder / "httpd")
        self.watching = Httpd(bench.module, mpm, site.root, self.folder / "watching", "OaiFreshness 0")

    def measure(self):
        with self.httpd, self.watching:
            with Client(self.watching.port) as client:
                check_resources(client, self.site, BY_VALUE, self.site.paths)
            self.bench.say(f"apache, {self.mpm}: {len(self.site.paths):,} resources decoded, all equal to their files")
            found = self._rounds({
                WGET_ALL: (self._clear_mirror, self._wget, self.mirror),
                LIST_ALL: (self._look, self._list_all, None),
            })
            found[LIST_ALL] |= self._memory()
            self.mirror.rename(self.before)
            self.changed = self.site.change_a_quarter()
            found |= self._rounds({
                WGET_NEW: (self._restore_mirror, lambda: self._wget("-N"), self.mirror),
                LIST_NEW: (self._change_beside_mirror, self._list_new, self.mirror),
                # As wget did at the time of the papers: HEAD for every file, then GET for those that changed.
                WGET_HEAD: (self._restore_mirror, lambda: self._wget("-N", "--no-if-modified-since"), self.mirror),
                VALUE_NEW: (self._change_again, self._value_new, None),
                VALUE_AGAIN: (None, self._value_new, None),  # the changes are noticed, and the digests known
            })
        shutil.rmtree(self.folder)
        return found

    def _rounds(self, methods):
        """Every method once per round. A method is what prepares it, what is measured, and a copy to be checked."""
        rounds = {name: [] for name in methods}
        for number in range(self.bench.repeat):
            for name, (prepare, method, copy) in methods.items():
                if prepare:
                    prepare()
                self.bench.say(f"apache, {self.mpm}: round {number + 1} of {self.bench.repeat}: {name}")
                server = self.watching if name in (LIST_NEW, VALUE_NEW, VALUE_AGAIN) else self.httpd
                server.settle()
                times, figures = measure(server, method)
                rounds[name].append({key: value / (times or 1) for key, value in figures.items()})
                if copy:
                    check_mirror(self.site, copy)
        return {name: self._row(name, rounds[name]) for name in methods}

    def _row(self, name, rounds):
        files = len(self.site.paths) if name in BASELINE else len(self.changed)
        phase = "baseline" if name in BASELINE else "update"
        return {"mpm": self.mpm, "phase": phase, "method": name, "files": files, **spread(rounds)}

    def _clear_mirror(self):
        shutil.rmtree(self.mirror, ignore_errors=True)

    def _restore_mirror(self):
        self._clear_mirror()
        run(["cp", "-a", str(self.before), str(self.mirror)])

    def _look(self):
        """Lets the server look at the files, so that the lists that follow need not."""
        with Client(self.httpd.port) as client:
            client.harvest(IDENTIFIERS)

    def _change_again(self):
        """The same files once more, seen by nobody yet. What changed earlier is seen, so `from` tells both apart."""
        with Client(self.watching.port) as client:
            client.harvest(IDENTIFIERS)
        self.since = next_second()
        self.site.change(self.changed)
        time.sleep(0.1)  # a file that changed within the last tick of the clock is taken as not yet at rest

    def _change_beside_mirror(self):
        self._restore_mirror()
        self._change_again()

    def _wget(self, *options):
        run([*WGET, *options, "-P", str(self.mirror), f"http://127.0.0.1:{self.httpd.port}/{quote(SEED_PAGE)}"], WGET_CODES)

    def _list_all(self):
        with Client(self.httpd.port) as client:
            for _ in range(LISTS):
                expect(client.harvest(IDENTIFIERS, count=True).headers, len(self.site.paths), LIST_ALL)
        return LISTS

    def _list_new(self):
        """Lists the changed files and fetches them into the copy, with one curl on one connection."""
        with Client(self.watching.port) as client:
            urls = client.identifiers({**IDENTIFIERS, "from": self.since})
        expect(len(urls), len(self.changed), LIST_NEW)
        config = self.folder / "curl"
        config.write_text("".join(f'url = "{url}"\noutput = "{self.mirror / relative_path(url)}"\n' for url in urls))
        command = ["curl", "-q", "-sS", "--fail", "--remote-time", "--max-time", "600", "-w", "%{http_code}\n", "--config", str(config)]
        expect(run(command, stdout=subprocess.PIPE).count(b"200\n"), len(self.changed), "GET of what changed")

    def _value_new(self):
        with Client(self.watching.port) as client:
            found = client.harvest({**BY_VALUE, "from": self.since}, count=True)
        expect(found.headers, len(self.changed), VALUE_NEW)

    def _memory(self):
        """Resident memory of the child that answered ten lists on one connection."""
        with Client(self.httpd.port) as client:
            for _ in range(LISTS_BEFORE_MEMORY):
                client.harvest(IDENTIFIERS)
            return {f"child_{name}": size for name, size in self.httpd.memory().items()}


def _summarise(bench, mpm, found):
    def faster(this, that, target=None):
        this_row, that_row = found[this], found[that]
        bench.compare("apache", f"{this}: times faster than {that} ({mpm})", seconds(this_row), seconds(that_row),
                      that_row["wall_s"] / this_row["wall_s"], f"≥ {target}" if target else "", at_least=target)

    def cheaper(this, that):
        this_row, that_row = found[this], found[that]
        bench.compare("apache", f"{this}: times less server CPU than {that} ({mpm})", seconds(this_row, "cpu"), seconds(that_row, "cpu"),
                      times(that_row["server_cpu_s"], this_row["server_cpu_s"]))

    cost = per_file(found[LIST_ALL])
    bench.compare("apache", f"ListIdentifiers: server CPU per file ({mpm})", f"{cost:.1f} µs", "", None, f"≤ {CPU_TARGET_US} µs",
                  reached=cost <= CPU_TARGET_US)
    faster(LIST_ALL, WGET_ALL, WALL_TARGET)
    cheaper(LIST_ALL, WGET_ALL)
    for this in (LIST_NEW, VALUE_NEW, VALUE_AGAIN):
        for that in (WGET_NEW, WGET_HEAD):
            faster(this, that, UPDATE_TARGET if this == VALUE_NEW else None)
            cheaper(this, that)
    memory = found[LIST_ALL]
    bench.compare("apache", f"resident memory of a child after {LISTS_BEFORE_MEMORY} lists, and what of it is its own ({mpm})",
                  f"{memory['child_VmRSS'] / 1e6:.0f} MB", f"{memory['child_RssAnon'] / 1e6:.0f} MB", None)


def _draw(bench, rows):
    figures = {"wall time": "wall_s", "server CPU": "server_cpu_s"}
    for phase, title in (("baseline", "The complete site from Apache"), ("update", "After a quarter of Apache's files changed")):
        for mpm in MPMS:
            own = [row for row in rows if row["mpm"] == mpm and row["phase"] == phase]
            series = {label: [row[key] for row in own] for label, key in figures.items()}
            file = f"apache-{phase}-{mpm}.svg"
            plot.bars(bench.output / file, f"{title} ({mpm})", [row["method"] for row in own], series, "seconds", log=True)
            bench.figure("apache", file, f"{title} ({mpm})")
