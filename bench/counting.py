"""The counting experiment of the mod_oai papers (Table 2): how many files of a site each way of asking finds."""

import random
import re
import subprocess
from urllib.parse import quote, unquote

from client import Client, relative_path
from papers import IDENTIFIERS
from program import Garner, free_port
from sites import SEED_PAGE, DepartmentSite

# The site of the papers, of whose files a crawl from the home page found 709.
FILES, LINKED = 5_739, 708
QUICK_FILES, QUICK_LINKED = 600, 70
BYTES_EACH = 2_000
DEAD_LINKS, LINKS = 40, 12
HOME = "index.html"
CRAWL, LIST, SITEMAP, OAI = "crawl from the home page (wget)", "crawl from a full list (wget)", "sitemap", "ListIdentifiers"


def measure_section(bench):
    files, linked = (QUICK_FILES, QUICK_LINKED) if bench.quick else (FILES, LINKED)
    folder = bench.work / "counting"
    folder.mkdir()
    bench.say(f"counting: a site of {files:,} files, {linked:,} of them linked from the home page")
    site = DepartmentSite(folder / "site", files, files * BYTES_EACH)
    _link(site, linked)
    there = {str(place.relative_to(site.root)) for place in site.root.rglob("*") if place.is_file()}
    rows = []
    with Garner(bench.binary, site.root, folder / "index", folder / "log", free_port()) as server:
        server.settle()
        base = f"http://127.0.0.1:{server.port}/"
        found = {
            CRAWL: _crawled(folder, ["-r", "-l", "inf", "-nH", "--exclude-directories=/modoai", base + HOME]),
            LIST: _crawled(folder, ["-i", str(_list(folder, base, there))]),
            SITEMAP: _sitemap(server.port, base, "/sitemap.xml"),
            OAI: _identifiers(server.port),
        }
    for name, paths in found.items():
        rows.append({"way": name, "files": len(there), "found": len(paths & there), "missed": len(there - paths), "false": len(paths - there)})
    bench.write_csv("counting", rows)
    for row in rows:
        bench.compare("counting", f"{row['way']}: files found of {row['files']:,} (missed, false)", f"{row['found']:,}", f"{row['missed']:,}, {row['false']:,}", None,
                      "all" if row["way"] in (SITEMAP, OAI) else "", reached=row["missed"] == row["false"] == 0)


def _link(site, linked):
    """Lets the home page lead to so many files, by way of others, and to some that are gone. The page with all links is
    no part of a site as people make it."""
    (site.root / SEED_PAGE).unlink()
    source = random.Random(2)
    paths = [path for path in site.paths if path != SEED_PAGE]
    pages = [path for path in paths if path.endswith(".html")]
    for page in pages:
        place = site.root / page
        place.write_bytes(place.read_bytes().replace(b'<a href="/all.html">all</a>', b""))
    chosen = source.sample(paths, linked)
    waiting, linking = list(chosen), [HOME]
    (site.root / HOME).write_text("<!DOCTYPE html>\n<html><head><title>Home</title></head><body>\n</body></html>\n")
    dead = [f"gone/page{number}.html" for number in range(DEAD_LINKS)]
    while waiting:
        # The home page leads on, and so does every page that it led to.
        page = linking.pop(0) if len(linking) > 1 else linking[0]
        links, waiting = waiting[:LINKS], waiting[LINKS:]
        if dead and source.random() < 0.5:
            links.append(dead.pop())
        linking += [path for path in links if path.endswith(".html") and not path.startswith("gone/")]
        place = site.root / page
        text = "".join(f'<a href="/{quote(path)}">{path}</a>\n' for path in links)
        place.write_bytes(place.read_bytes().replace(b"</body>", text.encode() + b"</body>"))


def _list(folder, base, there):
    place = folder / "list"
    place.write_text("".join(f"{base}{quote(path)}\n" for path in sorted(there)))
    return place


def _crawled(folder, arguments):
    """The paths that wget asked for, whether or not there was a file."""
    mirror = folder / f"mirror-{len(list(folder.glob('mirror-*')))}"
    mirror.mkdir()
    log = subprocess.run(["wget", "-nv", "--no-config", *arguments], cwd=mirror, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE).stderr.decode()
    urls = re.findall(r"https?://[^/\s]+/([^\s\"]*?)(?: \[|:\s)", log)
    return {unquote(url) for url in urls if not url.endswith("robots.txt")}


def _sitemap(port, base, path):
    with Client(port) as client:
        text = client.open(path).read().decode()
    paths = set()
    for url in re.findall(r"<loc>([^<]*)</loc>", text):
        if "<sitemapindex" in text:
            paths |= _sitemap(port, base, url[len(base) - 1:])
        else:
            paths.add(relative_path(url))
    return paths


def _identifiers(port):
    with Client(port) as client:
        return {relative_path(identifier) for identifier in client.identifiers(IDENTIFIERS)}
