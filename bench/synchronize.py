"""A copy of a site by ResourceSync: by `garner harvest`, and by the client that the standard's authors wrote.

Both begin with nothing and end with the same files, checked one by one. Beside the files garner keeps a record of each with its digest, and
both are on the disk when it ends; `resync-sync` leaves its files to the system. What bounds any client on this machine is measured as well: `curl` with
as many connections over a list of the same URLs, and `cp` of the same files.
"""

import os
from pathlib import Path
from urllib.parse import quote

from harvest_programs import timed
from program import BenchError, Garner, free_port, median
from sites import DepartmentSite

FILES, QUICK_FILES = 3_000, 200
BYTES_EACH = 20_000
TARGET = 10
# As many as `garner harvest --via resourcesync` has open at once.
CONNECTIONS = 4
GARNER, RESYNC, CURL, COPY = "garner harvest --via resourcesync", "resync-sync --baseline", f"curl --parallel-max {CONNECTIONS}", "cp -r"
PYTHON = Path(__file__).resolve().parent.parent / ".venv" / "bin"


def measure_section(bench):
    files = QUICK_FILES if bench.quick else FILES
    folder = bench.work / "synchronize"
    folder.mkdir()
    bench.say(f"synchronize: a site of {files:,} files")
    site = DepartmentSite(folder / "site", files, files * BYTES_EACH)
    sizes = site.sizes()
    rounds = {name: [] for name in (GARNER, RESYNC, CURL, COPY)}
    with Garner(bench.binary, site.root, folder / "index", folder / "log", free_port()) as server:
        server.settle()
        base = f"http://127.0.0.1:{server.port}"
        for number in range(bench.repeat):
            for name, command, copy in _commands(bench, site, base, folder, number):
                # What was written before is on the disk, and old copies stay to the end: for some minutes ext4 passes over the places of
                # files that were just deleted, one by one, for each new file.
                os.sync()
                before = server.cpu_seconds()
                figures = timed(command, folder / "output")
                rounds[name].append({**figures, "server_cpu_s": server.cpu_seconds() - before})
                if name != CURL:
                    _compare(sizes, copy, name)
                elif len(list(copy.iterdir())) != files:
                    raise BenchError(f"curl did not bring {files:,} files")
    rows = [{"program": name, "files": files, **median(figures)} for name, figures in rounds.items()]
    bench.write_csv("synchronize", rows)
    walls = {row["program"]: row["wall_s"] for row in rows}
    bench.compare("synchronize", f"a copy of {files:,} files by ResourceSync: times faster than resync-sync", f"{walls[GARNER]:.2f} s", f"{walls[RESYNC]:.2f} s",
                  walls[RESYNC] / walls[GARNER], f"≥ {TARGET}", at_least=TARGET)
    for bound in (CURL, COPY):
        bench.compare("synchronize", f"the same copy against {bound}, which keeps no records and waits for no disk", f"{walls[GARNER]:.2f} s", f"{walls[bound]:.2f} s",
                      walls[GARNER] / walls[bound], "", reached=True)


def check(parser):
    if not (PYTHON / "resync-sync").exists():
        parser.error("`resync-sync` is needed for the section `synchronize` and is not installed; `scripts/setup test` does it")


def _commands(bench, site, base, folder, number):
    """The programs of one round, each into a directory of its own."""
    data, mirror, copy, plain, local = (folder / f"{name}-{number}" for name in ("data", "mirror", "copy", "plain", "local"))
    yield GARNER, [str(bench.binary), "harvest", base, "--via", "resourcesync", "--unpack", str(mirror), "--data", str(data), "--quiet"], mirror
    yield RESYNC, ["env", "-C", str(folder), str(PYTHON / "python"), "-B", str(PYTHON / "resync-sync"), "--baseline", "--hash", "sha-256", base, str(copy)], copy
    plain.mkdir()
    lines = (f'url = "{base}/{quote(path)}"\noutput = "{plain}/{at}"\n' for at, path in enumerate(site.paths))
    (folder / "curl").write_text("".join(lines))
    yield CURL, ["curl", "-q", "-sS", "--fail", "--parallel", "--parallel-max", str(CONNECTIONS), "--config", str(folder / "curl")], plain
    yield COPY, ["cp", "-r", str(site.root), str(local)], local


def _compare(sizes, copy, who):
    """Every file is there, whole; a mirror may have the name of its host above it."""
    places = {place.name: place for place in copy.rglob("*") if place.is_file()}
    for path, size in sizes.items():
        place = places.get(path.rpartition("/")[2])
        if place is None or place.stat().st_size != size:
            raise BenchError(f"{who}: {path} is not copied as it is")
