"""Makes the sites that are measured. The same sizes and seed give the same site everywhere."""

import math
import os
import random
import time
from pathlib import Path
from urllib.parse import quote

from program import BenchError

SEED = 20050101
BASELINE_MTIME = 946_684_800  # 2000-01-01T00:00:00Z, the date the papers gave all files
SEED_PAGE = "all.html"
LARGEST = 7_000_000  # every file stays below the by-value limit
PER_DIRECTORY = 1000
KINDS = [("html", 0.42), ("txt", 0.10), ("gif", 0.14), ("jpg", 0.16), ("png", 0.08), ("pdf", 0.10)]
MAGIC = {
    "gif": b"GIF89a",
    "jpg": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00",
    "png": b"\x89PNG\r\n\x1a\n",
    "pdf": b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n",
}
WORDS = "the of department and students course research library archive network systems report lecture notes".split()


class DepartmentSite:
    """A site like the one in the papers: many small files, a few large ones, and a page that links to all."""

    def __init__(self, root, files, total_bytes):
        self.root = Path(root)
        self.random = random.Random(SEED)
        self.paths = [SEED_PAGE] + [self._path(number) for number in range(files - 1)]
        self._write(total_bytes)
        self.reset()

    def sizes(self):
        return {path: (self.root / path).stat().st_size for path in self.paths}

    def reset(self):
        """Gives every file the papers' first date."""
        for path in self.paths:
            os.utime(self.root / path, (BASELINE_MTIME, BASELINE_MTIME))

    def change_a_quarter(self):
        """Adds a byte to a quarter of the files, which also gives them today's date, and returns their paths.

        The page that links to all is always among them: wget follows no links from a page answered with 304.
        """
        changed = [SEED_PAGE] + self.random.sample(self.paths[1:], len(self.paths) // 4 - 1)
        self.change(changed)
        return changed

    def change(self, paths):
        for path in paths:
            with open(self.root / path, "ab") as file:
                file.write(b"\n")

    def _path(self, number):
        kind = self.random.choices([name for name, _ in KINDS], [weight for _, weight in KINDS])[0]
        depth = self.random.choice((1, 2, 2, 3, 3, 4))
        folders = [f"{name}{self.random.randrange(wide)}" for name, wide in (("group", 9), ("year", 6), ("part", 4), ("old", 3))]
        return "/".join(folders[:depth] + [f"page{number:05}.{kind}"])

    def _write(self, total_bytes):
        seed_page = self._seed_page()
        lengths = log_normal_lengths(self.random, len(self.paths) - 1, total_bytes - len(seed_page))
        words = " ".join(self.random.choices(WORDS, k=4000)).encode()
        for folder in {(self.root / path).parent for path in self.paths}:
            folder.mkdir(parents=True, exist_ok=True)
        (self.root / SEED_PAGE).write_bytes(seed_page)
        for path, length in zip(self.paths[1:], lengths):
            (self.root / path).write_bytes(self._content(path, length, words))

    def _seed_page(self):
        links = "".join(f'<li><a href="/{quote(path)}">{path}</a></li>\n' for path in self.paths)
        return f"<!DOCTYPE html>\n<html><head><title>All files</title></head><body><ul>\n{links}</ul></body></html>\n".encode()

    def _content(self, path, length, words):
        kind = path.rpartition(".")[2]
        if kind in MAGIC:
            start = MAGIC[kind]
            return (start + self.random.randbytes(max(0, length - len(start))))[:length]
        text = words * (length // len(words) + 1)
        if kind == "txt":
            return text[:length]
        start = b"<!DOCTYPE html>\n<html><head><title>" + path.encode() + b'</title></head><body><a href="/all.html">all</a><p>'
        return start + text[: max(0, length - len(start) - 19)] + b"</p></body></html>\n"


class FlatSite:
    """A site of very many empty files, a thousand to a directory. It only grows, so each size is made once."""

    def __init__(self, root):
        self.root = Path(root)
        self.root.mkdir(parents=True, exist_ok=True)
        self.files = 0

    def grow(self, files):
        self._check_room(files - self.files)
        started = time.perf_counter()
        for number in range(self.files, files):
            if number % PER_DIRECTORY == 0:
                (self.root / f"d{number // PER_DIRECTORY:05}").mkdir(exist_ok=True)
            os.close(os.open(self._path(number), os.O_CREAT | os.O_WRONLY, 0o644))
        self.files = max(self.files, files)
        return time.perf_counter() - started

    def change(self, count):
        """Writes to `count` files spread evenly over the tree."""
        for number in range(0, self.files, max(1, self.files // count)):
            with open(self._path(number), "ab") as file:
                file.write(b"0123456789")

    def _path(self, number):
        return self.root / f"d{number // PER_DIRECTORY:05}" / f"f{number % PER_DIRECTORY:03}.txt"

    def _check_room(self, files):
        room = os.statvfs(self.root)
        if room.f_files and room.f_favail < files * 1.05:
            raise BenchError(f"{files:,} files are needed and the file system has room for {room.f_favail:,}; set TMPDIR to another")


def log_normal_lengths(source, count, total):
    """Lengths with the long tail of web files, which add up to `total`."""
    shares = [source.lognormvariate(0, 1.6) for _ in range(count)]
    scale = total / sum(shares)
    lengths = [min(LARGEST, max(200, math.floor(share * scale))) for share in shares]
    rest = total - sum(lengths)
    step = rest // count
    lengths = [max(200, length + step) if length < LARGEST // 2 else length for length in lengths]
    lengths[lengths.index(min(lengths))] += max(0, total - sum(lengths))
    return lengths
