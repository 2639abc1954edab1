"""A copy of a site by ResourceSync: by `garner harvest`, and by the client that the standard's authors wrote."""

import shutil
from pathlib import Path

from harvest_programs import timed
from program import BenchError, Garner, free_port, median
from sites import DepartmentSite

FILES, QUICK_FILES = 3_000, 200
BYTES_EACH = 20_000
TARGET = 10
PYTHON = Path(__file__).resolve().parent.parent / ".venv" / "bin"


def measure_section(bench):
    files = QUICK_FILES if bench.quick else FILES
    folder = bench.work / "synchronize"
    folder.mkdir()
    bench.say(f"synchronize: a site of {files:,} files")
    site = DepartmentSite(folder / "site", files, files * BYTES_EACH)
    sizes = site.sizes()
    rows = []
    with Garner(bench.binary, site.root, folder / "index", folder / "log", free_port()) as server:
        server.settle()
        base = f"http://127.0.0.1:{server.port}"
        ours, theirs = [], []
        for number in range(bench.repeat):
            data, mirror, copy = (folder / f"{name}-{number}" for name in ("data", "mirror", "copy"))
            harvest = [str(bench.binary), "harvest", base, "--via", "resourcesync", "--unpack", str(mirror), "--data", str(data), "--quiet"]
            ours.append(timed(harvest, folder / "output"))
            _compare(site, sizes, mirror, "garner")
            theirs.append(timed(["env", "-C", str(folder), str(PYTHON / "python"), "-B", str(PYTHON / "resync-sync"), "--baseline", "--hash", "sha-256", base, str(copy)], folder / "output"))
            _compare(site, sizes, copy, "resync-sync")
            for place in (data, mirror, copy):
                shutil.rmtree(place)
    ours, theirs = median(ours), median(theirs)
    for name, figures in (("garner harvest --via resourcesync", ours), ("resync-sync --baseline", theirs)):
        rows.append({"program": name, "files": files, **figures})
    bench.write_csv("synchronize", rows)
    bench.compare("synchronize", f"a copy of {files:,} files by ResourceSync: times faster than resync-sync", f"{ours['wall_s']:.2f} s", f"{theirs['wall_s']:.2f} s",
                  theirs["wall_s"] / ours["wall_s"], f"≥ {TARGET}", at_least=TARGET)


def check(parser):
    if not (PYTHON / "resync-sync").exists():
        parser.error("`resync-sync` is needed for the section `synchronize` and is not installed; `scripts/setup test` does it")


def _compare(site, sizes, copy, who):
    """Every file is there, whole; a mirror may have the name of its host above it."""
    places = {place.name: place for place in copy.rglob("*") if place.is_file()}
    for path, size in sizes.items():
        place = places.get(path.rpartition("/")[2])
        if place is None or place.stat().st_size != size:
            raise BenchError(f"{who}: {path} is not copied as it is")
