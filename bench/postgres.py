"""A PostgreSQL cluster in a directory of its own, for one measurement."""

import os
import shutil
import subprocess
import time
from pathlib import Path

from program import BenchError

# PostgreSQL does not run as root; on Debian this is `nobody`.
UNPRIVILEGED = 65534
START_SECONDS = 30


def programs():
    """Where the programs are: Debian keeps those of each version off the path."""
    places = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if places:
        return max(places, key=lambda place: int(place.parent.name))
    found = shutil.which("initdb")
    return Path(found).parent if found else None


class Postgres:
    """A cluster that listens on a socket in its directory, with settings as they come but for those that are given."""

    def __init__(self, place, settings=()):
        self.place, self.programs, self.process = place, programs(), None
        self.settings = [part for setting in settings for part in ("-c", setting)]
        self.user = {"user": UNPRIVILEGED, "group": UNPRIVILEGED} if os.geteuid() == 0 else {}

    def __enter__(self):
        self.place.mkdir()
        if self.user:
            os.chown(self.place, UNPRIVILEGED, UNPRIVILEGED)
            # Those who may not look into the directories above it cannot reach it.
            for parent in list(self.place.parents)[:2]:
                os.chmod(parent, os.stat(parent).st_mode | 0o011)
        made = [self.programs / "initdb", "-D", self.place / "data", "--auth=trust", "--username=garner", "--encoding=UTF8", "--no-locale"]
        with open(self.place / "log", "wb") as log:
            if subprocess.run(made, stdout=log, stderr=log, cwd=self.place, **self.user).returncode != 0:
                raise BenchError(self._explain("initdb failed"))
            server = [self.programs / "postgres", "-D", self.place / "data", "-k", self.place, "-c", "listen_addresses=", *self.settings]
            self.process = subprocess.Popen(server, stdout=log, stderr=log, cwd=self.place, **self.user)
        self._wait()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def url(self, database="postgres"):
        return f"postgres://garner@localhost/{database}?host={self.place}"

    def fresh(self):
        """The address of an empty database, in the place of the one before."""
        for sql in ("DROP DATABASE IF EXISTS fresh", "CREATE DATABASE fresh"):
            subprocess.run([self.programs / "psql", "-q", "-h", self.place, "-U", "garner", "-d", "postgres", "-c", sql], check=True, stderr=subprocess.DEVNULL)
        return self.url("fresh")

    def _wait(self):
        started = time.monotonic()
        ready = [self.programs / "pg_isready", "-q", "-h", self.place]
        while subprocess.run(ready).returncode != 0:
            if self.process.poll() is not None or time.monotonic() - started > START_SECONDS:
                raise BenchError(self._explain("PostgreSQL does not answer"))
            time.sleep(0.05)

    def _explain(self, what):
        return f"{what}\n{(self.place / 'log').read_text(errors='replace')[-1000:]}"
