"""One large file by value against the same file raw, both from the same httpd and by the same curl."""

import hashlib
import subprocess
from urllib.parse import quote

from apache_figures import expect, seconds, spread, times
from client import Client
from httpd import Httpd
from program import BenchError, measure, run

BYTES, QUICK_BYTES = 292_000_000, 20_000_000
BLOCK = 1_000_000
NAME = "large.bin"
ROUNDS = 9
TARGET = 1.4
CONFIGURATIONS = {"sha256, already known": "", "no fixity": "OaiFixity none"}


def measure_streaming(bench, mpm):
    path = _large_file(bench)
    rows = []
    for name, directives in CONFIGURATIONS.items():
        bench.say(f"apache, {mpm}: one file of {path.stat().st_size / 1e6:.0f} MB by value, {name}")
        folder = bench.work / f"apache-stream-{mpm}-{len(rows)}"
        directives += "\nOaiByValueLimit 1G"
        with Httpd(bench.module, mpm, path.parent, folder, directives) as httpd:
            raw, value = _rounds(httpd, path)
        common = {"mpm": mpm, "phase": "stream", "files": 1}
        rows += [{**common, "method": f"GET ({name})", **raw}, {**common, "method": f"GetRecord oai_didl ({name})", **value}]
        bench.compare("apache", f"{path.stat().st_size / 1e6:.0f} MB by value: wall time against the raw file, {name} ({mpm})",
                      seconds(value), seconds(raw), value["wall_s"] / raw["wall_s"], f"≤ {TARGET}", at_most=TARGET)
        bench.compare("apache", f"{path.stat().st_size / 1e6:.0f} MB by value: server CPU against the raw file, {name} ({mpm})",
                      seconds(value, "cpu"), seconds(raw, "cpu"), times(value["server_cpu_s"], raw["server_cpu_s"]))
    return rows


def _large_file(bench):
    if "large" not in bench.shared:
        root = bench.work / "large"
        root.mkdir()
        block = bytes(range(256)) * (BLOCK // 256 + 1)
        with open(root / NAME, "wb") as file:
            for number in range((QUICK_BYTES if bench.quick else BYTES) // BLOCK):
                file.write(number.to_bytes(8, "big") + block[: BLOCK - 8])
        bench.shared["large"] = root / NAME
    return bench.shared["large"]


def _rounds(httpd, path):
    base = f"http://127.0.0.1:{httpd.port}"
    record = f"{base}/modoai?verb=GetRecord&metadataPrefix=oai_didl&identifier={quote(f'{base}/{NAME}', safe='')}"
    _check(httpd, path, f"{base}/{NAME}")
    size, raw, value = path.stat().st_size, [], []
    for _ in range(ROUNDS):
        httpd.settle()
        length, figures = measure(httpd, lambda: _curl(f"{base}/{NAME}"))
        expect(length, size, "bytes of the raw file")
        raw.append(figures)
        httpd.settle()
        length, figures = measure(httpd, lambda: _curl(record))
        if length < size * 4 // 3:
            raise BenchError(f"{size:,} bytes by value need more than {length:,} bytes")
        value.append(figures)
    return spread(raw), spread(value)


def _check(httpd, path, identifier):
    """The decoded resource is the file. This also lets the digest be known before the measurement."""
    query = {"verb": "GetRecord", "metadataPrefix": "oai_didl", "identifier": identifier}
    with Client(httpd.port) as client:
        for found, content in client.resources(query):
            if content is None or hashlib.sha256(content).digest() != hashlib.sha256(path.read_bytes()).digest():
                raise BenchError(f"{found}: the decoded resource differs from the file")
            return
    raise BenchError(f"{identifier}: no record")


def _curl(url):
    command = ["curl", "-q", "-sS", "--fail", "--max-time", "600", "-o", "/dev/null", "-w", "%{size_download}", url]
    return int(run(command, stdout=subprocess.PIPE))
