"""What a list costs in httpd under conditions that make it dearer: an empty state, .htaccess files, passwords, headers."""

import base64
import os
import shutil

from apache_figures import CPU_TARGET_US, expect, per_file, seconds, spread
from client import Client
from httpd import Httpd
from papers import IDENTIFIERS
from program import measure, run

LISTS = 5
HEADERS = {"verb": "ListRecords", "metadataPrefix": "http_header"}
USER, PASSWORD = "reader", "a password of the bench"
HTACCESS = "Options -Indexes\nIndexIgnore *.bak\n"
OVERRIDDEN = "AllowOverride All\n    Require all granted"
PROTECTED = """AllowOverride None
    AuthType Basic
    AuthName bench
    AuthBasicProvider file
    AuthUserFile {users}
    Require valid-user"""


def measure_cases(bench, site, mpm):
    rows = []
    for name, case in CASES.items():
        bench.say(f"apache, {mpm}: {name}")
        folder = bench.work / f"apache-case-{mpm}"
        rounds = case(bench, site, mpm, folder)
        shutil.rmtree(folder)
        row = {"mpm": mpm, "phase": "case", "method": name, "files": len(site.paths), **spread(rounds)}
        rows.append(row)
        judged = case is _anew
        bench.compare("apache", f"{name}: server CPU per file, wall time of all ({mpm})", f"{per_file(row):.1f} µs", seconds(row), None,
                      f"≤ {CPU_TARGET_US} µs" if judged else "", reached=per_file(row) <= CPU_TARGET_US if judged else None)
    return rows


def _anew(bench, site, mpm, folder):
    with Httpd(bench.module, mpm, site.root, folder, "OaiFreshness 0") as httpd:
        return _lists(bench, httpd, site)


def _first(bench, site, mpm, folder):
    """The index is made and the files are listed. The server is started anew each time, so it has nothing in memory."""
    rounds = []
    for _ in range(bench.repeat):
        shutil.rmtree(folder, ignore_errors=True)
        with Httpd(bench.module, mpm, site.root, folder) as httpd, Client(httpd.port) as client:
            httpd.settle()
            found, figures = measure(httpd, lambda: client.harvest(IDENTIFIERS, count=True))
            expect(found.headers, len(site.paths), "first list")
        rounds.append(figures)
    return rounds


def _htaccess(bench, site, mpm, folder):
    """The same files by hard links, with a .htaccess in each directory."""
    copy = folder / "site"
    folder.mkdir()
    run(["cp", "-al", str(site.root), str(copy)])
    for directory, _, _ in os.walk(copy):
        with open(os.path.join(directory, ".htaccess"), "w") as file:
            file.write(HTACCESS)
    with Httpd(bench.module, mpm, copy, folder / "httpd", access=OVERRIDDEN) as httpd:
        return _lists(bench, httpd, site)


def _bcrypt(bench, site, mpm, folder):
    folder.mkdir()
    users = folder / "users"
    run(["htpasswd", "-c", "-b", "-B", "-C", "10", str(users), USER, PASSWORD])
    users.chmod(0o644)
    login = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    with Httpd(bench.module, mpm, site.root, folder / "httpd", access=PROTECTED.format(users=users)) as httpd:
        with Client(httpd.port) as client:
            expect(client.harvest(IDENTIFIERS, count=True).headers, 0, "list without a password")
        return _lists(bench, httpd, site, headers={"Authorization": f"Basic {login}"})


def _http_header(bench, site, mpm, folder):
    with Httpd(bench.module, mpm, site.root, folder) as httpd:
        return _lists(bench, httpd, site, HEADERS, lists=2)


def _lists(bench, httpd, site, query=IDENTIFIERS, headers=None, lists=LISTS):
    def work():
        for _ in range(lists):
            expect(client.harvest(query, count=True).headers, len(site.paths), query["verb"])

    rounds = []
    with Client(httpd.port, headers) as client:
        for _ in range(bench.repeat):
            client.harvest(query)
            httpd.settle()
            _, figures = measure(httpd, work)
            rounds.append({name: value / lists for name, value in figures.items()})
    return rounds


CASES = {
    "ListIdentifiers, all files looked at anew (OaiFreshness 0)": _anew,
    "first ListIdentifiers, with an empty state directory": _first,
    "ListIdentifiers, AllowOverride All and .htaccess in each directory": _htaccess,
    "ListIdentifiers, all under a password (bcrypt, cost 10)": _bcrypt,
    "ListRecords http_header": _http_header,
}
