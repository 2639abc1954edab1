"""A mirror of the papers' site: by harvesting its files by value, and by a crawler. First complete, then after a quarter changed."""

import os

import plot
from harvest_programs import timed
from papers import WGET, WGET_CODES, check_mirror, department_site, next_second, wait_for_changes
from program import BenchError, Garner, free_port, median, run
from sites import SEED_PAGE

HARVEST, CRAWL = "garner harvest --unpack", "wget -r"
# No server, no network, no digests, no records, no waiting for the disk: what writing the files takes by itself.
COPY = "cp -r"
PHASES = {"complete": ("the complete site", 3), "update": ("a quarter changed", 6)}


def measure(bench):
    site = department_site(bench)
    site.reset()
    folder = bench.work / "harvest-mirror"
    folder.mkdir()
    experiment = _Experiment(bench, site, folder)
    with experiment.garner as garner:
        garner.settle()
        rows = [experiment.measure("complete")]
        experiment.keep()
        since = next_second()
        changed = site.change_a_quarter()
        wait_for_changes(garner, since, len(changed))
        garner.settle()
        rows.append(experiment.measure("update"))
    rows = [row for pair in rows for row in pair]
    bench.write_csv("harvest-mirror", rows)
    _summarise(bench, rows)
    _draw(bench, rows)


class _Experiment:
    def __init__(self, bench, site, folder):
        self.bench, self.site, self.folder, self.moved = bench, site, folder, 0
        self.garner = Garner(bench.binary, site.root, folder / "site-data", folder / "log", free_port())
        url = f"http://127.0.0.1:{self.garner.port}/"
        self.places = {HARVEST: [folder / "data", folder / "unpacked"], CRAWL: [folder / "crawled"], COPY: [folder / "copied"]}
        data, unpacked = self.places[HARVEST]
        crawl = [*WGET, "-P", str(folder / "crawled"), f"{url}{SEED_PAGE}"]
        harvest = [str(bench.binary), "harvest", f"{url}modoai", "--prefix", "oai_didl", "--data", str(data), "--unpack", str(unpacked)]
        self.commands = {
            "complete": {HARVEST: harvest, CRAWL: crawl, COPY: ["cp", "-rp", str(site.root), str(folder / "copied")]},
            "update": {HARVEST: harvest, CRAWL: [*crawl, "-N"], COPY: ["cp", "-rpu", f"{site.root}/.", str(folder / "copied")]},
        }

    def measure(self, phase):
        """All take turns; each begins with what it had after the phase before, and ends with a copy of every byte."""
        rounds = {name: [] for name in self.places}
        for number in range(self.bench.repeat):
            for name, figures in rounds.items():
                self.bench.say(f"harvest, mirror: {phase}, round {number + 1} of {self.bench.repeat}: {name}")
                self._restore(name)
                before = self.garner.cpu_seconds()
                figures.append(timed(self.commands[phase][name], self.folder / "output", WGET_CODES if name == CRAWL else (0,)))
                figures[-1]["server_cpu_s"] = self.garner.cpu_seconds() - before
                self._check(name)
        return [{"phase": phase, "method": name, **median(figures)} for name, figures in rounds.items()]

    def keep(self):
        """What all have now is where the next phase begins."""
        for place in [place for places in self.places.values() for place in places]:
            place.rename(_kept(place))

    def _restore(self, name):
        """What was there is moved away: for some seconds ext4 seeks long for places of files that were just deleted."""
        for place in self.places[name]:
            if place.exists():
                self.moved += 1
                place.rename(self.folder / f"moved-{self.moved}")
            if _kept(place).exists():
                run(["cp", "-a", str(_kept(place)), str(place)])
        os.sync()

    def _check(self, name):
        place = self.places[name][-1]
        found = sorted(place.rglob(SEED_PAGE), key=lambda path: len(path.parts))
        if not found:
            raise BenchError(f"{name}: there is no {SEED_PAGE} in the copy")
        check_mirror(self.site, found[0].parent)


def _kept(place):
    return place.with_name(place.name + "-before")


def _summarise(bench, rows):
    wall = {(row["phase"], row["method"]): row["wall_s"] for row in rows}
    for phase, (title, target) in PHASES.items():
        ours, theirs = wall[phase, HARVEST], wall[phase, CRAWL]
        crawl = CRAWL if phase == "complete" else CRAWL + " -N"
        bench.compare("harvest", f"mirror, {title}: times faster than {crawl}, byte-identical", f"{ours:.3f} s", f"{theirs:.3f} s",
                      theirs / ours, f"≥ {target}", at_least=target)
        copy = wall[phase, COPY]
        bench.compare("harvest", f"mirror, {title}: how many times faster than {crawl} the same files are copied by cp, from disk to disk",
                      f"{copy:.3f} s", f"{theirs:.3f} s", theirs / copy)


def _draw(bench, rows):
    for phase, (title, _) in PHASES.items():
        own = [row for row in rows if row["phase"] == phase]
        series = {"wall time": [row["wall_s"] for row in own], "processor time": [row["cpu_s"] for row in own],
                  "server": [row["server_cpu_s"] for row in own]}
        file, text = f"harvest-mirror-{phase}.svg", f"A mirror of a site: {title}"
        plot.bars(bench.output / file, text, [row["method"] for row in own], series, "seconds")
        bench.figure("harvest", file, text)
