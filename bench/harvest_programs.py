"""The harvesters that are compared, and how one run of them is measured."""

import os
import subprocess
import time
from pathlib import Path

from harvest_sources import StaticPages
from program import COMMAND_SECONDS, BenchError

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parent / ".venv/bin/python"

STREAM, STORE = "garner records", "garner harvest"
SICKLE, SCYTHE, PERL, CURL = "sickle", "oaipmh-scythe", "oai_pmh", "curl"
# Reads the pages from the disk and says whether they are well-formed: what a parser in C takes for its part of the work.
XMLLINT = "xmllint"
# It takes a minute where others take a second, so it runs once.
SLOW = (PERL,)
# These take hundredths of a second, so a single wait of the network for 40 ms would be all that is seen.
SHORT, SHORT_RUNS = (STREAM, CURL, XMLLINT), 5


class Programs:
    """All harvesters over one source: each is a command and a count of what its run brought."""

    def __init__(self, bench, source, query, queries, folder, expected):
        self.source, self.query, self.folder, self.expected = source, query, folder, expected
        self.output, self.data, self.runs = folder / "output", None, 0
        lines = [f'url = "{source.base_url}?{one}"\noutput = "/dev/null"\n' for one in queries]
        (folder / "curl").write_text("".join(lines))
        self.pages = len(queries)
        verb, url = query["verb"], source.base_url
        garner = str(bench.binary)
        self.commands = {
            STREAM: [garner, "records", "--from-url", url, "--verb", verb],
            STORE: [garner, "harvest", url],
            SICKLE: [str(PYTHON), str(HERE / "harvest_sickle.py"), url, verb],
            SCYTHE: [str(PYTHON), str(HERE / "harvest_scythe.py"), url, verb],
            PERL: ["oai_pmh", "-X", verb, "--metadataPrefix", "oai_dc", url],
            CURL: ["curl", "-q", "-sS", "--fail", "--max-time", "600", "-w", "%{size_download}\n", "--config", str(folder / "curl")],
        }
        if isinstance(source, StaticPages):
            pages = sorted(str(page) for page in source.files.glob(f"{verb}-*"))
            self.commands[XMLLINT] = ["xmllint", "--stream", "--noout", *pages]
        if verb == "ListIdentifiers":
            del self.commands[STORE]

    def run(self, name):
        """One run from an empty directory, checked for completeness, as wall and processor time."""
        figures = timed(self._command(name), self.output)
        found = self._count(name)
        if name != XMLLINT and found != self.expected[name == CURL]:
            raise BenchError(f"{name}: {found:,} came from {self.source.base_url}, {self.expected[name == CURL]:,} expected")
        return figures

    def peak_memory(self, name):
        """The highest memory of a run of its own, in bytes, as time(1) sees it."""
        note = self.folder / "memory"
        timed(["time", "-f", "%M", "-o", str(note), *self._command(name)], self.output)
        return int(note.read_text().split()[-1]) * 1024

    def _command(self, name):
        """Into a directory of its own, and with all that was written before on the disk. Old ones stay to the end: for some seconds
        ext4 seeks long for places of files that were just deleted."""
        os.sync()
        if name != STORE:
            return self.commands[name]
        self.runs += 1
        self.data = self.folder / f"data-{self.runs}"
        return [*self.commands[name], "--data", str(self.data)]

    def _count(self, name):
        """How many items the run brought; of curl, how many pages."""
        if name == STORE:
            return sum(1 for _ in self.data.rglob("*.xml"))
        text = self.output.read_bytes()
        if name in (SICKLE, SCYTHE):
            return int(text)
        if name == PERL:
            return text.count(b"\ndatestamp: ")
        return text.count(b"\n")


def timed(command, output, accept=(0,)):
    """Runs a program to its end and returns its wall time and processor time, with that of its children."""
    with open(output, "wb") as out, open(f"{output}.errors", "w+b") as errors:
        started = time.perf_counter()
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
        except FileNotFoundError:
            raise BenchError(f"`{command[0]}` is needed for the comparison and is not installed; `scripts/setup bench` does it") from None
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in accept:
            errors.seek(0)
            text = errors.read()[-1000:].decode(errors="replace")
            raise BenchError(f"`{' '.join(command[:3])} …` ended with {process.returncode}\n{text}")
    if wall > COMMAND_SECONDS:
        raise BenchError(f"`{' '.join(command[:3])} …` took {wall:.0f} s")
    return {"wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime}
