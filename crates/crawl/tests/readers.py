"""Reads a WARC file with warcio and with FastWARC, checks every digest, and says how many records there are."""

import subprocess
import sys
from pathlib import Path

from fastwarc.stream_io import GZipStream
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

path = sys.argv[1]

checked = subprocess.run([Path(sys.executable).parent / "warcio", "check", path], capture_output=True, text=True)
assert checked.returncode == 0, checked.stdout + checked.stderr

with open(path, "rb") as stream:
    bodies = []
    for record in ArchiveIterator(stream, check_digests="raise"):
        bodies.append(record.content_stream().read())
        if record.rec_type == "response":
            assert record.http_headers.get_statuscode() == "200"
            assert record.http_headers.get_header("Content-Length") == str(len(bodies[-1]))
print(f"warcio {len(bodies)} records")

fast = []
for record in FastIterator(GZipStream(open(path, "rb")), parse_http=True, verify_digests=True):
    fast.append(record.reader.read())
print(f"fastwarc {len(fast)} records")
assert fast == bodies
